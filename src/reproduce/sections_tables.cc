// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/report/table.h"
#include "src/reproduce/paper_values.h"
#include "src/reproduce/sections.h"

namespace aerocast {
namespace {

using Cells = std::vector<std::string>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of both rows that are faithful to it: with the floor of σ it states, and with one that allows the
// NLL it prints.
const paper::ComparisonRow* PaperRow(const std::string& network) {
  for (const auto& row : paper::kComparison) {
    if (row.network == network || (row.network == "paper" && network == kOtherFloor)) return &row;
  }
  return nullptr;
}

constexpr Metric kAsPrinted[] = {Metric::kAde,
                                 Metric::kFde,
                                 Metric::kMinAdeSamples,
                                 Metric::kMinFdeSamples,
                                 Metric::kNllDisplacementLambda,
                                 Metric::kCrpsDisplacement,
                                 Metric::kEceDisplacement};
constexpr Metric kAsMeant[] = {Metric::kAde,         Metric::kFde,          Metric::kMinAdeModes,
                               Metric::kNllPosition, Metric::kCrpsPosition, Metric::kEcePosition,
                               Metric::kCoverage90,  Metric::kSharpness90};
bool HasInterval(Metric metric) { return metric == Metric::kAde || metric == Metric::kFde; }

std::array<double, 7> Printed(const paper::ComparisonRow* row) {
  if (row == nullptr) return {kNan, kNan, kNan, kNan, kNan, kNan, kNan};
  return {row->ade, row->fde, row->min_ade, row->min_fde, row->nll, row->crps, row->ece};
}

Cells PrintedHeader() {
  return {
      "",   "ADE, m", "FDE, m", "minADE@5, m", "minFDE@5, m", "NLL, λ units", "CRPS of steps, m",
      "ECE"};
}
Cells MeantHeader() {
  return {"",
          "ADE, m",
          "FDE, m",
          "minADE modes, m",
          "NLL, m",
          "CRPS, m",
          "ECE",
          "90 % region holds",
          "its radius, m"};
}

int PaperDigits(Metric metric) { return metric == Metric::kNllDisplacementLambda ? 2 : 3; }

DocumentTable PrintedTable(const Results& results, const std::vector<std::string>& models) {
  DocumentTable table;
  table.header = PrintedHeader();
  for (const std::string& model : models) {
    if (results.Find(model) == nullptr) continue;
    Cells row = {TitleOf(model)};
    const std::array<double, 7> paper = Printed(PaperRow(model));
    for (std::size_t i = 0; i < std::size(kAsPrinted); ++i) {
      const MetricEstimate e = MetricOf(results, model, kAsPrinted[i]);
      row.push_back(Beside(HasInterval(kAsPrinted[i]) ? Text(e) : FormatNumber(e.value), paper[i],
                           PaperDigits(kAsPrinted[i])));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

constexpr char kModesNote[] =
    "minADE modes: the best of the forecast's paths. The paper's components as trained are not "
    "meant as paths (its steps are independent), and none of them is one; calibrated, its family "
    "has one path.";

Cells MeantRow(const Results& results, const std::string& model, const std::string& title) {
  Cells row = {title};
  for (const Metric metric : kAsMeant) {
    const MetricEstimate e = MetricOf(results, model, metric);
    row.push_back(metric == Metric::kCoverage90 ? FormatPercent(e.value)
                  : HasInterval(metric)         ? Text(e)
                                                : FormatNumber(e.value));
  }
  return row;
}

DocumentTable MeantTable(const Results* raw, const Results* calibrated,
                         const std::vector<std::string>& models) {
  DocumentTable table;
  table.header = MeantHeader();
  const auto add = [&](const Results* results, const std::string& model, const std::string& title) {
    if (results == nullptr || results->Find(model) == nullptr) return;
    table.rows.push_back(MeantRow(*results, model, title));
  };
  for (const std::string& model : models) {
    const bool network = !IsOther(model);
    if (network) add(raw, model, TitleOf(model) + ", as trained");
    add(calibrated, model, network ? TitleOf(model) + ", calibrated" : TitleOf(model));
  }
  return table;
}

std::vector<std::string> CorpusRow(const nlohmann::json& ours, const paper::CategoryRow& row) {
  return {std::string(row.category),
          fmt::format("{} ({})", FormatCount(ours.at("windows")), FormatCount(row.windows)),
          Beside(fmt::format("{:.3f}", ours.at("mean_rms_speed").get<double>()), row.mean_speed, 2),
          Beside(fmt::format("{:.2f}", ours.at("max_speed").get<double>()), row.max_speed, 2),
          fmt::format("{} ({:.0f} %)", FormatPercent(ours.at("real_share")), row.real_percent)};
}

// The nine categories, and all together as the paper sums them up: speeds are means over
// categories.
DocumentTable CorpusTable(const nlohmann::json& stats) {
  DocumentTable table;
  table.header = {"Category", "windows", "mean RMS speed, m/s", "largest speed, m/s", "real"};
  double speed = 0, largest = 0;
  for (const paper::CategoryRow& row : paper::kCorpus) {
    for (const auto& ours : stats.at("categories")) {
      if (ours.at("category").get<std::string>() != row.category) continue;
      table.rows.push_back(CorpusRow(ours, row));
      speed += ours.at("mean_rms_speed").get<double>();
      largest += ours.at("max_speed").get<double>();
    }
  }
  nlohmann::json total = stats.at("total");
  const double n = std::max(1.0, static_cast<double>(table.rows.size()));
  total["mean_rms_speed"] = speed / n, total["max_speed"] = largest / n;
  table.rows.push_back(CorpusRow(total, paper::kCorpusTotal));
  table.notes = {
      "In brackets, here and below: the paper's value. Speeds of all: the mean over the "
      "categories, as in the paper."};
  return table;
}

// (b) in the metrics as the paper defines them: the five over their seeds, then the others.
DocumentTable QuarterPrintedTable(const Findings& findings, const Results& raw) {
  DocumentTable others = PrintedTable(raw, OtherModels(raw)), table;
  table.header = PrintedHeader();
  for (const PaperNetwork& n : PaperNetworks()) {
    Cells row = {n.title};
    const std::array<double, 7> paper = Printed(PaperRow(n.name));
    for (std::size_t i = 0; i < std::size(kAsPrinted); ++i) {
      const OverSeeds seeds =
          SeedsOf(findings, n.name, kAsPrinted[i], GroupKind::kAll, "", "quarter-raw");
      row.push_back(Beside(Text(seeds), paper[i], PaperDigits(kAsPrinted[i])));
    }
    table.rows.push_back(std::move(row));
  }
  table.rows.insert(table.rows.end(), others.rows.begin(), others.rows.end());
  return table;
}

DocumentTable QuarterMeantTable(const Findings& findings, const Results& calibrated) {
  DocumentTable table;
  table.header = MeantHeader();
  for (const PaperNetwork& n : PaperNetworks()) {
    for (const auto& [evaluation, how] :
         {std::pair{"quarter-raw", ", as trained"}, {"quarter", ", calibrated"}}) {
      Cells row = {n.title + how};
      for (const Metric metric : kAsMeant) {
        const OverSeeds seeds = SeedsOf(findings, n.name, metric, GroupKind::kAll, "", evaluation);
        row.push_back(metric == Metric::kCoverage90 ? FormatPercent(seeds.mean) : Text(seeds));
      }
      table.rows.push_back(std::move(row));
    }
  }
  for (const std::string& name : OtherModels(calibrated)) {
    table.rows.push_back(MeantRow(calibrated, name, name));
  }
  table.notes = {kModesNote};
  return table;
}

void AddQuarterComparison(const Findings& findings, Document& document) {
  const Results *quarter = findings.Find("quarter"), *raw = findings.Find("quarter-raw");
  if (quarter == nullptr || raw == nullptr) return;
  document.AddHeading(
      3, fmt::format("(b) A quarter of the width, {} each, {} {}",
                     DurationText(findings.options.quarter_share * findings.options.budget_s),
                     findings.options.seeds, findings.options.seeds == 1 ? "seed" : "seeds"));
  document.AddParagraph(
      "Mean over the seeds, in square brackets the least and the most of them; ± of the others as "
      "above. First the metrics as the paper defines them, as trained.");
  document.Add(QuarterPrintedTable(findings, *raw));
  document.AddParagraph("The same in positions, as trained and calibrated.");
  document.Add(QuarterMeantTable(findings, *quarter));
}

void AddSizesComparison(const Findings& findings, Document& document) {
  const Results *sizes = findings.Find("sizes"), *raw = findings.Find("sizes-raw");
  if (raw == nullptr) return;
  std::vector<std::string> all;
  for (const PaperNetwork& n : PaperNetworks()) all.push_back(n.name);
  all.emplace_back(kOtherFloor);
  const std::vector<std::string> others = OtherModels(*raw);
  all.insert(all.end(), others.begin(), others.end());
  document.AddHeading(
      3, fmt::format("(a) The paper's sizes, {} each", DurationText(findings.options.budget_s)));
  document.AddParagraph(
      "The metrics as the paper defines them, of the networks as trained; ± is half of the 95 % "
      "interval over flights.");
  DocumentTable table = PrintedTable(*raw, all);
  table.notes = {
      "NLL: no mixture with σ ≥ 0.05 m can be below 3 (ln 0.02 + 0.919) = -8.98 in λ units; the "
      "paper's -13.28 can not come from its own floor. ECE: with 30 values of z it cannot exceed "
      "0.7507, so positions-only at 0.788 is impossible, and 0.647 means σ twelve times too small.",
      "minADE@5 here draws five whole paths; a perfect model with σ = 0.05 m per step has 0.25 m, "
      "not 0.052.",
      "CRPS: the paper's formula divides by K, over which nothing is summed, and its GRU's exceeds "
      "its ADE. Here it is the score of a step's displacement, mean of the axes: another unit than "
      "the paper's, whose values are in brackets all the same."};
  document.Add(std::move(table));
  document.AddParagraph(
      "The same as a planner needs it: positions in metres, before and after calibration on "
      "flights of its own.");
  DocumentTable meant = MeantTable(raw, sizes, all);
  meant.notes = {kModesNote};
  document.Add(std::move(meant));
}

// ADE / FDE of a group, with the paper's of a category.
std::string GroupCell(double ade, double fde, const GroupSummary& group, std::size_t network) {
  std::string cell = fmt::format("{} / {}", FormatNumber(ade), FormatNumber(fde));
  for (const paper::PerCategoryRow& row : paper::kPerCategory) {
    if (group.kind != GroupKind::kCategory || row.category != group.name) continue;
    if (network < row.ade.size()) {
      cell += fmt::format(" ({:.3f} / {:.3f})", row.ade[network], row.fde[network]);
    }
  }
  return cell;
}

DocumentTable CategoryTable(const Findings& findings, const Results& results, bool quarter) {
  const std::vector<std::string> others = OtherModels(results);
  DocumentTable table;
  table.header = {"Windows of"};
  for (const PaperNetwork& n : PaperNetworks()) table.header.push_back(n.title);
  if (!quarter) table.header.push_back(TitleOf(kOtherFloor));
  table.header.insert(table.header.end(), others.begin(), others.end());
  for (const GroupSummary& group : results.models.front().groups) {
    Cells row = {group.name};
    const auto add = [&](const std::string& name, std::size_t network, bool seeds) {
      const auto value = [&](Metric metric) {
        return seeds ? SeedsOf(findings, name, metric, group.kind, group.name).mean
                     : MetricOf(results, name, metric, group.kind, group.name).value;
      };
      row.push_back(GroupCell(value(Metric::kAde), value(Metric::kFde), group, network));
    };
    for (std::size_t k = 0; k < PaperNetworks().size(); ++k) {
      add(PaperNetworks()[k].name, k, quarter);
    }
    if (!quarter) add(kOtherFloor, 0, false);
    for (const std::string& name : others) add(name, PaperNetworks().size(), false);
    table.rows.push_back(std::move(row));
  }
  return table;
}

// "0.25", the smallest in bold, and how often a simpler method answered where that is often.
std::string ShiftCell(const Results& results, const std::string& model, double best) {
  const double ade = MetricOf(results, model, Metric::kAde).value,
               fallbacks = FallbackShare(results, model);
  std::string cell = ade == best ? "**" + FormatNumber(ade) + "**" : FormatNumber(ade);
  if (fallbacks > 0.01) cell += fmt::format(" [{}]", FormatPercent(fallbacks));
  return cell;
}

Cells ShiftRow(const Results& results, const std::string& title,
               const std::vector<std::string>& models) {
  double best = HUGE_VAL;
  for (const std::string& model : models) {
    const double ade = MetricOf(results, model, Metric::kAde).value;
    if (std::isfinite(ade)) best = std::min(best, ade);
  }
  Cells row = {title};
  for (const std::string& model : models) row.push_back(ShiftCell(results, model, best));
  return row;
}

}  // namespace

void AddCorpusSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "The corpus (Table II)");
  if (findings.corpora.empty()) return document.AddParagraph("Not made in this run.");
  const std::pair<const char*, const char*> corpora[] = {
      {"paper", "Made to the paper's Table II"},
      {"balanced", "What everything here is trained and scored on"}};
  const bool real = !findings.options.real.empty();
  for (const auto& [name, title] : corpora) {
    const auto found = findings.corpora.find(name);
    if (found == findings.corpora.end()) continue;
    document.AddHeading(3, fmt::format("{} (`corpus/{}`)", title, name));
    DocumentTable table = CorpusTable(found->second);
    if (!real) {
      table.notes.emplace_back("No real flights were given (--real): all of these are generated.");
    } else if (std::string_view(name) == "paper") {
      table.notes.emplace_back(
          "The real shares differ because the public flights hold 19 copies, which are not counted "
          "twice here, and neither Random nor Staircase.");
    }
    document.Add(std::move(table));
  }
}

void AddComparisonSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Five networks (Table III)");
  AddSizesComparison(findings, document);
  AddQuarterComparison(findings, document);
}

void AddCategorySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "By category, source and group (Table IV)");
  for (const bool quarter : {false, true}) {
    const Results* results = findings.Find(quarter ? "quarter" : "sizes");
    if (results == nullptr || results->models.empty()) continue;
    document.AddHeading(3, quarter ? "(b) A quarter of the width: ADE / FDE, m, mean over seeds"
                                   : "(a) The paper's sizes: ADE / FDE, m");
    DocumentTable table = CategoryTable(findings, *results, quarter);
    if (!quarter) {
      table.notes = {
          "The paper's own categories average to 0.062 / 0.148 for AeroCast (weighted by Table "
          "II's windows: 0.062 / 0.147), not to the 0.055 / 0.099 of its Table III."};
    }
    document.Add(std::move(table));
  }
}

void AddLongHistorySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Ten seconds of history");
  const Results *longer = findings.Find("long"), *shorter = findings.Find("quarter");
  if (longer == nullptr) return document.AddParagraph("Not made in this run.");
  document.AddParagraph(
      fmt::format("What a tracker usually has: up to ten seconds, at least two; {} windows. The "
                  "paper's networks "
                  "take two and no more. The same networks by two seconds are below.",
                  FormatCount(longer->protocol.windows)));
  DocumentTable table;
  table.header = MeantHeader();
  for (const auto& [results, seconds] : {std::pair{longer, 10}, {shorter, 2}}) {
    if (results == nullptr) continue;
    for (const ModelResult& m : longer->models) {
      if (results->Find(m.model.name) == nullptr) continue;
      table.rows.push_back(
          MeantRow(*results, m.model.name, fmt::format("{}, {} s", m.model.name, seconds)));
    }
  }
  table.notes = {"replay: the track's own past, played on; it needs the ten seconds."};
  document.Add(std::move(table));
}

void AddShiftSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Shifted flights");
  std::vector<std::pair<std::string, std::string>> rows = {{"quarter", "as flown"}};
  for (const Shift& shift : Shifts()) rows.emplace_back("shift-" + shift.name, shift.title);
  rows.emplace_back("shift-fliers", "birds, racing, fixed wing (5 to 20 m/s)");
  rows.emplace_back("shift-other", "another vehicle (cf_battery)");
  DocumentTable table;
  for (const auto& [name, title] : rows) {
    const Results* results = findings.Find(name);
    if (results == nullptr) continue;
    std::vector<std::string> models;
    for (const PaperNetwork& n : PaperNetworks()) models.push_back(QuarterName(n.name, 1));
    const std::vector<std::string> others = OtherModels(*results);
    models.insert(models.end(), others.begin(), others.end());
    if (table.header.empty()) {
      table.header = {"ADE, m"};
      for (const PaperNetwork& n : PaperNetworks()) table.header.push_back(n.title);
      table.header.insert(table.header.end(), others.begin(), others.end());
    }
    table.rows.push_back(ShiftRow(*results, title, models));
  }
  if (table.rows.empty()) return document.AddParagraph("Not made in this run.");
  table.notes = {
      "Networks of a quarter of the width, seed 1, by two seconds of history; the bundled networks "
      "likewise.",
      "In square brackets, where above 1 %: the share of windows in which a sample was missing and "
      "a simpler method had to answer; for the paper's networks the position was held."};
  document.Add(std::move(table));
}

}  // namespace aerocast
