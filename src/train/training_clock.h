// SPDX-License-Identifier: BSD-3-Clause
//
// How long a run has been trained, over all processes that went on with it.
#pragma once

#include <time.h>

#include <string_view>

namespace aerocast {

class TrainingClock {
 public:
  // "wall", or "cpu": only what the thread that asks has computed.
  explicit TrainingClock(std::string_view clock)
      : id_(clock == "cpu" ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC), start_s_(Now()) {}

  // It is before_s now.
  void Start(double before_s) { before_s_ = before_s, start_s_ = Now(); }
  double seconds() const { return before_s_ + (Now() - start_s_); }

 private:
  double Now() const {
    timespec now = {};
    clock_gettime(id_, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  clockid_t id_;
  double before_s_ = 0, start_s_;
};

}  // namespace aerocast
