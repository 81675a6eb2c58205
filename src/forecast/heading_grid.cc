// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/heading_grid.h"

#include <algorithm>
#include <cmath>

#include "src/data/resample.h"

namespace aerocast {
namespace {

// A window that hardly moves is not magnified into one that does.
constexpr double kLeastStep = 1e-3;  // metres

double RmsStep(std::span<const Vec3> grid) {
  double sum = 0;
  for (std::size_t i = 1; i < grid.size(); ++i) sum += SquaredNorm(grid[i] - grid[i - 1]);
  return std::sqrt(sum / static_cast<double>(grid.size() - 1));
}

}  // namespace

GridWorkspace::GridWorkspace(const GridSpec& spec, std::size_t output_count)
    : grid(static_cast<std::size_t>(spec.steps) + 1),
      present(grid.size()),
      features(static_cast<std::size_t>(spec.features())),
      outputs(output_count) {}

bool ReadHeadingGrid(const History& history, const GridSpec& spec, GridWorkspace& workspace,
                     GridFrame& frame) {
  const std::vector<Vec3>& grid = workspace.grid;
  const int known =
      ResampleHistory(history, spec.dt_s, spec.max_gap_s, workspace.grid, workspace.present);
  if (known != static_cast<int>(grid.size())) return false;
  frame.frame = FitHeading(history.samples);
  frame.scale = spec.per_speed ? std::max({RmsStep(grid), history.noise_m, kLeastStep}) : 1.0;
  const Yaw to_frame = frame.frame.to_world.Inverse();
  for (std::size_t i = 1; i < grid.size(); ++i) {
    const Vec3 d = (1 / frame.scale) * (to_frame * (grid[i] - grid[i - 1]));
    float* out = &workspace.features[3 * (i - 1)];
    out[0] = static_cast<float>(d.x), out[1] = static_cast<float>(d.y);
    out[2] = static_cast<float>(d.z);
  }
  return true;
}

}  // namespace aerocast
