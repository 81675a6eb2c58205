// SPDX-License-Identifier: BSD-3-Clause
//
// The plus family as a forecaster. That it is valid, leaks nothing and gives the same bits whatever
// the circumstances is tested with all forecasters (forecaster_test.cc, load_test.cc).
#include "src/forecast/plus.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

ModelConfig PlusConfig() {
  ModelConfig config = OddConfig(Architecture::kTransformer, Family::kPlus);
  config.history_steps = 100, config.patch = 5, config.components = 3, config.horizon_steps = 20;
  return config;
}

std::unique_ptr<Forecaster> MakePlus() {
  return *MakePackedForecaster(RandomModel(PlusConfig(), 7));
}

// The same flight elsewhere, turned and larger.
struct Change {
  Yaw yaw;
  double scale = 1;
  Vec3 shift;

  Vec3 operator()(const Vec3& p) const { return scale * (yaw * p) + shift; }
};

// How far two forecasts are apart after the change, in units of the second's mean step.
double Apart(const Forecast& plain, const Forecast& changed, const Change& change) {
  double most = 0;
  const double unit = 0.1 * change.scale;
  for (int i = 0; i < plain.steps(); ++i) {
    most = std::max(most, Norm(change(plain.point(i)) - changed.point(i)) / unit);
    for (int k = 0; k < plain.modes(); ++k) {
      most = std::max(most, Norm(change(plain.mean(k, i)) - changed.mean(k, i)) / unit);
      const Cov3 a = change.yaw.Rotate(plain.cov(k, i)) * (change.scale * change.scale);
      const Cov3 b = changed.cov(k, i);
      for (const auto& [x, y] : {std::pair(a.xx, b.xx), {a.xy, b.xy}, {a.yy, b.yy}, {a.zz, b.zz}}) {
        most = std::max(most, std::abs(x - y) / (a.xx + a.yy + a.zz));
      }
    }
  }
  for (int k = 0; k < plain.modes(); ++k) {
    most = std::max(most, std::abs(plain.weight(k) - changed.weight(k)));
  }
  return most;
}

// docs/results/plus.md states this bound.
constexpr double kBound = 1e-3;

TEST(Plus, IsTheSameEverywhereEveryWayAtEverySpeed) {
  const auto plus = MakePlus();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::vector<Observation> samples = Observe(Wander(seed), 37, 4);
    const Forecast plain = PredictOnce(*plus, samples, 0.001);
    ASSERT_EQ(plain.quality, Quality::kOk);
    Rng rng(seed);
    const Change change = {Yaw::FromAngle(rng.Uniform(-4, 4)), rng.LogUniform(0.5, 30),
                           Vec3{rng.Uniform(-1e4, 1e4), rng.Uniform(-1e4, 1e4), 500}};
    std::vector<Observation> moved = samples;
    for (Observation& o : moved) o.p_world = change(o.p_world);
    const Forecast changed = PredictOnce(*plus, moved, 0.001 * change.scale);
    EXPECT_LT(Apart(plain, changed, change), kBound) << seed;
  }
}

TEST(Plus, TakesWhateverHistoryThereIs) {
  const auto plus = MakePlus();
  const auto quality = [&](double rate_hz, double span_s) {
    return PredictOnce(*plus, Observe(Wander(1), rate_hz, span_s)).quality;
  };
  EXPECT_EQ(quality(100, 10), Quality::kOk);
  EXPECT_EQ(quality(100, 2), Quality::kOk);
  EXPECT_EQ(quality(10, 30), Quality::kOk);
  EXPECT_EQ(quality(100, 1), Quality::kShortHistory);
  EXPECT_EQ(quality(10, 0.2), Quality::kShortHistory) << "three samples";
  EXPECT_EQ(quality(10, 0.1), Quality::kShortHistory) << "two samples";
  EXPECT_EQ(quality(10, 0), Quality::kFallback) << "one sample";
  EXPECT_EQ(quality(1.9, 10), Quality::kFallback) << "too rare to be interpolated";
}

TEST(Plus, SeesPastAHole) {
  const auto plus = MakePlus();
  std::vector<Observation> samples = Observe(Wander(2), 20, 8);
  const Forecast whole = PredictOnce(*plus, samples);
  std::vector<Observation> holed = samples;
  holed.erase(holed.begin() + 80, holed.begin() + 100);  // one second, three seconds ago
  const Forecast seen = PredictOnce(*plus, holed);
  EXPECT_EQ(seen.quality, Quality::kOk);
  EXPECT_FALSE(SameBits(whole, seen));
  holed.erase(holed.begin(), holed.begin() + 80);  // without what was before the hole
  EXPECT_FALSE(SameBits(seen, PredictOnce(*plus, holed))) << "what is behind the hole counts";
}

TEST(Plus, IsToldTheNoise) {
  const auto plus = MakePlus();
  const std::vector<Observation> samples = Observe(Wander(3), 20, 8);
  EXPECT_FALSE(SameBits(PredictOnce(*plus, samples, 0.001), PredictOnce(*plus, samples, 0.02)));
  EXPECT_FALSE(SameBits(PredictOnce(*plus, samples, 0.001), PredictOnce(*plus, samples, 0)));
}

// One mode by hand: ahead at one scale per step, then a left turn.
TEST(DecodePlus, SpreadLiesAlongTheModesOwnDirection) {
  ModelConfig config = PlusConfig();
  config.components = 1, config.horizon_steps = 3;
  std::vector<float> heads(static_cast<std::size_t>(config.outputs()), 0.f);
  const Vec3 path[] = {{1, 0, 0}, {2, 0, 0}, {2, 1, 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    const double curve = PlusMeanCurve(static_cast<int>(i) + 1);
    heads[3 * i] = static_cast<float>(path[i].x / curve);
    heads[3 * i + 1] = static_cast<float>(path[i].y / curve);
    heads[18 + 3 * i] = 1;       // along: e times as wide
    heads[18 + 3 * i + 2] = -9;  // up: at the floor
  }
  PlusFrame frame;
  frame.origin = {10, 20, 30}, frame.to_world = Yaw::FromAngle(1), frame.scale = 0.5;
  Forecast forecast;
  forecast.Reset({.steps = 3, .modes = 1}, "", 0, 0.1);
  DecodePlus(heads, config, frame, forecast);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT(Norm(forecast.point(i) - frame.ToWorld(path[i])), 1e-6);
    EXPECT_LT(Norm(forecast.mean(0, i) - forecast.point(i)), 1e-12);
  }
  EXPECT_EQ(forecast.weight(0), 1);
  const double unit = 0.5 * PlusSigmaCurve(3);
  const Yaw left = Yaw::FromAngle(1 + std::atan2(1, kHeadingShare));
  const Cov3& cov = forecast.cov(0, 2);
  EXPECT_NEAR(std::sqrt(VarianceAlong(cov, left * Vec3{1, 0, 0})), unit * std::exp(1), 1e-6);
  EXPECT_NEAR(std::sqrt(VarianceAlong(cov, left * Vec3{0, 1, 0})), unit, 1e-6);
  EXPECT_NEAR(std::sqrt(cov.zz), unit * std::exp(kLeastLogSigma), 1e-9);
}

}  // namespace
}  // namespace aerocast
