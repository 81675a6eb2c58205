// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "src/report/results.h"
#include "src/report/tables.h"

namespace aerocast::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> files;
  std::vector<std::string> metrics = {"ade", "fde", "nll_position", "crps_position"};
  std::string base, json, cluster = "flight";
  BootstrapOptions bootstrap;
};

// The models of all files, each with the file it came from.
struct Entry {
  const Results* results;
  const ModelResult* model;
  std::string label;  // the model's name, with its file's where several files have such a model
};

std::vector<Entry> ListModels(const std::vector<std::string>& names,
                              const std::vector<Results>& files) {
  std::map<std::string, int> count;
  for (const Results& results : files) {
    for (const ModelResult& model : results.models) ++count[model.model.name];
  }
  std::vector<Entry> entries;
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (const ModelResult& model : files[f].models) {
      const std::string& name = model.model.name;
      entries.push_back({&files[f], &model, count[name] > 1 ? name + "@" + names[f] : name});
    }
  }
  return entries;
}

Result<std::vector<Metric>> ParseMetrics(const std::vector<std::string>& keys) {
  std::vector<Metric> metrics;
  for (const std::string& key : keys) {
    const std::optional<Metric> metric = MetricFromKey(key);
    if (!metric) {
      std::string known;
      for (const MetricInfo& info : MetricList()) known += fmt::format(" {}", info.key);
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--metric '{}' is unknown, expected one of{}", key, known)};
    }
    metrics.push_back(*metric);
  }
  return metrics;
}

double AdeOf(const Entry& entry) {
  const double ade = entry.model->groups.front().metrics[static_cast<int>(Metric::kAde)].value;
  return std::isfinite(ade) ? ade : INFINITY;
}

// The model everything is compared with: the one asked for, or the best in ADE.
Result<Entry> FindBase(const std::vector<Entry>& entries, const std::string& name) {
  if (name.empty()) {
    return *std::min_element(entries.begin(), entries.end(),
                             [](const Entry& a, const Entry& b) { return AdeOf(a) < AdeOf(b); });
  }
  std::string known;
  for (const Entry& entry : entries) {
    if (entry.label == name) return entry;
    known += " " + entry.label;
  }
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("--base '{}' is in none of the results, expected one of{}", name, known)};
}

Result<std::vector<Comparison>> CompareAll(const std::vector<Entry>& entries, const Entry& base,
                                           const std::vector<Metric>& metrics,
                                           const BootstrapOptions& options) {
  std::vector<Comparison> comparisons;
  for (const Metric metric : metrics) {
    for (const GroupKind kind : {GroupKind::kAll, GroupKind::kCategoryAverage}) {
      if (!base.results->Has(kind)) continue;  // other flights than the nine categories
      for (const Entry& entry : entries) {
        if (entry.model == base.model) continue;
        Result<Comparison> comparison =
            CompareResults(*entry.results, entry.model->model.name, *base.results,
                           base.model->model.name, metric, kind, options);
        if (!comparison.ok()) return comparison.error();
        comparison->a = entry.label, comparison->b = base.label;
        comparisons.push_back(std::move(*comparison));
      }
    }
  }
  return comparisons;
}

std::string ToJson(const std::vector<Comparison>& comparisons) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Comparison& c : comparisons) {
    rows.push_back({{"a", c.a},
                    {"b", c.b},
                    {"metric", Info(c.metric).key},
                    {"average", c.kind == GroupKind::kAll ? "windows" : "categories"},
                    {"mean_a", c.mean_a},
                    {"mean_b", c.mean_b},
                    {"difference", c.difference},
                    {"low", c.low},  // NaN is written as null
                    {"high", c.high},
                    {"clusters", c.clusters}});
  }
  return nlohmann::json{{"format", "aerocast-comparison"}, {"version", 1}, {"comparisons", rows}}
             .dump(1) +
         "\n";
}

Status RunCompare(CompareFlags& flags) {
  const Result<std::vector<Metric>> metrics = ParseMetrics(flags.metrics);
  if (!metrics.ok()) return metrics.error();
  const Result<Cluster> cluster = ClusterFromName(flags.cluster);
  if (!cluster.ok()) return cluster.error();
  flags.bootstrap.cluster = *cluster;

  std::vector<Results> files;
  for (const std::string& file : flags.files) {
    Result<Results> results = ReadResults(file);
    if (!results.ok()) return results.error();
    files.push_back(std::move(*results));
  }
  const std::vector<Entry> entries = ListModels(flags.files, files);
  if (entries.size() < 2) {
    return Error{ErrorCode::kInvalidArgument,
                 "nothing to compare: the results hold fewer than two models"};
  }
  const Result<Entry> base = FindBase(entries, flags.base);
  if (!base.ok()) return base.error();
  const Result<std::vector<Comparison>> comparisons =
      CompareAll(entries, *base, *metrics, flags.bootstrap);
  if (!comparisons.ok()) return comparisons.error();
  if (flags.json != "-") fmt::print("{}", ComparisonTable(*comparisons));
  return flags.json.empty() ? Status() : WriteOutput(flags.json, ToJson(*comparisons));
}

}  // namespace

Run AddCompare(CLI::App& verb) {
  auto flags = std::make_shared<CompareFlags>();
  verb.add_option("results", flags->files, "Results that 'aerocast evaluate --json' wrote")
      ->required();
  verb.add_option("--base", flags->base,
                  "Compare with this model, or model@file (default: the best in ADE)");
  verb.add_option("--metric", flags->metrics, "Metrics, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--cluster", flags->cluster, "Resample by flight or configuration")
      ->capture_default_str();
  verb.add_option("--replicates", flags->bootstrap.replicates, "Bootstrap replicates")
      ->check(CLI::Range(100, 100000))
      ->capture_default_str();
  verb.add_option("--seed", flags->bootstrap.seed, "Seed of the bootstrap")->capture_default_str();
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Example:\n  aerocast evaluate corpus/nanobench --json a.json\n"
      "  aerocast compare a.json --base knn --metric ade,crps_position");
  return [flags] { return RunCompare(*flags); };
}

}  // namespace aerocast::cli
