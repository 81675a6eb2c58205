// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/report/table.h"

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

const Results* Findings::Find(const std::string& evaluation) const {
  const auto found = evaluations.find(evaluation);
  return found == evaluations.end() ? nullptr : &found->second;
}

MetricEstimate MetricOf(const Results& results, const std::string& model, Metric metric,
                        GroupKind kind, const std::string& name) {
  if (const ModelResult* found = results.Find(model)) {
    for (const GroupSummary& group : found->groups) {
      if (group.kind == kind && (name.empty() || group.name == name)) {
        return group.metrics[static_cast<std::size_t>(metric)];
      }
    }
  }
  return {kNan, kNan, kNan};
}

double ErrorAt(const Results& results, const std::string& model, int second) {
  const ModelResult* found = results.Find(model);
  if (found == nullptr || found->groups.empty()) return kNan;
  for (const HorizonSummary& h : found->groups.front().horizons) {
    if (std::abs(h.t_s - second) < 1e-6) return h.error;
  }
  return kNan;
}

double FallbackShare(const Results& results, const std::string& model) {
  const ModelResult* found = results.Find(model);
  if (found == nullptr) return kNan;
  std::int64_t all = 0;
  for (const std::int64_t n : found->quality) all += n;
  const std::int64_t fallbacks = found->quality[static_cast<std::size_t>(Quality::kFallback)];
  return all > 0 ? static_cast<double>(fallbacks) / static_cast<double>(all) : kNan;
}

std::pair<double, double> WarmLatencyMs(const nlohmann::json& bench) {
  for (const auto& row : bench.at("latency")) {
    if (row.at("condition") != "warm" || row.at("threads") != 1) continue;
    const auto& latency = row.at("latency");
    return {1e3 * latency.at("p50_s").get<double>(), 1e3 * latency.at("p99_s").get<double>()};
  }
  return {kNan, kNan};
}

double GainedAtTheEnd(const TrainingCurve& curve) {
  const std::size_t last = std::max<std::size_t>(1, curve.points.size() / 4);
  double best = HUGE_VAL, before = HUGE_VAL;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    best = std::min(best, curve.points[i].validation_nll);
    if (i + last < curve.points.size()) before = best;
  }
  return std::isfinite(before) ? before - best : HUGE_VAL;
}

double GainedAtTheEnd(const Findings& findings, const std::string& network) {
  const auto curve = findings.curves.find(network);
  return curve == findings.curves.end() ? HUGE_VAL : GainedAtTheEnd(curve->second);
}

std::string QuarterName(const std::string& network, int seed) {
  return fmt::format("quarter-{}-s{}", network, seed);
}

OverSeeds SeedsOf(const Findings& findings, const std::string& network, Metric metric,
                  GroupKind kind, const std::string& name, const std::string& evaluation) {
  OverSeeds over{0, HUGE_VAL, -HUGE_VAL, 0};
  const Results* results = findings.Find(evaluation);
  for (int seed = 1; results != nullptr && seed <= findings.options.seeds; ++seed) {
    const double value = MetricOf(*results, QuarterName(network, seed), metric, kind, name).value;
    if (!std::isfinite(value)) continue;
    over.mean += value, ++over.seeds;
    over.least = std::min(over.least, value), over.most = std::max(over.most, value);
  }
  over.mean = over.seeds > 0 ? over.mean / over.seeds : kNan;
  return over;
}

std::string Text(const OverSeeds& s) {
  if (s.seeds == 0) return FormatNumber(kNan);
  if (s.seeds == 1) return FormatNumber(s.mean);
  return fmt::format("{} [{}, {}]", FormatNumber(s.mean), FormatNumber(s.least),
                     FormatNumber(s.most));
}

std::string Text(const MetricEstimate& e) { return FormatEstimate(e.value, e.low, e.high); }

std::string Beside(const std::string& ours, double paper, int digits) {
  return std::isfinite(paper) ? fmt::format("{} ({:.{}f})", ours, paper, digits) : ours;
}

std::string DurationText(double seconds) {
  const auto s = static_cast<long long>(std::lround(std::max(0.0, seconds)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600)
    return s % 60 == 0 ? fmt::format("{} m", s / 60) : fmt::format("{} m {:02} s", s / 60, s % 60);
  return s % 3600 < 60 ? fmt::format("{} h", s / 3600)
                       : fmt::format("{} h {:02} m", s / 3600, s / 60 % 60);
}

std::string TitleOf(const std::string& model) {
  for (const PaperNetwork& n : PaperNetworks()) {
    if (n.name == model) return n.title;
  }
  for (const Ablation& a : Ablations()) {
    if (a.name == model || a.quarter_name() == model) return a.title;
  }
  if (model == kOtherFloor) return "AeroCast, σ ≥ 1 mm";
  if (model == kAblationFull) return "full, the ablations' budget";
  return model;
}

bool IsOther(const std::string& model) {
  return TitleOf(model) == model && !model.starts_with("quarter-");
}

std::vector<std::string> OtherModels(const Results& results) {
  std::vector<std::string> names;
  for (const ModelResult& m : results.models) {
    if (IsOther(m.model.name)) names.push_back(m.model.name);
  }
  return names;
}

Shown ShownNetworks(const Findings& findings) {
  Shown shown;
  const bool quarter = findings.Find("quarter") != nullptr;
  shown.results = findings.Find(quarter ? "quarter" : "sizes");
  shown.raw = findings.Find(quarter ? "quarter-raw" : "sizes-raw");
  shown.which =
      quarter ? "networks of a quarter of the width, seed 1" : "networks of the paper's sizes";
  if (shown.results == nullptr) return shown;
  for (const PaperNetwork& n : PaperNetworks()) {
    const std::string name = quarter ? QuarterName(n.name, 1) : n.name;
    if (shown.results->Find(name) != nullptr) shown.networks.emplace_back(name, n.title);
  }
  for (const std::string& name : OtherModels(*shown.results)) {
    if (name.starts_with("plus")) shown.networks.emplace_back(name, name);
  }
  return shown;
}

}  // namespace aerocast
