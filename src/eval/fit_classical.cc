// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_classical.h"

#include <algorithm>
#include <string>

#include "src/base/parallel.h"
#include "src/base/text.h"
#include "src/eval/fit_internal.h"
#include "src/forecast/make_classical.h"

namespace aerocast {

ForecasterInfo MakeFitInfo(std::string_view name, const WindowSpec& spec) {
  ForecasterInfo info;
  info.name = name;
  info.history_s = std::min(spec.history_s, LongestHistoryS(name));
  info.dt_s = spec.dt_s;
  info.shape.steps = spec.horizon_steps();
  return info;
}

std::vector<std::unique_ptr<Workspace>> MakeWorkspaces(const Forecaster& forecaster, int threads) {
  std::vector<std::unique_ptr<Workspace>> workspaces(
      static_cast<std::size_t>(ThreadCount(threads)));
  for (auto& workspace : workspaces) workspace = forecaster.MakeWorkspace();
  return workspaces;
}

std::vector<Spread> FitKinematicSpread(std::string_view name, std::span<const FitWindow> windows,
                                       const FitOptions& options) {
  const ForecasterInfo info = MakeFitInfo(name, options.spec);
  std::vector<Spread> none(GenericSpreads(name).size(), NoiseOnlySpread(info.shape.steps));
  const auto bare = *MakeClassical(name, info, none);
  const auto workspaces = MakeWorkspaces(*bare, options.threads);
  const auto forecasting = [&](const FitWindow&, const History& history, int worker,
                               Forecast& forecast, std::span<float>) {
    bare->Predict(history, *workspaces[static_cast<std::size_t>(worker)], forecast);
  };
  const PathErrors errors =
      MeasureErrors(Thin(windows, options.spread_windows), options, bare->info(), forecasting);
  return FitSpread(errors, none.size(), options.threads);
}

namespace {

Result<std::unique_ptr<Forecaster>> FitKinematic(std::string_view name,
                                                 std::span<const FitWindow> windows,
                                                 const FitOptions& options) {
  if (windows.size() < kFewestWindows) return TooFewWindows(name, windows, options);
  std::vector<Spread> spread = FitKinematicSpread(name, windows, options);
  FitFingerprint fingerprint(name, options.spec);
  for (const Spread& s : spread) fingerprint.Add(s);
  ForecasterInfo info = MakeFitInfo(name, options.spec);
  info.fingerprint = fingerprint.Hex();
  return MakeClassical(name, std::move(info), std::move(spread));
}

}  // namespace

std::vector<std::string_view> AllForecasterNames() {
  std::vector<std::string_view> names = ClassicalNames();
  names.insert(names.end(), {"ridge", "knn"});
  return names;
}

Result<std::unique_ptr<Forecaster>> FitClassical(std::string_view name,
                                                 std::span<const FlightWindows> train,
                                                 const FitOptions& options) {
  const std::vector<std::string_view> names = AllForecasterNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return Error{ErrorCode::kInvalidArgument, "no forecaster is called '" + std::string(name) +
                                                  "'; known are " + JoinNames(names)};
  }
  if (const Status valid = Validate(options.spec); !valid.ok()) return valid.error();
  const std::vector<FitWindow> windows = GatherWindows(train, options);
  if (name == "ridge") return FitRidge(windows, options);
  if (name == "knn") return FitKnn(windows, options);
  return FitKinematic(name, windows, options);
}

}  // namespace aerocast
