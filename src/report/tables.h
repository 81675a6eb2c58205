// SPDX-License-Identifier: BSD-3-Clause
//
// The terminal tables of `evaluate`, `compare` and `stats`, as text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/eval/compare.h"
#include "src/eval/stats.h"
#include "src/report/results.h"

namespace aerocast {

// The metrics a terminal has room for; the results file has all.
std::vector<Metric> DefaultMetrics();

// One row per model, one column per metric, with intervals; all windows, or the category average.
// Under all windows, footnotes say what was left out (quality none, missing) and what fell back.
std::string MetricTable(const Results& results, GroupKind kind, std::span<const Metric> metrics);
// One row per category, source or group of categories; one column per model.
std::string GroupTable(const Results& results, Metric metric);
// One row per model: error, coverage at 90 % and radius at each whole second.
std::string HorizonTable(const Results& results);
// All of the above with headings: what `evaluate` prints.
std::string EvaluationReport(const Results& results);

std::string ComparisonTable(std::span<const Comparison> comparisons);

std::string StatsTable(const CorpusStats& stats);

}  // namespace aerocast
