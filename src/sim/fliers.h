// SPDX-License-Identifier: BSD-3-Clause
//
// What flies on wings out of doors, as pilots of the air model (air.h):
//
//   bird        flap-and-glide, its height going up and down; meanders, now and then turns sharply
//   soaring     circles up in thermals that drift with the wind, glides to the next one
//   fixed_wing  legs and turns, loiter circles, holding patterns, S-turns, climbs
//
// Ranges are in docs/generator.md.
#pragma once

#include "src/sim/air.h"
#include "src/sim/flight.h"

namespace aerocast {

// One bird, or aircraft, with its habits; around the origin.
AirPlan DrawBird(Rng& rng);
AirPlan DrawSoaring(Rng& rng);
AirPlan DrawFixedWing(Rng& rng);

Flight FlyBird(const FlightKey& key, const FlightRequest& request);
Flight FlySoaring(const FlightKey& key, const FlightRequest& request);
Flight FlyFixedWing(const FlightKey& key, const FlightRequest& request);

// The positions of the states.
std::vector<Vec3> CourseOf(const std::vector<AirState>& states);

}  // namespace aerocast
