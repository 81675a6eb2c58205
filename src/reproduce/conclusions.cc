// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/conclusions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "src/data/category.h"
#include "src/report/table.h"
#include "src/reproduce/history.h"

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kFewestSeeds = 2;  // for a verdict where seeds are compared

// The two families of the five networks: (b), which is judged, and (a), which stands beside it.
enum class Family { kQuarter, kSizes };

// An ablation's name in a family, and the full model that was trained as long.
std::string InFamily(Family family, const std::string& ablation) {
  return family == Family::kQuarter ? "quarter-" + ablation : ablation;
}
std::string FullOf(Family family) {
  return family == Family::kQuarter ? QuarterName("paper", 1) : kAblationFull;
}

// One network's metric as trained; (a) has one seed.
OverSeeds Of(const Findings& findings, Family family, const std::string& network, Metric metric,
             GroupKind kind = GroupKind::kAll, const std::string& name = "") {
  if (family == Family::kQuarter) {
    return SeedsOf(findings, network, metric, kind, name, "quarter-raw");
  }
  const Results* results = findings.Find("sizes-raw");
  const double value =
      results == nullptr ? kNan : MetricOf(*results, network, metric, kind, name).value;
  return {value, value, value, std::isfinite(value) ? 1 : 0};
}

// All five; empty where one is missing.
std::vector<OverSeeds> All(const Findings& findings, Family family, Metric metric,
                           GroupKind kind = GroupKind::kAll, const std::string& name = "") {
  std::vector<OverSeeds> all;
  for (const PaperNetwork& n : PaperNetworks()) {
    all.push_back(Of(findings, family, n.name, metric, kind, name));
    if (all.back().seeds == 0) return {};
  }
  return all;
}

std::string Show(const std::vector<OverSeeds>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", PaperNetworks()[i].title, Text(all[i]));
  }
  return text;
}

// What a rule sees of one family.
struct Sight {
  Verdict verdict = Verdict::kNotTestable;
  std::string evidence;
  // The networks that would have to change for another verdict, as others that learn on could not
  // change it; empty: all that the rule looks at. One network that is better refutes "the best".
  std::vector<std::string> stands_on = {};
};

std::size_t Lowest(const std::vector<OverSeeds>& all) {
  const auto less = [](const OverSeeds& a, const OverSeeds& b) { return a.mean < b.mean; };
  return static_cast<std::size_t>(std::min_element(all.begin(), all.end(), less) - all.begin());
}

// A network's metric less AeroCast's on the same windows, with an interval over flights: seed 1 of
// each. Empty where the flights are not known.
std::optional<Comparison> Paired(const Findings& findings, Family family,
                                 const std::string& network, Metric metric) {
  const bool quarter = family == Family::kQuarter;
  const Results* results = findings.Find(quarter ? "quarter-raw" : "sizes-raw");
  if (results == nullptr) return std::nullopt;
  const auto name = [&](const std::string& n) { return quarter ? QuarterName(n, 1) : n; };
  const Result<Comparison> paired =
      CompareResults(*results, name(network), *results, name(PaperNetworks()[0].name), metric,
                     GroupKind::kAll, BootstrapOptions{});
  return paired.ok() ? std::optional(*paired) : std::nullopt;
}

// Whether AeroCast is below all others whatever the seeds. Not at all when another is below it
// whatever the seeds, and beyond what the flights leave to chance.
Sight IsLowest(const Findings& findings, Family family, Metric metric, const char* title) {
  const std::vector<OverSeeds> all = All(findings, family, metric);
  if (all.empty()) return {};
  Sight sight{Verdict::kHeld, fmt::format("{}: {}", title, Show(all))};
  const std::size_t lowest = Lowest(all);
  if (lowest == 0) {
    const bool apart = std::all_of(all.begin() + 1, all.end(), [&](const OverSeeds& other) {
      return other.least > all[0].most;
    });
    if (!apart) sight.verdict = Verdict::kUndecided;
    return sight;
  }
  const PaperNetwork &own = PaperNetworks()[0], &refuter = PaperNetworks()[lowest];
  const std::optional<Comparison> paired = Paired(findings, family, refuter.name, metric);
  const bool beyond = all[lowest].most < all[0].least && (!paired || paired->high < 0);
  sight.verdict = beyond ? Verdict::kNotHeld : Verdict::kUndecided;
  sight.stands_on = {own.name, refuter.name};
  if (paired) {
    sight.evidence +=
        fmt::format("; {} less {} on the same windows {} over flights", refuter.title, own.title,
                    Text(MetricEstimate{paired->difference, paired->low, paired->high}));
  }
  return sight;
}

// Whether it is so in both; what refutes one refutes both.
Sight Both(const Sight& a, const Sight& b) {
  if (a.verdict == Verdict::kNotTestable || b.verdict == Verdict::kNotTestable) return {};
  Sight both{a.verdict == Verdict::kHeld ? b.verdict : a.verdict, a.evidence + "; " + b.evidence};
  for (const Sight* sight : {&b, &a}) {
    if (sight->verdict != Verdict::kNotHeld) continue;
    both.verdict = Verdict::kNotHeld, both.stands_on = sight->stands_on;
  }
  return both;
}

Verdict If(bool held) { return held ? Verdict::kHeld : Verdict::kNotHeld; }

// Takes a verdict back, and says why before the numbers.
void Undecide(const std::string& reason, Conclusion& c) {
  if (c.verdict == Verdict::kNotTestable) return;
  c.verdict = Verdict::kUndecided;
  c.evidence = reason + "; " + c.evidence;
}

// A verdict stands on networks that were trained to the end.
void RequireFlat(const Findings& findings, const std::vector<std::string>& networks,
                 Conclusion& c) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> gaining;
  for (const std::string& name : networks) {
    const double gained = GainedAtTheEnd(findings, name);
    if (gained < kFlatNats) continue;
    gaining.push_back(name + (std::isfinite(gained) ? fmt::format(" by {:.2f} nats", gained)
                                                    : ", which was not validated before"));
  }
  if (gaining.empty()) return;
  const std::size_t more = gaining.size() - std::min(gaining.size(), kNamed);
  gaining.resize(gaining.size() - more);
  Undecide(
      fmt::format("still gaining in the last quarter of its run: {}{}", fmt::join(gaining, ", "),
                  more > 0 ? fmt::format(", and {} more", more) : ""),
      c);
}

// Judges (b) by a rule, with what the rule sees of (a) beside it.
template <typename Rule>
Conclusion Judge(const Findings& findings, std::string claim, std::string rule,
                 const std::vector<std::string>& networks, const Rule& look) {
  const Sight quarter = look(Family::kQuarter), sizes = look(Family::kSizes);
  Conclusion c{std::move(claim), std::move(rule), quarter.verdict, quarter.evidence};
  if (quarter.verdict == Verdict::kNotTestable) return c;
  if (sizes.verdict != Verdict::kNotTestable) {
    c.evidence += "; at the paper's sizes: " + sizes.evidence;
  }
  std::vector<std::string> trained;
  for (const std::string& name : quarter.stands_on.empty() ? networks : quarter.stands_on) {
    for (int seed = 1; seed <= findings.options.seeds; ++seed) {
      trained.push_back(QuarterName(name, seed));
    }
  }
  RequireFlat(findings, trained, c);
  if (findings.options.seeds < kFewestSeeds) Undecide("one seed, two are needed", c);
  return c;
}

std::vector<std::string> Five() {
  std::vector<std::string> names;
  for (const PaperNetwork& n : PaperNetworks()) names.push_back(n.name);
  return names;
}

constexpr char kLowestRule[] =
    "its worst seed is below every other network's best seed in both (not held: another's worst "
    "seed is below its best in one, and so is the interval over flights of their difference below "
    "0)";

Conclusion LowestError(const Findings& findings) {
  return Judge(findings, "AeroCast has the lowest ADE and FDE of the five networks.", kLowestRule,
               Five(), [&](Family family) {
                 return Both(IsLowest(findings, family, Metric::kAde, "ADE"),
                             IsLowest(findings, family, Metric::kFde, "FDE"));
               });
}

Conclusion HalfOfBiGru(const Findings& findings) {
  return Judge(
      findings,
      "It halves the ADE and FDE of BiGRU, the strongest baseline (0.055 to 0.111, 0.099 "
      "to 0.190).",
      "ratio of the means at most 0.6 in both", {"paper", "bigru"}, [&](Family family) -> Sight {
        std::array<double, 2> ratio{};
        for (std::size_t i = 0; i < 2; ++i) {
          const Metric metric = i == 0 ? Metric::kAde : Metric::kFde;
          ratio[i] = Of(findings, family, "paper", metric).mean /
                     Of(findings, family, "bigru", metric).mean;
          if (!std::isfinite(ratio[i])) return {};
        }
        // A BiGRU that learned on would only raise the ratio.
        const bool held = ratio[0] <= 0.6 && ratio[1] <= 0.6;
        return {If(held), fmt::format("ratio of ADE {:.2f}, of FDE {:.2f}", ratio[0], ratio[1]),
                held ? std::vector<std::string>{} : std::vector<std::string>{"paper"}};
      });
}

Conclusion LowestDensity(const Findings& findings) {
  return Judge(
      findings, "AeroCast has the lowest NLL and CRPS.", kLowestRule, Five(), [&](Family family) {
        return Both(IsLowest(findings, family, Metric::kNllDisplacementLambda, "NLL"),
                    IsLowest(findings, family, Metric::kCrpsDisplacement, "CRPS of steps"));
      });
}

// On how many categories AeroCast is lowest in both, and who is on the others.
Sight LowestByCategory(const Findings& findings, Family family) {
  int lowest = 0, categories = 0;
  std::array<int, 5> won{};  // by each network, of those AeroCast is not lowest on
  std::string lost;
  for (const Category& c : kCategories) {
    const std::string name(c.name);
    const auto ade = All(findings, family, Metric::kAde, GroupKind::kCategory, name),
               fde = All(findings, family, Metric::kFde, GroupKind::kCategory, name);
    if (ade.empty() || fde.empty()) continue;
    ++categories;
    const std::size_t by_ade = Lowest(ade), by_fde = Lowest(fde);
    if (by_ade == 0 && by_fde == 0) {
      ++lowest;
      continue;
    }
    ++won[by_ade != 0 ? by_ade : by_fde];
    lost += fmt::format("{}{} (ADE {}, FDE {})", lost.empty() ? "" : ", ", name,
                        PaperNetworks()[by_ade].title, PaperNetworks()[by_fde].title);
  }
  if (categories == 0) return {};
  const int all = static_cast<int>(std::size(kCategories));
  Verdict verdict = If(lowest == categories);
  if (verdict == Verdict::kHeld && categories < all) verdict = Verdict::kUndecided;
  Sight sight{verdict, fmt::format("lowest on {} of {}{}{}", lowest, all,
                                   categories < all ? fmt::format(" ({} tested)", categories) : "",
                                   lost.empty() ? "" : "; lowest on the others: " + lost)};
  if (verdict == Verdict::kNotHeld) {
    const auto most =
        static_cast<std::size_t>(std::max_element(won.begin(), won.end()) - won.begin());
    sight.stands_on = {PaperNetworks()[0].name, PaperNetworks()[most].name};
  }
  return sight;
}

Conclusion EveryCategory(const Findings& findings) {
  return Judge(findings, "The advantage holds on all nine categories.",
               "lowest mean ADE and lowest mean FDE on every category", Five(),
               [&](Family family) { return LowestByCategory(findings, family); });
}

Conclusion BaselineOrder(const Findings& findings) {
  return Judge(findings, "Among the baselines BiGRU has the lowest error and LSTM the highest.",
               "so in the mean ADE of the four", {"gru", "lstm", "bigru", "mlp"},
               [&](Family family) -> Sight {
                 const auto ade = All(findings, family, Metric::kAde);
                 if (ade.empty()) return {};
                 const auto less = [](const OverSeeds& a, const OverSeeds& b) {
                   return a.mean < b.mean;
                 };
                 const auto best = std::min_element(ade.begin() + 1, ade.end(), less);
                 const auto worst = std::max_element(ade.begin() + 1, ade.end(), less);
                 const auto title = [&](auto at) {
                   return PaperNetworks()[static_cast<std::size_t>(at - ade.begin())].title;
                 };
                 return {If(title(best) == "BiGRU-MDN" && title(worst) == "LSTM-MDN"),
                         fmt::format("lowest {} {}, highest {} {}", title(best), Text(*best),
                                     title(worst), Text(*worst))};
               });
}

Conclusion CalibrationIsShared(const Findings& findings) {
  return Judge(
      findings,
      "Calibration is governed by what the networks share (the floor, the loss), not by the "
      "encoder.",
      "mean ECE of the five within 0.035 of each other, as the paper's are", Five(),
      [&](Family family) -> Sight {
        const auto ece = All(findings, family, Metric::kEceDisplacement);
        if (ece.empty()) return {};
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (const OverSeeds& e : ece) {
          least = std::min(least, e.mean), most = std::max(most, e.mean);
        }
        return {If(most - least <= 0.035),
                fmt::format("they span {:.3f}: {}", most - least, Show(ece))};
      });
}

// Mean error of the five so many seconds ahead, over the seeds; empty where one is missing.
std::vector<double> ErrorsAt(const Findings& findings, Family family, int second) {
  const Results* results = findings.Find(family == Family::kQuarter ? "quarter-raw" : "sizes-raw");
  std::vector<double> errors;
  for (const PaperNetwork& n : PaperNetworks()) {
    double sum = 0;
    const int seeds = family == Family::kQuarter ? findings.options.seeds : 1;
    for (int seed = 1; results != nullptr && seed <= seeds; ++seed) {
      sum += ErrorAt(*results, family == Family::kQuarter ? QuarterName(n.name, seed) : n.name,
                     second);
    }
    if (results == nullptr || !std::isfinite(sum)) return {};
    errors.push_back(sum / seeds);
  }
  return errors;
}

Conclusion GapWidens(const Findings& findings) {
  return Judge(
      findings,
      "Up to 1 s all networks are alike; beyond 2 s the recurrent ones fall behind AeroCast.",
      "at 1 s the five lie within a quarter of their mean error; the best recurrent one is behind "
      "AeroCast at 2 s, and further at 5 s",
      Five(), [&](Family family) -> Sight {
        const auto at1 = ErrorsAt(findings, family, 1), at2 = ErrorsAt(findings, family, 2),
                   at5 = ErrorsAt(findings, family, 5);
        if (at1.empty() || at2.empty() || at5.empty()) return {};
        const auto gap = [](const std::vector<double>& e) {
          return std::min({e[1], e[2], e[3]}) - e[0];
        };
        const auto [least, most] = std::minmax_element(at1.begin(), at1.end());
        double mean = 0;
        for (const double e : at1) mean += e / static_cast<double>(at1.size());
        const double span = (*most - *least) / mean;
        return {If(span <= 0.25 && gap(at2) > 0 && gap(at5) > gap(at2)),
                fmt::format("at 1 s they span {:.0f} % of {:.3f} m; best recurrent network less "
                            "AeroCast: {:+.3f} m at 1 s, {:+.3f} at 2 s, {:+.3f} at 5 s",
                            100 * span, mean, gap(at1), gap(at2), gap(at5))};
      });
}

Conclusion DominantMode(const Findings& findings) {
  return Judge(
      findings,
      "The heaviest component alone tracks the truth; the others hardly add (best of five 0.052 to "
      "0.055).",
      "ADE of the best of five sampled paths at least 0.9 times that of the point path", {"paper"},
      [&](Family family) -> Sight {
        const OverSeeds best = Of(findings, family, "paper", Metric::kMinAdeSamples),
                        point = Of(findings, family, "paper", Metric::kAde);
        if (best.seeds == 0 || point.seeds == 0) return {};
        return {If(best.mean >= 0.9 * point.mean),
                fmt::format("point path {}, best of five {}", Text(point), Text(best))};
      });
}

// The metric of an ablation over that of the full model, trained equally long; empty where one is
// missing.
std::optional<double> Ratio(const Findings& findings, Family family, const std::string& ablation,
                            Metric metric) {
  const bool quarter = family == Family::kQuarter;
  const Results *ablated = findings.Find(quarter ? "quarter-ablations" : "ablations"),
                *whole = findings.Find(quarter ? "quarter-raw" : "ablations");
  if (ablated == nullptr || whole == nullptr) return std::nullopt;
  const double of = MetricOf(*ablated, InFamily(family, ablation), metric).value,
               full = MetricOf(*whole, FullOf(family), metric).value;
  if (!std::isfinite(of) || !std::isfinite(full)) return std::nullopt;
  return of / full;
}

// Judges ablations on (b), with (a) beside; those of the size, which (b) has not, on (a).
template <typename Rule>
Conclusion JudgeAblations(const Findings& findings, std::string claim, std::string rule,
                          const std::vector<std::string>& ablations, const Rule& look) {
  const Sight quarter = look(Family::kQuarter), sizes = look(Family::kSizes);
  const bool on_quarter = quarter.verdict != Verdict::kNotTestable;
  const Family family = on_quarter ? Family::kQuarter : Family::kSizes;
  const Sight& judged = on_quarter ? quarter : sizes;
  Conclusion c{std::move(claim), std::move(rule), judged.verdict, judged.evidence};
  if (c.verdict == Verdict::kNotTestable) return c;
  if (on_quarter && sizes.verdict != Verdict::kNotTestable) {
    c.evidence += "; at the paper's sizes: " + sizes.evidence;
  }
  std::vector<std::string> trained = {FullOf(family)};
  for (const std::string& name : ablations) trained.push_back(InFamily(family, name));
  RequireFlat(findings, trained, c);
  return c;
}

Conclusion FiveComponents(const Findings& findings) {
  return JudgeAblations(
      findings,
      "Five components are best for the point path; one more than doubles its error, ten nearly "
      "double it (0.133, 0.101 to 0.055).",
      "ADE of K = 1, 3, 10 all above that of K = 5, and K = 1 at least 1.5 times it",
      {"ablation-k1", "ablation-k3", "ablation-k10"}, [&](Family family) -> Sight {
        const auto one = Ratio(findings, family, "ablation-k1", Metric::kAde),
                   three = Ratio(findings, family, "ablation-k3", Metric::kAde),
                   ten = Ratio(findings, family, "ablation-k10", Metric::kAde);
        if (!one || !three || !ten) return {};
        return {If(*one >= 1.5 && *three > 1 && *ten > 1),
                fmt::format("ADE over that of K = 5, trained as long: K = 1 {:.2f}, K = 3 {:.2f}, "
                            "K = 10 {:.2f}",
                            *one, *three, *ten)};
      });
}

Conclusion Capacity(const Findings& findings) {
  return JudgeAblations(
      findings, "The larger the network the better: Tiny, Small, Medium, full.",
      "ADE falls in this order", {"ablation-tiny", "ablation-small", "ablation-medium"},
      [&](Family family) -> Sight {
        const auto tiny = Ratio(findings, family, "ablation-tiny", Metric::kAde),
                   small = Ratio(findings, family, "ablation-small", Metric::kAde),
                   medium = Ratio(findings, family, "ablation-medium", Metric::kAde);
        if (!tiny || !small || !medium) return {};
        return {If(*tiny > *small && *small > *medium && *medium > 1),
                fmt::format("ADE over that of the full model, trained as long: Tiny {:.2f}, Small "
                            "{:.2f}, Medium {:.2f}",
                            *tiny, *small, *medium)};
      });
}

Conclusion PositionalEncoding(const Findings& findings) {
  return JudgeAblations(
      findings, "Without positional encoding FDE is four times as large.",
      "FDE at least twice as large", {"ablation-no-position"}, [&](Family family) -> Sight {
        const auto fde = Ratio(findings, family, "ablation-no-position", Metric::kFde),
                   ade = Ratio(findings, family, "ablation-no-position", Metric::kAde);
        if (!fde || !ade) return {};
        return {If(*fde >= 2),
                fmt::format("FDE {:.2f} times, ADE {:.2f} times that of the full model, trained as "
                            "long",
                            *fde, *ade)};
      });
}

Conclusion Velocity(const Findings& findings) {
  return JudgeAblations(
      findings, "Velocity matters: without it ADE is 78 % larger.", "ADE at least 30 % larger",
      {"ablation-positions-only"}, [&](Family family) -> Sight {
        const auto ade = Ratio(findings, family, "ablation-positions-only", Metric::kAde);
        if (!ade) return {};
        return {If(*ade >= 1.3),
                fmt::format("ADE {:.2f} times that of the full model, trained as long", *ade)};
      });
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
      "p50 {:.2f} ms, p99 {:.2f} ms here, warm and undisturbed; the paper's 0.100 ms is a GPU's "
      "and "
      "was not measured",
      p50, p99);
  return c;
}

// The sign of a difference, as far as its interval over flights tells.
Verdict Above(const HistoryLoss& loss) {
  if (!std::isfinite(loss.difference)) return Verdict::kNotTestable;
  if (loss.low > 0) return Verdict::kHeld;
  return loss.high <= 0 ? Verdict::kNotHeld : Verdict::kUndecided;
}

constexpr int kJudgedTokens = 10;  // left: the older half of the history is gone

Conclusion EarlyHistory(const Findings& findings) {
  const HistoryLoss cut = LossOfCutting(findings, "paper", kJudgedTokens),
                    trained = LossOfTraining(findings, "paper", kJudgedTokens);
  Conclusion c{"Hypothesis: early history matters before manoeuvres.",
               "without the older half of its tokens AeroCast's ADE grows more before manoeuvres "
               "than elsewhere: 95 % interval over flights above 0 (not held: below 0)",
               Above(cut), ""};
  if (c.verdict == Verdict::kNotTestable) return c;
  c.evidence = fmt::format(
      "ADE {:+.3f} m before manoeuvres, {:+.3f} m elsewhere, difference {}; trained without them "
      "{}",
      cut.before, cut.elsewhere, DifferenceText(cut), DifferenceText(trained));
  RequireFlat(findings, {QuarterName("paper", 1)}, c);
  return c;
}

Conclusion MoreThanRecurrence(const Findings& findings) {
  const HistoryLoss beyond = LossBeyond(findings, "paper", "gru", kJudgedTokens);
  Conclusion c{
      "Hypothesis: self-attention carries early signs of manoeuvres further than "
      "recurrence.",
      "that difference is larger for AeroCast than for GRU-MDN: 95 % interval over flights "
      "above 0 (not held: below 0)",
      Above(beyond), ""};
  if (c.verdict == Verdict::kNotTestable) return c;
  c.evidence = fmt::format("AeroCast {}, GRU-MDN {}; AeroCast more by {}",
                           DifferenceText(LossOfCutting(findings, "paper", kJudgedTokens)),
                           DifferenceText(LossOfCutting(findings, "gru", kJudgedTokens)),
                           DifferenceText(beyond));
  RequireFlat(findings, {QuarterName("paper", 1), QuarterName("gru", 1)}, c);
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
          DominantMode(findings),       EarlyHistory(findings),   MoreThanRecurrence(findings)};
}

void AddConclusionsSection(const std::vector<Conclusion>& conclusions, Document& document) {
  document.AddHeading(2, "Did the paper's conclusions hold?");
  document.AddParagraph(fmt::format(
      "Judged on (b), the networks of a quarter of the width as trained, over at least {} seeds "
      "(ablations: one), with (a), the paper's sizes, beside; ablations of the size, and latency, "
      "on (a). An ablation is compared with the full model at the same budget. Undecided also "
      "means: a network that the verdict stands on was still gaining {} nats or more of validation "
      "NLL in the last quarter of its run. One network that is better refutes \"the best\", "
      "whatever the others would learn on.",
      kFewestSeeds, kFlatNats));
  DocumentTable table;
  table.header = {"Conclusion", "held if", "here", "evidence"};
  for (const Conclusion& c : conclusions) {
    table.rows.push_back({c.claim, c.rule, "**" + VerdictName(c.verdict) + "**",
                          c.evidence.empty() ? "not made in this run" : c.evidence});
  }
  document.Add(std::move(table));
}

}  // namespace aerocast
