// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/shapes.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace aerocast {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDegree = kPi / 180;

// The real set-points run at constant angular rate; a pilot would rather hold speed. Both occur.
bool ConstantRate(Rng& rng) { return rng.Chance(0.7); }

}  // namespace

const std::array<ShapeKind, 9> kShapeKinds = {{{"circle", MakeCircle, 25 * kDegree},
                                               {"oval", MakeOval, 20 * kDegree},
                                               {"figure-8", MakeFigure8, 20 * kDegree},
                                               {"helix", MakeHelix, 8 * kDegree},
                                               {"trefoil", MakeTrefoil, 15 * kDegree},
                                               {"lissajous", MakeLissajous, 20 * kDegree},
                                               {"staircase", MakeStaircase, 0},
                                               {"star", MakeStar, 20 * kDegree},
                                               {"random", MakeRandom, 0}}};

Path MakeCircle(Rng& rng, double) {
  const double r = rng.Uniform(0.5, 1.5);
  return ClosedCurve([=](double a) { return Vec3{r * std::cos(a), r * std::sin(a), 0}; }, true);
}

Path MakeOval(Rng& rng, double) {
  const double major = rng.Uniform(0.8, 1.8), minor = major * rng.Uniform(0.3, 0.75);
  return ClosedCurve(
      [=](double a) {
        return Vec3{major * std::cos(a), minor * std::sin(a), 0};
      },
      ConstantRate(rng));
}

// Lemniscate of Gerono; the real one has width = 1.
Path MakeFigure8(Rng& rng, double) {
  const double scale = rng.Uniform(0.8, 1.7), width = rng.Uniform(0.7, 1.4);
  return ClosedCurve(
      [=](double a) {
        return Vec3{scale * std::sin(a), scale * width * std::sin(a) * std::cos(a), 0};
      },
      ConstantRate(rng));
}

// A circle that climbs evenly for `turns` turns and comes down again in as many.
Path MakeHelix(Rng& rng, double) {
  const double r = rng.Uniform(0.5, 1.4), climb = rng.Uniform(0.6, 1.1);
  const int turns = 3 + static_cast<int>(rng.Below(5));
  return ClosedCurve(
      [=](double a) {
        const double turn = a / (2 * kPi);
        const double up = turn < turns ? turn / turns : 2 - turn / turns;
        return Vec3{r * std::cos(a), r * std::sin(a), climb * (up - 0.5)};
      },
      true, 2 * turns, 256);
}

Path MakeTrefoil(Rng& rng, double) {
  const double s = rng.Uniform(0.7, 1.4) / 3, z_amp = rng.Uniform(0.05, 0.25);
  const double loop = rng.Uniform(1.6, 2.4);  // 2 in the real flights: how far the loops cross
  return ClosedCurve(
      [=](double a) {
        return Vec3{s * (std::sin(a) + loop * std::sin(2 * a)),
                    s * (std::cos(a) - loop * std::cos(2 * a)), -z_amp * std::sin(3 * a)};
      },
      ConstantRate(rng));
}

Path MakeLissajous(Rng& rng, double) {
  static constexpr std::pair<int, int> kRatios[] = {{3, 2}, {2, 3}, {3, 4}, {4, 3},
                                                    {1, 3}, {3, 1}, {5, 4}, {5, 3}};
  const auto [fx, fy] = kRatios[rng.Below(std::size(kRatios))];
  const double ax = rng.Uniform(0.5, 1.4), ay = rng.Uniform(0.5, 1.4);
  const double phase = rng.Uniform(0.15, 0.85) * kPi;
  const double az = rng.Chance(0.5) ? 0 : rng.Uniform(0.05, 0.3), z_phase = rng.Uniform(0, 2 * kPi);
  const int fz = 1 + static_cast<int>(rng.Below(2));
  return ClosedCurve(
      [=](double a) {
        return Vec3{ax * std::sin(fx * a + phase), ay * std::sin(fy * a),
                    az * std::sin(fz * a + z_phase)};
      },
      ConstantRate(rng), 1, 2048);
}

// Landing to landing: along, then up, wait; at the top the same way down, and again.
Path MakeStaircase(Rng& rng, double length_m) {
  const int steps = 2 + static_cast<int>(rng.Below(4));
  const double tread = rng.Uniform(0.3, 0.8), rise = rng.Uniform(0.5, 1.0) / steps;
  const double hold = rng.Chance(0.3) ? 0 : rng.Uniform(0.1, 2.0);
  const double corner_hold = rng.Chance(0.7) ? 0 : rng.Uniform(0.1, 1.0);
  const bool sloped = rng.Chance(0.25);  // tread and riser in one slanted leg
  std::vector<Vec3> points = {{0, 0, 0}};
  std::vector<double> holds = {hold};
  double length = 0;
  for (int direction = 1; length < length_m; direction = -direction) {
    for (int step = 0; step < steps; ++step) {
      // Going down mirrors going up: riser first, so that the same stairs are walked.
      Vec3 corner = points.back();
      (direction > 0 ? corner.x : corner.z) += direction > 0 ? tread : -rise;
      const Vec3 landing = points.back() + direction * Vec3{tread, 0, rise};
      if (!sloped) points.push_back(corner), holds.push_back(corner_hold);
      points.push_back(landing), holds.push_back(hold);
      length += sloped ? std::hypot(tread, rise) : tread + rise;
    }
  }
  return Polyline(points, false, holds);
}

Path MakeStar(Rng& rng, double) {
  static constexpr std::pair<int, int> kStars[] = {{5, 2}, {5, 2}, {7, 2}, {7, 3}, {8, 3}, {9, 4}};
  const auto [points, skip] = kStars[rng.Below(std::size(kStars))];
  const double r = rng.Uniform(0.6, 1.5);
  std::vector<Vec3> vertices;
  for (int i = 0; i < points; ++i) {
    const double a = 2 * kPi * ((i * skip) % points) / points;
    vertices.push_back({r * std::cos(a), r * std::sin(a), 0});
  }
  return Polyline(vertices, true);
}

// Waypoints drawn evenly from a box, not too near the one before, some of them waited at.
Path MakeRandom(Rng& rng, double length_m) {
  const Vec3 half{rng.Uniform(0.9, 1.9), rng.Uniform(0.8, 1.5), rng.Uniform(0.2, 0.55)};
  const double least_leg = rng.Uniform(0.3, 0.9);
  const double wait_share = rng.Chance(0.3) ? 0 : rng.Uniform(0.1, 1.0);
  const double longest_wait = rng.Uniform(0.2, 1.5);
  std::vector<Vec3> points = {{0, 0, 0}};
  std::vector<double> holds = {0};
  for (double length = 0; length < length_m;) {
    const Vec3 next{rng.Uniform(-half.x, half.x), rng.Uniform(-half.y, half.y),
                    rng.Uniform(-half.z, half.z)};
    const double leg = Norm(next - points.back());
    if (leg < least_leg) continue;
    length += leg;
    points.push_back(next);
    holds.push_back(rng.Chance(wait_share) ? rng.Uniform(0, longest_wait) : 0);
  }
  return Polyline(points, false, holds);
}

}  // namespace aerocast
