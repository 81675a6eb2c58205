// SPDX-License-Identifier: BSD-3-Clause
//
// An evaluation as tables and curves show it: for groups of flights, every metric with its
// interval, errors per step, coverage and PIT per horizon.
//
// Groups, in this order: all windows; the average over categories (each of the nine that is there
// counts once); every category, those outside the nine last; every source; every group of
// categories. Groups without windows are left out.
#pragma once

#include <string>
#include <vector>

#include "src/eval/bootstrap.h"
#include "src/eval/evaluator.h"

namespace aerocast {

enum class GroupKind { kAll, kCategoryAverage, kCategory, kSource, kGroup };
std::string_view GroupKindName(GroupKind kind);  // "all", "category_average", ...

// In all of these NaN means: does not exist.
struct MetricEstimate {
  double value, low, high;
};

struct HorizonSummary {
  double t_s = 0, error = 0, sharpness_90 = 0;
  std::vector<double> region, radial;                   // at kCoverageLevels; empty: none
  std::vector<double> conformal_level, conformal_ball;  // empty: none
  std::array<std::vector<double>, 3> pit;               // along, across, vertical; empty: none
};

struct GroupSummary {
  GroupKind kind = GroupKind::kAll;
  std::string name;
  std::int64_t flights = 0, windows = 0, scored = 0;
  int clusters = 0;
  std::array<MetricEstimate, kMetricCount> metrics{};
  std::vector<double> error;  // (S)
  std::vector<HorizonSummary> horizons;
  std::vector<double> calibration;  // empirical share at CalibrationLevel(i); empty: none
  std::vector<double> mode_use;     // shares, as many as modes were ever nearest; empty: none
};

std::vector<GroupSummary> Summarize(const ModelEvaluation& evaluation,
                                    const BootstrapOptions& options);

// The flights of a group as indices into `flights`; several lists for the category average, one per
// category, and one list otherwise. What Summarize and comparisons agree on.
struct FlightGroup {
  GroupKind kind;
  std::string name;
  std::vector<std::vector<std::size_t>> strata;
};
std::vector<FlightGroup> MakeGroups(std::span<const FlightTally> flights);

}  // namespace aerocast
