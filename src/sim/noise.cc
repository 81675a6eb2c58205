// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/sim/path.h"
#include "src/sim/tracking.h"

namespace aerocast {
namespace {

constexpr double kWanderTimeS = 5, kWanderLogStd = 0.3;

// Somewhere beside the scene, one half to two scene widths away from its edge.
Vec3 DrawSensor(std::span<const Vec3> truth, Rng& rng) {
  const Box box = BoundsOf({truth.begin(), truth.end()});
  const Vec3 centre = 0.5 * (box.low + box.high);
  const double radius = std::max(0.5, 0.5 * Norm(box.size()));
  const double angle = rng.Uniform(0, 2 * std::numbers::pi);
  const double away = radius * rng.Uniform(1.5, 3);
  return centre + away * Vec3{std::cos(angle), std::sin(angle), 0.3};
}

}  // namespace

std::vector<double> DrawNoiseShape(std::span<const Vec3> truth, Rng& rng) {
  if (truth.empty()) return {};
  const Vec3 sensor = DrawSensor(truth, rng);
  const double keep = std::exp(-kSimStepS / kWanderTimeS);
  const double fresh = kWanderLogStd * std::sqrt(1 - keep * keep);
  double wander = kWanderLogStd * rng.Normal(), square = 0;
  std::vector<double> shape(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    shape[i] = Norm(truth[i] - sensor) * std::exp(wander);
    square += shape[i] * shape[i];
    wander = keep * wander + fresh * rng.Normal();
  }
  const double to_unit = 1 / std::sqrt(square / static_cast<double>(truth.size()));
  for (double& m : shape) m *= to_unit;
  return shape;
}

std::vector<Vec3> Observe(std::span<const Vec3> truth, double level_m, Rng& rng) {
  std::vector<Vec3> observed(truth.begin(), truth.end());
  if (level_m == 0) return observed;
  const std::vector<double> shape = DrawNoiseShape(truth, rng);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    observed[i] += level_m * shape[i] * Vec3{x, y, z};
  }
  return observed;
}

}  // namespace aerocast
