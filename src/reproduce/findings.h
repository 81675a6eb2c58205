// SPDX-License-Identifier: BSD-3-Clause
//
// What the stages of `aerocast reproduce` left behind, and how the report looks things up in it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/eval/curves.h"
#include "src/report/results.h"
#include "src/reproduce/plan.h"

namespace aerocast {

// By the name of the stage without its folder ("evaluate/"); what was not made is absent.
struct Findings {
  PlanOptions options;
  std::map<std::string, Results> evaluations;
  std::map<std::string, TrainingCurve> curves;                  // by network, as trained
  std::map<std::string, nlohmann::json> benches, descriptions;  // `bench` and `describe` of a model
  std::map<std::string, nlohmann::json> corpora;                // `stats` of "paper", "balanced"
  nlohmann::json attention;                                     // of a Transformer; null: absent

  const Results* Find(const std::string& evaluation) const;
};

// Looks up a metric of a model in a group; NaN where there is none.
MetricEstimate MetricOf(const Results& results, const std::string& model, Metric metric,
                        GroupKind kind = GroupKind::kAll, const std::string& name = "");

// The model's mean error so many seconds ahead; NaN where there is none.
double ErrorAt(const Results& results, const std::string& model, int second);

// Share of the windows in which a simpler method had to answer; NaN where the model is absent.
double FallbackShare(const Results& results, const std::string& model);

// p50 and p99 of one forecast at a time by one thread, milliseconds; NaN where it was not measured.
std::pair<double, double> WarmLatencyMs(const nlohmann::json& bench);

// A training is flat when the last quarter of its validations, which are spread evenly over the
// run, gained less than this of its best validation NLL.
inline constexpr double kFlatNats = 0.05;
// What the last quarter gained, nats; infinite when nothing was validated before it.
double GainedAtTheEnd(const TrainingCurve& curve);
// The same of a network by name; infinite when its training is not known.
double GainedAtTheEnd(const Findings& findings, const std::string& network);

// "quarter-gru-s2"
std::string QuarterName(const std::string& network, int seed);

// Mean of a metric over the seeds of a quarter-width network, and their range; NaN: none.
struct OverSeeds {
  double mean, least, most;
  int seeds = 0;
};
OverSeeds SeedsOf(const Findings& findings, const std::string& network, Metric metric,
                  GroupKind kind = GroupKind::kAll, const std::string& name = "",
                  const std::string& evaluation = "quarter");
// "0.25 [0.24, 0.27]": the mean over the seeds, the least and the most of them.
std::string Text(const OverSeeds& seeds);
// "0.247 ±0.031"
std::string Text(const MetricEstimate& estimate);

// Ours, and the paper's in brackets where it has one.
std::string Beside(const std::string& ours, double paper, int digits = 3);

// "24 s", "1 m", "20 m 05 s", "1 h 30 m"
std::string DurationText(double seconds);

// What the paper calls a network or an ablation; other names stay.
std::string TitleOf(const std::string& model);
// Whether it is none of the paper's, in whatever size: bundled, or classical.
bool IsOther(const std::string& model);
std::vector<std::string> OtherModels(const Results& results);

// The networks whose picture stands for all: a quarter of the width where it was trained, seed 1.
struct Shown {
  const Results* results = nullptr;
  const Results* raw = nullptr;
  std::string which;                                          // in words, for captions
  std::vector<std::pair<std::string, std::string>> networks;  // model, title
};
Shown ShownNetworks(const Findings& findings);

}  // namespace aerocast
