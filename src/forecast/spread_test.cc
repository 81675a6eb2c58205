// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/spread.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

TEST(Spread, AddsNoiseRestAndSpeedInSquares) {
  Scene scene;
  scene.speed = 2, scene.noise_m = 3;
  const Vec3 sigma = SpreadSigma({{4, 0, 0}, {6, 2, 0}}, scene, 1);
  EXPECT_DOUBLE_EQ(sigma.x, 13);  // 3, 4, 12
  EXPECT_DOUBLE_EQ(sigma.y, 5);   // 3, 4
  EXPECT_DOUBLE_EQ(sigma.z, 3);
}

TEST(Spread, NeverFallsBelowAMillimetre) {
  EXPECT_EQ(SpreadSigma({}, {}, 1), (Vec3{1e-3, 1e-3, 1e-3}));
}

TEST(Spread, TurnsWithTheHeading) {
  Scene scene;
  scene.frame.to_world = Yaw::FromAngle(std::numbers::pi / 2);  // flies along y
  const Cov3 cov = SpreadCov({{3, 1, 2}, {}}, scene, 1);
  EXPECT_NEAR(cov.yy, 9, 1e-12);
  EXPECT_NEAR(cov.xx, 1, 1e-12);
  EXPECT_NEAR(cov.zz, 4, 1e-12);
  EXPECT_NEAR(cov.xy, 0, 1e-12);
}

RC_GTEST_PROP(Spread, IsPositiveDefiniteForAnyTermsAndHeading, ()) {
  const auto any = rc::gen::element(0.0, 1e-9, 1e-3, 1.0, 1e3, 1e7, 1e30, 1e300);
  Scene scene;
  scene.speed = *any, scene.noise_m = *any;
  scene.gain = {2, *any, *rc::gen::inRange(0, 3)};
  scene.frame.to_world = Yaw::FromAngle(*rc::gen::inRange(0, 6283) * 1e-3);
  RC_ASSERT(IsPositiveDefinite(SpreadCov({{*any, *any, *any}, {*any, *any, *any}}, scene, 5)));
}

TEST(GenericSpread, GrowsWithTimeAndSpeedForAnyStep) {
  for (const PathKind kind : {PathKind::kHeld, PathKind::kMoving, PathKind::kParabolic}) {
    const Spread spread = GenericSpread(kind);
    EXPECT_TRUE(spread.table.empty());
    Scene slow, fast;
    slow.speed = 0.5, fast.speed = 10;
    double last = 0;
    for (const double t : {0.1, 0.5, 1.0, 5.0, 60.0}) {
      const double now = SpreadSigma(spread.At(12345, t), slow, t).x;
      EXPECT_GT(now, last);
      EXPECT_GT(SpreadSigma(spread.At(0, t), fast, t).x, 2 * now);
      last = now;
    }
  }
}

TEST(NoiseGain, MatchesTheScatterOfRealFits) {
  // 16 noisy samples over 0.3 s, continued half a second: many times over.
  for (const int order : {1, 2}) {
    Rng rng(3);
    double variance = 0;
    const int trials = 4000;
    for (int n = 0; n < trials; ++n) {
      auto samples = Observe([&](double) { return Vec3{0.01 * rng.Normal(), 0, 0}; }, 50, 0.3);
      const Motion m = FitMotion(samples, 0.3, order);
      const double x = m.p.x + 0.5 * m.v.x + 0.125 * m.a.x;
      variance += x * x / trials;
    }
    const double predicted = 1e-4 * NoiseGain{16, 0.3, order}.At(0.5);
    EXPECT_NEAR(variance / predicted, 0.85, 0.25) << order;
  }
}

TEST(ForecastHold, StaysAndSpreads) {
  const auto samples = Observe(Wander(1));
  Forecast f;
  f.Reset({.steps = 50, .modes = 1}, "x", samples.back().t_ns, 0.1);
  ForecastHold({"x", samples, 0}, GenericSpread(PathKind::kHeld), f);
  EXPECT_TRUE(f.IsValid());
  EXPECT_EQ(f.point(49), samples.back().p_world);
  EXPECT_GT(f.cov(0, 49).xx, f.cov(0, 0).xx);
}

}  // namespace
}  // namespace aerocast
