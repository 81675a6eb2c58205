// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "src/report/table.h"
#include "src/reproduce/paper_values.h"
#include "src/reproduce/plot.h"
#include "src/reproduce/sections.h"

namespace aerocast {
namespace {

using Cells = std::vector<std::string>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Runs of one budget do not end at the same millisecond.
constexpr double kAbout = 1.02;

std::string GainText(const TrainingCurve& curve) {
  const double gained = GainedAtTheEnd(curve);
  return std::isfinite(gained) ? fmt::format("{:.3f}", gained) : "–";
}

// The networks of one family: names as trained, grouped by what the paper calls them.
std::vector<std::pair<std::string, Cells>> FamilyOf(const Findings& findings, bool quarter) {
  std::vector<std::pair<std::string, Cells>> family;
  for (const PaperNetwork& n : PaperNetworks()) {
    Cells names;
    for (int seed = 1; quarter && seed <= findings.options.seeds; ++seed) {
      names.push_back(QuarterName(n.name, seed));
    }
    if (!quarter) names.push_back(n.name);
    std::erase_if(names, [&](const std::string& name) {
      const auto curve = findings.curves.find(name);
      return curve == findings.curves.end() || curve->second.points.empty();
    });
    if (!names.empty()) family.emplace_back(n.title, std::move(names));
  }
  return family;
}

// The last validation before `most`, which counts windows or seconds; null: there is none.
template <typename Measure>
const CurvePoint* PointAt(const TrainingCurve& curve, double most, const Measure& measure) {
  const CurvePoint* found = nullptr;
  for (const CurvePoint& p : curve.points) {
    if (measure(p) <= most) found = &p;
  }
  return found;
}

// "0.31 m, -5.20 (118,784 windows, 15 tokens)": validation ADE and NLL of the last validation
// before `most`, mean over the seeds, and what the first seed had seen.
template <typename Measure>
std::string ValidatedAt(const Findings& findings, const Cells& names, double most,
                        const Measure& measure) {
  double ade = 0, nll = 0;
  for (const std::string& name : names) {
    const CurvePoint* p = PointAt(findings.curves.at(name), most, measure);
    if (p == nullptr) return "–";
    ade += p->validation_ade_m, nll += p->validation_nll;
  }
  const auto n = static_cast<double>(names.size());
  const CurvePoint* first = PointAt(findings.curves.at(names.front()), most, measure);
  return fmt::format("{} m, {:.2f} ({} windows, {} tokens)", FormatNumber(ade / n), nll / n,
                     FormatCount(static_cast<long long>(first->windows)), first->history);
}

void AddEqualTable(const Findings& findings, bool quarter, Document& document) {
  const auto windows = [](const CurvePoint& p) { return static_cast<double>(p.windows); };
  const auto seconds = [](const CurvePoint& p) { return p.seconds; };
  const auto family = FamilyOf(findings, quarter);
  if (family.empty()) return;
  double most_windows = HUGE_VAL, most_seconds = 0;  // a run that ended early had its time too
  for (const auto& [title, names] : family) {
    for (const std::string& name : names) {
      const CurvePoint& last = findings.curves.at(name).points.back();
      most_windows = std::min(most_windows, windows(last));
      most_seconds = std::max(most_seconds, seconds(last));
    }
  }
  DocumentTable table;
  table.header = {quarter ? "(b) A quarter of the width, mean over seeds" : "(a) The paper's sizes",
                  fmt::format("at {} windows", FormatCount(std::llround(most_windows))),
                  "after " + DurationText(most_seconds)};
  for (const auto& [title, names] : family) {
    table.rows.push_back({title, ValidatedAt(findings, names, most_windows, windows),
                          ValidatedAt(findings, names, kAbout * most_seconds, seconds)});
  }
  document.Add(std::move(table));
}

Cells AblationRow(const Findings& findings, const Results& results, const std::string& name,
                  const std::string& title, const paper::AblationRow& row) {
  const auto curve = findings.curves.find(name);
  const double ece = MetricOf(results, name, Metric::kEceDisplacement).value;
  return {
      title,
      Beside(Text(MetricOf(results, name, Metric::kAde)), row.ade),
      Beside(Text(MetricOf(results, name, Metric::kFde)), row.fde),
      Beside(FormatNumber(MetricOf(results, name, Metric::kNllDisplacementLambda).value), row.nll),
      Beside(std::isfinite(ece) ? fmt::format("{:.4f}", ece) : "–", row.ece, 4),
      curve == findings.curves.end() || curve->second.points.empty()
          ? "–"
          : fmt::format("{:.1f}", curve->second.points.back().epochs)};
}

Cells AblationHeader() { return {"", "ADE, m", "FDE, m", "NLL, λ units", "ECE", "epochs"}; }

// What needs no training here, for comparison.
void AddOthers(const Findings& findings, const std::string& evaluation, DocumentTable& table) {
  const Results* results = findings.Find(evaluation);
  if (results == nullptr) return;
  constexpr paper::AblationRow kNoPaper{"", paper::kNone, paper::kNone, paper::kNone, paper::kNone};
  for (const std::string& name : OtherModels(*results)) {
    table.rows.push_back(AblationRow(findings, *results, name, name, kNoPaper));
  }
}

// What the verdicts are about where (b) has it.
void AddQuarterAblations(const Findings& findings, Document& document) {
  const Results *ablated = findings.Find("quarter-ablations"),
                *whole = findings.Find("quarter-raw");
  if (ablated == nullptr || whole == nullptr) return;
  document.AddHeading(
      3, fmt::format("At a quarter of the width, {} each, one seed",
                     DurationText(findings.options.quarter_share * findings.options.budget_s)));
  DocumentTable table;
  table.header = AblationHeader();
  for (const paper::AblationRow& row : paper::kAblations) {
    const bool full = row.network == "paper";
    const std::string name =
        full ? QuarterName("paper", 1) : fmt::format("quarter-{}", row.network);
    const Results& results = full ? *whole : *ablated;
    if (results.Find(name) == nullptr) continue;
    table.rows.push_back(AblationRow(findings, results, name, full ? "full" : TitleOf(name), row));
  }
  document.Add(std::move(table));
}

Cells ComplexityRow(const Findings& findings, const std::string& name,
                    const paper::ComplexityRow* paper) {
  const auto found = findings.descriptions.find(name);
  const double parameters = found == findings.descriptions.end()
                                ? kNan
                                : found->second.at("parameters").get<double>() / 1e6;
  const auto [p50, p99] = WarmLatencyMs(findings.benches.at(name));
  return {TitleOf(name),
          Beside(fmt::format("{:.2f} M", parameters), paper ? paper->parameters_m : kNan, 2),
          Beside(fmt::format("{:.1f}", 4 * parameters), paper ? paper->size_mb : kNan, 1),
          Beside(FormatNumber(p50), paper ? paper->latency_ms : kNan), FormatNumber(p99)};
}

}  // namespace

void AddConvergenceSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Convergence (Fig. 4), and what each training saw");
  if (findings.curves.empty()) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"Training",
                  "parameters",
                  "windows",
                  "epochs",
                  "windows/s",
                  "best validation NLL",
                  "gained in the last quarter",
                  "ended"};
  PlotPanel by_sizes{"the paper's sizes", "epochs", "validation NLL, λ units", {}, false, false};
  PlotPanel by_quarter{"a quarter of the width, seed 1", "epochs", "", {}, false, false};
  PlotPanel train{"training NLL, a quarter of the width, seed 1", "epochs", "", {}, false, false};
  for (const auto& [name, curve] : findings.curves) {
    if (curve.points.empty()) continue;
    const CurvePoint& last = curve.points.back();
    double best = HUGE_VAL;
    PlotSeries validation{TitleOf(name), {}, false, false, -1}, trained = validation;
    for (const CurvePoint& p : curve.points) {
      best = std::min(best, p.validation_nll);
      validation.points.emplace_back(p.epochs, p.validation_nll);
      trained.points.emplace_back(p.epochs, p.train_nll);
    }
    table.rows.push_back(
        {name, FormatCount(static_cast<long long>(curve.parameters)),
         FormatCount(static_cast<long long>(last.windows)), fmt::format("{:.1f}", last.epochs),
         FormatNumber(static_cast<double>(last.windows) / std::max(1.0, last.seconds)),
         fmt::format("{:.2f}", best), GainText(curve), curve.note.empty() ? "–" : curve.note});
    for (const PaperNetwork& n : PaperNetworks()) {
      if (name == n.name) by_sizes.series.push_back(validation);
      if (name != "quarter-" + n.name + "-s1") continue;
      validation.name = trained.name = n.title;
      by_quarter.series.push_back(validation);
      train.series.push_back(trained);
    }
  }
  table.notes = {
      fmt::format(
          "Flat means: the last quarter of the run gained less than {} nats (last column but one); "
          "others stand "
          "behind no verdict.",
          kFlatNats),
      "The rate cools down over the run, and that alone flattens its end: twice the time may still "
      "give more."};
  document.Add(Figure{"convergence",
                      "Validation and training NLL over the epochs, one seed of each network",
                      PlotSvg({by_sizes, by_quarter, train})});
  document.Add(std::move(table));
}

void AddEqualTrainingSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "At equal windows and equal time");
  if (findings.curves.empty()) return document.AddParagraph("Not made in this run.");
  document.AddParagraph(
      "ADE and NLL (λ units) on validation flights, at the last validation before the slowest "
      "network's number of windows, and at the end of the time that each of them had; in brackets "
      "what the network had seen by then, and of how many tokens it was learning. Schedules follow "
      "the whole run, so a network that is looked at early has not cooled down yet, and may still "
      "be learning from short histories.");
  AddEqualTable(findings, false, document);
  AddEqualTable(findings, true, document);
}

void AddAblationSection(const Findings& findings, Document& document) {
  document.AddHeading(
      2, fmt::format("Ablations (Table V), {} each",
                     DurationText(findings.options.ablation_share * findings.options.budget_s)));
  const Results* results = findings.Find("ablations");
  if (results == nullptr) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = AblationHeader();
  for (const paper::AblationRow& row : paper::kAblations) {
    if (row.network == "paper") {
      table.rows.push_back(
          AblationRow(findings, *results, kAblationFull, TitleOf(kAblationFull), row));
      if (const Results* sizes = findings.Find("sizes-raw")) {
        table.rows.push_back(AblationRow(findings, *sizes, "paper",
                                         "full, " + DurationText(findings.options.budget_s), row));
      }
      continue;
    }
    const std::string name(row.network);
    if (results->Find(name) == nullptr) continue;
    table.rows.push_back(AblationRow(findings, *results, name, TitleOf(name), row));
  }
  AddOthers(findings, "sizes-raw", table);
  table.notes = {
      "An ablation is compared with the first row, which was trained as long; the second is that "
      "of Table III.",
      "No mixture with σ ≥ 0.05 m can have an NLL below -8.98 in λ units, and no ECE exceeds "
      "0.7507: all of the paper's NLLs, and its 0.7883, are impossible."};
  document.Add(std::move(table));
  AddQuarterAblations(findings, document);
}

void AddComplexitySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Complexity and latency (Table VI)");
  if (findings.benches.empty()) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"", "parameters", "size in 32 bits, MB", "p50, ms", "p99, ms"};
  for (const paper::ComplexityRow& row : paper::kComplexity) {
    const std::string name(row.network);
    if (findings.benches.contains(name)) {
      table.rows.push_back(ComplexityRow(findings, name, &row));
    }
  }
  for (const auto& [name, bench] : findings.benches) {
    if (IsOther(name)) table.rows.push_back(ComplexityRow(findings, name, nullptr));
  }
  std::set<std::string> cpus;
  for (const auto& [name, bench] : findings.benches) cpus.insert(bench.value("cpu", "?"));
  table.notes = {
      fmt::format("Ours: one window at a time, from track to forecast, one thread of {}. The "
                  "paper's: a forward "
                  "pass on a GPU; its count of parameters is that of K = 3, to the digit, its 54.0 "
                  "MB are those of K = 5.",
                  fmt::join(cpus, " and of "))};
  document.Add(std::move(table));
}

}  // namespace aerocast
