// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include "src/base/parallel.h"
#include "src/eval/fit_internal.h"
#include "src/forecast/kinematic.h"
#include "src/forecast/knn.h"

namespace aerocast {
namespace {

// first[c] ... first[c + 1] are the examples of cluster c.
std::vector<std::size_t> FirstOfClusters(const FitExamples& examples, std::size_t clusters) {
  std::vector<std::size_t> first(clusters + 1, 0);
  for (const std::size_t cluster : examples.cluster) ++first[cluster + 1];
  for (std::size_t c = 0; c < clusters; ++c) first[c + 1] += first[c];
  return first;
}

// Whether every cluster finds enough windows of others.
bool EnoughOthers(std::span<const std::size_t> first) {
  std::size_t largest = 0;
  for (std::size_t c = 0; c + 1 < first.size(); ++c) {
    largest = std::max(largest, first[c + 1] - first[c]);
  }
  return first.back() >= largest + kNeighbours;
}

// Spread and reach of the library, from windows that do not find their own cluster.
void FitKnnSpread(std::span<const FitWindow> windows, std::span<const std::size_t> first,
                  const FitOptions& options, const ForecasterInfo& info, KnnParams& params) {
  std::vector<GridWorkspace> scratch(static_cast<std::size_t>(ThreadCount(options.threads)),
                                     GridWorkspace(params.grid, 0));
  const Spread none = NoiseOnlySpread(info.shape.steps);
  std::vector<float> nearest(windows.size());
  const auto forecasting = [&](const FitWindow& w, const History& history, int worker,
                               Forecast& forecast, std::span<float> driver) {
    GridWorkspace& s = scratch[static_cast<std::size_t>(worker)];
    GridFrame grid;
    forecast.Reset(info.shape, history.id, history.samples.back().t_ns, info.dt_s);
    forecast.quality = Quality::kFallback;
    if (!ReadHeadingGrid(history, params.grid, s, grid)) return;
    forecast.quality = Quality::kOk;
    const Neighbours found =
        params.library.Search(s.features, first[w.cluster], first[w.cluster + 1]);
    WriteNeighbours(params.library, found, grid, none, LookAt(history), forecast);
    for (std::size_t k = 0; k < found.size(); ++k) {
      driver[k] = static_cast<float>(Mismatch(found[k], grid));
    }
    nearest[static_cast<std::size_t>(&w - windows.data())] = found[0].distance2;
  };
  const PathErrors errors = MeasureErrors(windows, options, info, forecasting);
  params.spread = FitSpread(errors, 1, options.threads)[0];
  params.far2 = *std::max_element(nearest.begin(), nearest.end());
}

WindowLibrary MakeLibrary(const FitExamples& examples) {
  WindowLibrary library(static_cast<int>(examples.inputs), static_cast<int>(examples.outputs));
  for (std::size_t n = 0; n < examples.size(); ++n) {
    library.Add(examples.input(n), examples.output(n));
  }
  return library;
}

}  // namespace

Result<std::unique_ptr<Forecaster>> FitKnn(std::span<const FitWindow> windows,
                                           const FitOptions& options) {
  const Result<GridWindows> read = ReadGridWindows("knn", windows, options.knn_per_speed, options);
  if (!read.ok()) return read.error();
  const std::vector<std::size_t> first =
      FirstOfClusters(read->examples, windows.back().cluster + 1);
  if (!EnoughOthers(first)) {
    return Error{ErrorCode::kInvalidArgument,
                 "knn cannot be fitted: without the largest " +
                     std::string(options.by_configuration ? "configuration" : "flight") +
                     ", fewer than " + std::to_string(kNeighbours) + " windows are left to search"};
  }
  KnnParams params;
  params.grid = read->grid;
  params.library = MakeLibrary(read->examples);
  ForecasterInfo info = MakeFitInfo("knn", options.spec);
  info.description = "futures of the 4 nearest train windows in the heading frame";
  info.history_s = GridHistoryS(params.grid);
  info.shape.modes = kNeighbours;
  params.fallback = FitKinematicSpread("ctrv", windows, options)[0];
  FitKnnSpread(Thin(read->windows, options.spread_windows), first, options, info, params);

  FitFingerprint fingerprint("knn", options.spec);
  fingerprint.Add(params.library.blocks()), fingerprint.Add(params.library.futures());
  fingerprint.Add(std::span<const double>(&params.far2, 1));
  fingerprint.Add(params.spread), fingerprint.Add(params.fallback);
  info.fingerprint = fingerprint.Hex();
  return std::unique_ptr<Forecaster>(
      std::make_unique<KnnForecaster>(std::move(info), std::move(params)));
}

}  // namespace aerocast
