// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/roughness.h"

#include <algorithm>
#include <cmath>

#include "src/data/plus_features.h"

namespace aerocast {
namespace {

constexpr double kLeast = 1e-3;
constexpr double kVarianceOfDifference = 3 * 6;  // of x - 2 y + z in three axes, per unit of noise

}  // namespace

bool MeasureRoughness(std::span<const Vec3> grid, std::span<const std::uint8_t> present,
                      double noise_m, Roughness& roughness) {
  const std::size_t points = std::min<std::size_t>(kRoughnessPoints, grid.size());
  grid = grid.last(points), present = present.last(points);
  const double step = MeanStep(grid, present);
  if (!(step > noise_m) || !(step > 0)) return false;  // nothing but noise
  for (std::size_t n = 0; n < kRoughnessLags.size(); ++n) {
    const auto lag = static_cast<std::size_t>(kRoughnessLags[n]);
    double sum = 0;
    int count = 0;
    for (std::size_t i = 2 * lag; i < points; ++i) {
      if (present[i] == 0 || present[i - lag] == 0 || present[i - 2 * lag] == 0) continue;
      sum += SquaredNorm(grid[i] - 2 * grid[i - lag] + grid[i - 2 * lag]);
      ++count;
    }
    if (count == 0) return false;
    const double explained = kVarianceOfDifference * noise_m * noise_m;
    const double rough = std::sqrt(std::max(sum / count - explained, 0.0));
    roughness[n] = std::log10(std::max(rough / (static_cast<double>(lag) * step), kLeast));
  }
  return true;
}

double RougherBy(const Roughness& roughness, const Roughness& mean, const Roughness& sigma) {
  double sum = 0;
  for (std::size_t n = 0; n < roughness.size(); ++n) {
    const double above = std::max((roughness[n] - mean[n]) / sigma[n], 0.0);
    sum += above * above;
  }
  return std::sqrt(sum);
}

}  // namespace aerocast
