// SPDX-License-Identifier: BSD-3-Clause
//
// Where a mode's path leads at each step, and errors laid along it.
//
// Errors are told in a frame that goes along with the path: forward, left, up. Forward is the
// horizontal direction of mean(i + 2) - mean(i - 2), at the ends as much of that as there is. Where
// a path hardly moves, less than 5 % of its own horizontal sigma over those steps, it has no
// direction of its own: the frame stays as it was before, and a path that turns back flies
// backwards in its frame, so that an error laid along it does not jump to the other side.
#pragma once

#include <cstdint>
#include <span>

#include "aerocast/forecast.h"

namespace aerocast {

// Horizontal; zero when there is only one step.
Vec3 PathTangent(const Forecast& forecast, int k, int i);

// r (cos 2a, sin 2a), a the angle of the tangent and r = d^2 / (d^2 + e^2) how clear it is: d the
// tangent's length, e 5 % of the mode's horizontal sigma. Forward and backward are the same, and
// everything is continuous, also where the path stands still (r = 0).
struct PathDirection {
  double cos2 = 0, sin2 = 0;
};
PathDirection DirectionAt(const Forecast& forecast, int k, int i);

// Goes along the path of mode k; ask for steps 0, 1, 2, ... in this order.
class PathFrames {
 public:
  PathFrames(const Forecast& forecast, int k);
  Yaw Next();  // path axes to world axes

 private:
  const Forecast& forecast_;
  int k_, i_ = 0;
  Yaw yaw_;
};

// The covariance of way k at step i: of its narrow and its wide Gaussian together where modes are
// paired.
Cov3 WayCov(const Forecast& forecast, int k, int i);

// Path n of the library along way k, k < K/2 where modes are paired.
void LayResidual(const Forecast& forecast, int k, const ResidualLibrary& library, std::uint64_t n,
                 std::span<Vec3> path);
// The other way round: what LayResidual would have to lay along way k to get `path`.
void WhitenResidual(const Forecast& forecast, int k, std::span<const Vec3> path,
                    std::span<Vec3> residual);

}  // namespace aerocast
