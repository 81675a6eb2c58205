// SPDX-License-Identifier: BSD-3-Clause
//
// The windows that forecasters are fitted on, and what ridge and knn learn from them. Internal to
// src/eval/fit_*.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "aerocast/result.h"
#include "src/data/windows.h"
#include "src/eval/fit_classical.h"
#include "src/forecast/heading_grid.h"

namespace aerocast {

inline constexpr std::size_t kFewestWindows = 100;
inline constexpr double kLongestHistoryS = 2.0;  // of ridge and knn

struct FitWindow {
  const Recording* flight;
  std::uint32_t cluster;  // windows of one cluster are left out together
  std::uint32_t t0;
};

// The windows whose targets are recorded, cluster by cluster. A cluster is a flight, or all flights
// of a configuration where options.by_configuration is set; they are numbered from 0 in order of
// first appearance.
std::vector<FitWindow> GatherWindows(std::span<const FlightWindows> train,
                                     const FitOptions& options);

// Every n-th window, n the least that keeps within `most`.
std::vector<FitWindow> Thin(std::span<const FitWindow> windows, std::size_t most);

// How far back the oldest point of the grid lies.
inline double GridHistoryS(const GridSpec& grid) { return grid.steps * grid.dt_s; }

// Windows on the grid, in the heading frame, divided by their scale.
struct FitExamples {
  std::size_t inputs = 0, outputs = 0;
  std::vector<std::uint32_t> cluster;  // (N), ascending
  std::vector<double> scale;           // (N)
  std::vector<float> x;                // (N, inputs)
  std::vector<float> y;                // (N, outputs)

  std::size_t size() const { return cluster.size(); }
  std::span<const float> input(std::size_t n) const {
    return std::span(x).subspan(n * inputs, inputs);
  }
  std::span<const float> output(std::size_t n) const {
    return std::span(y).subspan(n * outputs, outputs);
  }
};

// What ridge and knn are fitted on.
struct GridWindows {
  GridSpec grid;                   // as many steps of dt as fit in the history and in 2 s
  std::vector<FitWindow> windows;  // that have every point of the grid, so can be answered
  FitExamples examples;            // of at most options.library_windows of them
};

// `windows` are ordered by cluster. Errors: fewer than two steps in the grid, fewer than
// kFewestWindows examples, or all of them of one cluster.
Result<GridWindows> ReadGridWindows(std::string_view name, std::span<const FitWindow> windows,
                                    bool per_speed, const FitOptions& options);

// "ridge cannot be fitted: 40 windows of 1 flight ..."; `windows` are those the method can use.
Error TooFewWindows(std::string_view name, std::span<const FitWindow> windows,
                    const FitOptions& options);

}  // namespace aerocast
