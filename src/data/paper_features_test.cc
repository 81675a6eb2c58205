// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/paper_features.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/data/test_flight.h"

namespace aerocast {
namespace {

std::vector<Vec3> Grid(Vec3 (*p)(double), std::size_t n = 21) {
  std::vector<Vec3> grid;
  for (std::size_t i = 0; i < n; ++i) grid.push_back(p(0.1 * static_cast<double>(i)));
  return grid;
}

std::vector<float> Tokens(std::span<const Vec3> grid, const Vec3* leaked = nullptr) {
  std::vector<float> tokens(6 * (grid.size() - 1));
  PaperFeatures(grid, 0.1, kPaperLambda, tokens, leaked);
  return tokens;
}

TEST(PaperFeatures, GiveDisplacementOverLambdaAndVelocityUnscaled) {
  const auto tokens = Tokens(Grid([](double t) { return Vec3{2 * t, -t, 7}; }));
  ASSERT_EQ(tokens.size(), 120u);
  for (std::size_t t = 0; t < 20; ++t) {
    EXPECT_NEAR(tokens[6 * t + 0], 0.2 / 2.5, 1e-6);
    EXPECT_NEAR(tokens[6 * t + 1], -0.1 / 2.5, 1e-6);
    EXPECT_NEAR(tokens[6 * t + 3], 2, 1e-5);
    EXPECT_NEAR(tokens[6 * t + 4], -1, 1e-5);
    EXPECT_NEAR(tokens[6 * t + 5], 0, 1e-5);
  }
}

TEST(PaperFeatures, DoNotChangeWhenTheFlightIsMoved) {
  auto grid = Grid([](double t) { return CirclePath(t); });
  const auto tokens = Tokens(grid);
  for (Vec3& p : grid) p += Vec3{64, -32, 16};  // powers of two: the sums stay exact to the float
  const auto moved = Tokens(grid);
  for (std::size_t i = 0; i < tokens.size(); ++i) EXPECT_NEAR(tokens[i], moved[i], 1e-5);
}

TEST(PaperFeatures, SmoothVelocityWithTheTruncatedGaussian) {
  // A single step of one metre at the last sample: raw velocities are 5 m/s (centred) before it
  // and 10 m/s (one-sided) at it.
  std::vector<Vec3> grid(21);
  grid[20].x = 1;
  const auto tokens = Tokens(grid);
  const double k1 = std::exp(-2.0), k2 = std::exp(-8.0);
  EXPECT_NEAR(tokens[6 * 19 + 3], (10 + 5 * k1) / (1 + k1 + k2), 1e-5);
  EXPECT_NEAR(tokens[6 * 18 + 3], 5 / (1 + k1 + k2), 1e-5);
  EXPECT_EQ(tokens[6 * 17 + 3], 0);
}

TEST(PaperFeatures, LeakOnlyWhenAskedTo) {
  const auto grid = Grid([](double t) { return CirclePath(t); }, 22);
  const std::span<const Vec3> seen = std::span(grid).first(21);
  const auto honest = Tokens(seen), leaky = Tokens(seen, &grid[21]);
  for (std::size_t i = 0; i < 6 * 19; ++i) EXPECT_EQ(honest[i], leaky[i]);
  EXPECT_NE(honest[6 * 19 + 3], leaky[6 * 19 + 3]);
}

TEST(PaperTargets, AreStepsThatSumBackToThePath) {
  const auto grid = Grid([](double t) { return CirclePath(t); }, 51);
  std::vector<float> d(150);
  PaperTargets(grid[0], std::span(grid).subspan(1), kPaperLambda, d);
  Vec3 p = grid[0];
  for (std::size_t i = 0; i < 50; ++i) {
    p += Vec3{d[3 * i], d[3 * i + 1], d[3 * i + 2]} * kPaperLambda;
    EXPECT_LT(Norm(p - grid[i + 1]), 1e-5);
  }
}

}  // namespace
}  // namespace aerocast
