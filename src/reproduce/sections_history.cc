// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "src/report/table.h"
#include "src/reproduce/history.h"
#include "src/reproduce/plot.h"
#include "src/reproduce/sections.h"

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::pair<std::string, std::string>>& Studied() {
  static const std::vector<std::pair<std::string, std::string>> networks = {{"paper", "AeroCast"},
                                                                            {"gru", "GRU-MDN"}};
  return networks;
}

double AdeOf(const Findings& findings, const std::string& subset, int tokens,
             const std::string& model) {
  const Results* results = findings.Find(fmt::format("history-{}-{}", subset, tokens));
  return results == nullptr ? kNan : MetricOf(*results, model, Metric::kAde).value;
}

// ADE before manoeuvres and elsewhere, and how much more that is than with all tokens.
std::vector<std::string> Row(const Findings& findings, const std::string& title, int tokens,
                             const std::string& model, const std::string& whole,
                             const HistoryLoss* loss) {
  std::vector<std::string> row = {title}, more;
  for (const std::string& subset : HistorySubsets()) {
    const double value = AdeOf(findings, subset, tokens, model),
                 all = AdeOf(findings, subset, kTokensLeft.back(), whole);
    row.push_back(FormatNumber(value));
    more.push_back(std::isfinite(value / all) ? fmt::format("{:+.1f} %", 100 * (value / all - 1))
                                              : "–");
  }
  row.insert(row.end(), more.begin(), more.end());
  row.push_back(loss == nullptr ? "" : DifferenceText(*loss));
  return row;
}

DocumentTable LossTable(const Findings& findings) {
  DocumentTable table;
  table.header = {"ADE, m",        "before manoeuvres",
                  "other windows", "more than with all 20: before",
                  "other",         "before less other [95 % over flights]"};
  for (const auto& [network, title] : Studied()) {
    const std::string whole = QuarterName(network, 1);
    for (const int tokens : kTokensLeft) {
      const bool all = tokens == kTokensLeft.back();
      const HistoryLoss loss = LossOfCutting(findings, network, tokens);
      table.rows.push_back(
          Row(findings,
              title + (all ? ", all 20 tokens" : fmt::format(", newest {} tokens left", tokens)),
              tokens, whole, whole, all ? nullptr : &loss));
    }
    for (const int tokens : {10, 5}) {
      const HistoryLoss loss = LossOfTraining(findings, network, tokens);
      table.rows.push_back(Row(findings, fmt::format("{}, trained with {} tokens", title, tokens),
                               kTokensLeft.back(), fmt::format("quarter-{}-t{}", network, tokens),
                               whole, &loss));
    }
  }
  table.notes = {
      "Networks of a quarter of the width, seed 1, as trained. A network that loses tokens it was "
      "trained with is out of its element; one that was trained without them is not."};
  return table;
}

std::string Answer(const HistoryLoss& loss) {
  if (!std::isfinite(loss.difference)) return "was not measured";
  if (loss.low > 0) return "loses more before manoeuvres than elsewhere";
  if (loss.high < 0) return "loses less before manoeuvres than elsewhere";
  return "cannot be told to lose more before manoeuvres than elsewhere";
}

void AddAnswer(const Findings& findings, Document& document) {
  std::string text = "**Answer.** Without the older half of its history (10 of 20 tokens)";
  bool first = true;
  for (const auto& [network, title] : Studied()) {
    const HistoryLoss loss = LossOfCutting(findings, network, 10);
    text +=
        fmt::format("{} {} {}: {}", first ? "" : ";", title, Answer(loss), DifferenceText(loss));
    first = false;
  }
  text += ". Trained without it:";
  first = true;
  for (const auto& [network, title] : Studied()) {
    text += fmt::format("{} {} {}", first ? "" : ",", title,
                        DifferenceText(LossOfTraining(findings, network, 10)));
    first = false;
  }
  for (const auto& [network, title] : Studied()) {
    if (GainedAtTheEnd(findings, QuarterName(network, 1)) < kFlatNats) continue;
    text += fmt::format(". {} was still gaining when its training ended, so this is no answer yet",
                        title);
  }
  document.AddParagraph(text +
                        fmt::format(". AeroCast more than GRU-MDN by {}. The verdicts are "
                                    "among the conclusions above.",
                                    DifferenceText(LossBeyond(findings, "paper", "gru", 10))));
}

void AddAttentionFigure(const nlohmann::json& attention, Document& document) {
  std::vector<PlotPanel> panels;
  const auto& before = attention.at("before_manoeuvres").at("layers");
  const auto& other = attention.at("other").at("layers");
  const double dt = attention.at("dt_s");
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
  document.Add(
      Figure{"attention",
             "What the newest token attends to, mean over heads and windows: AeroCast of a "
             "quarter of the width, seed 1",
             PlotSvg(panels)});
}

}  // namespace

void AddHistorySection(const Findings& findings, Document& document) {
  document.AddHeading(2, "Does early history matter before manoeuvres?");
  document.AddParagraph(
      "The paper's hypothesis, left to \"attention-weight analysis\". Windows before manoeuvres "
      "are the tenth whose turn rate changes most in the second after t0. Trained networks lose "
      "their oldest tokens; other networks never had them.");
  AddAnswer(findings, document);
  document.Add(LossTable(findings));
  if (findings.attention.is_object()) AddAttentionFigure(findings.attention, document);
}

}  // namespace aerocast
