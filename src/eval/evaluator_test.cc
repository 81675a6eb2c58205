// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>

#include "aerocast/classical.h"
#include "src/data/test_flight.h"
#include "src/eval/normal.h"
#include "src/eval/summary.h"
#include "src/eval/test_source.h"
#include "src/forecast/forecaster_testing.h"
#include "src/sim/disturbance.h"

namespace aerocast {
namespace {

using testing::CutAll;
using testing::FunctionSource;
using testing::MixtureSource;
using testing::TestMixture;
using testing::TwoHills;
using testing::WhiteFlight;

double Value(const GroupSummary& group, Metric m) {
  return group.metrics[static_cast<std::size_t>(m)].value;
}

std::vector<Recording> WhiteFlights(const TestMixture& mixture, int flights, int windows) {
  std::vector<Recording> recordings;
  for (int n = 0; n < flights; ++n) {
    recordings.push_back(WhiteFlight("white-" + std::to_string(n), "circle", mixture, windows,
                                     static_cast<std::uint64_t>(n)));
  }
  return recordings;
}

GroupSummary EvaluateAll(const ForecastSource& source, const std::vector<Recording>& recordings) {
  EvaluationOptions options;
  options.draws = 24;  // enough, and much quicker under sanitizers
  const auto evaluation = Evaluate(source, CutAll(recordings), options);
  EXPECT_TRUE(evaluation.ok());
  BootstrapOptions bootstrap;
  bootstrap.replicates = 10;
  return Summarize(*evaluation, bootstrap)[0];
}

void ExpectCalibrated(const GroupSummary& g) {
  EXPECT_LT(Value(g, Metric::kEcePosition), 0.01);
  EXPECT_NEAR(Value(g, Metric::kCoverage90), 0.9, 0.01);
  ASSERT_EQ(g.horizons.size(), 5u);
  for (const HorizonSummary& h : g.horizons) {
    for (std::size_t l = 0; l < kCoverageLevels.size(); ++l) {
      EXPECT_NEAR(h.region[l], kCoverageLevels[l], 0.015);
    }
    for (const std::vector<double>& pit : h.pit) {
      double sum = 0;
      for (const double share : pit) {
        sum += share;
        EXPECT_NEAR(share, 1.0 / kPitBins, 0.012);
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(Evaluate, ACalibratedGaussianHasNominalCoverageAndFlatPit) {
  const GroupSummary g = EvaluateAll(MixtureSource({}), WhiteFlights({}, 4, 3000));
  EXPECT_EQ(g.windows, 12'000);
  ExpectCalibrated(g);
  for (const HorizonSummary& h : g.horizons) EXPECT_NEAR(h.radial[2], 0.9, 0.015);
  EXPECT_NEAR(Value(g, Metric::kEnergy), 1.12838, 0.01);
  EXPECT_NEAR(Value(g, Metric::kNllPosition), 1.5 * std::log(2 * std::numbers::pi) + 1.5, 0.02);
  EXPECT_NEAR(Value(g, Metric::kCrpsPosition), std::numbers::inv_sqrtpi, 0.005);
  EXPECT_NEAR(Value(g, Metric::kAde), std::sqrt(8 / std::numbers::pi), 0.01);
  EXPECT_NEAR(Value(g, Metric::kSharpness90), RadialQuantile(0.9), 0.03);
  EXPECT_TRUE(std::isnan(Value(g, Metric::kNllDisplacement)));
  EXPECT_EQ(Value(g, Metric::kModeUseEntropy), 0);
  EXPECT_EQ(Value(g, Metric::kConsistency), 0);  // it always says the same
}

TEST(Evaluate, ACalibratedMixtureHasNominalCoverageAndFlatPit) {
  ExpectCalibrated(EvaluateAll(MixtureSource(TwoHills()), WhiteFlights(TwoHills(), 4, 3000)));
}

TEST(Evaluate, TooNarrowAForecastCoversTooLittle) {
  const GroupSummary g = EvaluateAll(MixtureSource({}, 0.5), WhiteFlights({}, 2, 1000));
  // Half the spread: the 90 % region reaches to half the radius.
  EXPECT_NEAR(Value(g, Metric::kCoverage90), RadialCoverage(RadialQuantile(0.9) / 2), 0.02);
  EXPECT_GT(Value(g, Metric::kEcePosition), 0.25);
}

TEST(Evaluate, BestOfSeveralIsNeverWorse) {
  const GroupSummary g = EvaluateAll(MixtureSource(TwoHills()), WhiteFlights(TwoHills(), 2, 200));
  EXPECT_LE(Value(g, Metric::kMinAdeModes), Value(g, Metric::kAdeMode));
  EXPECT_LE(Value(g, Metric::kMinFdeModes), Value(g, Metric::kFdeMode));
  EXPECT_LE(Value(g, Metric::kMinFdeModes), Value(g, Metric::kBrierMinFde));
  EXPECT_GT(Value(g, Metric::kMinAdeSamples), 0);
  EXPECT_NEAR(Value(g, Metric::kModeEntropy), -0.7 * std::log(0.7) - 0.3 * std::log(0.3), 1e-12);
}

TEST(Evaluate, ThreadsDoNotChangeABit) {
  const auto recordings = WhiteFlights(TwoHills(), 7, 60);
  const auto flights = CutAll(recordings);
  const FunctionSource source = MixtureSource(TwoHills());
  EvaluationOptions options;
  options.threads = 1;
  const auto one = Evaluate(source, flights, options);
  options.threads = 5;
  const auto five = Evaluate(source, flights, options);
  ASSERT_TRUE(one.ok() && five.ok());
  ASSERT_EQ(one->flights.size(), five->flights.size());
  for (std::size_t n = 0; n < one->flights.size(); ++n) {
    const Tally &a = one->flights[n].tally, &b = five->flights[n].tally;
    EXPECT_EQ(0, std::memcmp(a.metric.data(), b.metric.data(), a.metric.size() * sizeof(double)));
    EXPECT_EQ(0, std::memcmp(a.detail.data(), b.detail.data(), a.detail.size() * sizeof(double)));
  }
}

// A network that cannot answer on some windows still has its displacement metrics on all of them.
TEST(Evaluate, FallbackWindowsHaveDisplacementMetrics) {
  const TestNetwork network({}, [](std::span<const float> tokens, std::span<float> heads) {
    MixTokens(tokens, heads);
    if (tokens[0] > 0) heads[0] = std::nanf("");
  });
  const auto recordings = WhiteFlights({}, 1, 100);
  EvaluationOptions options;
  options.draws = 24;
  const auto evaluation = Evaluate(*MakeForecasterSource(network), CutAll(recordings), options);
  ASSERT_TRUE(evaluation.ok());
  const Tally& tally = evaluation->flights[0].tally;
  EXPECT_GT(tally.quality[static_cast<std::size_t>(Quality::kOk)], 10);
  EXPECT_GT(tally.quality[static_cast<std::size_t>(Quality::kFallback)], 10);
  const TallyLayout layout(options.window);
  EXPECT_EQ(tally.metric[layout.count(Metric::kNllDisplacement)], 100);
  const double metres = tally.metric[layout.sum(Metric::kNllDisplacement)];
  EXPECT_TRUE(std::isfinite(metres));
  // One unit for all of them.
  EXPECT_NEAR(tally.metric[layout.sum(Metric::kNllDisplacementLambda)],
              metres - 100 * 3 * std::log(2.5), 1e-6 * std::abs(metres));
}

TEST(Evaluate, PaperEceAndFloorComeFromTheDisplacementMixture) {
  // Displacements of a white flight are Normal(0, 2 I) per axis.
  FunctionSource source = {{.steps = 50, .modes = 1, .displacement_components = 2},
                           [](const Recording&, std::size_t, const History&, Forecast& f) {
                             f.weight(0) = 1;
                             f.displacement.sigma_floor_m = 0.05, f.displacement.scale_m = 2.5;
                             for (int i = 0; i < f.steps(); ++i) {
                               f.cov(0, i) = Cov3::Isotropic(1);
                               const auto row = 2 * static_cast<std::size_t>(i);
                               for (const std::size_t k : {row, row + 1}) {
                                 f.displacement.weight[k] = k == row ? 0.75 : 0.25;
                                 const double s = std::numbers::sqrt2;
                                 f.displacement.sigma[k] = {s, s, s};
                               }
                             }
                             return true;
                           }};
  const auto recordings = WhiteFlights({}, 3, 2000);
  const GroupSummary good = EvaluateAll(source, recordings);
  EXPECT_LT(Value(good, Metric::kEceDisplacement), 0.01);
  EXPECT_EQ(Value(good, Metric::kSigmaFloorShare), 0);
  EXPECT_NEAR(Value(good, Metric::kNllDisplacement) - Value(good, Metric::kNllDisplacementLambda),
              3 * std::log(2.5), 1e-9);
  EXPECT_NEAR(Value(good, Metric::kCrpsDisplacement),
              std::numbers::sqrt2 * std::numbers::inv_sqrtpi, 0.01);
}

// One component is off from its first step on, the other at its last step alone.
TEST(Evaluate, ComponentsOfADisplacementMixtureAreScoredAsPathsOfTheirOwn) {
  FunctionSource source = {{.steps = 50, .modes = 1, .displacement_components = 2},
                           [](const Recording&, std::size_t, const History& h, Forecast& f) {
                             f.weight(0) = 1;
                             f.displacement.anchor = h.samples.back().p_world;
                             for (int i = 0; i < f.steps(); ++i) {
                               f.mean(0, i) = f.point(i) = f.displacement.anchor;
                               f.cov(0, i) = Cov3::Isotropic(1);
                               const auto row = 2 * static_cast<std::size_t>(i);
                               for (const std::size_t k : {row, row + 1}) {
                                 f.displacement.weight[k] = k == row ? 0.7 : 0.3;
                                 f.displacement.sigma[k] = {1, 1, 1};
                               }
                               if (i == 0) f.displacement.mean[row] = {3, 0, 0};
                               if (i == 49) f.displacement.mean[row + 1] = {0, 4, 0};
                             }
                             return true;
                           }};
  const GroupSummary g = EvaluateAll(source, {MakeFlight(10, 10, [](double) {
                                       return Vec3{7, 8, 9};
                                     })});
  EXPECT_NEAR(Value(g, Metric::kAdeMode), 3, 1e-9);  // the heavier one, from its first step on
  EXPECT_NEAR(Value(g, Metric::kMinAdeModes), 4.0 / 50, 1e-9);
  EXPECT_NEAR(Value(g, Metric::kMinFdeModes), 3, 1e-9);
  EXPECT_NEAR(Value(g, Metric::kBrierMinFde), 3 + 0.3 * 0.3, 1e-9);
  EXPECT_NEAR(Value(g, Metric::kAdeMean), 0, 1e-9);
}

TEST(Evaluate, CountsForecastsOfQualityNoneAndLeavesThemOut) {
  const auto recordings = WhiteFlights({}, 1, 100);
  const FunctionSource good = MixtureSource({});
  const auto reader = good.MakeReader();
  const FunctionSource source = {
      {.steps = 50, .modes = 1},
      [&](const Recording& r, std::size_t i, const History& h, Forecast& f) {
        if (i % 4 != 0) return reader->Read(r, i, h, f);
        f.MakeNone(r.id, r.samples[i].t_ns);
        return true;
      }};
  EvaluationOptions options;
  options.threads = 1;
  const auto evaluation = Evaluate(source, CutAll(recordings), options);
  ASSERT_TRUE(evaluation.ok());
  const Tally& tally = evaluation->flights[0].tally;
  EXPECT_EQ(tally.windows, 100);
  EXPECT_EQ(tally.scored, 75);
  EXPECT_EQ(tally.quality[static_cast<std::size_t>(Quality::kNone)], 25);
  EXPECT_EQ(tally.metric[evaluation->layout.count(Metric::kAde)], 75);
}

TEST(Evaluate, RefusesMissingForecastsUnlessAllowed) {
  const auto recordings = WhiteFlights({}, 2, 30);
  const FunctionSource source = {{.steps = 50, .modes = 1},
                                 [](const Recording&, std::size_t i, const History&, Forecast& f) {
                                   f.weight(0) = 1;
                                   for (int s = 0; s < f.steps(); ++s)
                                     f.cov(0, s) = Cov3::Isotropic(1);
                                   return i != 25;
                                 }};
  EvaluationOptions options;
  const auto refused = Evaluate(source, CutAll(recordings), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              ::testing::EndsWith(
                  ": 2 windows have no forecast, the first is flight white-0 at t0 = 2.5 s"));
  options.allow_missing = true;
  const auto allowed = Evaluate(source, CutAll(recordings), options);
  ASSERT_TRUE(allowed.ok());
  EXPECT_EQ(allowed->flights[0].tally.missing, 1);
}

TEST(Evaluate, RefusesAHorizonTheModelDoesNotReach) {
  const auto recordings = WhiteFlights({}, 1, 200);
  EvaluationOptions options;
  options.window.horizon_s = 8;
  const auto result = Evaluate(MixtureSource({}), CutAll(recordings, options.window), options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "function forecasts 50 steps of 0.1 s, the windows ask for 80 of 0.1 s");
  options.window.horizon_s = 2;  // a shorter one is fine
  EXPECT_TRUE(Evaluate(MixtureSource({}), CutAll(recordings, options.window), options).ok());
}

TEST(Evaluate, PointOnlyForecastsGetPointMetricsOnly) {
  const FunctionSource source = {{.steps = 50, .modes = 0}, [](auto&&...) { return true; }};
  const auto recordings = WhiteFlights({}, 1, 50);
  const auto evaluation = Evaluate(source, CutAll(recordings), {});
  ASSERT_TRUE(evaluation.ok());
  const GroupSummary g = Summarize(*evaluation, {})[0];
  EXPECT_GT(Value(g, Metric::kAde), 0);
  EXPECT_GE(Value(g, Metric::kConsistency), 0);
  for (const Metric m : {Metric::kAdeMode, Metric::kEnergy, Metric::kEcePosition,
                         Metric::kCoverage90, Metric::kModeUseEntropy}) {
    EXPECT_TRUE(std::isnan(Value(g, m)));
  }
  EXPECT_TRUE(g.horizons[0].region.empty());
}

TEST(Evaluate, ConsistencyComparesTheSameInstants) {
  // A forecaster that says "x = time" agrees with itself; one that adds its t0 does not.
  const auto path = [](double drift) {
    return FunctionSource({.steps = 50, .modes = 0},
                          [=](const Recording&, std::size_t, const History&, Forecast& f) {
                            for (int i = 0; i < f.steps(); ++i) {
                              f.point(i).x = DurationS(f.time_ns(i)) + drift * DurationS(f.t0_ns);
                            }
                            return true;
                          });
  };
  const auto recordings = WhiteFlights({}, 1, 50);
  EXPECT_NEAR(Value(EvaluateAll(path(0), recordings), Metric::kConsistency), 0, 1e-9);
  EXPECT_NEAR(Value(EvaluateAll(path(2), recordings), Metric::kConsistency), 0.2, 1e-9);
}

TEST(Evaluate, ConformalCoverageCountsBallsAndTube) {
  const FunctionSource source = {{.steps = 50, .modes = 0, .conformal_levels = 2},
                                 [](const Recording&, std::size_t, const History&, Forecast& f) {
                                   f.conformal.level = {0.5, 0.9};
                                   f.conformal.tube = {1, 100};
                                   f.conformal.shape.assign(50, 1);
                                   for (std::size_t i = 0; i < 100; ++i)
                                     f.conformal.radius[i] = i < 50 ? 1.5382 : 2.5003;
                                   return true;
                                 }};
  const GroupSummary g = EvaluateAll(source, WhiteFlights({}, 2, 3000));
  EXPECT_NEAR(Value(g, Metric::kConformalCoverage), 0.9, 0.01);
  EXPECT_EQ(Value(g, Metric::kTubeCoverage), 1);
  ASSERT_EQ(g.horizons[2].conformal_ball.size(), 2u);
  EXPECT_NEAR(g.horizons[2].conformal_ball[0], 0.5, 0.02);
}

TEST(Evaluate, TheTubeHoldsOnlyWhatItHoldsAtEveryStep) {
  // Wide but at one step, where it holds half of the outcomes.
  const FunctionSource source = {{.steps = 50, .modes = 0, .conformal_levels = 1},
                                 [](const Recording&, std::size_t, const History&, Forecast& f) {
                                   f.conformal.level = {0.9};
                                   f.conformal.tube = {2};
                                   f.conformal.shape.assign(50, 50);
                                   f.conformal.shape[10] = 1.5382 / 2;
                                   f.conformal.radius.assign(50, 1);
                                   return true;
                                 }};
  EXPECT_NEAR(Value(EvaluateAll(source, WhiteFlights({}, 2, 3000)), Metric::kTubeCoverage), 0.5,
              0.02);
}

TEST(Evaluate, CountsTheStepsWhoseSigmaIsAtTheFloor) {
  FunctionSource source = {{.steps = 50, .modes = 1, .displacement_components = 1},
                           [](const Recording&, std::size_t, const History&, Forecast& f) {
                             f.weight(0) = 1;
                             f.displacement.sigma_floor_m = 0.05;
                             for (int i = 0; i < f.steps(); ++i) {
                               const auto k = static_cast<std::size_t>(i);
                               f.cov(0, i) = Cov3::Isotropic(1);
                               f.displacement.weight[k] = 1;
                               const double s = i % 5 == 0 ? 0.05 : 0.2;
                               f.displacement.sigma[k] = {s, s, s};
                             }
                             return true;
                           }};
  EXPECT_NEAR(Value(EvaluateAll(source, WhiteFlights({}, 1, 100)), Metric::kSigmaFloorShare), 0.2,
              1e-9);
}

// Shift tests: constant velocity knows neither north nor metres, and does not like noise.
TEST(Evaluate, DisturbedFlightsAreScoredOnTheirOwnTargets) {
  const Recording flight = MakeFlight(30, 50, [](double t) { return CirclePath(t); });
  const Recording* const flights[] = {&flight};
  const auto cv = MakeClassical("cv", 50, 0.1);
  ASSERT_TRUE(cv.ok());
  const auto source = MakeForecasterSource(**cv);
  const auto ade = [&](const Disturbance& disturbance) {
    const auto made = DisturbFlights(flights, disturbance, {});
    EXPECT_TRUE(made.ok());
    const auto evaluation = Evaluate(*source, made->windows, {});
    EXPECT_TRUE(evaluation.ok());
    EXPECT_EQ(evaluation->flights[0].tally.windows, 231);
    return Value(Summarize(*evaluation, {})[0], Metric::kAde);
  };
  const double clean = ade({});
  EXPECT_GT(clean, 1);
  EXPECT_NEAR(ade({.yaw_deg = 73}), clean, 1e-9);
  EXPECT_NEAR(ade({.scale = 10}), 10 * clean, 1e-8);
  EXPECT_GT(ade({.noise_m = 0.2}), clean);
  EXPECT_GT(ade({.outliers = 0.3}), clean);
  EXPECT_NEAR(ade({.drop = 0.1}), clean, 0.2 * clean);
  EXPECT_EQ(ade({.drop = 0.1}), ade({.drop = 0.1}));
}

}  // namespace
}  // namespace aerocast
