// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/network_forecaster.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "src/data/paper_features.h"
#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

ModelConfig Config(int history, int horizon, int components) {
  ModelConfig config;
  config.history_steps = history, config.horizon_steps = horizon, config.components = components;
  return config;
}

Forecast Decode(const std::vector<float>& heads, const ModelConfig& config, const Vec3& anchor) {
  Forecast forecast;
  forecast.Reset(NetworkShape(config), "x", 0, config.dt_s);
  DecodeHeads(heads, config, anchor, forecast);
  return forecast;
}

void ExpectNear(const Vec3& a, const Vec3& b) { EXPECT_LT(Norm(a - b), 1e-6) << b.x << " " << b.y; }

// Two steps, two components, lambda 2, floor 0.5 m; component 1 is the heavier one at first, then
// component 0.
struct Small {
  ModelConfig config = Config(1, 2, 2);
  std::vector<float> heads = {1,
                              0,
                              0,
                              0,
                              1,
                              0,  // mean, step 0: components 0 and 1
                              2,
                              0,
                              0,
                              0,
                              2,
                              1,  // step 1
                              0,
                              0,
                              0,
                              -9,
                              0,
                              std::log(2.f),  // log sigma
                              0,
                              -1,
                              0,
                              std::log(0.5f),
                              0,
                              0,  //
                              0,
                              std::log(3.f),
                              std::log(4.f),
                              0};  // logits
  Small() { config.lambda_m = 2, config.sigma_min_m = 0.5; }
};

TEST(DecodeHeads, WritesTheDisplacementMixtureInMetres) {
  const Small small;
  const Forecast f = Decode(small.heads, small.config, {10, 20, 30});
  const DisplacementMixture& d = f.displacement;
  ASSERT_TRUE(f.IsValid());
  EXPECT_EQ(d.components, 2);
  EXPECT_EQ(d.anchor, (Vec3{10, 20, 30}));
  EXPECT_EQ(d.scale_m, 2);
  EXPECT_EQ(d.sigma_floor_m, 0.5);
  EXPECT_NEAR(d.weight[0], 0.25, 1e-7);
  EXPECT_NEAR(d.weight[1], 0.75, 1e-7);
  EXPECT_NEAR(d.weight[2], 0.8, 1e-7);
  EXPECT_NEAR(d.weight[3], 0.2, 1e-7);
  ExpectNear(d.mean[0], {2, 0, 0});
  ExpectNear(d.mean[3], {0, 4, 2});
  ExpectNear(d.sigma[0], {2, 2, 2});
  ExpectNear(d.sigma[1], {0.5, 2, 4});  // exp(-9) is below the floor
  ExpectNear(d.sigma[2], {2, 2 * std::exp(-1.0), 2});
  ExpectNear(d.sigma[3], {1, 2, 2});
}

TEST(DecodeHeads, TheOneModeSumsMeanAndCovarianceOfEveryStep) {
  const Small small;
  const Forecast f = Decode(small.heads, small.config, {10, 20, 30});
  ASSERT_EQ(f.modes(), 1);
  EXPECT_EQ(f.weight(0), 1);
  ExpectNear(f.mean(0, 0), {10 + 0.25 * 2, 20 + 0.75 * 2, 30});
  ExpectNear(f.mean(0, 1), {10.5 + 0.8 * 4, 21.5 + 0.2 * 4, 30 + 0.2 * 2});
  // Within the components, and between them: two that are 2 m apart on either axis.
  EXPECT_NEAR(f.cov(0, 0).xx, 0.25 * 4 + 0.75 * 0.25 + 0.25 * 0.75 * 4, 1e-6);
  EXPECT_NEAR(f.cov(0, 0).xy, -0.25 * 0.75 * 4, 1e-6);
  EXPECT_NEAR(f.cov(0, 0).zz, 0.25 * 4 + 0.75 * 16, 1e-5);
  EXPECT_NEAR(f.cov(0, 1).xx - f.cov(0, 0).xx, 0.8 * 4 + 0.2 * 1 + 0.16 * 16, 1e-5);
  EXPECT_NEAR(f.cov(0, 1).yz - f.cov(0, 0).yz, 0.16 * 4 * 2, 1e-5);
}

TEST(DecodeHeads, TheModeHasTheMomentsOfSampledPaths) {
  const Small small;
  const Forecast f = Decode(small.heads, small.config, {10, 20, 30});
  constexpr int kPaths = 20000;
  std::vector<Vec3> paths(2 * kPaths);
  f.SamplePaths(1, kPaths, paths);
  for (int i = 0; i < 2; ++i) {
    Vec3 mean;
    Cov3 cov;
    for (std::size_t n = 0; n < kPaths; ++n) mean += paths[2 * n + i] * (1.0 / kPaths);
    for (std::size_t n = 0; n < kPaths; ++n) {
      cov += Cov3::Outer(paths[2 * n + i] - mean) * (1.0 / kPaths);
    }
    EXPECT_LT(Norm(mean - f.mean(0, i)), 0.1);
    for (double Cov3::*cell : {&Cov3::xx, &Cov3::xy, &Cov3::xz, &Cov3::yy, &Cov3::yz, &Cov3::zz}) {
      EXPECT_NEAR(cov.*cell, f.cov(0, i).*cell, 0.4);
    }
  }
}

TEST(DecodeHeads, ThePointPathSumsTheHeaviestComponents) {
  const Small small;
  const Forecast f = Decode(small.heads, small.config, {10, 20, 30});
  ExpectNear(f.point(0), {10, 22, 30});  // component 1
  ExpectNear(f.point(1), {14, 22, 30});  // then component 0
}

TEST(DecodeHeads, EqualWeightsTakeTheFirst) {
  const ModelConfig config = Config(1, 1, 3);
  std::vector<float> heads(21, 0.f);
  heads[0] = 1;
  const Forecast f = Decode(heads, config, {});
  ExpectNear(f.point(0), {2.5, 0, 0});
}

TEST(DecodeHeads, AHundredKilometresAwayNothingIsLost) {
  const ModelConfig config = Config(1, 50, 1);
  std::vector<float> heads(static_cast<std::size_t>(config.outputs()), 0.f);
  for (std::size_t i = 0; i < 50; ++i) heads[3 * i] = 0.001f;
  const Forecast f = Decode(heads, config, {1e5, 0, 0});
  EXPECT_NEAR(f.point(49).x - 1e5, 50 * 0.001 * 2.5, 1e-7);
}

RC_GTEST_PROP(DecodeHeads, AnyFiniteHeadsGiveAValidForecast, ()) {
  ModelConfig config = Config(1, *rc::gen::inRange(1, 8), *rc::gen::inRange(1, kMaxModes + 1));
  config.lambda_m = *rc::gen::element(1e-6, 0.1, 2.5, 1e6);
  config.sigma_min_m = *rc::gen::element(1e-6, 0.05, 1e3);
  const auto value = rc::gen::element(0.f, -0.f, 1.f, -1.f, 0.3f, 30.f, -30.f, 88.f, 1e3f, -1e3f,
                                      1e30f, -1e30f, std::numeric_limits<float>::max(),
                                      std::numeric_limits<float>::lowest(), 1e-40f);
  const auto heads =
      *rc::gen::container<std::vector<float>>(static_cast<std::size_t>(config.outputs()), value);
  const Forecast f = Decode(heads, config, {1, -2, 3});
  RC_ASSERT(f.IsValid());
  for (const Vec3& s : f.displacement.sigma) {
    RC_ASSERT(std::min({s.x, s.y, s.z}) >= config.sigma_min_m);
    RC_ASSERT(std::max({s.x, s.y, s.z}) <= 1e6);
  }
}

TEST(PaperTokens, AreThePaperFeaturesOrTheirDisplacements) {
  ModelConfig config = Config(7, 1, 1);
  std::vector<Vec3> grid;
  for (int i = 0; i <= 7; ++i) grid.push_back(Wander(3)(0.1 * i));
  std::vector<float> want(42), both(42), positions(21);
  PaperFeatures(grid, config.dt_s, config.lambda_m, want);
  PaperTokens(grid, config, both);
  EXPECT_EQ(both, want);
  config.velocity = false;
  PaperTokens(grid, config, positions);
  for (std::size_t t = 0; t < 7; ++t) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(positions[3 * t + c], want[6 * t + c]);
  }
}

TEST(NetworkForecaster, SaysWhatItsConfigSays) {
  ModelConfig config = Config(10, 7, 3);
  config.dt_s = 0.2;
  const TestNetwork network(config, MixTokens);
  EXPECT_EQ(network.info().name, "network");
  EXPECT_DOUBLE_EQ(network.info().history_s, 2.0);
  EXPECT_EQ(network.info().dt_s, 0.2);
  EXPECT_EQ(network.info().shape,
            (ForecastShape{.steps = 7, .modes = 1, .displacement_components = 3}));
  EXPECT_EQ(network.config(), config);
  const Forecast f = PredictOnce(network, Observe(Wander(1)));
  EXPECT_EQ(f.quality, Quality::kOk);
  EXPECT_EQ(f.dt_s, 0.2);
}

TEST(NetworkForecaster, GivesTheTokensOfTheGridToTheNetwork) {
  const ModelConfig config = Config(20, 2, 1);
  const MotionLaw law = [](double t) { return Vec3{5 + 2 * t, -t, 3}; };
  std::vector<float> seen;
  const TestNetwork network(config, [&](std::span<const float> tokens, std::span<float> heads) {
    seen.assign(tokens.begin(), tokens.end());
    std::fill(heads.begin(), heads.end(), 0.f);
  });
  const Forecast f = PredictOnce(network, Observe(law));
  EXPECT_EQ(f.quality, Quality::kOk);
  ASSERT_EQ(seen.size(), 120u);
  for (std::size_t t = 0; t < 20; ++t) {
    EXPECT_NEAR(seen[6 * t], 0.2 / 2.5, 1e-6);
    EXPECT_NEAR(seen[6 * t + 1], -0.1 / 2.5, 1e-6);
    EXPECT_NEAR(seen[6 * t + 3], 2, 1e-5);
    EXPECT_NEAR(seen[6 * t + 4], -1, 1e-5);
  }
  ExpectNear(f.point(1), law(0));
}

// The newest position is the anchor, and only displacements are seen.
TEST(NetworkForecaster, MovesAlongWithTheWorldButDoesNotTurn) {
  const auto network = MakeTestNetwork();
  const Vec3 shift = {4096, -512, 64};
  const std::vector<Observation> here = Observe(Wander(5));
  std::vector<Observation> there = here;
  for (Observation& o : there) o.p_world += shift;
  const Forecast a = PredictOnce(*network, here), b = PredictOnce(*network, there);
  for (int i = 0; i < a.steps(); ++i) ExpectNear(a.point(i) + shift, b.point(i));
}

// Whatever comes later, the forecast at t0 has the same bits: the history ends there.
TEST(NetworkForecaster, SeesNothingLaterAndNothingOlder) {
  const auto network = MakeTestNetwork();
  std::vector<Observation> samples = Observe(Wander(6), 50, 4);
  const std::size_t now = 150;
  const History until = {"object", std::span(samples).first(now + 1), 0};
  Forecast before(network->info().shape), after(network->info().shape);
  network->Predict(until, *network->MakeWorkspace(), before);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > now || i < now - 102) samples[i].p_world += Vec3{50, -70, 90};
  }
  network->Predict(until, *network->MakeWorkspace(), after);
  EXPECT_TRUE(SameBits(before, after));
  samples[now].p_world.x += 0.01;
  network->Predict(until, *network->MakeWorkspace(), after);
  EXPECT_FALSE(SameBits(before, after)) << "else the test could not fail";
}

void ExpectHeld(const Forecast& f, const Vec3& newest) {
  EXPECT_EQ(f.quality, Quality::kFallback);
  EXPECT_TRUE(f.IsValid());
  EXPECT_EQ(f.modes(), 1);
  ASSERT_EQ(f.displacement.components, 1);
  EXPECT_EQ(f.displacement.anchor, newest);
  EXPECT_EQ(f.displacement.scale_m, 2.5);
  EXPECT_EQ(f.displacement.sigma_floor_m, 0.05);
  Vec3 variance;
  for (int i = 0; i < f.steps(); ++i) {
    const auto j = static_cast<std::size_t>(i);
    const Vec3& s = f.displacement.sigma[j];
    EXPECT_EQ(f.point(i), newest);
    EXPECT_EQ(f.displacement.mean[j], Vec3{});
    EXPECT_EQ(f.displacement.weight[j], 1);
    EXPECT_GE(std::min({s.x, s.y, s.z}), 0.05);
    variance += Vec3{s.x * s.x, s.y * s.y, s.z * s.z};
    // The steps add up to the spread of the position; the floor may add a little.
    EXPECT_GE(variance.x, f.cov(0, i).xx * (1 - 1e-9));
    EXPECT_LE(variance.x, f.cov(0, i).xx + (i + 1) * 0.05 * 0.05 + 1e-9);
  }
}

TEST(NetworkForecaster, HoldsWhenAGridPointIsMissing) {
  const auto network = MakeTestNetwork();
  std::vector<Observation> samples = Observe(Wander(7));
  samples.erase(samples.begin() + 60, samples.begin() + 80);  // 0.4 s
  ExpectHeld(PredictOnce(*network, samples), samples.back().p_world);
  const std::vector<Observation> brief = Observe(Wander(7), 50, 1.9);
  ExpectHeld(PredictOnce(*network, brief), brief.back().p_world);
  ExpectHeld(PredictOnce(*network, {{5, {1, 2, 3}}}), {1, 2, 3});
}

TEST(NetworkForecaster, HoldsWhenTheNetworkIsNotFinite) {
  const std::vector<Observation> samples = Observe(Wander(8));
  const ModelConfig config;
  for (const float bad : {kNan, kInf, -kInf}) {
    for (const int at : {0, 749, 750, 1499, 1500, 1749}) {
      const TestNetwork network(config, [&](std::span<const float>, std::span<float> heads) {
        std::fill(heads.begin(), heads.end(), 0.f);
        heads[static_cast<std::size_t>(at)] = bad;
      });
      const Forecast f = PredictOnce(network, samples);
      EXPECT_TRUE(f.IsValid());
      // An infinite sigma is the largest, or the floor; no weight at all is one.
      const bool meant = std::isinf(bad) && at >= 750 && (at < 1500 || bad < 0);
      EXPECT_EQ(f.quality, meant ? Quality::kOk : Quality::kFallback) << bad << " at " << at;
      if (!meant) ExpectHeld(f, samples.back().p_world);
    }
  }
}

}  // namespace
}  // namespace aerocast
