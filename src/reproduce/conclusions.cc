// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/conclusions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "src/data/category.h"
#include "src/report/table.h"

namespace aerocast {
namespace {

std::string Show(const OverSeeds& s) {
  return fmt::format("{} [{}, {}]", FormatNumber(s.mean), FormatNumber(s.least),
                     FormatNumber(s.most));
}

// All five over their seeds; empty where one is missing.
std::vector<OverSeeds> All(const Findings& findings, Metric metric,
                           GroupKind kind = GroupKind::kAll, const std::string& name = "") {
  std::vector<OverSeeds> all;
  for (const PaperNetwork& n : PaperNetworks()) {
    all.push_back(SeedsOf(findings, n.name, metric, kind, name, "quarter-raw"));
    if (all.back().seeds == 0) return {};
  }
  return all;
}

std::string Show(const std::vector<OverSeeds>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", PaperNetworks()[i].title, Show(all[i]));
  }
  return text;
}

// Whether the first is below all others whatever the seeds; not at all when another's mean is.
Verdict FirstIsLowest(const std::vector<OverSeeds>& all) {
  if (all.empty()) return Verdict::kNotTestable;
  Verdict verdict = Verdict::kHeld;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].mean <= all[0].mean) return Verdict::kNotHeld;
    if (all[i].least <= all[0].most) verdict = Verdict::kUndecided;
  }
  return verdict;
}

Verdict Both(Verdict a, Verdict b) {
  if (a == Verdict::kNotTestable || b == Verdict::kNotTestable) return Verdict::kNotTestable;
  if (a == Verdict::kNotHeld || b == Verdict::kNotHeld) return Verdict::kNotHeld;
  return a == Verdict::kHeld && b == Verdict::kHeld ? Verdict::kHeld : Verdict::kUndecided;
}

Verdict If(bool held) { return held ? Verdict::kHeld : Verdict::kNotHeld; }

Conclusion LowestError(const Findings& findings) {
  const auto ade = All(findings, Metric::kAde), fde = All(findings, Metric::kFde);
  return {"AeroCast has the lowest ADE and FDE of the five networks.",
          "its worst seed is below every other network's best seed in both",
          Both(FirstIsLowest(ade), FirstIsLowest(fde)),
          "ADE: " + Show(ade) + "; FDE: " + Show(fde)};
}

Conclusion HalfOfBiGru(const Findings& findings) {
  Conclusion c{"It halves the ADE of BiGRU, the strongest baseline (0.055 to 0.111).",
               "ratio of the mean ADE at most 0.6", Verdict::kNotTestable, ""};
  const auto ade = All(findings, Metric::kAde);
  if (ade.empty()) return c;
  const double ratio = ade[0].mean / ade[3].mean;
  c.verdict = If(ratio <= 0.6);
  c.evidence = fmt::format("ratio {:.2f}", ratio);
  return c;
}

Conclusion LowestDensity(const Findings& findings) {
  const auto nll = All(findings, Metric::kNllDisplacementLambda);
  const auto crps = All(findings, Metric::kCrpsDisplacement);
  return {"AeroCast has the lowest NLL and CRPS.", "as above, in both",
          Both(FirstIsLowest(nll), FirstIsLowest(crps)),
          "NLL: " + Show(nll) + "; CRPS of steps: " + Show(crps)};
}

Conclusion EveryCategory(const Findings& findings) {
  int lowest = 0, categories = 0;
  std::string lost;
  for (const Category& c : kCategories) {
    const auto ade = All(findings, Metric::kAde, GroupKind::kCategory, std::string(c.name));
    if (ade.empty()) continue;
    ++categories;
    const auto best =
        std::min_element(ade.begin(), ade.end(),
                         [](const OverSeeds& a, const OverSeeds& b) { return a.mean < b.mean; });
    if (best == ade.begin()) {
      ++lowest;
    } else {
      lost += fmt::format("{}{} ({})", lost.empty() ? "" : ", ", c.name,
                          PaperNetworks()[static_cast<std::size_t>(best - ade.begin())].title);
    }
  }
  Conclusion c{"The advantage holds on all nine categories.", "lowest mean ADE on every category",
               Verdict::kNotTestable, ""};
  if (categories == 0) return c;
  c.verdict = If(lowest == categories);
  c.evidence = fmt::format("lowest on {} of {}{}", lowest, categories,
                           lost.empty() ? "" : "; not on " + lost);
  return c;
}

Conclusion BaselineOrder(const Findings& findings) {
  Conclusion c{"Among the baselines BiGRU has the lowest error and LSTM the highest.",
               "so in the mean ADE of the four", Verdict::kNotTestable, ""};
  const auto ade = All(findings, Metric::kAde);
  if (ade.empty()) return c;
  const auto less = [](const OverSeeds& a, const OverSeeds& b) { return a.mean < b.mean; };
  const auto best = std::min_element(ade.begin() + 1, ade.end(), less);
  const auto worst = std::max_element(ade.begin() + 1, ade.end(), less);
  const auto title = [&](auto at) {
    return PaperNetworks()[static_cast<std::size_t>(at - ade.begin())].title;
  };
  c.verdict = If(title(best) == "BiGRU-MDN" && title(worst) == "LSTM-MDN");
  c.evidence = fmt::format("lowest {} {}, highest {} {}", title(best), Show(*best), title(worst),
                           Show(*worst));
  return c;
}

Conclusion CalibrationIsShared(const Findings& findings) {
  Conclusion c{
      "Calibration is governed by what the networks share (the floor, the loss), not by the "
      "encoder.",
      "ECE of the five within 0.03 of each other", Verdict::kNotTestable, ""};
  const auto ece = All(findings, Metric::kEceDisplacement);
  if (ece.empty()) return c;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const OverSeeds& e : ece) least = std::min(least, e.mean), most = std::max(most, e.mean);
  c.verdict = If(most - least <= 0.03);
  c.evidence = fmt::format("they span {:.3f}: {}", most - least, Show(ece));
  return c;
}

Conclusion GapWidens(const Findings& findings) {
  Conclusion c{
      "Up to 1 s all networks are alike; beyond 2 s the recurrent ones fall behind AeroCast.",
      "gap to the best recurrent one at 5 s larger than at 2 s, and at 1 s below a tenth of the "
      "error at 5 s",
      Verdict::kNotTestable, ""};
  const Results* results = findings.Find("quarter-raw");
  if (results == nullptr) return c;
  const auto at = [&](const std::string& network, std::size_t second) {
    double sum = 0;
    int n = 0;
    for (int seed = 1; seed <= findings.options.seeds; ++seed) {
      const ModelResult* m = results->Find(fmt::format("quarter-{}-s{}", network, seed));
      if (m == nullptr) continue;
      sum += m->groups.front().error[10 * second - 1], ++n;
    }
    return n > 0 ? sum / n : std::nan("");
  };
  std::array<double, 3> gap{};
  const std::array<std::size_t, 3> seconds = {1, 2, 5};
  for (std::size_t i = 0; i < 3; ++i) {
    gap[i] = std::min({at("gru", seconds[i]), at("lstm", seconds[i]), at("bigru", seconds[i])}) -
             at("paper", seconds[i]);
  }
  if (!std::isfinite(gap[2])) return c;
  c.verdict = If(gap[2] > gap[1] && gap[1] > 0 && std::abs(gap[0]) < 0.1 * at("paper", 5));
  c.evidence = fmt::format(
      "best recurrent network less AeroCast: {:+.3f} m at 1 s, {:+.3f} at 2 s, {:+.3f} at 5 s",
      gap[0], gap[1], gap[2]);
  return c;
}

// The ADE of an ablation over that of the full model; empty where one is missing.
std::optional<double> Ratio(const Findings& findings, const std::string& ablation, Metric metric) {
  const Results* results = findings.Find("ablations");
  if (results == nullptr) return std::nullopt;
  const double of = MetricOf(*results, ablation, metric).value,
               full = MetricOf(*results, "paper", metric).value;
  if (!std::isfinite(of) || !std::isfinite(full)) return std::nullopt;
  return of / full;
}

Conclusion FiveComponents(const Findings& findings) {
  Conclusion c{
      "Five components are best for the point path; one doubles its error, ten add half (0.133, "
      "0.101 to 0.055).",
      "ADE of K = 1, 3, 10 all above that of K = 5, and K = 1 at least 1.5 times it",
      Verdict::kNotTestable, ""};
  const auto one = Ratio(findings, "ablation-k1", Metric::kAde),
             three = Ratio(findings, "ablation-k3", Metric::kAde),
             ten = Ratio(findings, "ablation-k10", Metric::kAde);
  if (!one || !three || !ten) return c;
  c.verdict = If(*one >= 1.5 && *three > 1 && *ten > 1);
  c.evidence = fmt::format(
      "ADE over that of K = 5: K = 1 {:.2f}, K = 3 {:.2f}, K = 10 {:.2f} (the full model had "
      "longer)",
      *one, *three, *ten);
  return c;
}

Conclusion Capacity(const Findings& findings) {
  Conclusion c{"The larger the network the better: Tiny, Small, Medium, full.",
               "ADE falls in this order", Verdict::kNotTestable, ""};
  const auto tiny = Ratio(findings, "ablation-tiny", Metric::kAde),
             small = Ratio(findings, "ablation-small", Metric::kAde),
             medium = Ratio(findings, "ablation-medium", Metric::kAde);
  if (!tiny || !small || !medium) return c;
  c.verdict = If(*tiny > *small && *small > *medium && *medium > 1);
  c.evidence = fmt::format(
      "ADE over that of the full model at these budgets: Tiny {:.2f}, Small {:.2f}, Medium {:.2f}",
      *tiny, *small, *medium);
  return c;
}

Conclusion PositionalEncoding(const Findings& findings) {
  Conclusion c{"Without positional encoding FDE is four times as large.",
               "FDE at least twice as large", Verdict::kNotTestable, ""};
  const auto fde = Ratio(findings, "ablation-no-position", Metric::kFde),
             ade = Ratio(findings, "ablation-no-position", Metric::kAde);
  if (!fde || !ade) return c;
  c.verdict = If(*fde >= 2);
  c.evidence = fmt::format("FDE {:.2f} times, ADE {:.2f} times that of the full model", *fde, *ade);
  return c;
}

Conclusion Velocity(const Findings& findings) {
  Conclusion c{"Velocity is the most important input: without it ADE is 78 % larger.",
               "ADE at least 30 % larger", Verdict::kNotTestable, ""};
  const auto ade = Ratio(findings, "ablation-positions-only", Metric::kAde);
  if (!ade) return c;
  c.verdict = If(*ade >= 1.3);
  c.evidence = fmt::format("ADE {:.2f} times that of the full model", *ade);
  return c;
}

Conclusion RealTime(const Findings& findings) {
  Conclusion c{"It runs within the 10 ms of a 100 Hz loop.",
               "p99 of one forecast on one CPU thread below 10 ms", Verdict::kNotTestable, ""};
  const auto bench = findings.benches.find("paper");
  if (bench == findings.benches.end()) return c;
  const auto [p50, p99] = WarmLatencyMs(bench->second);
  if (!std::isfinite(p99)) return c;
  c.verdict = If(p99 < 10);
  c.evidence = fmt::format(
      "p50 {:.2f} ms, p99 {:.2f} ms here; the paper's 0.100 ms is a GPU's and was not measured",
      p50, p99);
  return c;
}

Conclusion DominantMode(const Findings& findings) {
  Conclusion c{
      "The heaviest component alone tracks the truth: best-of-5 is hardly better (0.052 to 0.055).",
      "best of five sampled paths within 10 % of the point path's ADE", Verdict::kNotTestable, ""};
  const OverSeeds best =
      SeedsOf(findings, "paper", Metric::kMinAdeSamples, GroupKind::kAll, "", "quarter-raw");
  const OverSeeds point =
      SeedsOf(findings, "paper", Metric::kAde, GroupKind::kAll, "", "quarter-raw");
  if (best.seeds == 0) return c;
  c.verdict = If(std::abs(best.mean / point.mean - 1) <= 0.1);
  c.evidence = fmt::format("point path {}, best of five samples {}", Show(point), Show(best));
  return c;
}

}  // namespace

std::string VerdictName(Verdict verdict) {
  constexpr std::array<const char*, 4> kNames = {"held", "not held", "undecided", "not testable"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::vector<Conclusion> JudgeConclusions(const Findings& findings) {
  return {LowestError(findings),        HalfOfBiGru(findings),    LowestDensity(findings),
          EveryCategory(findings),      BaselineOrder(findings),  CalibrationIsShared(findings),
          GapWidens(findings),          FiveComponents(findings), Capacity(findings),
          PositionalEncoding(findings), Velocity(findings),       RealTime(findings),
          DominantMode(findings)};
}

void AddConclusionsSection(const std::vector<Conclusion>& conclusions, Document& document) {
  document.AddHeading(2, "Did the paper's conclusions hold?");
  document.AddParagraph(
      "Judged on (b), the networks of a quarter of the width over their seeds, except where an "
      "ablation is named; those ran at the "
      "paper's sizes for the budget stated.");
  DocumentTable table;
  table.header = {"Conclusion", "held if", "here", "evidence"};
  for (const Conclusion& c : conclusions) {
    table.rows.push_back({c.claim, c.rule, "**" + VerdictName(c.verdict) + "**",
                          c.evidence.empty() ? "not made in this run" : c.evidence});
  }
  document.Add(std::move(table));
}

}  // namespace aerocast
