// SPDX-License-Identifier: BSD-3-Clause
//
// A quadrotor sent from waypoint to waypoint: it hovers, dashes in a straight line to the next one,
// brakes, hovers. Nothing in its past says where it goes next. Random (shapes.h) is another thing:
// there the set-point runs evenly along the legs and the aircraft chases it. Ranges are in
// docs/generator.md.
#pragma once

#include "src/sim/flight.h"

namespace aerocast {

Flight FlyStopAndGo(const FlightKey& key, const FlightRequest& request);

}  // namespace aerocast
