// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/residuals.h"

#include <algorithm>
#include <cmath>

namespace aerocast {
namespace {

constexpr int kReach = 2;              // steps to either side
constexpr double kHardlyMoves = 0.05;  // of the horizontal sigma

double HorizontalSquare(const Vec3& v) { return v.x * v.x + v.y * v.y; }

// The square of the motion below which a path has no direction.
double StandstillSquare(const Forecast& forecast, int k, int i) {
  const Cov3& c = forecast.cov(k, i);
  return kHardlyMoves * kHardlyMoves * (c.xx + c.yy) / 2;
}

bool Moves(const Forecast& forecast, int k, int i, const Vec3& tangent) {
  return HorizontalSquare(tangent) > StandstillSquare(forecast, k, i);
}

Yaw Along(const Vec3& v) {
  const double length = std::sqrt(HorizontalSquare(v));
  return length > 0 ? Yaw{v.x / length, v.y / length} : Yaw{};
}

// The first direction that the path has; else where the point path leads; else x.
Yaw FirstDirection(const Forecast& forecast, int k) {
  for (int i = 0; i < forecast.steps(); ++i) {
    const Vec3 tangent = PathTangent(forecast, k, i);
    if (Moves(forecast, k, i, tangent)) return Along(tangent);
  }
  return Along(forecast.point(forecast.steps() - 1) - forecast.point(0));
}

}  // namespace

Vec3 PathTangent(const Forecast& forecast, int k, int i) {
  const Vec3 d = forecast.mean(k, std::min(i + kReach, forecast.steps() - 1)) -
                 forecast.mean(k, std::max(i - kReach, 0));
  return {d.x, d.y, 0};
}

PathDirection DirectionAt(const Forecast& forecast, int k, int i) {
  const Vec3 d = PathTangent(forecast, k, i);
  const double sum = HorizontalSquare(d) + StandstillSquare(forecast, k, i);
  if (!(sum > 0)) return {};
  return {(d.x * d.x - d.y * d.y) / sum, 2 * d.x * d.y / sum};
}

PathFrames::PathFrames(const Forecast& forecast, int k)
    : forecast_(forecast), k_(k), yaw_(FirstDirection(forecast, k)) {}

Yaw PathFrames::Next() {
  const Vec3 tangent = PathTangent(forecast_, k_, i_);
  if (Moves(forecast_, k_, i_++, tangent)) {
    const Yaw next = Along(tangent);
    const bool back = next.cos * yaw_.cos + next.sin * yaw_.sin < 0;
    yaw_ = back ? Yaw{-next.cos, -next.sin} : next;
  }
  return yaw_;
}

Cov3 WayCov(const Forecast& forecast, int k, int i) {
  const double narrow = forecast.weight(k), sum = forecast.way_weight(k);
  if (!forecast.paired_modes || !(sum > 0)) return forecast.cov(k, i);
  return forecast.cov(k, i) * (narrow / sum) +
         forecast.cov(k + forecast.modes() / 2, i) * (1 - narrow / sum);
}

void LayResidual(const Forecast& forecast, int k, const ResidualLibrary& library, std::uint64_t n,
                 std::span<Vec3> path) {
  PathFrames frames(forecast, k);
  const float* z = library.residual.data() + n * path.size() * 3;
  for (std::size_t i = 0; i < path.size(); ++i, z += 3) {
    const int step = static_cast<int>(i);
    const Yaw to_world = frames.Next();
    const Cholesky3 l(to_world.Inverse().Rotate(WayCov(forecast, k, step)));
    path[i] = forecast.mean(k, step) + to_world * l.Apply({z[0], z[1], z[2]});
  }
}

void WhitenResidual(const Forecast& forecast, int k, std::span<const Vec3> path,
                    std::span<Vec3> residual) {
  PathFrames frames(forecast, k);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int step = static_cast<int>(i);
    const Yaw to_path = frames.Next().Inverse();
    const Cholesky3 l(to_path.Rotate(WayCov(forecast, k, step)));
    residual[i] = l.Whiten(to_path * (path[i] - forecast.mean(k, step)));
  }
}

}  // namespace aerocast
