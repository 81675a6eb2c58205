// SPDX-License-Identifier: BSD-3-Clause
//
// The rules behind the verdicts, on made-up results.
#include "src/reproduce/conclusions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "src/data/category.h"
#include "src/reproduce/history.h"
#include "src/reproduce/paper_values.h"

namespace aerocast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ModelResult& Model(Results& results, const std::string& name) {
  for (ModelResult& m : results.models) {
    if (m.model.name == name) return m;
  }
  results.models.emplace_back().model.name = name;
  GroupSummary all;
  all.metrics.fill({kNan, kNan, kNan});
  results.models.back().groups = {all};
  return results.models.back();
}

void Set(Results& results, const std::string& model, Metric metric, double value) {
  Model(results, model).groups[0].metrics[static_cast<std::size_t>(metric)] = {value, kNan, kNan};
}

// A training whose last quarter gained so much.
TrainingCurve Gaining(double nats) {
  TrainingCurve curve;
  curve.points.resize(5);
  for (std::size_t i = 0; i < 5; ++i) {
    curve.points[i].windows = 100 * i;
    curve.points[i].validation_nll = -1.0 * static_cast<double>(std::min<std::size_t>(i, 3));
  }
  curve.points[4].validation_nll -= nats;
  return curve;
}

// Two seeds of each of the five, trained to the end.
class Verdicts : public testing::Test {
 protected:
  Verdicts() {
    findings_.options.seeds = 2;
    for (const PaperNetwork& n : PaperNetworks()) {
      for (int seed = 1; seed <= 2; ++seed) {
        findings_.curves[QuarterName(n.name, seed)] = Gaining(0);
      }
    }
  }
  Results& Evaluation(const std::string& name) { return findings_.evaluations[name]; }
  // The metric of the five in the paper's order; the second seed is a little worse.
  void SetFive(Metric metric, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string& network = PaperNetworks()[i].name;
      Set(Evaluation("quarter-raw"), QuarterName(network, 1), metric, values[i]);
      Set(Evaluation("quarter-raw"), QuarterName(network, 2), metric, values[i] + 0.01);
      Set(Evaluation("sizes-raw"), network, metric, 7);
    }
  }
  Conclusion Judged(const std::string& claim) {
    for (Conclusion& c : JudgeConclusions(findings_)) {
      if (c.claim.find(claim) != c.claim.npos) return c;
    }
    ADD_FAILURE() << claim;
    return {};
  }

  Findings findings_;
};

TEST_F(Verdicts, LowestErrorIsOfAllSeeds) {
  const auto verdict = [&] { return Judged("lowest ADE and FDE").verdict; };
  SetFive(Metric::kFde, {1, 2, 3, 4, 5});
  EXPECT_EQ(verdict(), Verdict::kNotTestable) << "there is no ADE";
  SetFive(Metric::kAde, {0.1, 0.2, 0.2, 0.2, 0.2});
  EXPECT_EQ(verdict(), Verdict::kHeld);
  EXPECT_THAT(Judged("lowest ADE and FDE").evidence,
              HasSubstr("; at the paper's sizes: ADE: AeroCast 7"));
  SetFive(Metric::kAde, {0.195, 0.2, 0.2, 0.2, 0.2});
  EXPECT_EQ(verdict(), Verdict::kUndecided) << "its worst seed is above their best";
  SetFive(Metric::kAde, {0.3, 0.2, 0.4, 0.4, 0.4});
  EXPECT_EQ(verdict(), Verdict::kNotHeld);
  SetFive(Metric::kAde, {0.205, 0.2, 0.4, 0.4, 0.4});
  EXPECT_EQ(verdict(), Verdict::kUndecided) << "another's worst seed is above its best";
}

TEST_F(Verdicts, NothingIsHeldByNetworksThatStillLearn) {
  SetFive(Metric::kAde, {0.1, 0.2, 0.2, 0.2, 0.2});
  SetFive(Metric::kFde, {0.1, 0.2, 0.2, 0.2, 0.2});
  findings_.curves["quarter-gru-s2"] = Gaining(0.2);
  const Conclusion all = Judged("lowest ADE and FDE");
  EXPECT_EQ(all.verdict, Verdict::kUndecided);
  EXPECT_THAT(all.evidence,
              AllOf(HasSubstr("still gaining"), HasSubstr("quarter-gru-s2 by 0.20 nats"),
                    Not(HasSubstr("quarter-gru-s1"))));
  EXPECT_EQ(Judged("It halves").verdict, Verdict::kHeld) << "does not stand on the GRU";
  findings_.curves.erase("quarter-bigru-s1");
  EXPECT_EQ(Judged("It halves").verdict, Verdict::kUndecided) << "nobody knows how it went";
}

// One that is better is enough, whatever the others would learn on.
TEST_F(Verdicts, WhatIsRefutedStandsOnWhatRefutesIt) {
  SetFive(Metric::kAde, {0.3, 0.5, 0.5, 0.4, 0.2});
  SetFive(Metric::kFde, {0.3, 0.5, 0.5, 0.4, 0.4});
  findings_.curves["quarter-gru-s2"] = findings_.curves["quarter-bigru-s1"] = Gaining(0.2);
  EXPECT_EQ(Judged("lowest ADE and FDE").verdict, Verdict::kNotHeld);
  EXPECT_EQ(Judged("It halves").verdict, Verdict::kNotHeld) << "a better BiGRU makes it no truer";
  EXPECT_EQ(Judged("Among the baselines").verdict, Verdict::kUndecided) << "BiGRU may get there";
  findings_.curves["quarter-mlp-s1"] = Gaining(0.2);
  EXPECT_EQ(Judged("lowest ADE and FDE").verdict, Verdict::kUndecided);
  findings_.curves["quarter-mlp-s1"] = Gaining(0),
  findings_.curves["quarter-paper-s2"] = Gaining(0.2);
  EXPECT_EQ(Judged("lowest ADE and FDE").verdict, Verdict::kUndecided);
  EXPECT_EQ(Judged("It halves").verdict, Verdict::kUndecided);
}

TEST_F(Verdicts, OneSeedIsNotEnough) {
  SetFive(Metric::kAde, {0.1, 0.2, 0.2, 0.2, 0.2});
  SetFive(Metric::kFde, {0.1, 0.2, 0.2, 0.2, 0.2});
  findings_.options.seeds = 1;
  const Conclusion c = Judged("lowest ADE and FDE");
  EXPECT_EQ(c.verdict, Verdict::kUndecided);
  EXPECT_THAT(c.evidence, HasSubstr("one seed, two are needed"));
}

TEST_F(Verdicts, HalfIsOfBothErrors) {
  SetFive(Metric::kAde, {0.1, 1, 1, 0.2, 1});
  SetFive(Metric::kFde, {0.1, 1, 1, 0.2, 1});
  EXPECT_EQ(Judged("It halves").verdict, Verdict::kHeld);
  SetFive(Metric::kFde, {0.15, 1, 1, 0.2, 1});
  EXPECT_EQ(Judged("It halves").verdict, Verdict::kNotHeld);
  EXPECT_THAT(Judged("It halves").evidence, HasSubstr("ratio of ADE 0.51, of FDE 0.76"));
}

TEST_F(Verdicts, TheHeaviestComponentMayBeBeatenByATenth) {
  SetFive(Metric::kAde, {0.1});
  SetFive(Metric::kMinAdeSamples, {0.095});
  EXPECT_EQ(Judged("heaviest component").verdict, Verdict::kHeld);
  SetFive(Metric::kMinAdeSamples, {0.3});
  EXPECT_EQ(Judged("heaviest component").verdict, Verdict::kHeld) << "the others add nothing";
  SetFive(Metric::kMinAdeSamples, {0.05});
  EXPECT_EQ(Judged("heaviest component").verdict, Verdict::kNotHeld);
}

TEST_F(Verdicts, AlikeIsMeasuredAtOneSecond) {
  const auto set = [&](const std::vector<double>& at1, const std::vector<double>& at5) {
    for (std::size_t i = 0; i < 5; ++i) {
      for (int seed = 1; seed <= 2; ++seed) {
        GroupSummary& all =
            Model(Evaluation("quarter-raw"), QuarterName(PaperNetworks()[i].name, seed)).groups[0];
        all.horizons.resize(3);
        all.horizons[0].t_s = 1, all.horizons[0].error = at1[i];
        all.horizons[1].t_s = 2, all.horizons[1].error = 0.5 * (at1[i] + at5[i]);
        all.horizons[2].t_s = 5, all.horizons[2].error = at5[i];
      }
    }
  };
  const std::vector<double> alike = {0.1, 0.11, 0.11, 0.11, 0.11}, apart = {1, 2, 2, 2, 2};
  set(alike, apart);
  EXPECT_EQ(Judged("Up to 1 s").verdict, Verdict::kHeld);
  set({0.1, 0.11, 0.11, 0.11, 0.2}, apart);
  EXPECT_EQ(Judged("Up to 1 s").verdict, Verdict::kNotHeld) << "small beside 5 s, but not alike";
  set(alike, {1, 0.9, 2, 2, 2});
  EXPECT_EQ(Judged("Up to 1 s").verdict, Verdict::kNotHeld) << "one keeps up";
  set(alike, {1, kNan, 2, 2, 2});
  EXPECT_EQ(Judged("Up to 1 s").verdict, Verdict::kNotTestable);
}

TEST_F(Verdicts, CategoriesAreCountedOfNine) {
  const auto set = [&](std::size_t categories, double fde) {
    for (std::size_t i = 0; i < 5; ++i) {
      for (int seed = 1; seed <= 2; ++seed) {
        ModelResult& m =
            Model(Evaluation("quarter-raw"), QuarterName(PaperNetworks()[i].name, seed));
        m.groups.resize(1);
        for (std::size_t c = 0; c < categories; ++c) {
          GroupSummary group = m.groups[0];
          group.kind = GroupKind::kCategory, group.name = kCategories[c].name;
          group.metrics[static_cast<std::size_t>(Metric::kAde)].value = i == 0 ? 0.1 : 0.2;
          group.metrics[static_cast<std::size_t>(Metric::kFde)].value =
              i == 1 && c == 2 ? fde : 0.1 * static_cast<double>(i + 1);
          m.groups.push_back(group);
        }
      }
    }
  };
  set(9, 1);
  EXPECT_EQ(Judged("all nine categories").verdict, Verdict::kHeld);
  EXPECT_THAT(Judged("all nine categories").evidence, HasSubstr("lowest on 9 of 9"));
  set(7, 1);
  EXPECT_EQ(Judged("all nine categories").verdict, Verdict::kUndecided) << "two were not tested";
  set(9, 0.01);
  EXPECT_EQ(Judged("all nine categories").verdict, Verdict::kNotHeld);
  EXPECT_THAT(Judged("all nine categories").evidence,
              AllOf(HasSubstr("lowest on 8 of 9"), HasSubstr("FDE GRU-MDN")));
}

TEST_F(Verdicts, AblationsAreJudgedAtAQuarterOfTheWidthWhereTheyCanBe) {
  Set(Evaluation("ablations"), kAblationFull, Metric::kAde, 0.1);
  Set(Evaluation("ablations"), "ablation-positions-only", Metric::kAde, 0.15);
  Set(Evaluation("quarter-raw"), QuarterName("paper", 1), Metric::kAde, 0.1);
  Set(Evaluation("quarter-ablations"), "quarter-ablation-positions-only", Metric::kAde, 0.11);
  findings_.curves["quarter-ablation-positions-only"] = Gaining(0.01);
  EXPECT_EQ(Judged("Velocity").verdict, Verdict::kNotHeld);
  EXPECT_THAT(
      Judged("Velocity").evidence,
      AllOf(HasSubstr("ADE 1.10 times"), HasSubstr("at the paper's sizes: ADE 1.50 times")));
}

TEST_F(Verdicts, AblationsAreComparedAtTheirOwnBudget) {
  Set(Evaluation("ablations"), "paper", Metric::kAde, 0.01);
  Set(Evaluation("ablations"), "ablation-positions-only", Metric::kAde, 0.12);
  EXPECT_EQ(Judged("Velocity").verdict, Verdict::kNotTestable) << "the full model had longer";
  Set(Evaluation("ablations"), kAblationFull, Metric::kAde, 0.1);
  EXPECT_EQ(Judged("Velocity").verdict, Verdict::kUndecided) << "nobody knows how they went";
  findings_.curves[kAblationFull] = findings_.curves["ablation-positions-only"] = Gaining(0.01);
  EXPECT_EQ(Judged("Velocity").verdict, Verdict::kNotHeld) << "20 % are not 30 %";
  Set(Evaluation("ablations"), "ablation-positions-only", Metric::kAde, 0.15);
  EXPECT_EQ(Judged("Velocity").verdict, Verdict::kHeld);
}

// A rule that the paper's own tables do not meet would be no rule about the paper.
TEST_F(Verdicts, ThePapersOwnNumbersHold) {
  const std::pair<Metric, double paper::ComparisonRow::*> metrics[] = {
      {Metric::kAde, &paper::ComparisonRow::ade},
      {Metric::kFde, &paper::ComparisonRow::fde},
      {Metric::kMinAdeSamples, &paper::ComparisonRow::min_ade},
      {Metric::kNllDisplacementLambda, &paper::ComparisonRow::nll},
      {Metric::kCrpsDisplacement, &paper::ComparisonRow::crps},
      {Metric::kEceDisplacement, &paper::ComparisonRow::ece}};
  for (const auto& [metric, column] : metrics) {
    for (const paper::ComparisonRow& row : paper::kComparison) {
      for (int seed = 1; seed <= 2; ++seed) {
        Set(Evaluation("quarter-raw"), QuarterName(std::string(row.network), seed), metric,
            row.*column);
      }
    }
  }
  for (const paper::AblationRow& row : paper::kAblations) {
    const std::string name(row.network == "paper" ? kAblationFull : row.network);
    Set(Evaluation("ablations"), name, Metric::kAde, row.ade);
    Set(Evaluation("ablations"), name, Metric::kFde, row.fde);
    findings_.curves[name] = Gaining(0);
  }
  for (const char* claim :
       {"lowest ADE and FDE", "It halves", "lowest NLL and CRPS", "Among the baselines",
        "Calibration is governed", "Five components", "The larger the network",
        "positional encoding", "Velocity", "heaviest component"}) {
    EXPECT_EQ(Judged(claim).verdict, Verdict::kHeld) << claim << ": " << Judged(claim).evidence;
  }
}

// Flights of the study of history: ADE per window, so many metres more with ten tokens left.
class History : public Verdicts {
 protected:
  void SetLoss(const std::string& network, double before, double elsewhere, double spread) {
    for (const std::string& subset : HistorySubsets()) {
      const double loss = subset == HistorySubsets()[0] ? before : elsewhere;
      for (const int tokens : {10, 20}) {
        Results& results = Evaluation("history-" + subset + "-" + std::to_string(tokens));
        ModelResult& m = Model(results, QuarterName(network, 1));
        m.per_flight.clear();
        const TallyLayout layout(results.protocol.window);
        for (int flight = 0; flight < 20; ++flight) {
          FlightTally row;
          row.id = std::to_string(flight);
          row.tally = Tally(layout);
          const double own = subset == HistorySubsets()[0] ? spread * (flight % 2 ? 1 : -1) : 0;
          for (int i = 0; i < 5; ++i) {
            row.tally.Count(layout, Metric::kAde, 0.2 + (tokens == 10 ? loss + own : 0));
          }
          m.per_flight.push_back(std::move(row));
        }
      }
    }
  }
};

TEST_F(History, LossIsComparedByFlight) {
  SetLoss("paper", 0.1, 0.04, 0.01);
  const HistoryLoss loss = LossOfCutting(findings_, "paper", 10);
  EXPECT_NEAR(loss.before, 0.1, 1e-9);
  EXPECT_NEAR(loss.elsewhere, 0.04, 1e-9);
  EXPECT_NEAR(loss.difference, 0.06, 1e-9);
  EXPECT_LT(loss.low, 0.06);
  EXPECT_GT(loss.low, 0.05);
  EXPECT_GT(loss.high, 0.06);
  EXPECT_EQ(Judged("early history matters").verdict, Verdict::kHeld);
  EXPECT_TRUE(std::isnan(LossOfCutting(findings_, "gru", 10).difference));
  EXPECT_EQ(Judged("further than recurrence").verdict, Verdict::kNotTestable);
}

TEST_F(History, AnIntervalAroundZeroDecidesNothing) {
  SetLoss("paper", 0.05, 0.04, 0.2);
  EXPECT_EQ(Judged("early history matters").verdict, Verdict::kUndecided);
  SetLoss("paper", 0.02, 0.04, 0.001);
  EXPECT_EQ(Judged("early history matters").verdict, Verdict::kNotHeld);
}

TEST_F(History, TheGruIsTheMeasure) {
  SetLoss("paper", 0.1, 0.04, 0.01);
  SetLoss("gru", 0.05, 0.04, 0.01);
  EXPECT_EQ(Judged("further than recurrence").verdict, Verdict::kHeld);
  SetLoss("gru", 0.15, 0.04, 0.02);
  EXPECT_EQ(Judged("further than recurrence").verdict, Verdict::kNotHeld);
}

TEST(Conclusions, AreNotTestableWithoutFindings) {
  const std::vector<Conclusion> conclusions = JudgeConclusions({});
  EXPECT_GE(conclusions.size(), 10u);
  for (const Conclusion& c : conclusions) {
    EXPECT_EQ(c.verdict, Verdict::kNotTestable) << c.claim;
  }
}

TEST(Trainings, AreFlatWhenTheLastQuarterGainsNothing) {
  EXPECT_NEAR(GainedAtTheEnd(Gaining(0.2)), 0.2, 1e-9);
  EXPECT_EQ(GainedAtTheEnd(Gaining(0)), 0);
  EXPECT_EQ(GainedAtTheEnd(Gaining(-1)), 0) << "overfitted, but flat";
  TrainingCurve once;
  once.points.resize(1);
  once.points[0].windows = 100;
  EXPECT_FALSE(std::isfinite(GainedAtTheEnd(once)));
  EXPECT_FALSE(std::isfinite(GainedAtTheEnd({})));
}

TEST(Durations, AreClockText) {
  EXPECT_EQ(DurationText(24), "24 s");
  EXPECT_EQ(DurationText(60), "1 m");
  EXPECT_EQ(DurationText(725), "12 m 05 s");
  EXPECT_EQ(DurationText(3600), "1 h");
  EXPECT_EQ(DurationText(5400), "1 h 30 m");
}

}  // namespace
}  // namespace aerocast
