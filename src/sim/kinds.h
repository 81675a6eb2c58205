// SPDX-License-Identifier: BSD-3-Clause
//
// Every kind of flight the generator makes: the nine categories, the four fliers, the fork, stop
// and go. A kind is a row of this table: its names and the function that flies it. The nine chase a
// set-point along a path (flight.h); all others follow a course (course.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"
#include "src/sim/flight.h"

namespace aerocast {

struct FlightKind {
  std::string_view name;    // the recording's category
  std::string_view group;   // asks for all of them: "nine", "fliers"; empty: none
  std::string_view object;  // what flies
  Flight (*fly)(const FlightKey& key, const FlightRequest& request);

  bool is_shape() const { return group == "nine"; }
};

// The first nine in the order of kCategories.
extern const std::array<FlightKind, 15> kFlightKinds;

// What flights of a kind keep to: the regime's limits for the nine, those of the open country for
// all others.
FlightLimits LimitsOf(const FlightKind& kind, Regime regime);

// Indices into kFlightKinds, in the order of the names of kinds and groups; all nine for no name.
// Refuses unknown names, naming all there are, and kinds asked for twice.
Result<std::vector<int>> KindsFromNames(const std::vector<std::string>& names);

}  // namespace aerocast
