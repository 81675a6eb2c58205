// SPDX-License-Identifier: BSD-3-Clause
//
// The sections of the report; each reads what it needs and says in its text what was not there.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/eval/curves.h"
#include "src/report/results.h"
#include "src/reproduce/document.h"
#include "src/reproduce/plan.h"

namespace aerocast {

// What the stages left behind. Evaluations by the name of their stage without "evaluate/"; what was
// not made is absent.
struct Findings {
  PlanOptions options;
  std::map<std::string, Results> evaluations;
  std::map<std::string, TrainingCurve> curves;  // by network, as trained
  std::map<std::string, nlohmann::json> benches;
  nlohmann::json attention;  // of a Transformer; null: absent
  nlohmann::json corpus;     // statistics of the paper's corpus; null: absent

  const Results* Find(const std::string& evaluation) const;
};

// Looks up a metric of a model in a group; NaN where there is none.
MetricEstimate MetricOf(const Results& results, const std::string& model, Metric metric,
                        GroupKind kind = GroupKind::kAll, const std::string& name = "");

// p50 and p99 of one forecast at a time by one thread, milliseconds; NaN where it was not measured.
std::pair<double, double> WarmLatencyMs(const nlohmann::json& bench);

// Mean of a metric over the seeds of a quarter-width network, and their range; NaN: none.
struct OverSeeds {
  double mean, least, most;
  int seeds = 0;
};
OverSeeds SeedsOf(const Findings& findings, const std::string& network, Metric metric,
                  GroupKind kind = GroupKind::kAll, const std::string& name = "",
                  const std::string& evaluation = "quarter");

void AddCorpusSection(const Findings& findings, Document& document);
void AddComparisonSection(const Findings& findings, Document& document);
void AddCategorySection(const Findings& findings, Document& document);
void AddHorizonSection(const Findings& findings, Document& document);
void AddConvergenceSection(const Findings& findings, Document& document);
void AddAblationSection(const Findings& findings, Document& document);
void AddComplexitySection(const Findings& findings, Document& document);
void AddExamplesSection(const Findings& findings, Document& document);
void AddCalibrationSection(const Findings& findings, Document& document);
void AddShiftSection(const Findings& findings, Document& document);
// The paper's untested hypothesis: does early history matter before manoeuvres?
void AddHistorySection(const Findings& findings, Document& document);
void AddContradictionsSection(Document& document);

}  // namespace aerocast
