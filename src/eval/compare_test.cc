// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "src/base/rng.h"

namespace aerocast {
namespace {

// A model whose ADE on flight n is values[n], with one window per flight.
ModelEvaluation Made(const std::string& name, const std::vector<double>& values,
                     const std::string& category = "circle") {
  ModelEvaluation e{{name, "", "", ""}, TallyLayout(PaperWindows()), {}, 0};
  for (std::size_t n = 0; n < values.size(); ++n) {
    FlightTally f{"f" + std::to_string(n), category, "", Source::kReal, Tally(e.layout)};
    f.tally.windows = f.tally.scored = 1;
    f.tally.Count(e.layout, Metric::kAde, values[n]);
    e.flights.push_back(std::move(f));
  }
  return e;
}

ComparedModel View(const ModelEvaluation& e) { return {e.model.name, e.layout, e.flights}; }

const MetricEstimate& Ade(const GroupSummary& g) {
  return g.metrics[static_cast<std::size_t>(Metric::kAde)];
}

TEST(Summarize, IntervalCoversTheTruthAtTheNominalRate) {
  Rng rng(11);
  int covered = 0;
  constexpr int kTrials = 150;
  BootstrapOptions options;
  options.replicates = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    for (int n = 0; n < 40; ++n) values.push_back(5 + rng.Normal());
    options.seed = static_cast<std::uint64_t>(trial);
    const MetricEstimate ade = Ade(Summarize(Made("m", values), options)[0]);
    covered += ade.low <= 5 && 5 <= ade.high;
  }
  // Binomial, and the percentile bootstrap of 40 values is a little short.
  EXPECT_GE(covered, 0.88 * kTrials);
  EXPECT_LE(covered, 0.99 * kTrials);
}

TEST(Summarize, SameSeedSameBitsOnAnyNumberOfThreads) {
  const ModelEvaluation e = Made("m", {1.1, 2.23, 4.71, 3.37, 7.9, 0.41, 5.03});
  BootstrapOptions one, four;
  one.threads = 1, four.threads = 4;
  const auto a = Ade(Summarize(e, one)[0]), b = Ade(Summarize(e, four)[0]);
  EXPECT_EQ(0, std::memcmp(&a, &b, sizeof a));
  four.seed = 2;
  EXPECT_NE(Ade(Summarize(e, four)[0]).low, a.low);
}

TEST(Summarize, OneClusterHasNoInterval) {
  const auto one = Summarize(Made("m", {3}), {});
  EXPECT_EQ(Ade(one[0]).value, 3);
  EXPECT_TRUE(std::isnan(Ade(one[0]).low));
  ModelEvaluation repeated = Made("m", {1, 2, 3});
  for (FlightTally& f : repeated.flights) f.configuration = "same";
  BootstrapOptions options;
  EXPECT_FALSE(std::isnan(Ade(Summarize(repeated, options)[0]).low));
  options.cluster = Cluster::kConfiguration;
  EXPECT_TRUE(std::isnan(Ade(Summarize(repeated, options)[0]).low));
}

TEST(Summarize, CategoriesCountOnceInTheirAverageAndOthersNotAtAll) {
  ModelEvaluation e = Made("m", {1, 1, 1, 5, 100});
  e.flights[3].category = "star";
  e.flights[4].category = "linear ramp";
  e.flights[4].source = Source::kSynthetic;
  const auto groups = Summarize(e, {});
  std::vector<std::string> names;
  for (const GroupSummary& g : groups) names.push_back(g.name);
  EXPECT_EQ(names, (std::vector<std::string>{"all windows", "category average", "circle", "star",
                                             "linear ramp", "real", "synthetic", "periodic",
                                             "aperiodic"}));
  EXPECT_DOUBLE_EQ(Ade(groups[0]).value, 108.0 / 5);
  EXPECT_DOUBLE_EQ(Ade(groups[1]).value, 3);
  EXPECT_TRUE(std::isnan(Ade(groups[1]).low));  // star has one flight only
  EXPECT_EQ(groups[1].flights, 4);
  EXPECT_DOUBLE_EQ(Ade(groups[4]).value, 100);
}

TEST(Compare, PairingRemovesWhatBothFindHard) {
  Rng rng(2);
  std::vector<double> a, b;
  for (int n = 0; n < 30; ++n) {
    const double hard = rng.Uniform(0, 10);
    a.push_back(hard + 0.1 + 0.05 * rng.Normal()), b.push_back(hard);
  }
  const ModelEvaluation ma = Made("a", a), mb = Made("b", b);
  const auto c = Compare(View(ma), View(mb), Metric::kAde, GroupKind::kAll, {});
  ASSERT_TRUE(c.ok());
  EXPECT_NEAR(c->difference, 0.1, 0.03);
  EXPECT_TRUE(c->significant());
  EXPECT_LT(c->high - c->low, 0.06);
  EXPECT_EQ(c->clusters, 30);
  const auto back = Compare(View(mb), View(ma), Metric::kAde, GroupKind::kCategoryAverage, {});
  ASSERT_TRUE(back.ok());
  EXPECT_DOUBLE_EQ(back->difference, -c->difference);
}

TEST(Compare, FindsTheSameFlightInAnyOrder) {
  const ModelEvaluation a = Made("a", {1, 2, 3});
  ModelEvaluation b = a;
  std::swap(b.flights[0], b.flights[2]);
  const auto c = Compare(View(a), View(b), Metric::kAde, GroupKind::kAll, {});
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->low, 0);
  EXPECT_EQ(c->high, 0);
}

TEST(Compare, RefusesWhatIsNotPaired) {
  const auto message = [](const ModelEvaluation& a, const ModelEvaluation& b, Metric m) {
    const auto c = Compare(View(a), View(b), m, GroupKind::kAll, {});
    return c.ok() ? "" : c.error().message;
  };
  const ModelEvaluation a = Made("a", {1, 2, 3});
  EXPECT_EQ(message(a, Made("b", {1, 2}), Metric::kAde), "a was evaluated on flight f2, b was not");
  EXPECT_EQ(message(Made("b", {1, 2}), a, Metric::kAde), "b was evaluated on 2 flights, a on 3");
  ModelEvaluation b = a;
  b.flights[1].tally.windows = 2;
  EXPECT_EQ(message(a, b, Metric::kAde), "flight f1 has 1 windows for a and 2 for a");
  b = Made("b", {1, 2, 3});
  b.flights[0].tally.Count(b.layout, Metric::kAde, 1);
  EXPECT_EQ(message(a, b, Metric::kAde),
            "flight f0: ade stands on 1 values of a and 2 of b, so they are not paired");
  EXPECT_EQ(message(a, Made("b", {1, 2, 3}), Metric::kEnergy), "a or b has no energy");
}

TEST(CompareWithBest, ComparesEveryOtherModelWithTheBest) {
  const std::vector<ModelEvaluation> models = {Made("a", {3, 4}), Made("b", {1, 2}),
                                               Made("c", {2, 2})};
  const auto c = CompareWithBest(models, Metric::kAde, {});
  ASSERT_EQ(c.size(), 2u);
  EXPECT_EQ(c[0].a, "a");
  EXPECT_EQ(c[0].b, "b");
  EXPECT_EQ(c[1].a, "c");
}

}  // namespace
}  // namespace aerocast
