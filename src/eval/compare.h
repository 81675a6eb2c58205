// SPDX-License-Identifier: BSD-3-Clause
//
// Is one model better than another? The difference of a metric on the same windows, with an
// interval that resamples flights (or configurations) for both models at once, so that what makes a
// flight hard for both cancels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aerocast/result.h"
#include "src/eval/bootstrap.h"
#include "src/eval/summary.h"

namespace aerocast {

struct Comparison {
  std::string a, b;  // model names
  Metric metric = Metric::kAde;
  GroupKind kind = GroupKind::kAll;
  double mean_a = 0, mean_b = 0, difference = 0;  // a - b
  double low = 0, high = 0;                       // NaN: fewer than two clusters
  int clusters = 0;

  // The interval leaves zero out.
  bool significant() const { return low > 0 || high < 0; }
};

// A model's flights for a comparison; only id, category, configuration, windows and metric cells
// are looked at.
struct ComparedModel {
  const std::string& name;
  const TallyLayout& layout;
  std::span<const FlightTally> flights;
};

// `kind` is kAll (window average) or kCategoryAverage. Refuses, naming the flight: flights that
// only one model has, other numbers of windows, windows that only one of them could score, and a
// metric that one of them does not have.
Result<Comparison> Compare(const ComparedModel& a, const ComparedModel& b, Metric metric,
                           GroupKind kind, const BootstrapOptions& options);

// Every model against the one with the smallest `metric` over all windows. Pairs that cannot be
// compared are left out.
std::vector<Comparison> CompareWithBest(std::span<const ModelEvaluation> models, Metric metric,
                                        const BootstrapOptions& options);

}  // namespace aerocast
