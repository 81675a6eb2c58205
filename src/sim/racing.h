// SPDX-License-Identifier: BSD-3-Clause
//
// A racing drone: a smooth line through gates, flown as fast as its acceleration allows.
//
// The line is a uniform cubic B-spline, so its curvature has no jumps; gates stand where its
// segments join. Along it the speed is the highest that keeps to a top speed and to a total
// acceleration: in a corner all of it turns the aircraft, before it brakes with what is left, after
// it speeds up. Laps differ a little, as a pilot's do.
#pragma once

#include <cstddef>
#include <vector>

#include "src/base/rng.h"
#include "src/sim/flight.h"

namespace aerocast {

// A line along control points, at least four; segment i runs near points i + 1 and i + 2.
class RacingLine {
 public:
  explicit RacingLine(std::vector<Vec3> control) : control_(std::move(control)) {}

  std::size_t segments() const { return control_.size() - 3; }
  struct Point {
    Vec3 p, d1, d2;  // position, derivatives by the parameter
    double curvature() const;
  };
  Point At(double u) const;  // u: 0 ... segments()

 private:
  std::vector<Vec3> control_;
};

struct RacingPlan {
  std::vector<Vec3> control;
  double top_speed = 0;   // m/s
  double accel = 0;       // m/s^2
  double residual_m = 0;  // what gusts do
};

// A line for so many seconds: laps of one track (round, or crossing itself), or an open course.
RacingPlan DrawRacing(Rng& rng, double seconds);

// The positions at `steps` simulation steps from the start of the line, which is long enough.
std::vector<Vec3> FlyLine(const RacingPlan& plan, std::size_t steps);

Flight FlyRacing(const FlightKey& key, const FlightRequest& request);

}  // namespace aerocast
