// SPDX-License-Identifier: BSD-3-Clause
//
// Forecasters that need no training: what every table carries, and what answers when nothing else
// can. Their paths come from kinematics; how wrong they get with time (the spread) is a stated
// generic growth here, and is fitted to flights by the laboratory (src/eval/fit_classical.h).
//
//   hold   stays where it is
//   cv     constant velocity, a straight line through the last 0.3 s
//   ca     constant acceleration, a parabola through the last 0.5 s
//   ctrv   constant turn rate (measured over 1 s, at most 5 rad/s), speed and climb: a helix
//   imm    interacting multiple models: CV, CA and coordinated turn Kalman filters, mixed at every
//          sample; each axis is filtered by itself, covariance between axes is dropped
//   replay repeats the two seconds of the last ten that look most like the newest two; as ctrv
//          where none is alike
//
// All of them take samples at any rate, with gaps. Where a span holds too few samples, or only some
// that lie close together, the fit takes older ones until it spans half of it; the quality is
// short_history when it has to look back more than twice the span, or the history is shorter.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "aerocast/forecaster.h"
#include "aerocast/result.h"

namespace aerocast {

// The names above, in that order.
std::vector<std::string_view> ClassicalNames();

// An unknown name is an error that lists the known ones. `steps` and `dt_s` set the horizon.
Result<std::unique_ptr<Forecaster>> MakeClassical(std::string_view name, int steps = 50,
                                                  double dt_s = 0.1);

}  // namespace aerocast
