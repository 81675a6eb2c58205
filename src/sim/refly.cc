// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/refly.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"

namespace aerocast {
namespace {

constexpr std::size_t kHalf = kReflyFitSteps / 2;
constexpr double kFreshGusts = 0.5;                  // of those of a flight
constexpr double kLeastMean = 0.1, kMostMean = 1.5;  // m/s, of flights that the loop can have flown
constexpr double kLeastDrawn = 0.3, kMostDrawn = 1.2;  // m/s, as the arena's flights have
constexpr double kOwnSize = 0.5, kLeastSize = 0.6, kMostSize = 1.4;

struct Motion {
  Vec3 p, v, a;
};

// Of the least-squares parabola through the points around `at`; at the ends through the nearest.
Motion FitParabola(std::span<const Vec3> p, std::size_t at) {
  const std::size_t centre = std::clamp(at, kHalf, p.size() - 1 - kHalf);
  const double h = kSimStepS, n = static_cast<double>(kReflyFitSteps);
  double m2 = 0, m4 = 0;
  Vec3 s0, s1, s2;
  for (std::size_t i = centre - kHalf; i <= centre + kHalf; ++i) {
    const double u = (static_cast<double>(i) - static_cast<double>(centre)) * h;
    const Vec3 d = p[i] - p[centre];
    m2 += u * u, m4 += u * u * u * u;
    s0 += d, s1 += u * d, s2 += (u * u) * d;
  }
  const double determinant = n * m4 - m2 * m2;
  const Vec3 c0 = (1 / determinant) * (m4 * s0 - m2 * s2);
  const Vec3 c1 = (1 / m2) * s1;
  const Vec3 c2 = (1 / determinant) * (n * s2 - m2 * s0);
  const double u = (static_cast<double>(at) - static_cast<double>(centre)) * h;
  return {p[centre] + c0 + u * c1 + (u * u) * c2, c1 + (2 * u) * c2, 2 * c2};
}

double MeanSpeed(std::span<const Vec3> p) {
  double way = 0;
  for (std::size_t i = 10; i < p.size(); i += 10) way += Norm(p[i] - p[i - 10]);
  return way / (static_cast<double>((p.size() - 1) / 10) * 10 * kSimStepS);
}

}  // namespace

std::vector<Vec3> SetPointsOf(std::span<const Vec3> flown, const TrackingModel& model) {
  AEROCAST_CHECK(flown.size() >= kReflyFitSteps);
  const auto ahead = [](const AxisGains& gains, double x, double v, double a) {
    return x + (v + a / gains.kv) / gains.kp;
  };
  std::vector<Vec3> course(flown.size());
  for (std::size_t i = 0; i < flown.size(); ++i) {
    const Motion m = FitParabola(flown, i);
    course[i] = {ahead(model.horizontal, m.p.x, m.v.x, m.a.x),
                 ahead(model.horizontal, m.p.y, m.v.y, m.a.y),
                 ahead(model.vertical, m.p.z, m.v.z, m.a.z)};
  }
  return course;
}

std::vector<Vec3> Refly(std::span<const Vec3> flown, const ReflyOptions& options,
                        const TrackingModel& model, Rng& rng) {
  AEROCAST_CHECK(options.speed > 0 && options.size > 0);
  const std::vector<Vec3> course = SetPointsOf(flown, {});
  const Vec3 centre = flown[0];
  const auto last = static_cast<double>(course.size() - 1);
  const std::size_t samples = static_cast<std::size_t>(last / options.speed) + 1;
  const auto set_point = [&](std::size_t i) {
    const double at = std::min(static_cast<double>(i) * options.speed, last);
    const std::size_t k = std::min(static_cast<std::size_t>(at), course.size() - 2);
    const Vec3 p = course[k] + (at - static_cast<double>(k)) * (course[k + 1] - course[k]);
    return centre + options.size * (p - centre);
  };
  const std::vector<Vec3> gusts = DrawGusts(model, rng, samples);
  const Motion start = FitParabola(flown, 0);
  Tracker tracker(model, centre, (options.speed * options.size) * start.v);
  std::vector<Vec3> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    out[i] = tracker.position();
    tracker.Step(set_point(i), kFreshGusts * gusts[i]);
  }
  return out;
}

std::optional<std::vector<Vec3>> ReflySomehow(std::span<const Vec3> flown, Rng& rng) {
  if (flown.size() < kReflyFitSteps) return std::nullopt;
  const double mean = MeanSpeed(flown);
  if (mean < kLeastMean || mean > kMostMean) return std::nullopt;
  const TrackingModel model = DrawArenaTracking(rng);
  ReflyOptions options;
  const bool own = rng.Chance(kOwnSize);
  const double size = rng.LogUniform(kLeastSize, kMostSize);
  options.size = own ? 1 : size;
  options.speed = rng.Uniform(kLeastDrawn, kMostDrawn) / (mean * options.size);
  return Refly(flown, options, model, rng);
}

}  // namespace aerocast
