// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/tracking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "src/sim/setpoint_log.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

TEST(Tracker, SettlesOnAStandingSetPoint) {
  Tracker tracker({}, {0, 0, 0});
  const Vec3 goal{3, -2, 1};
  for (int i = 0; i < 1500; ++i) tracker.Step(goal, {});
  EXPECT_NEAR(Norm(tracker.position() - goal), 0, 1e-6);
  EXPECT_NEAR(Norm(tracker.velocity()), 0, 1e-6);
}

TEST(Tracker, LagsAMovingSetPointBySpeedOverKp) {
  Tracker tracker({}, {0, 0, 0});
  double x = 0;
  for (int i = 0; i < 2000; ++i) tracker.Step({x, 0, 0}, {}), x += 0.5 * kSimStepS;
  EXPECT_NEAR(x - tracker.position().x, 0.5 / kFittedHorizontal.kp, 0.01);
}

TEST(Tracker, NeverFliesFasterThanItsLimitWithoutWind) {
  Tracker tracker({}, {0, 0, 0});
  for (int i = 0; i < 1000; ++i) {
    tracker.Step({1000, -1000, 0}, {});
    EXPECT_LE(std::abs(tracker.velocity().x), kFittedHorizontal.vmax + 1e-12);
    EXPECT_LE(std::abs(tracker.velocity().y), kFittedHorizontal.vmax + 1e-12);
  }
  EXPECT_NEAR(tracker.velocity().x, kFittedHorizontal.vmax, 1e-6);
}

RC_GTEST_PROP(Tracker, KeepsItsAccelerationLimitInAnyWind, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  TrackingModel model = DrawArenaTracking(rng);
  model.accel_limit = 3;
  Tracker tracker(model, {0, 0, 0});
  for (int i = 0; i < 300; ++i) {
    const Vec3 before = tracker.velocity();
    const Vec3 goal{rng.Uniform(-9, 9), rng.Uniform(-9, 9), rng.Uniform(-9, 9)};
    tracker.Step(goal, {rng.Normal() * 5, rng.Normal() * 5, rng.Normal() * 5});
    RC_ASSERT(Norm(tracker.velocity() - before) <= 3 * kSimStepS + 1e-9);
  }
}

TEST(Tracker, DoesNotDependOnWhereTheWorldBegins) {
  const Vec3 away{100, -50, 25};
  Tracker here({}, {0, 0, 0}), there({}, away);
  for (int i = 0; i < 500; ++i) {
    const Vec3 goal{std::sin(i * 0.02), std::cos(i * 0.02), 0.1};
    here.Step(goal, {0.1, 0, 0}), there.Step(goal + away, {0.1, 0, 0});
  }
  EXPECT_NEAR(Norm(there.position() - here.position() - away), 0, 1e-9);
}

// Spread and correlation time (to 1/e) of one axis.
struct Residual {
  double std, time_s;
};
Residual Hover(double Vec3::*axis) {
  const TrackingModel model;
  Rng rng(11);
  const std::size_t n = 400'000;
  const std::vector<Vec3> gusts = DrawGusts(model, rng, n);
  Tracker tracker(model, {0, 0, 0});
  std::vector<double> x;
  for (const Vec3& gust : gusts)
    tracker.Step({0, 0, 0}, gust), x.push_back(tracker.position().*axis);
  double square = 0;
  for (const double v : x) square += v * v / static_cast<double>(n);
  for (std::size_t lag = 1;; ++lag) {
    double product = 0;
    for (std::size_t i = lag; i < n; ++i) product += x[i] * x[i - lag];
    if (product / static_cast<double>(n - lag) < square * std::exp(-1)) {
      return {std::sqrt(square), static_cast<double>(lag) * kSimStepS};
    }
  }
}

TEST(Gusts, MoveTheAircraftAsFarAndAsSlowlyAsTheFlightsShow) {
  const Residual xy = Hover(&Vec3::x), z = Hover(&Vec3::z);
  EXPECT_NEAR(xy.std, kResidualXyM, 0.05 * kResidualXyM);
  EXPECT_GT(xy.time_s, 0.63);
  EXPECT_LT(xy.time_s, 0.92);
  EXPECT_NEAR(z.std, kResidualZM, 0.08 * kResidualZM);
  EXPECT_GT(z.time_s, 1.2);
  EXPECT_LT(z.time_s, 2.0);
}

TEST(DrawArenaTracking, SpreadsGainsAsSingleFlightFitsDo) {
  double sum = 0, square = 0;
  const int n = 2000;
  for (int i = 0; i < n; ++i) {
    Rng rng(1, static_cast<std::uint64_t>(i));
    const double kp = DrawArenaTracking(rng).horizontal.kp;
    EXPECT_GT(kp, kFlightKpMean - 2.001 * kFlightKpStd);
    EXPECT_LT(kp, kFlightKpMean + 2.001 * kFlightKpStd);
    sum += kp / n, square += kp * kp / n;
  }
  EXPECT_NEAR(sum, kFlightKpMean, 0.02);
  EXPECT_NEAR(std::sqrt(square - sum * sum), kFlightKpStd, 0.02);
}

TEST(Tracking, ReproducesTheTrackingErrorOfRealFlights) {
  const char* data = std::getenv("AEROCAST_DATA");
  const fs::path directory = fs::path(data == nullptr ? "" : data) / "nanobench";
  if (data == nullptr || !fs::exists(directory)) {
    GTEST_SKIP() << "no real flights: set AEROCAST_DATA to the directory that holds nanobench";
  }
  const auto logs = ReadSetpointLogs(directory);
  ASSERT_TRUE(logs.ok()) << logs.error().message;
  const auto segments = CutTrackingSegments(*logs);
  EXPECT_GT(segments.size(), 60u);
  TrackingErrors all;
  for (const TrackingSegment& segment : segments) {
    all += CompareTracking(segment, kFittedHorizontal);
  }
  EXPECT_GT(all.MeasuredRms(), 0.3);  // the flights really lag; a blind comparison would be zero
  EXPECT_NEAR(all.SimulatedRms() / all.MeasuredRms(), 1, 0.1);
  EXPECT_LT(all.ResidualRmsPerAxis(), 0.05);
}

}  // namespace
}  // namespace aerocast
