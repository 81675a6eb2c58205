// SPDX-License-Identifier: BSD-3-Clause
//
// A generated flight with a given number of windows and a given speed.
#pragma once

#include <cstddef>
#include <vector>

#include "src/data/speeds.h"
#include "src/sim/flight.h"

namespace aerocast {

struct SpeedGoal {
  enum class Kind { kMean, kPeak };
  Kind kind = Kind::kMean;
  double value = 0;  // m/s: mean RMS speed over the windows, or the peak itself
  double cap = 0;    // m/s: no peak above it
};

struct TunedFlight {
  std::vector<Vec3> truth;  // 100 Hz, not yet placed
  FlightSpeeds speeds;
  FlightKey key;  // of the draw that was taken
};

// The duration that CutWindows cuts into exactly this many paper windows (at least 1).
double DurationForWindows(std::size_t windows);

// Draws plans (purpose, purpose + 1, ...) until one can be flown at the goal; else the nearest.
TunedFlight TuneFlight(const FlightKey& key, std::size_t windows, const SpeedGoal& goal);

}  // namespace aerocast
