// SPDX-License-Identifier: BSD-3-Clause
//
// A few windows to draw pictures of: what was seen, what was flown, what every model said.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/data/windows.h"
#include "src/eval/forecast_source.h"

namespace aerocast {

inline constexpr double kLeastExampleWeight = 0.02;  // lighter modes are not drawn

struct ExampleMode {
  double weight = 0;
  std::vector<Vec3> mean;  // one per step
};

// Where the radii of an example come from.
enum class RegionKind {
  kNone,       // the model states no distribution
  kConformal,  // the model's own conformal 90 % balls
  kDraws       // 90 % of draws from the mixture
};
std::string_view RegionKindName(RegionKind kind);  // "none", "conformal", "draws"

struct ExampleForecast {
  std::string model;
  Quality quality = Quality::kNone;
  std::vector<Vec3> point;         // one per step; empty when the quality is none
  std::vector<ExampleMode> modes;  // heaviest first, of at least kLeastExampleWeight
  RegionKind region = RegionKind::kNone;
  std::vector<double> radius_90;  // around the point path, metres, one per step; or empty
};

// All lengths are rounded to 0.1 mm.
struct ExampleWindow {
  std::string flight, category;
  TimeNs t0_ns = 0;
  std::vector<Vec3> history, target;
  std::vector<ExampleForecast> forecasts;
};

// One window from the middle of the first flight of each category, at most `count`.
std::vector<ExampleWindow> MakeExamples(std::span<const ForecastSource* const> sources,
                                        std::span<const FlightWindows> flights,
                                        const WindowSpec& window, int count);

}  // namespace aerocast
