// SPDX-License-Identifier: BSD-3-Clause
//
// A scene with two futures, to test whether a forecast has two modes with the right weights:
// straight flight up to a fixed point, then a smooth turn to the left or to the right. Which one is
// drawn from a stream of its own, and everything up to the branch is the same to the bit for both:
// nothing in the history tells them apart.
#pragma once

#include "src/sim/flight.h"

namespace aerocast {

// The turn begins here, kForkTimeS into the recording: samples up to that time are straight flight
// (in gusts of 1 to 3 cm), the first one after it begins to turn. Speed, heading, bank and the
// angle of the turn differ from flight to flight, not from side to side.
inline constexpr double kForkTimeS = 12;
inline constexpr Vec3 kForkPoint{0, 0, 30};
// Shorter flights would not branch, longer ones leave the space.
inline constexpr double kForkLeastS = kForkTimeS + 1, kForkMostS = 60;

// The configuration is "fork-left" or "fork-right".
Flight FlyFork(const FlightKey& key, const FlightRequest& request);

}  // namespace aerocast
