// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/ridge.h"

#include <algorithm>

#include "src/forecast/kinematic.h"

namespace aerocast {

void ApplyRidge(std::span<const double> weights, std::span<const float> x, std::span<double> y) {
  const std::size_t outputs = y.size();
  const std::span<const double> constant = weights.last(outputs);
  std::copy(constant.begin(), constant.end(), y.begin());
  for (std::size_t f = 0; f < x.size(); ++f) {
    const double xf = x[f];
    const double* row = &weights[f * outputs];
    for (std::size_t j = 0; j < outputs; ++j) y[j] += xf * row[j];
  }
}

std::unique_ptr<Workspace> RidgeForecaster::DoMakeWorkspace(int) const {
  return std::make_unique<GridWorkspace>(params_.grid,
                                         3 * static_cast<std::size_t>(info().shape.steps));
}

Quality RidgeForecaster::DoPredict(const History& history, Workspace& workspace,
                                   Forecast& forecast) const noexcept {
  auto& scratch = static_cast<GridWorkspace&>(workspace);
  GridFrame grid;
  if (!ReadHeadingGrid(history, params_.grid, scratch, grid)) {
    ForecastKinematic(Kinematics::kCtrv, params_.fallback, history, forecast);
    return Quality::kFallback;
  }
  ApplyRidge(params_.weights, scratch.features, scratch.outputs);
  for (int i = 0; i < forecast.steps(); ++i) {
    const double* q = &scratch.outputs[3 * static_cast<std::size_t>(i)];
    forecast.point(i) = grid.frame.ToWorld(grid.scale * Vec3{q[0], q[1], q[2]});
  }
  WriteSingleMode(params_.spread, LookAt(history), forecast);
  return Quality::kOk;
}

}  // namespace aerocast
