// SPDX-License-Identifier: BSD-3-Clause
//
// Linear regression from the last two seconds to the next five, in the heading frame:
//
//   q_future / scale = W^T [displacements / scale, 1]
//
// with W fitted by ridge regression (src/eval/fit_classical.h).
#pragma once

#include "aerocast/forecaster.h"
#include "src/forecast/heading_grid.h"
#include "src/forecast/spread.h"

namespace aerocast {

struct RidgeParams {
  GridSpec grid;
  std::vector<double> weights;  // (3 T + 1, 3 S); the last row is the constant
  Spread spread;
  Spread fallback;  // of the ctrv path that answers when the grid has holes
};

class RidgeForecaster final : public Forecaster {
 public:
  RidgeForecaster(ForecasterInfo info, RidgeParams params)
      : Forecaster(std::move(info)), params_(std::move(params)) {}

 private:
  std::unique_ptr<Workspace> DoMakeWorkspace(int) const override;
  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept override;

  RidgeParams params_;
};

// y = W^T [x, 1]; y is (3 S).
void ApplyRidge(std::span<const double> weights, std::span<const float> x, std::span<double> y);

}  // namespace aerocast
