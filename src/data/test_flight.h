// SPDX-License-Identifier: BSD-3-Clause
//
// Flights with a known formula, for tests.
#pragma once

#include <cmath>
#include <functional>

#include "aerocast/recording.h"

namespace aerocast {

// `seconds` of p(t) at `rate_hz`, starting at t = start_s.
inline Recording MakeFlight(double seconds, double rate_hz, const std::function<Vec3(double)>& p,
                            double start_s = 0) {
  Recording flight;
  flight.id = "test";
  const int n = static_cast<int>(std::lround(seconds * rate_hz)) + 1;
  for (int i = 0; i < n; ++i) {
    const double t = i / rate_hz;
    flight.samples.push_back({DurationNs(start_s) + DurationNs(t), p(t)});
  }
  return flight;
}

inline Vec3 CirclePath(double t, double radius = 2, double rate = 0.8) {
  return {radius * std::cos(rate * t), radius * std::sin(rate * t), 1.5};
}

}  // namespace aerocast
