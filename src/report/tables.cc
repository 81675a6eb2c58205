// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "src/base/text.h"
#include "src/report/table.h"

namespace aerocast {
namespace {

const GroupSummary* Find(const ModelResult& model, GroupKind kind, std::string_view name) {
  for (const GroupSummary& g : model.groups) {
    if (g.kind == kind && (name.empty() || g.name == name)) return &g;
  }
  return nullptr;
}

std::string Cell(const GroupSummary* group, Metric metric) {
  if (group == nullptr) return "–";
  const MetricEstimate& e = group->metrics[static_cast<std::size_t>(metric)];
  return FormatEstimate(e.value, e.low, e.high);
}

// "ADE m": the unit belongs to the header; shares have none.
std::string Header(Metric metric) {
  const MetricInfo& info = Info(metric);
  return info.unit == "1" ? std::string(info.name) : fmt::format("{} {}", info.name, info.unit);
}

std::string Footnotes(const Results& results) {
  std::string notes;
  for (const ModelResult& m : results.models) {
    const auto count = [&](Quality q) { return m.quality[static_cast<std::size_t>(q)]; };
    const std::string& name = m.model.name;
    if (const auto n = count(Quality::kNone); n > 0) {
      notes += fmt::format("{}: no forecast in {} windows, not scored\n", name, FormatCount(n));
    }
    if (m.missing > 0) {
      notes += fmt::format("{}: {} windows missing, not scored\n", name, FormatCount(m.missing));
    }
    if (const auto n = count(Quality::kFallback); n > 0) {
      notes += fmt::format("{}: a simpler method answered in {} windows\n", name, FormatCount(n));
    }
  }
  return notes;
}

}  // namespace

std::vector<Metric> DefaultMetrics() {
  return {Metric::kAde,         Metric::kFde,          Metric::kMinAdeModes,
          Metric::kNllPosition, Metric::kCrpsPosition, Metric::kEnergy,
          Metric::kEcePosition, Metric::kCoverage90,   Metric::kSharpness90};
}

std::string MetricTable(const Results& results, GroupKind kind, std::span<const Metric> metrics) {
  TextTable table;
  table.AddColumn("model", TextTable::Align::kLeft);
  for (const Metric m : metrics) table.AddColumn(Header(m));
  for (const ModelResult& model : results.models) {
    std::vector<std::string> row = {model.model.name};
    for (const Metric m : metrics) row.push_back(Cell(Find(model, kind, ""), m));
    table.AddRow(std::move(row));
  }
  return table.Render() + (kind == GroupKind::kAll ? Footnotes(results) : "");
}

std::string GroupTable(const Results& results, Metric metric) {
  if (results.models.empty()) return "";
  TextTable table;
  table.AddColumn(Header(metric), TextTable::Align::kLeft);
  table.AddColumn("flights"), table.AddColumn("windows");
  for (const ModelResult& m : results.models) table.AddColumn(m.model.name);
  GroupKind before = GroupKind::kAll;
  for (const GroupSummary& g : results.models[0].groups) {
    if (g.kind != before && g.kind != GroupKind::kCategoryAverage) table.AddRule();
    before = g.kind;
    std::vector<std::string> row = {g.name, FormatCount(g.flights), FormatCount(g.windows)};
    for (const ModelResult& m : results.models)
      row.push_back(Cell(Find(m, g.kind, g.name), metric));
    table.AddRow(std::move(row));
  }
  return table.Render();
}

std::string HorizonTable(const Results& results) {
  TextTable table;
  table.AddColumn("model", TextTable::Align::kLeft), table.AddColumn("", TextTable::Align::kLeft);
  bool has_columns = false;
  for (const ModelResult& model : results.models) {
    const GroupSummary* all = Find(model, GroupKind::kAll, "");
    if (all == nullptr) continue;
    for (const HorizonSummary& h : all->horizons) {
      if (!has_columns) table.AddColumn(fmt::format("{} s", h.t_s));
    }
    has_columns = true;
    std::vector<std::string> error = {model.model.name, "error m"}, cover = {"", "cover 90"},
                             radius = {"", "radius 90 m"};
    for (const HorizonSummary& h : all->horizons) {
      const double none = std::numeric_limits<double>::quiet_NaN();
      error.push_back(FormatNumber(h.error)), radius.push_back(FormatNumber(h.sharpness_90));
      cover.push_back(FormatNumber(h.region.empty() ? none : h.region[2]));
    }
    table.AddRow(error), table.AddRow(cover), table.AddRow(radius);
  }
  return table.Render();
}

std::string EvaluationReport(const Results& results) {
  const Protocol& p = results.protocol;
  const std::vector<Metric> metrics = DefaultMetrics();
  return fmt::format(
      "{}, {} of split {}: {} flights, {} windows; ± is half of the {:.0f} % interval over {} "
      "{}s\n{}"
      "\nAll windows\n{}{}\nAt whole seconds, all windows\n{}"
      "\nBy category\n{}",
      Printable(p.corpus_name), p.side, p.split, FormatCount(p.flights), FormatCount(p.windows),
      100 * p.interval_level, p.clusters, ClusterName(p.cluster),
      (p.subset.empty() ? "" : fmt::format("only windows {}\n", p.subset)) +
          (p.disturbance.none() ? "" : fmt::format("disturbed: {}\n", Describe(p.disturbance))),
      MetricTable(results, GroupKind::kAll, metrics),
      results.Has(GroupKind::kCategoryAverage)
          ? "\nAverage of the categories\n" +
                MetricTable(results, GroupKind::kCategoryAverage, metrics)
          : "",
      HorizonTable(results), GroupTable(results, Metric::kAde));
}

std::string ComparisonTable(std::span<const Comparison> comparisons) {
  TextTable table;
  table.AddColumn("metric", TextTable::Align::kLeft),
      table.AddColumn("average", TextTable::Align::kLeft);
  table.AddColumn("a", TextTable::Align::kLeft), table.AddColumn("b", TextTable::Align::kLeft);
  table.AddColumn("a's"), table.AddColumn("b's"), table.AddColumn("a - b");
  table.AddColumn("low"), table.AddColumn("high"), table.AddColumn("clusters");
  table.AddColumn("", TextTable::Align::kLeft);
  for (const Comparison& c : comparisons) {
    const MetricInfo& info = Info(c.metric);
    std::string verdict;
    if (c.significant() && info.better == Better::kLower) {
      verdict = (c.difference < 0 ? c.a : c.b) + " is better";
    }
    table.AddRow({Header(c.metric), c.kind == GroupKind::kAll ? "windows" : "categories", c.a, c.b,
                  FormatNumber(c.mean_a), FormatNumber(c.mean_b), FormatNumber(c.difference),
                  FormatNumber(c.low), FormatNumber(c.high), FormatCount(c.clusters), verdict});
  }
  return table.Render();
}

std::string StatsTable(const CorpusStats& stats) {
  TextTable table;
  table.AddColumn("category", TextTable::Align::kLeft);
  for (const char* header :
       {"recordings", "windows", "mean speed m/s", "max speed m/s", "real", "synthetic"}) {
    table.AddColumn(header);
  }
  const auto add = [&](const StatsRow& r, double mean, double highest, std::string name) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const bool some = r.windows > 0;
    table.AddRow({std::move(name), FormatCount(r.recordings), FormatCount(r.windows),
                  FormatNumber(some ? mean : none), FormatNumber(some ? highest : none),
                  FormatPercent(some ? r.real_share() : none),
                  FormatPercent(some ? 1 - r.real_share() : none)});
  };
  for (const StatsRow& r : stats.categories) {
    add(r, r.mean_speed, r.highest_speed, r.name.empty() ? "no category" : r.name);
  }
  table.AddRule();
  add(stats.total, stats.total.mean_speed, stats.total.highest_speed, "total (by windows)");
  add(stats.total, stats.category_mean_speed, stats.category_mean_highest,
      "total (mean of categories)");
  return table.Render();
}

}  // namespace aerocast
