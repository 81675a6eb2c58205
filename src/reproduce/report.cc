// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aerocast/version.h"
#include "src/base/file.h"
#include "src/reproduce/conclusions.h"
#include "src/reproduce/paper_values.h"
#include "src/reproduce/sections.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Result<nlohmann::json> ReadJson(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded()) return Error{ErrorCode::kBadFormat, file.string() + ": not JSON"};
  return json;
}

// Reads what is there of a file of a stage into `to`, under the stage's name without its folder.
Status AddJson(const fs::path& file, const std::string& name,
               std::map<std::string, nlohmann::json>& to) {
  std::error_code code;
  if (!fs::exists(file, code)) return {};
  Result<nlohmann::json> json = ReadJson(file);
  if (!json.ok()) return json.error();
  to.emplace(name, std::move(*json));
  return {};
}

// Adds the models of another evaluation of the same windows.
Status Merge(Results from, const fs::path& file, Results& to) {
  const Protocol &a = from.protocol, &b = to.protocol;
  if (a.corpus_hash != b.corpus_hash || a.windows != b.windows || a.flights != b.flights) {
    return Error{ErrorCode::kBadFormat,
                 file.string() + ": not of the windows that its neighbours were scored on"};
  }
  for (ModelResult& model : from.models) to.models.push_back(std::move(model));
  for (ExampleWindow& window : from.examples) {
    const auto same = std::find_if(to.examples.begin(), to.examples.end(), [&](const auto& other) {
      return other.flight == window.flight && other.t0_ns == window.t0_ns;
    });
    if (same == to.examples.end()) continue;
    for (ExampleForecast& f : window.forecasts) same->forecasts.push_back(std::move(f));
  }
  return {};
}

// "sizes/gru" is a part of the evaluation "sizes".
Status AddEvaluation(const fs::path& file, const std::string& name, Findings& findings) {
  std::error_code code;
  if (!fs::exists(file, code)) return {};
  Result<Results> results = ReadResults(file);
  if (!results.ok()) return results.error();
  const auto [at, first] =
      findings.evaluations.try_emplace(name.substr(0, name.find('/')), Results());
  if (!first) return Merge(std::move(*results), file, at->second);
  at->second = std::move(*results);
  return {};
}

Status AddCurve(const fs::path& file, const std::string& name, Findings& findings) {
  std::error_code code;
  if (!fs::exists(file, code)) return {};
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  Result<TrainingCurve> curve = CurveFromJson(*text, file.string());
  if (!curve.ok()) return curve.error();
  findings.curves.emplace(name, std::move(*curve));
  return {};
}

Status AddStage(const fs::path& out, const std::string& stage, Findings& findings) {
  const std::size_t slash = stage.find('/');
  const std::string folder = stage.substr(0, slash),
                    name = slash == stage.npos ? "" : stage.substr(slash + 1);
  const fs::path own = out / stage;
  if (folder == "evaluate") return AddEvaluation(own / "results.json", name, findings);
  if (folder == "train") return AddCurve(own / "run" / "curves.json", name, findings);
  if (folder == "corpus") return AddJson(own / "stats.json", name, findings.corpora);
  if (folder == "bench") {
    if (Status s = AddJson(own / "describe.json", name, findings.descriptions); !s.ok()) return s;
    return AddJson(own / "bench.json", name, findings.benches);
  }
  std::error_code code;
  if (stage != "attention" || !fs::exists(own / "attention.json", code)) return {};
  Result<nlohmann::json> attention = ReadJson(own / "attention.json");
  if (!attention.ok()) return attention.error();
  findings.attention = std::move(*attention);
  return {};
}

// Of the planned stages alone: another plan may have left others in OUT.
Result<Findings> Gather(const fs::path& out, std::span<const std::string> stages,
                        const PlanOptions& options) {
  Findings findings;
  findings.options = options;
  for (const std::string& stage : stages) {
    if (Status s = AddStage(out, stage, findings); !s.ok()) return s.error();
  }
  return findings;
}

// What was asked for, for the head of the report, its summary and its key.
Json Asked(const PlanOptions& options, const ReportFacts& facts) {
  return {{"program", fmt::format("aerocast {}", Version())},
          {"commit", facts.commit},
          {"machine", facts.machine},
          {"jobs", facts.jobs},
          {"budget_s", options.budget_s},
          {"ablation_share", options.ablation_share},
          {"quarter_share", options.quarter_share},
          {"seeds", options.seeds},
          {"stride", options.stride},
          {"lr", kRate},
          {"train_options", options.train_options},
          {"real_flights", !options.real.empty()},
          {"other_vehicle", !options.other.empty()}};
}

// null: there is none.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// What the paper prints: over all windows (Table III), and ADE and FDE by category (Table IV).
double PaperValue(const std::string& evaluation, const std::string& model,
                  const GroupSummary& group, Metric metric) {
  for (std::size_t i = 0; i < paper::kComparison.size(); ++i) {
    const paper::ComparisonRow& row = paper::kComparison[i];
    if (evaluation != "sizes-raw" || row.network != model) continue;
    for (const paper::PerCategoryRow& c : paper::kPerCategory) {
      if (group.kind != GroupKind::kCategory || c.category != group.name) continue;
      if (metric == Metric::kAde) return c.ade[i];
      if (metric == Metric::kFde) return c.fde[i];
    }
    if (group.kind != GroupKind::kAll) return paper::kNone;
    switch (metric) {
      case Metric::kAde:
        return row.ade;
      case Metric::kFde:
        return row.fde;
      case Metric::kMinAdeSamples:
        return row.min_ade;
      case Metric::kMinFdeSamples:
        return row.min_fde;
      case Metric::kNllDisplacementLambda:
        return row.nll;
      case Metric::kCrpsDisplacement:
        return row.crps;
      case Metric::kEceDisplacement:
        return row.ece;
      default:
        return paper::kNone;
    }
  }
  return paper::kNone;
}

// Every metric of every model over all windows of every evaluation, ADE and FDE of every group of
// them, as numbers.
Json Numbers(const Findings& findings) {
  Json numbers = Json::array();
  for (const auto& [evaluation, results] : findings.evaluations) {
    for (const ModelResult& m : results.models) {
      for (const GroupSummary& group : m.groups) {
        for (int i = 0; i < kMetricCount; ++i) {
          const auto metric = static_cast<Metric>(i);
          const MetricEstimate& e = group.metrics[static_cast<std::size_t>(i)];
          const bool shown =
              group.kind == GroupKind::kAll || metric == Metric::kAde || metric == Metric::kFde;
          if (!shown || !std::isfinite(e.value)) continue;
          Json row = {{"evaluation", evaluation}, {"model", m.model.name},
                      {"windows_of", group.name}, {"metric", Info(metric).key},
                      {"value", Number(e.value)}, {"low", Number(e.low)},
                      {"high", Number(e.high)}};
          const double paper = PaperValue(evaluation, m.model.name, group, metric);
          if (std::isfinite(paper)) row["paper"] = paper;
          numbers.push_back(std::move(row));
        }
      }
    }
  }
  return numbers;
}

// Every table's cells, and what judged them, for other programs.
Json Summary(const Document& document, const std::vector<Conclusion>& conclusions,
             const Findings& findings, const Json& asked) {
  Json tables = Json::array(), judged = Json::array();
  std::string heading;
  for (const Block& block : document.blocks) {
    if (const auto* h = std::get_if<Heading>(&block)) heading = h->text;
    if (const auto* t = std::get_if<DocumentTable>(&block)) {
      tables.push_back(
          {{"section", heading}, {"header", t->header}, {"rows", t->rows}, {"notes", t->notes}});
    }
  }
  for (const Conclusion& c : conclusions) {
    judged.push_back({{"claim", c.claim},
                      {"rule", c.rule},
                      {"verdict", VerdictName(c.verdict)},
                      {"evidence", c.evidence}});
  }
  Json summary = {{"format", "aerocast-reproduction"}, {"version", 1}};
  summary.update(asked);
  summary["tables"] = tables;
  summary["numbers"] = Numbers(findings);
  summary["conclusions"] = judged;
  return summary;
}

std::string HeadText(const PlanOptions& options, const ReportFacts& facts) {
  std::string more;
  for (const std::string& option : options.train_options) more += " `" + option + "`";
  return fmt::format(
      "Made by `aerocast reproduce` {}{} on {}, {} at a time: {} for each of the five networks, {} "
      "for an ablation, {} for a network of a quarter of the width, {} {} of those; learning rate "
      "{}{}. {}. Flights are split by flight (train, validation, calibration, test); every table "
      "is of test flights, a window every {:.1f} s, unless it says otherwise. The paper's values "
      "are in brackets; its flights, split and budget were others.",
      Version(), facts.commit.empty() ? "" : " (" + facts.commit + ")", facts.machine,
      facts.jobs == 1 ? "one stage" : fmt::format("{} stages", facts.jobs),
      DurationText(options.budget_s), DurationText(options.ablation_share * options.budget_s),
      DurationText(options.quarter_share * options.budget_s), options.seeds,
      options.seeds == 1 ? "seed" : "seeds", kRate,
      more.empty() ? "" : ", further options of every training:" + more,
      options.real.empty() ? "All flights are generated: no real ones were given"
                           : "Real flights (NanoBench) and generated ones",
      0.1 * options.stride);
}

Document MakeDocument(const Findings& findings, const std::vector<Conclusion>& conclusions,
                      const ReportFacts& facts) {
  Document document;
  document.title = "The paper's tables and figures, reproduced";
  document.AddParagraph(HeadText(findings.options, facts));
  AddConclusionsSection(conclusions, document);
  AddCorpusSection(findings, document);
  AddComparisonSection(findings, document);
  AddCategorySection(findings, document);
  AddHorizonSection(findings, document);
  AddLongHistorySection(findings, document);
  AddConvergenceSection(findings, document);
  AddEqualTrainingSection(findings, document);
  AddAblationSection(findings, document);
  AddComplexitySection(findings, document);
  AddCalibrationSection(findings, document);
  AddShiftSection(findings, document);
  AddHistorySection(findings, document);
  AddExamplesSection(findings, document);
  AddContradictionsSection(document);
  return document;
}

}  // namespace

Stage ReportStage(std::span<const Stage> stages, const PlanOptions& options,
                  const ReportFacts& facts) {
  Stage report;
  report.name = "report";
  for (const Stage& stage : stages) report.needs.push_back(stage.name);
  report.work = [names = report.needs, options, facts](const fs::path& out, const fs::path& own) {
    return WriteReproduction(out, own, names, options, facts);
  };
  report.facts = Asked(options, facts).dump();
  report.files = {"/proc/self/exe"};  // what writes it
  report.reads_kept = true;
  return report;
}

Status WriteReproduction(const fs::path& out, const fs::path& own,
                         std::span<const std::string> stages, const PlanOptions& options,
                         const ReportFacts& facts) {
  const Result<Findings> findings = Gather(out, stages, options);
  if (!findings.ok()) return findings.error();
  const std::vector<Conclusion> conclusions = JudgeConclusions(*findings);
  const Document document = MakeDocument(*findings, conclusions, facts);
  std::error_code code;
  fs::create_directories(own / "figures", code);
  for (const Block& block : document.blocks) {
    const auto* figure = std::get_if<Figure>(&block);
    if (figure == nullptr) continue;
    if (Status s = WriteFileAtomically(own / "figures" / (figure->name + ".svg"), figure->svg);
        !s.ok())
      return s;
  }
  if (Status s = WriteFileAtomically(own / "tables.md", ToMarkdown(document, "figures")); !s.ok())
    return s;
  if (Status s = WriteFileAtomically(own / "report.html", ToHtml(document)); !s.ok()) return s;
  const Json summary = Summary(document, conclusions, *findings, Asked(options, facts));
  return WriteFileAtomically(own / "summary.json", summary.dump() + "\n");
}

}  // namespace aerocast
