// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/plus_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/base/rng.h"

namespace aerocast {
namespace {

constexpr PlusSpec kSpec = {30, 5, true};
constexpr std::size_t kEach = 8, kInputs = 45;

struct Input {
  std::vector<Vec3> grid = std::vector<Vec3>(31);
  std::vector<std::uint8_t> present = std::vector<std::uint8_t>(31, 1);
  double noise_m = 0.002;

  struct Output {
    PlusFrame frame;
    std::vector<float> tokens = std::vector<float>(6 * kInputs, -7.f);
  };
  Output Features() const {
    Output out;
    out.frame = PlusFeatures(grid, present, noise_m, kSpec, out.tokens);
    return out;
  }
  // Keeps the newest `points` of them.
  void Shorten(std::size_t points) {
    for (std::size_t i = 0; i + points < grid.size(); ++i) present[i] = 0, grid[i] = {};
  }
};

// A curve with noise, about 1 m/s.
Input Curve(std::uint64_t seed) {
  Rng rng(seed);
  const double turn = rng.Uniform(-1, 1), climb = rng.Uniform(-0.3, 0.3), from = rng.Uniform(0, 6);
  Input input;
  Vec3 p = {3, -2, 5};
  for (std::size_t i = 0; i < input.grid.size(); ++i) {
    const double heading = from + turn * 0.1 * static_cast<double>(i);
    p += 0.1 * Vec3{std::cos(heading), std::sin(heading), climb};
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    input.grid[i] = p + 0.002 * Vec3{x, y, z};
  }
  return input;
}

double Apart(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - b[i]));
  return most;
}

TEST(PlusFeatures, DoNotKnowWhereWhitherAndHowFast) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Input input = Curve(seed);
    const Input::Output plain = input.Features();
    Input moved = input;
    const Yaw yaw = Yaw::FromAngle(0.13 * static_cast<double>(seed));
    const double scale = std::exp(0.1 * static_cast<double>(seed) - 2);
    for (Vec3& p : moved.grid) p = scale * (yaw * p) + Vec3{1e4, -2e4, 300};
    moved.noise_m *= scale;
    const Input::Output other = moved.Features();
    EXPECT_LT(Apart(plain.tokens, other.tokens), 1e-6) << seed;
    EXPECT_NEAR(other.frame.scale, scale * plain.frame.scale, 1e-9 * scale);
    // The way back is the way there.
    const Vec3 p = {1.5, -0.5, 2};
    EXPECT_LT(Norm(other.frame.ToFrame(other.frame.ToWorld(p)) - p), 1e-8);
    const Vec3 expected = scale * (yaw * plain.frame.ToWorld(p)) + Vec3{1e4, -2e4, 300};
    EXPECT_LT(Norm(other.frame.ToWorld(p) - expected), 1e-7 * (1 + scale));
  }
}

TEST(PlusFeatures, OfAStraightFlightAreItsSteps) {
  Input input;
  input.noise_m = 0;
  for (std::size_t i = 0; i < 31; ++i) {
    input.grid[i] = Vec3{0.06, 0.08, 0} * static_cast<double>(i);
  }
  const Input::Output out = input.Features();
  EXPECT_EQ(out.frame.seen, 6);
  EXPECT_TRUE(out.frame.stable);
  EXPECT_NEAR(out.frame.scale, 0.1, 1e-12);
  for (std::size_t token = 0; token < 6; ++token) {
    for (std::size_t j = 0; j < 5; ++j) {
      const float* step = &out.tokens[token * kInputs + j * kEach];
      const double back = static_cast<double>(5 * token + j + 1) - 30;
      EXPECT_NEAR(step[0], 1, 1e-6);
      EXPECT_NEAR(step[1], 0, 1e-6);
      EXPECT_NEAR(step[3], back / 16, 1e-6);
      EXPECT_EQ(step[6], 1) << "known";
      EXPECT_EQ(step[7], 1) << "moved";
    }
    EXPECT_EQ(out.tokens[token * kInputs + 41], 0) << "no noise is stated";
    EXPECT_EQ(out.tokens[token * kInputs + 42], 1) << "the heading is fresh";
  }
}

TEST(PlusFeatures, SeeAsManyTokensAsThereIsHistory) {
  for (std::size_t points = 1; points <= 31; ++points) {
    Input input = Curve(3);
    input.Shorten(points);
    const Input::Output out = input.Features();
    const int steps = static_cast<int>(points) - 1;
    EXPECT_EQ(out.frame.known, static_cast<int>(points));
    EXPECT_EQ(out.frame.seen, (steps + 4) / 5) << points;
    for (std::size_t i = 0; i < (6 - static_cast<std::size_t>(out.frame.seen)) * kInputs; ++i) {
      EXPECT_EQ(out.tokens[i], 0);
    }
  }
}

TEST(PlusFeatures, HolesAreMaskedAndNotInvented) {
  Input input = Curve(4);
  input.present[22] = 0, input.grid[22] = {};
  const Input::Output out = input.Features();
  // Step 22 is the second of token 4.
  const float* missing = &out.tokens[4 * kInputs + kEach];
  for (std::size_t i = 0; i < kEach; ++i) EXPECT_EQ(missing[i], 0) << i;
  const float* after = missing + kEach;
  EXPECT_EQ(after[0], 0) << "from nowhere";
  EXPECT_NE(after[3], 0) << "but it is somewhere";
  EXPECT_EQ(after[6], 1);
  EXPECT_EQ(after[7], 0);
  EXPECT_EQ(out.frame.seen, 6);
}

TEST(PlusFeatures, SeeNothingWithoutARecentPoint) {
  Input input = Curve(4);
  for (std::size_t i = 20; i < 30; ++i) input.present[i] = 0, input.grid[i] = {};
  EXPECT_EQ(input.Features().frame.seen, 0);
  input.present[20] = 1;
  EXPECT_EQ(input.Features().frame.seen, 6);
}

TEST(PlusFeatures, WhoeverStopsKeepsTheLastHeading) {
  Input input;
  for (std::size_t i = 0; i < 31; ++i) {
    input.grid[i] = {0, 0.1 * static_cast<double>(std::min<std::size_t>(i, 20)), 1};
  }
  const PlusFrame frame = input.Features().frame;
  EXPECT_FALSE(frame.stable);
  EXPECT_NEAR(frame.to_world.sin, 1, 1e-9) << "y is ahead";
  const Input still;
  EXPECT_EQ(still.Features().frame.seen, 6) << "even what never moved can be looked at";
}

TEST(PlusFeatures, TellTheScaleWithinItsRangeOnly) {
  PlusSpec spec = kSpec;
  spec.told_least_m = 0.05, spec.told_most_m = 0.2;
  for (const double size : {0.3, 1.0, 3.0}) {  // a mean step of 0.03, 0.1, 0.3 m
    Input input = Curve(1);
    for (Vec3& p : input.grid) p *= size;
    std::vector<float> tokens(6 * kInputs);
    const PlusFrame frame = PlusFeatures(input.grid, input.present, 0, spec, tokens);
    for (std::size_t end = kInputs; end <= tokens.size(); end += kInputs) {
      EXPECT_EQ(tokens[end - 1], size == 1.0 ? 1.f : 0.f);
      EXPECT_NEAR(tokens[end - 2], size == 1.0 ? 4 * std::log10(frame.scale / 0.07) : 0, 1e-6);
    }
    HideScale(spec, tokens);
    std::vector<float> untold(6 * kInputs);
    PlusFeatures(input.grid, input.present, 0, kSpec, untold);
    EXPECT_EQ(tokens, untold);
  }
}

TEST(PlusFeatures, OutliersAreBounded) {
  Input input = Curve(5);
  input.grid[10] += {4e6, 0, 0};
  for (const float x : input.Features().tokens) EXPECT_LE(std::abs(x), 10.f);
}

}  // namespace
}  // namespace aerocast
