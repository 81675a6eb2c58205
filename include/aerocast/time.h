// SPDX-License-Identifier: BSD-3-Clause
//
// Instants are int64 nanoseconds (`t_ns`), durations are double seconds (`_s`).
//
// The origin of the clock is the caller's: Unix time, time since boot, time since the start of a
// recording. Nothing in AeroCast reads a wall clock. A double cannot hold Unix time to the
// nanosecond (it steps by 240 ns today), so instants are never doubles inside the library, and
// decimal text is converted to nanoseconds digit by digit.
#pragma once

#include <cmath>
#include <cstdint>

namespace aerocast {

using TimeNs = std::int64_t;

inline constexpr TimeNs kNsPerSecond = 1'000'000'000;

// Nearest nanosecond; `seconds` is a duration of at most a few hundred years.
inline TimeNs DurationNs(double seconds) {
  return static_cast<TimeNs>(std::llround(seconds * 1e9));
}

inline double DurationS(TimeNs ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace aerocast
