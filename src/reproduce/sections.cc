// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/eval/tally.h"
#include "src/report/table.h"
#include "src/reproduce/paper_values.h"
#include "src/reproduce/plot.h"

namespace aerocast {
namespace {

using Cells = std::vector<std::string>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string Text(const MetricEstimate& e) { return FormatEstimate(e.value, e.low, e.high); }

// Ours, and the paper's in brackets where it has one.
std::string Beside(const std::string& ours, double paper, int digits = 3) {
  return std::isfinite(paper) ? fmt::format("{} ({:.{}f})", ours, paper, digits) : ours;
}

// "0.25 [0.24, 0.27]": the mean over the seeds, the least and the most of them.
std::string Text(const OverSeeds& s) {
  if (s.seeds == 0) return FormatNumber(kNan);
  if (s.seeds == 1) return FormatNumber(s.mean);
  return fmt::format("{} [{}, {}]", FormatNumber(s.mean), FormatNumber(s.least),
                     FormatNumber(s.most));
}

std::string TitleOf(const std::string& model) {
  for (const auto* list : {&PaperNetworks(), &Ablations()}) {
    for (const PaperNetwork& n : *list) {
      if (n.name == model) return n.title;
    }
  }
  if (model == "paper-sigma-1mm") return "AeroCast, σ ≥ 1 mm";
  return model;
}

const paper::ComparisonRow* PaperRow(const std::string& network) {
  for (const auto& row : paper::kComparison) {
    if (row.network == network) return &row;
  }
  return nullptr;
}

// The models of an evaluation that are none of the paper's: the bundled ones, the classical ones.
std::vector<std::string> OtherModels(const Results& results) {
  std::vector<std::string> names;
  for (const ModelResult& m : results.models) {
    const std::string& name = m.model.name;
    const bool ours = TitleOf(name) != name || name.starts_with("quarter-");
    if (!ours) names.push_back(name);
  }
  return names;
}

constexpr Metric kAsPrinted[] = {Metric::kAde,
                                 Metric::kFde,
                                 Metric::kMinAdeSamples,
                                 Metric::kMinFdeSamples,
                                 Metric::kNllDisplacementLambda,
                                 Metric::kCrpsDisplacement,
                                 Metric::kEceDisplacement};
constexpr Metric kAsMeant[] = {Metric::kAde,          Metric::kMinAdeModes, Metric::kNllPosition,
                               Metric::kCrpsPosition, Metric::kEcePosition, Metric::kCoverage90,
                               Metric::kSharpness90};

std::array<double, 7> Printed(const paper::ComparisonRow* row) {
  if (row == nullptr) return {kNan, kNan, kNan, kNan, kNan, kNan, kNan};
  return {row->ade, row->fde, row->min_ade, row->min_fde, row->nll, row->crps, row->ece};
}

DocumentTable PrintedTable(const Results& results, const std::vector<std::string>& models) {
  DocumentTable table;
  table.header = {"",        "ADE, m", "FDE, m", "minADE@5, m", "minFDE@5, m", "NLL, λ units",
                  "CRPS, m", "ECE"};
  for (const std::string& model : models) {
    if (results.Find(model) == nullptr) continue;
    Cells row = {TitleOf(model)};
    const std::array<double, 7> paper = Printed(PaperRow(model));
    for (std::size_t i = 0; i < std::size(kAsPrinted); ++i) {
      const MetricEstimate e = MetricOf(results, model, kAsPrinted[i]);
      const bool interval = kAsPrinted[i] == Metric::kAde || kAsPrinted[i] == Metric::kFde;
      row.push_back(Beside(interval ? Text(e) : FormatNumber(e.value), paper[i],
                           kAsPrinted[i] == Metric::kNllDisplacementLambda ? 2 : 3));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

DocumentTable MeantTable(const Results* raw, const Results* calibrated,
                         const std::vector<std::string>& models) {
  DocumentTable table;
  table.header = {"",        "ADE, m", "minADE modes, m",   "NLL, m",
                  "CRPS, m", "ECE",    "90 % region holds", "its radius, m"};
  const auto add = [&](const Results* results, const std::string& model, const std::string& title) {
    if (results == nullptr || results->Find(model) == nullptr) return;
    Cells row = {title};
    for (const Metric metric : kAsMeant) {
      const double value = MetricOf(*results, model, metric).value;
      row.push_back(metric == Metric::kCoverage90 ? FormatPercent(value) : FormatNumber(value));
    }
    table.rows.push_back(std::move(row));
  };
  for (const std::string& model : models) {
    const bool network = TitleOf(model) != model || model.starts_with("quarter-");
    if (network) add(raw, model, TitleOf(model) + ", as trained");
    add(calibrated, model, network ? TitleOf(model) + ", calibrated" : TitleOf(model));
  }
  return table;
}

PlotSeries ErrorSeries(const Results& results, const std::string& model, const std::string& title,
                       bool dashed) {
  PlotSeries series{title, {}, dashed, false, -1};
  const ModelResult* found = results.Find(model);
  if (found == nullptr) return series;
  const std::vector<double>& error = found->groups.front().error;
  for (std::size_t i = 0; i < error.size(); ++i) {
    series.points.emplace_back(results.protocol.window.dt_s * static_cast<double>(i + 1), error[i]);
  }
  return series;
}

double ErrorAt(const Results& results, const std::string& model, int second) {
  const ModelResult* found = results.Find(model);
  if (found == nullptr) return kNan;
  for (const HorizonSummary& h : found->groups.front().horizons) {
    if (std::abs(h.t_s - second) < 1e-6) return h.error;
  }
  return kNan;
}

// The networks whose picture stands for all: a quarter of the width where it was trained, seed 1.
struct Shown {
  const Results* results = nullptr;
  const Results* raw = nullptr;
  std::vector<std::pair<std::string, std::string>> networks;  // model, title
};
Shown ShownNetworks(const Findings& findings) {
  Shown shown;
  const bool quarter = findings.Find("quarter") != nullptr;
  shown.results = findings.Find(quarter ? "quarter" : "sizes");
  shown.raw = findings.Find(quarter ? "quarter-raw" : "sizes-raw");
  if (shown.results == nullptr) return shown;
  for (const PaperNetwork& n : PaperNetworks()) {
    const std::string name = quarter ? "quarter-" + n.name + "-s1" : n.name;
    if (shown.results->Find(name) != nullptr) shown.networks.emplace_back(name, n.title);
  }
  for (const std::string& name : OtherModels(*shown.results)) {
    if (name.starts_with("plus")) shown.networks.emplace_back(name, name);
  }
  return shown;
}

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

std::pair<double, double> WarmLatencyMs(const nlohmann::json& bench) {
  for (const auto& row : bench.at("latency")) {
    if (row.at("condition") != "warm" || row.at("threads") != 1) continue;
    const auto& latency = row.at("latency");
    return {1e3 * latency.at("p50_s").get<double>(), 1e3 * latency.at("p99_s").get<double>()};
  }
  return {kNan, kNan};
}

OverSeeds SeedsOf(const Findings& findings, const std::string& network, Metric metric,
                  GroupKind kind, const std::string& name, const std::string& evaluation) {
  OverSeeds over{0, HUGE_VAL, -HUGE_VAL, 0};
  const Results* results = findings.Find(evaluation);
  for (int seed = 1; results != nullptr && seed <= findings.options.seeds; ++seed) {
    const double value =
        MetricOf(*results, fmt::format("quarter-{}-s{}", network, seed), metric, kind, name).value;
    if (!std::isfinite(value)) continue;
    over.mean += value, ++over.seeds;
    over.least = std::min(over.least, value), over.most = std::max(over.most, value);
  }
  over.mean = over.seeds > 0 ? over.mean / over.seeds : kNan;
  return over;
}

void AddCorpusSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "The corpus (Table II)");
  if (!findings.corpus.is_object()) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"Category", "windows", "mean RMS speed, m/s", "largest speed, m/s", "real"};
  long long windows = 0;
  for (const auto& ours : findings.corpus.at("categories")) {
    const std::string category = ours.at("category");
    windows += ours.at("windows").get<long long>();
    for (const paper::CategoryRow& row : paper::kCorpus) {
      if (row.category != category) continue;
      table.rows.push_back(
          {category,
           fmt::format("{} ({})", FormatCount(ours.at("windows")), FormatCount(row.windows)),
           Beside(fmt::format("{:.3f}", ours.at("mean_rms_speed").get<double>()), row.mean_speed,
                  2),
           Beside(fmt::format("{:.2f}", ours.at("max_speed").get<double>()), row.max_speed, 2),
           fmt::format("{} ({:.0f} %)", FormatPercent(ours.at("real_share")), row.real_percent)});
    }
  }
  table.rows.push_back({"all", fmt::format("{} (90,116)", FormatCount(windows))});
  table.notes = {
      "In brackets, here and below: the paper's value. The real shares differ because the public "
      "flights hold 19 copies, which "
      "are not counted twice here, and neither Random nor Staircase."};
  document.Add(std::move(table));
}

void AddComparisonSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Five networks (Table III)");
  std::vector<std::string> models;
  for (const PaperNetwork& n : PaperNetworks()) models.push_back(n.name);
  models.emplace_back("paper-sigma-1mm");
  const Results *sizes = findings.Find("sizes"), *raw = findings.Find("sizes-raw");
  if (raw != nullptr) {
    const std::vector<std::string> others = OtherModels(*raw);
    std::vector<std::string> all = others;
    all.insert(all.begin(), models.begin(), models.end());
    document.AddHeading(3, fmt::format("(a) The paper's sizes, {:.0f} minutes each",
                                       findings.options.budget_s / 60));
    document.AddParagraph(
        "The metrics as the paper defines them, of the networks as trained; ± is half of the 95 % "
        "interval over flights.");
    DocumentTable table = PrintedTable(*raw, all);
    table.notes = {
        "NLL: no mixture with σ ≥ 0.05 m can be below 3 (ln 0.02 + 0.919) = -8.98 in λ units; the "
        "paper's -13.28 can not "
        "come from its own floor. ECE: with 30 values of z it cannot exceed 0.7507, so "
        "positions-only at 0.788 is impossible, and "
        "0.647 means σ twelve times too small.",
        "minADE@5 here draws five whole paths; a perfect model with σ = 0.05 m per step has 0.25 "
        "m, not 0.052."};
    document.Add(std::move(table));
    document.AddParagraph(
        "The same as a planner needs it: positions in metres, before and after calibration on "
        "flights of its own.");
    document.Add(MeantTable(raw, sizes, all));
  }
  const Results* quarter = findings.Find("quarter");
  if (quarter == nullptr) return;
  document.AddHeading(3,
                      fmt::format("(b) A quarter of the width, {} seeds", findings.options.seeds));
  document.AddParagraph("Mean over the seeds, in brackets the least and the most of them.");
  DocumentTable table;
  table.header = {"",
                  "ADE, m",
                  "FDE, m",
                  "NLL, λ units",
                  "CRPS of position, m",
                  "ECE of steps",
                  "ECE of position, calibrated"};
  for (const PaperNetwork& n : PaperNetworks()) {
    const auto of = [&](Metric metric, const char* evaluation) {
      return Text(SeedsOf(findings, n.name, metric, GroupKind::kAll, "", evaluation));
    };
    table.rows.push_back({n.title, of(Metric::kAde, "quarter-raw"), of(Metric::kFde, "quarter-raw"),
                          of(Metric::kNllDisplacementLambda, "quarter-raw"),
                          of(Metric::kCrpsPosition, "quarter-raw"),
                          of(Metric::kEceDisplacement, "quarter-raw"),
                          of(Metric::kEcePosition, "quarter")});
  }
  for (const std::string& name : OtherModels(*quarter)) {
    Cells row = {name};
    for (const Metric metric : {Metric::kAde, Metric::kFde}) {
      row.push_back(Text(MetricOf(*quarter, name, metric)));
    }
    row.insert(row.end(),
               {"–", FormatNumber(MetricOf(*quarter, name, Metric::kCrpsPosition).value), "–",
                FormatNumber(MetricOf(*quarter, name, Metric::kEcePosition).value)});
    table.rows.push_back(std::move(row));
  }
  document.Add(std::move(table));
}

void AddCategorySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "By category, source and group (Table IV)");
  for (const char* evaluation : {"sizes", "quarter"}) {
    const Results* results = findings.Find(evaluation);
    if (results == nullptr) continue;
    const bool quarter = std::string(evaluation) == "quarter";
    document.AddHeading(3, quarter ? "(b) A quarter of the width: ADE / FDE, m, mean over seeds"
                                   : "(a) The paper's sizes: ADE / FDE, m");
    const std::vector<std::string> others = OtherModels(*results);
    DocumentTable table;
    table.header = {"Windows of"};
    for (const PaperNetwork& n : PaperNetworks()) table.header.push_back(n.title);
    table.header.insert(table.header.end(), others.begin(), others.end());
    for (const GroupSummary& group : results->models.front().groups) {
      Cells row = {group.name};
      for (std::size_t k = 0; k < PaperNetworks().size(); ++k) {
        const std::string& name = PaperNetworks()[k].name;
        const auto value = [&](Metric metric) {
          return quarter ? SeedsOf(findings, name, metric, group.kind, group.name).mean
                         : MetricOf(*results, name, metric, group.kind, group.name).value;
        };
        std::string cell = fmt::format("{} / {}", FormatNumber(value(Metric::kAde)),
                                       FormatNumber(value(Metric::kFde)));
        for (const paper::PerCategoryRow& paper_row : paper::kPerCategory) {
          if (group.kind != GroupKind::kCategory || paper_row.category != group.name) continue;
          cell += fmt::format(" ({:.3f} / {:.3f})", paper_row.ade[k], paper_row.fde[k]);
        }
        row.push_back(std::move(cell));
      }
      for (const std::string& name : others) {
        row.push_back(fmt::format(
            "{} / {}",
            FormatNumber(MetricOf(*results, name, Metric::kAde, group.kind, group.name).value),
            FormatNumber(MetricOf(*results, name, Metric::kFde, group.kind, group.name).value)));
      }
      table.rows.push_back(std::move(row));
    }
    if (!quarter) {
      table.notes = {
          "The paper's own categories average to 0.062 / 0.147 for AeroCast, not to the 0.055 / "
          "0.099 of its Table III."};
    }
    document.Add(std::move(table));
  }
}

void AddHorizonSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Over the horizon (Fig. 3)");
  const Shown shown = ShownNetworks(findings);
  if (shown.results == nullptr) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"Error at, m", "1 s", "2 s", "3 s", "4 s", "5 s"};
  PlotPanel panel{"", "seconds ahead", "mean error, m", {}, false, true};
  const auto add = [&](const std::string& model, const std::string& title, bool dashed) {
    Cells row = {title};
    for (int second = 1; second <= 5; ++second) {
      row.push_back(FormatNumber(ErrorAt(*shown.results, model, second)));
    }
    table.rows.push_back(std::move(row));
    panel.series.push_back(ErrorSeries(*shown.results, model, title, dashed));
  };
  for (const auto& [model, title] : shown.networks) add(model, title, false);
  for (const std::string& name : OtherModels(*shown.results)) {
    if (!name.starts_with("plus") && name != "cv" && name != "ca") add(name, name, true);
  }
  document.Add(Figure{"horizon", "Mean distance error over the horizon", PlotSvg({panel})});
  document.Add(std::move(table));
}

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
                  "gained in the last quarter"};
  PlotPanel by_sizes{"the paper's sizes", "epochs", "validation NLL, λ units", {}, false, false};
  PlotPanel by_quarter{"a quarter of the width, seed 1", "epochs", "", {}, false, false};
  PlotPanel train{"training NLL, a quarter of the width", "epochs", "", {}, false, false};
  for (const auto& [name, curve] : findings.curves) {
    if (curve.points.empty()) continue;
    const CurvePoint& last = curve.points.back();
    double best = HUGE_VAL, before = HUGE_VAL;
    PlotSeries validation{TitleOf(name), {}, false, false, -1}, trained = validation;
    for (const CurvePoint& p : curve.points) {
      best = std::min(best, p.validation_nll);
      if (p.windows <= 0.75 * static_cast<double>(last.windows))
        before = std::min(before, p.validation_nll);
      validation.points.emplace_back(p.epochs, p.validation_nll);
      trained.points.emplace_back(p.epochs, p.train_nll);
    }
    table.rows.push_back(
        {name, FormatCount(static_cast<long long>(curve.parameters)),
         FormatCount(static_cast<long long>(last.windows)), fmt::format("{:.1f}", last.epochs),
         FormatNumber(static_cast<double>(last.windows) / std::max(1.0, last.seconds)),
         fmt::format("{:.2f}", best), fmt::format("{:.3f}", before - best)});
    for (const PaperNetwork& n : PaperNetworks()) {
      if (name == n.name) by_sizes.series.push_back(validation);
      if (name != "quarter-" + n.name + "-s1") continue;
      validation.name = trained.name = n.title;
      by_quarter.series.push_back(validation);
      train.series.push_back(trained);
    }
  }
  table.notes = {
      "Flat means: the last quarter of the run gained next to nothing (last column, nats)."};
  document.Add(Figure{"convergence", "Validation and training NLL over the epochs",
                      PlotSvg({by_sizes, by_quarter, train})});
  document.Add(std::move(table));
}

void AddAblationSection(const Findings& findings, Document& document) {
  document.AddHeading(
      2, fmt::format("Ablations (Table V), {:.0f} minutes each",
                     findings.options.ablation_share * findings.options.budget_s / 60));
  const Results* results = findings.Find("ablations");
  if (results == nullptr) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"", "ADE, m", "FDE, m", "NLL, λ units", "ECE", "epochs"};
  for (const paper::AblationRow& row : paper::kAblations) {
    const std::string name(row.network);
    if (results->Find(name) == nullptr) continue;
    const auto curve = findings.curves.find(name);
    table.rows.push_back(
        {name == "paper" ? "full model" : TitleOf(name),
         Beside(Text(MetricOf(*results, name, Metric::kAde)), row.ade),
         Beside(Text(MetricOf(*results, name, Metric::kFde)), row.fde),
         Beside(FormatNumber(MetricOf(*results, name, Metric::kNllDisplacementLambda).value),
                row.nll),
         Beside(FormatNumber(MetricOf(*results, name, Metric::kEceDisplacement).value), row.ece),
         curve == findings.curves.end() || curve->second.points.empty()
             ? "–"
             : fmt::format("{:.1f}", curve->second.points.back().epochs)});
  }
  table.notes = {
      "The full model had the whole budget, the others the share above: epochs tell them apart."};
  document.Add(std::move(table));
}

void AddComplexitySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Complexity and latency (Table VI)");
  if (findings.benches.empty()) return document.AddParagraph("Not made in this run.");
  DocumentTable table;
  table.header = {"", "parameters", "size in 32 bits, MB", "p50, ms", "p99, ms"};
  for (const auto& [name, bench] : findings.benches) {
    const paper::ComplexityRow* paper_row = nullptr;
    for (const paper::ComplexityRow& row : paper::kComplexity) {
      if (row.network == name) paper_row = &row;
    }
    const auto curve = findings.curves.find(name);
    const double parameters =
        curve == findings.curves.end() ? kNan : static_cast<double>(curve->second.parameters) / 1e6;
    const auto [p50, p99] = WarmLatencyMs(bench);
    table.rows.push_back(
        {TitleOf(name),
         Beside(fmt::format("{:.2f} M", parameters), paper_row ? paper_row->parameters_m : kNan, 2),
         Beside(fmt::format("{:.1f}", 4 * parameters), paper_row ? paper_row->size_mb : kNan, 1),
         Beside(FormatNumber(p50), paper_row ? paper_row->latency_ms : kNan), FormatNumber(p99)});
  }
  table.notes = {
      "Ours: one window at a time, one thread of this machine's CPU, from track to forecast. The "
      "paper's: a forward pass on a GPU; its "
      "counts are those of K = 3, to the digit."};
  document.Add(std::move(table));
}

void AddExamplesSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Qualitative comparison (Figs. 5 and 6)");
  const Shown shown = ShownNetworks(findings);
  if (shown.results == nullptr) return document.AddParagraph("Not made in this run.");
  for (const ExampleWindow& example : shown.results->examples) {
    PlotPanel oblique{example.category + ", seen from above at an angle", "", "", {}, true, false},
        top{"from above", "x, m", "y, m", {}, true, false},
        side{"from the side", "x, m", "z, m", {}, true, false},
        error{"error", "seconds ahead", "m", {}, false, true};
    const auto add = [&](const std::string& name, const std::vector<Vec3>& path, int color,
                         bool dashed) {
      PlotSeries a{name, {}, dashed, false, color}, b = a, c = a;
      b.name = c.name = "";
      for (const Vec3& p : path) {
        a.points.emplace_back(0.87 * (p.x - p.y), 0.5 * (p.x + p.y) * 0.6 + 0.8 * p.z);
        b.points.emplace_back(p.x, p.y);
        c.points.emplace_back(p.x, p.z);
      }
      oblique.series.push_back(a), top.series.push_back(b), side.series.push_back(c);
    };
    add("seen", example.history, 7, false);
    add("flown", example.target, 0, false);
    int color = 1;
    for (const auto& [model, title] : shown.networks) {
      for (const ExampleForecast& forecast : example.forecasts) {
        if (forecast.model != model) continue;
        add(title, forecast.point, color, true);
        PlotSeries of{"", {}, false, false, color};
        for (std::size_t i = 0; i < std::min(forecast.point.size(), example.target.size()); ++i) {
          of.points.emplace_back(shown.results->protocol.window.dt_s * static_cast<double>(i + 1),
                                 Norm(forecast.point[i] - example.target[i]));
        }
        error.series.push_back(std::move(of));
      }
      ++color;
    }
    document.Add(Figure{
        "example-" + example.category,
        fmt::format("{}: a window of a test flight, and its error by step", example.category),
        PlotSvg({oblique, top, side, error})});
  }
}

void AddCalibrationSection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Calibration curves");
  const Shown shown = ShownNetworks(findings);
  if (shown.results == nullptr) return document.AddParagraph("Not made in this run.");
  std::vector<PlotPanel> panels;
  for (const auto& [results, title] :
       {std::pair{shown.raw, "as trained"}, {shown.results, "calibrated"}}) {
    if (results == nullptr) continue;
    PlotPanel panel{title, "stated share", "share of outcomes inside", {}, false, true};
    panel.series.push_back({"", {{0, 0}, {1, 1}}, true, true, 7});
    int color = 0;
    for (const auto& [model, name] : shown.networks) {
      PlotSeries series{name, {}, false, false, color++};
      if (const ModelResult* found = results->Find(model)) {
        const std::vector<double>& share = found->groups.front().calibration;
        for (std::size_t i = 0; i < share.size(); ++i) {
          series.points.emplace_back(CalibrationLevel(static_cast<int>(i)), share[i]);
        }
      }
      panel.series.push_back(std::move(series));
    }
    panels.push_back(std::move(panel));
  }
  document.Add(Figure{
      "calibration",
      "Share of outcomes inside the mixture's own region, in position space, mean of 1 … 5 s",
      PlotSvg(panels)});
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
    for (const PaperNetwork& n : PaperNetworks()) models.push_back("quarter-" + n.name + "-s1");
    const std::vector<std::string> others = OtherModels(*results);
    models.insert(models.end(), others.begin(), others.end());
    if (table.header.empty()) {
      table.header = {"ADE, m"};
      for (const PaperNetwork& n : PaperNetworks()) table.header.push_back(n.title);
      table.header.insert(table.header.end(), others.begin(), others.end());
    }
    double best = HUGE_VAL;
    for (const std::string& model : models) {
      const double ade = MetricOf(*results, model, Metric::kAde).value;
      if (std::isfinite(ade)) best = std::min(best, ade);
    }
    Cells row = {title};
    for (const std::string& model : models) {
      const double ade = MetricOf(*results, model, Metric::kAde).value;
      row.push_back(ade == best ? "**" + FormatNumber(ade) + "**" : FormatNumber(ade));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return document.AddParagraph("Not made in this run.");
  table.notes = {
      "Networks of a quarter of the width, seed 1, by two seconds of history; the bundled networks "
      "likewise."};
  document.Add(std::move(table));
}

void AddHistorySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Does early history matter before manoeuvres?");
  document.AddParagraph(
      "The paper's hypothesis, left to \"attention-weight analysis\". Windows before manoeuvres "
      "are the tenth whose turn rate changes most in "
      "the second after t0. Trained networks lose their oldest tokens; other networks never had "
      "them.");
  const auto ade = [&](const std::string& subset, int tokens, const std::string& model) {
    const Results* results = findings.Find(fmt::format("history-{}-{}", subset, tokens));
    return results == nullptr ? kNan : MetricOf(*results, model, Metric::kAde).value;
  };
  DocumentTable table;
  table.header = {"ADE, m", "before manoeuvres", "other windows", "more than with all 20: before",
                  "other"};
  for (const auto& [network, title] : {std::pair{"paper", "AeroCast"}, {"gru", "GRU-MDN"}}) {
    const std::string whole = fmt::format("quarter-{}-s1", network);
    const auto add = [&](const std::string& name, int tokens, const std::string& model) {
      Cells row = {fmt::format("{}, {}", title, name)};
      std::array<double, 2> value{}, all{};
      for (std::size_t i = 0; i < 2; ++i) {
        value[i] = ade(HistorySubsets()[i], tokens, model);
        all[i] = ade(HistorySubsets()[i], kTokensLeft.back(), whole);
        row.push_back(FormatNumber(value[i]));
      }
      for (std::size_t i = 0; i < 2; ++i) {
        row.push_back(std::isfinite(value[i])
                          ? fmt::format("{:+.1f} %", 100 * (value[i] / all[i] - 1))
                          : "–");
      }
      table.rows.push_back(std::move(row));
    };
    for (const int tokens : kTokensLeft) {
      add(tokens == kTokensLeft.back() ? "all 20 tokens"
                                       : fmt::format("newest {} tokens left", tokens),
          tokens, whole);
    }
    for (const int tokens : {10, 5}) {
      add(fmt::format("trained with {} tokens", tokens), kTokensLeft.back(),
          fmt::format("quarter-{}-t{}", network, tokens));
    }
  }
  document.Add(std::move(table));
  if (!findings.attention.is_object()) return;
  std::vector<PlotPanel> panels;
  const auto& before = findings.attention.at("before_manoeuvres").at("layers");
  const auto& other = findings.attention.at("other").at("layers");
  const double dt = findings.attention.at("dt_s");
  for (std::size_t layer = 0; layer < before.size(); ++layer) {
    PlotPanel panel{
        fmt::format("layer {}", layer + 1), "seconds before t0", "attention", {}, false, true};
    for (const auto& [rows, name] :
         {std::pair{&before, "before manoeuvres"}, {&other, "other windows"}}) {
      PlotSeries series{name, {}, false, false, -1};
      const auto& row = rows->at(layer);
      for (std::size_t t = 0; t < row.size(); ++t) {
        series.points.emplace_back(-dt * static_cast<double>(row.size() - 1 - t),
                                   row[t].get<double>());
      }
      panel.series.push_back(std::move(series));
    }
    panels.push_back(std::move(panel));
  }
  document.Add(Figure{"attention", "What the newest token attends to, mean over heads and windows",
                      PlotSvg(panels)});
}

void AddContradictionsSection(Document& document) {
  document.AddHeading(2, "Where the paper's numbers cannot hold");
  DocumentTable table;
  table.header = {"Claim", "Arithmetic"};
  table.rows = {
      {"NLL -13.28 with σ ≥ 0.05 m",
       "any mixture's NLL ≥ 3 (ln σ_min + 0.9189): -6.23 in metres, -8.98 in λ units"},
      {"ECE 0.647; positions only 0.788",
       "30 z values: at most 0.7507 when nothing is covered, 0.2493 when everything is; 0.647 "
       "means σ 12 times too small"},
      {"λ = 2.5 m is the 99th percentile of a step", "the real 99th percentile is 0.139 m"},
      {"overall ADE / FDE 0.055 / 0.099", "its own categories average to 0.062 / 0.147"},
      {"CRPS with 1/K", "nothing sums over K; GRU's CRPS (0.169) exceeds its ADE (0.127)"},
      {"minADE@5 of sampled paths 0.052",
       "five draws with σ = 0.05 m per step leave a perfect model 0.25 m"},
      {"13.15 M parameters, K = 5", "13,511,894 at K = 5; 13,152,794 is K = 3"},
      {"Tiny (d = 128, L = 2) has 1.85 M", "1,851,674 is d = 256, L = 2 at K = 3"},
      {"synthetic flights fill the high-speed regime",
       "Table II's largest speeds are the real flights' own, to 0.01 m/s"}};
  document.Add(std::move(table));
}

}  // namespace aerocast
