// SPDX-License-Identifier: BSD-3-Clause
//
// How wide a forecaster's errors are: measured on windows, then described by base and rate per step
// (src/forecast/spread.h). Internal to src/eval/fit_*.cc.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/eval/fit_windows.h"
#include "src/forecast/spread.h"

namespace aerocast {

// What a forecaster without any spread got wrong, in the heading frame.
struct PathErrors {
  std::size_t windows = 0, modes = 0, steps = 0;
  std::vector<float> weight;  // (N, K)
  std::vector<float> driver;  // (N, K), what the rate multiplies: speed, or knn's mismatch
  std::vector<float> noise;   // (N, K, S), variance that is there already
  std::vector<Vec3> error;    // (N, K, S), target - mean along, across, up

  PathErrors(std::size_t n, const ForecastShape& shape)
      : windows(n),
        modes(static_cast<std::size_t>(shape.modes)),
        steps(static_cast<std::size_t>(shape.steps)),
        weight(n * modes),
        driver(n * modes),
        noise(n * modes * steps),
        error(n * modes * steps) {}
};

// Forecasts a window without spread; `driver` has one entry per mode.
using BareForecast = std::function<void(const FitWindow& window, const History& history, int worker,
                                        Forecast& forecast, std::span<float> driver)>;

// `window` is handed on by reference into `windows`.
PathErrors MeasureErrors(std::span<const FitWindow> windows, const FitOptions& options,
                         const ForecasterInfo& info, const BareForecast& forecasting);

// Gaussian maximum likelihood of the mixture's spread, step by step, weights and means given.
// `tables` is one for all modes together, or one per mode.
std::vector<Spread> FitSpread(const PathErrors& e, std::size_t tables, int threads);

}  // namespace aerocast
