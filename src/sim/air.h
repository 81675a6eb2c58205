// SPDX-License-Identifier: BSD-3-Clause
//
// What flies on wings: a point that moves through the air at an airspeed, turns by banking and
// drifts with the wind. Turns are coordinated: at bank b and airspeed v the heading changes at
//
//   turn rate = g tan(b) / v,   so the radius through the air is v^2 / (g tan(b)).
//
// Bank, speed and climb follow what the pilot wants with a lag and a limited rate. The pilot is a
// list of manoeuvres: turn by an angle at a bank, then fly straight for a while. A loiter is a turn
// of several times 2 pi, a holding pattern four manoeuvres, a meandering bird many small ones.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "aerocast/geometry.h"
#include "src/base/rng.h"

namespace aerocast {

struct AirState {
  Vec3 p;
  double heading_rad = 0;  // unwrapped: grows by 2 pi per turn to the left
  double speed = 0;        // through the air, horizontal, m/s
  double climb = 0;        // m/s
  double bank_rad = 0;     // positive: turning left
};

// How the flier answers its pilot, and the air it flies in.
struct AirModel {
  double bank_s = 0.4, roll_rate = 1.5;  // lag; rad/s
  double speed_s = 1.5, speed_rate = 2;  // lag; m/s^2
  double climb_s = 0.6, climb_rate = 4;  // lag; m/s^2
  double low_m = -20, high_m = 20;       // it levels off at these heights
  Vec3 wind;                             // m/s
};

struct AirCommand {
  double bank_rad = 0, speed = 0, climb = 0;
};
void StepAir(const AirModel& model, const AirCommand& command, AirState& state);

struct Manoeuvre {
  double turn_rad = 0;    // change of the heading flown to; positive: left
  double bank_rad = 0.5;  // at most, below pi / 2
  // Straight flight after the turn. 0: the next manoeuvre begins before wings are level, so turns
  // join.
  double straight_s = 0;
  double speed = 10;  // m/s
  double climb = 0;   // m/s
};

// Flap and glide, in turns: vertical speed goes up and down by `swing` around the pilot's climb.
struct Rhythm {
  double flap_s = 0, glide_s = 0;  // 0: none
  double swing = 0;                // m/s between flapping and gliding
  double steady_share = 0;         // of the cycles are flapped through without a change of height
};

struct AirPlan {
  AirModel model;
  AirState start;
  Rhythm rhythm;
  double home_m = 300;       // farther from the origin, the pilot turns home
  double residual_m = 0.05;  // what gusts do
  // What to do next, asked for when everything is done. Only the first manoeuvre is flown, towards
  // home, when the flier is too far from it.
  std::function<std::vector<Manoeuvre>(Rng& rng)> next;
};

// The states at `steps` simulation steps, the first being plan.start.
std::vector<AirState> FlyAir(const AirPlan& plan, Rng& rng, std::size_t steps);

}  // namespace aerocast
