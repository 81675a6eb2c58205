// SPDX-License-Identifier: BSD-3-Clause
//
// A recorded flight flown again: the same course at another speed and size, by the tracking loop of
// the generator. Playing a recording faster would keep the corners as round as they were; an
// aircraft that flies faster cuts them more, lags more and swings out further.
//
// What was flown after is found by turning the loop round (tracking.h, without its limits):
//
//   set-point = x + (x' + x'' / kv) / kp
//
// with derivatives of a parabola through 0.3 s of positions. Gusts of the recording stay in it as
// part of the course, so new ones are half as strong.
//
// Goal: flights of configurations that were not flown, for training. Non-goal: other aircraft: the
// loop is a Crazyflie's, and flights outside its speeds are refused.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aerocast/geometry.h"
#include "src/base/rng.h"
#include "src/sim/tracking.h"

namespace aerocast {

// The positions `flown`, kSimStepS apart, were flown after. At least kReflyFitSteps of them.
std::vector<Vec3> SetPointsOf(std::span<const Vec3> flown, const TrackingModel& model);
inline constexpr std::size_t kReflyFitSteps = 31;

struct ReflyOptions {
  double speed = 1;  // of the set-point along its course, times the recorded one
  double size = 1;   // of the course
};

// `model` flies the course from its first point to its last, entering it at its velocity.
std::vector<Vec3> Refly(std::span<const Vec3> flown, const ReflyOptions& options,
                        const TrackingModel& model, Rng& rng);

// A mean speed within those of the arena, a size (often its own), and an aircraft, all drawn.
// Nothing where `flown` is too short, or too slow or fast for the arena.
std::optional<std::vector<Vec3>> ReflySomehow(std::span<const Vec3> flown, Rng& rng);

}  // namespace aerocast
