// SPDX-License-Identifier: BSD-3-Clause
//
// What the fits of src/eval/fit_*.cc share.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/sha256.h"
#include "src/eval/fit_spread.h"
#include "src/eval/fit_windows.h"

namespace aerocast {

// Hashes every fitted number under the forecaster's name and spec.
class FitFingerprint {
 public:
  FitFingerprint(std::string_view name, const WindowSpec& spec) {
    hash_.Update(name);
    const std::array<double, 6> numbers = {spec.history_s,
                                           spec.min_history_s,
                                           spec.horizon_s,
                                           spec.dt_s,
                                           static_cast<double>(spec.stride),
                                           spec.max_gap_s};
    Add(std::span<const double>(numbers));
  }
  template <typename T>
  void Add(std::span<const T> numbers) {
    hash_.Update(numbers);
  }
  void Add(const Spread& spread) {
    Add(std::span<const SpreadStep>(spread.table));
    hash_.Update(&spread.residual_correlation, sizeof(double));
  }
  std::string Hex() { return hash_.Hex(); }

 private:
  Sha256 hash_;
};

// Name, history, dt and steps; the history is at most what the forecaster looks at.
ForecasterInfo MakeFitInfo(std::string_view name, const WindowSpec& spec);

std::vector<std::unique_ptr<Workspace>> MakeWorkspaces(const Forecaster& forecaster, int threads);

// Of a forecaster that needs no fit, one per mode; ridge and knn want ctrv's for their fallback.
std::vector<Spread> FitKinematicSpread(std::string_view name, std::span<const FitWindow> windows,
                                       const FitOptions& options);

// `windows` are all of GatherWindows. Errors: fewer than kFewestWindows with a full grid, or all of
// them of one cluster.
Result<std::unique_ptr<Forecaster>> FitRidge(std::span<const FitWindow> windows,
                                             const FitOptions& options);
Result<std::unique_ptr<Forecaster>> FitKnn(std::span<const FitWindow> windows,
                                           const FitOptions& options);

}  // namespace aerocast
