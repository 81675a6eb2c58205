// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "aerocast/version.h"
#include "src/base/file.h"

namespace aerocast {
namespace {

Error Refuse(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Status CheckComparable(const Protocol& a, const Protocol& b) {
  if (a.corpus_hash != b.corpus_hash) {
    return Refuse(
        fmt::format("the results are of different corpora ({}, {})", a.corpus_name, b.corpus_name));
  }
  if (a.split != b.split || a.side != b.side || a.split_hash != b.split_hash) {
    return Refuse(fmt::format("the results are of different splits ({} {}, {} {})", a.split, a.side,
                              b.split, b.side));
  }
  if (a.min_z != b.min_z) return Refuse("the results have different airborne filters (min_z)");
  WindowSpec wa = a.window, wb = b.window;
  wa.history_s = wb.history_s = 0;  // how far back a model looks is part of the model
  if (!(wa == wb)) return Refuse("the results have different window specifications");
  if (a.subset != b.subset) return Refuse("the results are of different subsets of the windows");
  if (!(a.disturbance == b.disturbance)) {
    return Refuse(fmt::format("the results are of flights disturbed in different ways ({}; {})",
                              Describe(a.disturbance), Describe(b.disturbance)));
  }
  return {};
}

Result<const ModelResult*> FindRows(const Results& results, std::string_view name) {
  const ModelResult* model = results.Find(name);
  if (model == nullptr) {
    std::string known;
    for (const ModelResult& m : results.models) known += (known.empty() ? "" : ", ") + m.model.name;
    return Error{ErrorCode::kNotFound, fmt::format("no model {} in the results: {}", name, known)};
  }
  if (model->per_flight.empty()) {
    return Refuse(fmt::format("the results of {} have no per-flight rows", name));
  }
  return model;
}

}  // namespace

const ModelResult* Results::Find(std::string_view model) const {
  for (const ModelResult& m : models) {
    if (m.model.name == model) return &m;
  }
  return nullptr;
}

bool Results::Has(GroupKind kind) const {
  return std::any_of(models.begin(), models.end(), [=](const ModelResult& model) {
    return std::any_of(model.groups.begin(), model.groups.end(),
                       [=](const GroupSummary& group) { return group.kind == kind; });
  });
}

Results MakeResults(Protocol protocol, const EvaluationOptions& options,
                    const BootstrapOptions& bootstrap, std::vector<ModelEvaluation> evaluations,
                    std::vector<ExampleWindow> examples, bool per_flight) {
  protocol.window = options.window;
  protocol.draws = options.draws, protocol.path_samples = options.path_samples;
  protocol.seed = options.seed;
  protocol.interval_level = bootstrap.level, protocol.replicates = bootstrap.replicates;
  protocol.cluster = bootstrap.cluster;
  Results results{fmt::format("aerocast {}", Version()), protocol, {}, std::move(examples), {}, {}};
  results.comparisons = CompareWithBest(evaluations, Metric::kAde, bootstrap);
  for (ModelEvaluation& e : evaluations) {
    ModelResult model;
    model.model = e.model, model.seconds = e.seconds;
    model.groups = Summarize(e, bootstrap);
    for (const FlightTally& f : e.flights) {
      for (std::size_t q = 0; q < kQualityCount; ++q) model.quality[q] += f.tally.quality[q];
      model.missing += f.tally.missing;
    }
    if (!model.groups.empty()) {
      results.protocol.flights = model.groups[0].flights;
      results.protocol.windows = model.groups[0].windows;
      results.protocol.clusters = model.groups[0].clusters;
    }
    if (per_flight) model.per_flight = std::move(e.flights);
    for (FlightTally& f : model.per_flight) f.tally.detail.clear();
    results.models.push_back(std::move(model));
  }
  return results;
}

Status WriteResults(const Results& results, const std::filesystem::path& file) {
  return WriteFileAtomically(file, ResultsToJson(results));
}

Result<Results> ReadResults(const std::filesystem::path& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  return ResultsFromJson(*text, file.string());
}

Result<Comparison> CompareResults(const Results& a, std::string_view model_a, const Results& b,
                                  std::string_view model_b, Metric metric, GroupKind kind,
                                  const BootstrapOptions& options) {
  if (const Status same = CheckComparable(a.protocol, b.protocol); !same.ok()) return same.error();
  const auto ma = FindRows(a, model_a), mb = FindRows(b, model_b);
  if (!ma.ok()) return ma.error();
  if (!mb.ok()) return mb.error();
  const TallyLayout layout(a.protocol.window);
  return Compare({(*ma)->model.name, layout, (*ma)->per_flight},
                 {(*mb)->model.name, layout, (*mb)->per_flight}, metric, kind, options);
}

}  // namespace aerocast
