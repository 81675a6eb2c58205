// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/refly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace aerocast {
namespace {

// No gusts: what the loop alone does.
TrackingModel Calm() {
  TrackingModel model;
  model.residual_xy_m = model.residual_z_m = 0;
  return model;
}

// Flies corner to corner of a square of 2 m at `speed`, after its first lap.
std::vector<Vec3> FlySquare(double speed, double seconds) {
  const auto corner = [](int i) {
    return Vec3{i % 4 < 2 ? 1.0 : -1.0, (i + 1) % 4 < 2 ? 1.0 : -1.0, 1};
  };
  const auto set_point = [&](double t) {
    const double legs = t * speed / 2;
    const int leg = static_cast<int>(legs);
    return corner(leg) + (legs - leg) * (corner(leg + 1) - corner(leg));
  };
  Tracker tracker(Calm(), set_point(0));
  const double lap = 8 / speed;
  std::vector<Vec3> flown;
  for (double t = 0; t < lap + seconds; t += kSimStepS) {
    if (t >= lap) flown.push_back(tracker.position());
    tracker.Step(set_point(t), {});
  }
  return flown;
}

double LargestDistance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, Norm(a[i] - b[i]));
  }
  return largest;
}

TEST(SetPointsOf, FindsWhatTheLoopWasToldToFollow) {
  // A circle, flown long enough that the beginning is forgotten.
  const auto set_point = [](double t) { return Vec3{std::cos(0.7 * t), std::sin(0.7 * t), 1}; };
  Tracker tracker(Calm(), set_point(0));
  std::vector<Vec3> flown;
  for (int i = 0; i < 3000; ++i) {
    if (i >= 1000) flown.push_back(tracker.position());
    tracker.Step(set_point(i * kSimStepS), {});
  }
  const std::vector<Vec3> found = SetPointsOf(flown, Calm());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double t = (static_cast<double>(i) + 1000) * kSimStepS;
    largest = std::max(largest, Norm(found[i] - set_point(t)));
  }
  EXPECT_LT(largest, 0.02);  // the flight itself is 0.33 m behind
}

TEST(Refly, AtItsOwnSpeedIsTheFlight) {
  const std::vector<Vec3> flown = FlySquare(0.6, 20);
  Rng rng(1);
  const std::vector<Vec3> again = Refly(flown, {}, Calm(), rng);
  ASSERT_EQ(again.size(), flown.size());
  EXPECT_LT(LargestDistance(again, flown), 0.04);
}

TEST(Refly, CutsCornersAsTheFasterFlightDoes) {
  const std::vector<Vec3> slow = FlySquare(0.4, 40), fast = FlySquare(0.8, 20);
  Rng rng(1);
  const std::vector<Vec3> again = Refly(slow, {.speed = 2}, Calm(), rng);
  std::vector<Vec3> played;
  for (std::size_t i = 0; i < slow.size(); i += 2) played.push_back(slow[i]);
  ASSERT_NEAR(static_cast<double>(again.size()), static_cast<double>(fast.size()), 2);
  // It enters at the slow flight's first point, which lags less; after two seconds that is over.
  const auto later = [](std::vector<Vec3> p) {
    p.erase(p.begin(), p.begin() + 200);
    return p;
  };
  const double reflown = LargestDistance(later(again), later(fast));
  EXPECT_LT(reflown, 0.06);
  EXPECT_GT(LargestDistance(later(played), later(fast)), 3 * reflown);
}

TEST(Refly, ScalesTheCourseAboutItsFirstPoint) {
  const std::vector<Vec3> flown = FlySquare(0.4, 40);
  Rng rng(1);
  const std::vector<Vec3> again = Refly(flown, {.speed = 1, .size = 0.5}, Calm(), rng);
  double largest = 0;
  for (std::size_t i = 0; i < flown.size(); ++i) {
    largest = std::max(largest, Norm(again[i] - flown[0] - 0.5 * (flown[i] - flown[0])));
  }
  EXPECT_LT(largest, 0.03);
}

TEST(ReflySomehow, LeavesOutWhatNoCrazyflieFlies) {
  Rng rng(1);
  std::vector<Vec3> bird(1000), still(1000, Vec3{1, 2, 3}), one(1);
  for (std::size_t i = 0; i < bird.size(); ++i) bird[i] = {0.08 * static_cast<double>(i), 0, 20};
  EXPECT_FALSE(ReflySomehow(bird, rng));
  EXPECT_FALSE(ReflySomehow(still, rng));
  EXPECT_FALSE(ReflySomehow(one, rng));
  EXPECT_TRUE(ReflySomehow(FlySquare(0.5, 20), rng));
}

TEST(ReflySomehow, IsReproducibleAndStaysWithinTheArenasSpeeds) {
  const std::vector<Vec3> flown = FlySquare(0.5, 30);
  double least = 10, most = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng a(seed), b(seed);
    const auto first = ReflySomehow(flown, a), second = ReflySomehow(flown, b);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(*first, *second);
    double way = 0;
    for (std::size_t i = 10; i < first->size(); i += 10)
      way += Norm((*first)[i] - (*first)[i - 10]);
    const double mean = way / (static_cast<double>(first->size()) * kSimStepS);
    least = std::min(least, mean), most = std::max(most, mean);
  }
  EXPECT_GT(least, 0.2);
  EXPECT_LT(least, 0.5);
  EXPECT_GT(most, 0.8);
  EXPECT_LT(most, 1.3);
}

}  // namespace
}  // namespace aerocast
