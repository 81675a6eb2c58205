// SPDX-License-Identifier: BSD-3-Clause
//
// The results of an evaluation as one object, and as the JSON of docs/results_format.md: the
// contract with the report page, with `compare` and with other people's tools.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"
#include "src/eval/compare.h"
#include "src/eval/curves.h"
#include "src/eval/evaluator.h"
#include "src/eval/examples.h"
#include "src/eval/summary.h"
#include "src/sim/disturbance.h"

namespace aerocast {

// What was evaluated, how. Two results are comparable when corpus, split, window, subset and
// disturbance agree.
struct Protocol {
  std::string corpus_name, corpus_hash;
  std::int64_t corpus_flights = 0;
  std::optional<double> min_z;  // the airborne filter, if there is one
  std::string split = "none";   // flight | configuration | paper | none
  std::string side = "all";     // train | validation | calibration | test | all
  std::string split_hash;       // empty: none
  std::int64_t flights = 0, windows = 0;
  WindowSpec window;
  Disturbance disturbance;  // shift tests
  std::string subset;       // which of the windows, in words; empty: all
  int draws = 64, path_samples = 5;
  std::uint64_t seed = 1;
  double interval_level = 0.95;
  int replicates = 1000, clusters = 0;
  Cluster cluster = Cluster::kFlight;
};

struct ModelResult {
  SourceInfo model;
  std::array<std::int64_t, kQualityCount> quality{};
  std::int64_t missing = 0;
  double seconds = 0;
  std::vector<GroupSummary> groups;
  // Metric cells only (Tally::metric); empty when they were not asked for.
  std::vector<FlightTally> per_flight;
};

struct Results {
  std::string program;
  Protocol protocol;
  std::vector<ModelResult> models;
  std::vector<ExampleWindow> examples;
  std::vector<Comparison> comparisons;
  // How the models were trained, as far as it is known; the caller's to fill. A curve belongs to
  // the model of its name, if there is one.
  std::vector<TrainingCurve> curves;

  const ModelResult* Find(std::string_view model) const;
  bool Has(GroupKind kind) const;  // a group of this kind, for any model
};

// Summaries, intervals and comparisons of finished evaluations. Fills the counts, window, draws and
// interval of `protocol`; corpus and split are the caller's.
Results MakeResults(Protocol protocol, const EvaluationOptions& options,
                    const BootstrapOptions& bootstrap, std::vector<ModelEvaluation> evaluations,
                    std::vector<ExampleWindow> examples, bool per_flight);

std::string ResultsToJson(const Results& results);
// `name` stands for the file in messages, which also name the field.
Result<Results> ResultsFromJson(std::string_view json, const std::string& name);

Status WriteResults(const Results& results, const std::filesystem::path& file);
Result<Results> ReadResults(const std::filesystem::path& file);

// Paired difference between a model of one result and a model of another (or of the same). Refuses
// results of another corpus, split, window, subset or disturbance, and results without per-flight
// rows.
Result<Comparison> CompareResults(const Results& a, std::string_view model_a, const Results& b,
                                  std::string_view model_b, Metric metric, GroupKind kind,
                                  const BootstrapOptions& options);

}  // namespace aerocast
