// SPDX-License-Identifier: BSD-3-Clause
//
// A Forecaster that any number of Python threads may call at once: each call takes a Workspace from
// a pool of idle ones, or a new one when all are in use. Nothing here touches Python, so calls run
// without its lock.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "aerocast/forecaster.h"

namespace aerocast::python {

// One question, with memory of its own.
struct Track {
  std::string id;
  std::vector<Observation> samples;
  double noise_m = 0;
};

class SharedForecaster {
 public:
  // `threads` work together on each call.
  SharedForecaster(std::unique_ptr<Forecaster> forecaster, int threads);

  const ForecasterInfo& info() const { return forecaster_->info(); }
  int threads() const { return threads_; }
  std::vector<Forecast> Predict(std::span<const Track> tracks) const;

 private:
  std::unique_ptr<Workspace> Take() const;
  void GiveBack(std::unique_ptr<Workspace> workspace) const;

  std::unique_ptr<Forecaster> forecaster_;
  int threads_;
  std::size_t most_idle_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace aerocast::python
