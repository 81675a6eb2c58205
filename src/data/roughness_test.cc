// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/roughness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/base/rng.h"

namespace aerocast {
namespace {

struct Motion {
  std::vector<Vec3> grid;
  std::vector<std::uint8_t> present = std::vector<std::uint8_t>(101, 1);
  Roughness Measure(double noise_m = 0) const {
    Roughness roughness = {};
    EXPECT_TRUE(MeasureRoughness(grid, present, noise_m, roughness));
    return roughness;
  }
};

// A circle flown at `rate` rad per step.
Motion Circle(double rate, double radius = 1, double noise_m = 0, std::uint64_t seed = 1) {
  Motion motion;
  Rng rng(seed);
  for (int i = 0; i <= 100; ++i) {
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    motion.grid.push_back(radius * Vec3{std::cos(rate * i), std::sin(rate * i), 0} +
                          noise_m * Vec3{x, y, z});
  }
  return motion;
}

TEST(Roughness, OfACircleIsItsTurnRate) {
  const Roughness r = Circle(0.05).Measure();
  for (std::size_t n = 0; n < 3; ++n) {
    // |p - 2q + s| = 4 r sin^2(L w / 2), about L w times L chords.
    EXPECT_NEAR(std::pow(10, r[n]), 0.05 * kRoughnessLags[n], 0.002 * kRoughnessLags[n]);
  }
  EXPECT_NEAR(Circle(0.15).Measure()[0] - r[0], std::log10(3), 0.03) << "thrice as fast";
}

TEST(Roughness, DoesNotKnowTheSize) {
  const Roughness a = Circle(0.07).Measure(), b = Circle(0.07, 30).Measure();
  for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(a[n], b[n], 1e-9);
}

TEST(Roughness, StatedNoiseIsTakenOut) {
  double plain = 0, told = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Motion noisy = Circle(0.1, 1, 0.01, seed);
    plain += noisy.Measure()[2] / 50, told += noisy.Measure(0.01)[2] / 50;
  }
  const double clean = Circle(0.1).Measure()[2];
  EXPECT_LT(std::abs(told - clean), std::abs(plain - clean));
  EXPECT_NEAR(told, clean, 0.05);
}

TEST(Roughness, ARandomWalkIsRoughAtOnce) {
  Motion walk;
  Rng rng(3);
  Vec3 p;
  for (int i = 0; i <= 100; ++i) {
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    walk.grid.push_back(p += 0.1 * Vec3{x, y, z});
  }
  EXPECT_GT(walk.Measure()[0], 0);
}

TEST(Roughness, NeedsPointsAndMotion) {
  Roughness roughness;
  Motion motion = Circle(0.1);
  std::fill(motion.present.begin(), motion.present.begin() + 95, std::uint8_t{0});
  EXPECT_FALSE(MeasureRoughness(motion.grid, motion.present, 0, roughness));
  const std::vector<Vec3> still(101);
  EXPECT_FALSE(MeasureRoughness(still, std::vector<std::uint8_t>(101, 1), 0, roughness));
}

}  // namespace
}  // namespace aerocast
