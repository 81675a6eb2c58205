// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

namespace aerocast {
namespace {

// A flight's cluster by name. The mark in front keeps a configuration apart from a flight that
// happens to be called the same.
std::string ClusterKey(const Recording& flight, bool by_configuration) {
  const bool by_id = !by_configuration || flight.configuration.empty();
  return by_id ? "flight " + flight.id : "configuration " + flight.configuration;
}

// Number of clusters that have a window; windows are ordered by cluster.
std::size_t CountClusters(std::span<const FitWindow> windows) {
  std::size_t clusters = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    clusters += i == 0 || windows[i].cluster != windows[i - 1].cluster;
  }
  return clusters;
}

// As many steps of dt as fit in the history and in 2 s. Errors: fewer than two.
Result<GridSpec> MakeGrid(const WindowSpec& spec, bool per_speed) {
  // A point beyond the history would never be recorded, so the number is rounded down; the little
  // that is added makes 2 s / 0.1 s twenty.
  const double history_s = std::min(spec.history_s, kLongestHistoryS);
  GridSpec grid;
  grid.steps = static_cast<int>(std::floor(history_s / spec.dt_s + 1e-9));
  if (grid.steps < 2) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("ridge and knn need two steps of history within {} s, and dt is {} s",
                             history_s, spec.dt_s)};
  }
  grid.dt_s = spec.dt_s, grid.max_gap_s = spec.max_gap_s, grid.per_speed = per_speed;
  return grid;
}

// Those with no point of the grid masked.
std::vector<FitWindow> WithFullGrid(std::span<const FitWindow> windows, const GridSpec& grid) {
  std::vector<FitWindow> full;
  GridWorkspace scratch(grid, 0);
  GridFrame frame;
  for (const FitWindow& w : windows) {
    const History history = HistoryAt(*w.flight, w.t0, GridHistoryS(grid));
    if (ReadHeadingGrid(history, grid, scratch, frame)) full.push_back(w);
  }
  return full;
}

FitExamples MakeExamples(std::span<const FitWindow> windows, const GridSpec& grid,
                         const WindowSpec& spec) {
  FitExamples examples;
  std::vector<Vec3> targets(static_cast<std::size_t>(spec.horizon_steps()));
  examples.inputs = static_cast<std::size_t>(grid.features());
  examples.outputs = 3 * targets.size();
  GridWorkspace scratch(grid, 0);
  for (const FitWindow& w : windows) {
    GridFrame frame;
    const History history = HistoryAt(*w.flight, w.t0, GridHistoryS(grid));
    if (!ReadHeadingGrid(history, grid, scratch, frame)) continue;
    TargetsAt(*w.flight, w.t0, spec, targets);
    examples.cluster.push_back(w.cluster);
    examples.scale.push_back(frame.scale);
    examples.x.insert(examples.x.end(), scratch.features.begin(), scratch.features.end());
    for (const Vec3& target : targets) {
      const Vec3 q = (1 / frame.scale) * frame.frame.ToFrame(target);
      for (const double c : {q.x, q.y, q.z}) examples.y.push_back(static_cast<float>(c));
    }
  }
  return examples;
}

}  // namespace

std::vector<FitWindow> GatherWindows(std::span<const FlightWindows> train,
                                     const FitOptions& options) {
  std::vector<FitWindow> windows;
  std::unordered_map<std::string, std::uint32_t> clusters;
  std::vector<Vec3> targets(static_cast<std::size_t>(options.spec.horizon_steps()));
  for (const FlightWindows& f : train) {
    const std::string key = ClusterKey(*f.flight, options.by_configuration);
    const auto next = static_cast<std::uint32_t>(clusters.size());
    const std::uint32_t cluster = clusters.try_emplace(key, next).first->second;
    for (const std::uint32_t t0 : f.t0) {
      if (!TargetsAt(*f.flight, t0, options.spec, targets)) continue;
      windows.push_back({f.flight, cluster, t0});
    }
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const FitWindow& a, const FitWindow& b) { return a.cluster < b.cluster; });
  return windows;
}

std::vector<FitWindow> Thin(std::span<const FitWindow> windows, std::size_t most) {
  most = std::max<std::size_t>(most, 1);
  const std::size_t n = std::max<std::size_t>((windows.size() + most - 1) / most, 1);
  std::vector<FitWindow> some;
  for (std::size_t i = 0; i < windows.size(); i += n) some.push_back(windows[i]);
  return some;
}

Result<GridWindows> ReadGridWindows(std::string_view name, std::span<const FitWindow> windows,
                                    bool per_speed, const FitOptions& options) {
  const Result<GridSpec> grid = MakeGrid(options.spec, per_speed);
  if (!grid.ok()) return grid.error();
  GridWindows read;
  read.grid = *grid;
  read.windows = WithFullGrid(windows, read.grid);
  const std::vector<FitWindow> some = Thin(read.windows, options.library_windows);
  if (some.size() < kFewestWindows || CountClusters(some) < 2) {
    return TooFewWindows(name, some, options);
  }
  read.examples = MakeExamples(some, read.grid, options.spec);
  return read;
}

Error TooFewWindows(std::string_view name, std::span<const FitWindow> windows,
                    const FitOptions& options) {
  const char* cluster = options.by_configuration ? "configuration" : "flight";
  const std::size_t clusters = CountClusters(windows);
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} cannot be fitted: {} usable windows of {} {}{}, at least {} windows (of "
                      "two {}s for ridge and knn) are needed",
                      name, windows.size(), clusters, cluster, clusters == 1 ? "" : "s",
                      kFewestWindows, cluster)};
}

}  // namespace aerocast
