// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/sim/course.h"
#include "src/sim/fliers.h"
#include "src/sim/fork.h"
#include "src/sim/racing.h"
#include "src/sim/stop_and_go.h"

namespace aerocast {
namespace {

std::string KnownNames() {
  std::vector<std::string_view> names;
  for (const FlightKind& kind : kFlightKinds) names.push_back(kind.name);
  names.insert(names.end(), {"nine", "fliers"});
  return JoinNames(names);
}

Error Refuse(std::string message) {
  return {ErrorCode::kInvalidArgument, "generate: " + std::move(message)};
}

}  // namespace

const std::array<FlightKind, 15> kFlightKinds = {
    {{"circle", "nine", "simulated quadrotor", FlyShape},
     {"oval", "nine", "simulated quadrotor", FlyShape},
     {"figure-8", "nine", "simulated quadrotor", FlyShape},
     {"helix", "nine", "simulated quadrotor", FlyShape},
     {"trefoil", "nine", "simulated quadrotor", FlyShape},
     {"lissajous", "nine", "simulated quadrotor", FlyShape},
     {"staircase", "nine", "simulated quadrotor", FlyShape},
     {"star", "nine", "simulated quadrotor", FlyShape},
     {"random", "nine", "simulated quadrotor", FlyShape},
     {"bird", "fliers", "simulated bird", FlyBird},
     {"soaring", "fliers", "simulated soaring bird", FlySoaring},
     {"racing", "fliers", "simulated racing drone", FlyRacing},
     {"fixed_wing", "fliers", "simulated fixed-wing aircraft", FlyFixedWing},
     {"fork", "", "simulated aircraft", FlyFork},
     {"stop_and_go", "", "simulated quadrotor", FlyStopAndGo}}};

FlightLimits LimitsOf(const FlightKind& kind, Regime regime) {
  return kind.is_shape() ? LimitsOf(regime) : OpenLimits();
}

Result<std::vector<int>> KindsFromNames(const std::vector<std::string>& names) {
  std::vector<int> kinds;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"nine"} : names) {
    bool known = false;
    for (int i = 0; i < static_cast<int>(kFlightKinds.size()); ++i) {
      const FlightKind& kind = kFlightKinds[static_cast<std::size_t>(i)];
      if (name.empty() || (name != kind.name && name != kind.group)) continue;
      if (std::find(kinds.begin(), kinds.end(), i) != kinds.end()) {
        return Refuse(fmt::format("category \"{}\" is asked for twice", kind.name));
      }
      kinds.push_back(i);
      known = true;
    }
    if (!known) {
      return Refuse(
          fmt::format("there is no category \"{}\"; expected one of {}", name, KnownNames()));
    }
  }
  return kinds;
}

}  // namespace aerocast
