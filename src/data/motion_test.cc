// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/motion.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/data/test_flight.h"

namespace aerocast {
namespace {

TEST(FitMotion, RecoversAParabolaAtUnevenStamps) {
  std::vector<Observation> samples;
  const Vec3 p0{1, 2, 3}, v{4, -5, 0.5}, a{-1, 0.5, 2};
  for (const double t : {-0.9, -0.7, -0.31, -0.3, -0.12, -0.05, 0.0}) {
    samples.push_back({DurationNs(100 + t), p0 + v * t + a * (0.5 * t * t)});
  }
  const Motion motion = FitMotion(samples, 1.0, 2);
  EXPECT_EQ(motion.samples, 7);
  EXPECT_LT(Norm(motion.p - p0), 1e-6);
  EXPECT_LT(Norm(motion.v - v), 1e-5);
  EXPECT_LT(Norm(motion.a - a), 1e-4);
}

TEST(FitMotion, TakesOlderSamplesWhenTheSpanHoldsTooFew) {
  const std::vector<Observation> sparse = {{0, {0, 0, 0}}, {kNsPerSecond, {2, 0, 0}}};
  EXPECT_NEAR(FitMotion(sparse, 0.3, 1).v.x, 2, 1e-9);
  EXPECT_NEAR(FitMotion(sparse, 0.3, 2).v.x, 2, 1e-9);  // the order drops
  EXPECT_EQ(FitMotion(std::span(sparse).first(1), 0.3, 1).samples, 1);
  EXPECT_EQ(FitMotion({}, 0.3, 1).samples, 0);
}

TEST(FitMotion, DoesNotStandOnMicroseconds) {
  std::vector<Observation> samples;
  for (int k = 0; k < 5; ++k) samples.push_back({k * kNsPerSecond / 2, {k * 1.0, 0, 0}});
  samples.push_back({samples.back().t_ns + 1000, samples.back().p_world + Vec3{0.01, 0, 0}});
  for (const int order : {1, 2}) {
    const Motion motion = FitMotion(samples, 0.5, order);
    EXPECT_EQ(motion.samples, order + 2);
    EXPECT_NEAR(motion.v.x, 2, 0.05) << order;
    EXPECT_LT(Norm(motion.a), 0.1) << order;
  }
  // Where there is nothing older the parabola drops to a line.
  const Motion pair = FitMotion(std::span(samples).last(3), 0.5, 2);
  EXPECT_NEAR(pair.v.x, 2, 0.05);
  EXPECT_EQ(Norm(pair.a), 0);
}

TEST(FitHeading, LooksAlongTheNewestMotion) {
  const Recording flight = MakeFlight(3, 100, [](double t) { return Vec3{0, 2 * t, t}; });
  const HeadingFrame frame = FitHeading(flight.samples);
  EXPECT_TRUE(frame.stable);
  const Vec3 ahead = frame.ToFrame(flight.samples.back().p_world + Vec3{0, 1, 0});
  EXPECT_LT(Norm(ahead - Vec3{1, 0, 0}), 1e-9);
}

TEST(FitHeading, KeepsTheLastGoodHeadingWhenTheObjectStops) {
  const Recording flight = MakeFlight(3, 100, [](double t) {
    return Vec3{0, -std::min(t, 2.0), 1};
  });
  const HeadingFrame frame = FitHeading(flight.samples);
  EXPECT_FALSE(frame.stable);
  EXPECT_NEAR(frame.to_world.sin, -1, 1e-6);
}

TEST(FitHeading, HasNoneWhenNothingEverMoved) {
  const Recording flight = MakeFlight(3, 100, [](double) { return Vec3{1, 1, 1}; });
  EXPECT_FALSE(FitHeading(flight.samples).stable);
  EXPECT_EQ(FitHeading(flight.samples).to_world.cos, 1);
  EXPECT_FALSE(FitHeading({}).stable);
}

RC_GTEST_PROP(HeadingFrame, GoesToTheFrameAndBack, ()) {
  const auto number = [] { return *rc::gen::inRange(-100'000, 100'000) * 1e-2; };
  HeadingFrame frame;
  frame.origin = {number(), number(), number()};
  frame.to_world = Yaw::FromAngle(number());
  const Vec3 p{number(), number(), number()};
  RC_ASSERT(Norm(frame.ToWorld(frame.ToFrame(p)) - p) < 1e-9);
}

RC_GTEST_PROP(Yaw, RotatesACovarianceAsItRotatesVectors, ()) {
  const auto number = [] { return *rc::gen::inRange(-1000, 1000) * 1e-2; };
  const Yaw yaw = Yaw::FromAngle(number());
  const Vec3 a{number(), number(), number()}, b{number(), number(), number()};
  const Cov3 rotated = yaw.Rotate(Cov3::Outer(a) + Cov3::Outer(b));
  const Cov3 expected = Cov3::Outer(yaw * a) + Cov3::Outer(yaw * b);
  const Vec3 d{number(), number(), number()};
  RC_ASSERT(std::abs(VarianceAlong(rotated, d) - VarianceAlong(expected, d)) < 1e-6);
}

RC_GTEST_PROP(Cholesky3, FactorsWhatItAccepts, ()) {
  const auto number = [] { return *rc::gen::inRange(-1000, 1000) * 1e-2; };
  const Vec3 a{number(), number(), number()}, b{number(), number(), number()};
  const Cov3 c = Cov3::Outer(a) + Cov3::Outer(b) + Cov3::Isotropic(0.1);
  const Cholesky3 l(c);
  RC_ASSERT(l.ok);
  const Vec3 z{number(), number(), number()};
  RC_ASSERT(Norm(l.Whiten(l.Apply(z)) - z) < 1e-6);
}

TEST(Cholesky3, RefusesWhatIsNotPositiveDefinite) {
  EXPECT_FALSE(IsPositiveDefinite({}));
  EXPECT_FALSE(IsPositiveDefinite({1, 2, 0, 1, 0, 1}));
  EXPECT_FALSE(IsPositiveDefinite(Cov3::Diagonal(1, -1, 1)));
  EXPECT_FALSE(IsPositiveDefinite(Cov3::Diagonal(1, std::nan(""), 1)));
  EXPECT_FALSE(IsPositiveDefinite(Cov3::Diagonal(INFINITY, 1, 1)));
  EXPECT_TRUE(IsPositiveDefinite(Cov3::Isotropic(1e-6)));
}

}  // namespace
}  // namespace aerocast
