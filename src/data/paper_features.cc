// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/paper_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/check.h"

namespace aerocast {

void PaperFeatures(std::span<const Vec3> grid, double dt_s, double lambda_m,
                   std::span<float> tokens, const Vec3* leaked_next) {
  AEROCAST_CHECK(grid.size() >= 2 && tokens.size() == 6 * (grid.size() - 1));
  // exp(-k^2 / (2 * 0.5^2)) at 0, 1, 2 steps back; further back it is below 1e-7.
  const std::array<double, 3> kernel = {1, std::exp(-2.0), std::exp(-8.0)};
  const std::size_t steps = grid.size() - 1;
  const auto raw_velocity = [&](std::size_t t) {  // at grid[t], t >= 1
    if (t < steps) return (grid[t + 1] - grid[t - 1]) * (0.5 / dt_s);
    if (leaked_next != nullptr) return (*leaked_next - grid[t - 1]) * (0.5 / dt_s);
    return (grid[t] - grid[t - 1]) * (1 / dt_s);
  };
  for (std::size_t t = 1; t <= steps; ++t) {
    Vec3 v;
    double weight = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(kernel.size(), t); ++k) {
      v += kernel[k] * raw_velocity(t - k);
      weight += kernel[k];
    }
    v *= 1 / weight;
    const Vec3 d = (grid[t] - grid[t - 1]) * (1 / lambda_m);
    const std::array<double, 6> token = {d.x, d.y, d.z, v.x, v.y, v.z};
    std::transform(token.begin(), token.end(),
                   tokens.begin() + 6 * static_cast<std::ptrdiff_t>(t - 1),
                   [](double x) { return static_cast<float>(x); });
  }
}

void PaperTargets(const Vec3& last, std::span<const Vec3> targets, double lambda_m,
                  std::span<float> displacements) {
  AEROCAST_CHECK(displacements.size() == 3 * targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Vec3 d = (targets[i] - (i == 0 ? last : targets[i - 1])) * (1 / lambda_m);
    displacements[3 * i] = static_cast<float>(d.x);
    displacements[3 * i + 1] = static_cast<float>(d.y);
    displacements[3 * i + 2] = static_cast<float>(d.z);
  }
}

}  // namespace aerocast
