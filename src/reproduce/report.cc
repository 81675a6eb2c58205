// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "aerocast/version.h"
#include "src/base/file.h"
#include "src/reproduce/conclusions.h"
#include "src/reproduce/sections.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Every directory right below `parent`, by name.
std::vector<fs::path> Below(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator at(parent, code), end; at != end; at.increment(code)) {
    if (at->is_directory(code)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<nlohmann::json> ReadJson(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded()) return Error{ErrorCode::kBadFormat, file.string() + ": not JSON"};
  return json;
}

Result<Findings> Gather(const fs::path& out, const PlanOptions& options) {
  Findings findings;
  findings.options = options;
  std::error_code code;
  for (const fs::path& stage : Below(out / "evaluate")) {
    if (!fs::exists(stage / "results.json", code)) continue;
    Result<Results> results = ReadResults(stage / "results.json");
    if (!results.ok()) return results.error();
    findings.evaluations.emplace(stage.filename(), std::move(*results));
  }
  for (const fs::path& stage : Below(out / "train")) {
    const fs::path file = stage / "run" / "curves.json";
    if (!fs::exists(file, code)) continue;
    const Result<std::string> text = ReadFile(file);
    if (!text.ok()) return text.error();
    Result<TrainingCurve> curve = CurveFromJson(*text, file.string());
    if (!curve.ok()) return curve.error();
    findings.curves.emplace(stage.filename(), std::move(*curve));
  }
  for (const fs::path& stage : Below(out / "bench")) {
    if (!fs::exists(stage / "bench.json", code)) continue;
    Result<nlohmann::json> bench = ReadJson(stage / "bench.json");
    if (!bench.ok()) return bench.error();
    findings.benches.emplace(stage.filename(), std::move(*bench));
  }
  if (fs::exists(out / "attention/attention.json", code)) {
    Result<nlohmann::json> attention = ReadJson(out / "attention/attention.json");
    if (!attention.ok()) return attention.error();
    findings.attention = std::move(*attention);
  }
  if (fs::exists(out / "corpus/paper/stats.json", code)) {
    Result<nlohmann::json> stats = ReadJson(out / "corpus/paper/stats.json");
    if (!stats.ok()) return stats.error();
    findings.corpus = std::move(*stats);
  }
  return findings;
}

// Every table's cells, and what judged them, for other programs.
Json Summary(const Document& document, const std::vector<Conclusion>& conclusions,
             const PlanOptions& options, const ReportFacts& facts) {
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
  return {{"format", "aerocast-reproduction"},
          {"version", 1},
          {"program", fmt::format("aerocast {}", Version())},
          {"commit", facts.commit},
          {"machine", facts.machine},
          {"budget_s", options.budget_s},
          {"ablation_share", options.ablation_share},
          {"quarter_share", options.quarter_share},
          {"seeds", options.seeds},
          {"tables", tables},
          {"conclusions", judged}};
}

}  // namespace

Stage ReportStage(std::span<const Stage> stages, const PlanOptions& options,
                  const ReportFacts& facts) {
  Stage report;
  report.name = "report";
  for (const Stage& stage : stages) report.needs.push_back(stage.name);
  report.work = [options, facts](const fs::path& out, const fs::path& own) {
    return WriteReproduction(out, own, options, facts);
  };
  report.version = 1;
  return report;
}

Status WriteReproduction(const fs::path& out, const fs::path& own, const PlanOptions& options,
                         const ReportFacts& facts) {
  const Result<Findings> findings = Gather(out, options);
  if (!findings.ok()) return findings.error();
  Document document;
  document.title = "The paper's tables and figures, reproduced";
  document.AddParagraph(fmt::format(
      "Made by `aerocast reproduce` {}{}, {:.0f} minutes for each of the five networks, {:.0f} for "
      "an ablation, {:.0f} for a network of a "
      "quarter of the width, {} seeds of those; on {}. Flights are split by flight (train, "
      "validation, calibration, test); every table is of test "
      "flights. The paper's values are in brackets; its flights, split and budget were others.",
      Version(), facts.commit.empty() ? "" : " (" + facts.commit + ")", options.budget_s / 60,
      options.ablation_share * options.budget_s / 60, options.quarter_share * options.budget_s / 60,
      options.seeds, facts.machine));
  const std::vector<Conclusion> conclusions = JudgeConclusions(*findings);
  AddConclusionsSection(conclusions, document);
  AddCorpusSection(*findings, document);
  AddComparisonSection(*findings, document);
  AddCategorySection(*findings, document);
  AddHorizonSection(*findings, document);
  AddConvergenceSection(*findings, document);
  AddAblationSection(*findings, document);
  AddComplexitySection(*findings, document);
  AddCalibrationSection(*findings, document);
  AddShiftSection(*findings, document);
  AddHistorySection(*findings, document);
  AddExamplesSection(*findings, document);
  AddContradictionsSection(document);

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
  return WriteFileAtomically(own / "summary.json",
                             Summary(document, conclusions, options, facts).dump(1) + "\n");
}

}  // namespace aerocast
