// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/base/rng.h"

namespace aerocast {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

static_assert(HalfFromFloat(1.0f) == 0x3c00 && FloatFromHalf(0x3c00) == 1.0f);

// What the standard says a half is, with no bit shared with the code under test.
double Meaning(std::uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

bool IsNanHalf(std::uint16_t half) { return (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0; }

// The nearest of all halves, by looking among them; ties to the one whose last bit is 0.
std::uint16_t Nearest(float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  std::uint16_t low = 0, high = 0x7c00;  // infinity counts as the 65536 that would come next
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (Meaning(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - Meaning(low);
  const double above = (high == 0x7c00 ? 65536 : Meaning(high)) - magnitude;
  const std::uint16_t nearest = below < above || (below == above && low % 2 == 0) ? low : high;
  return static_cast<std::uint16_t>(nearest | (std::signbit(value) ? 0x8000 : 0));
}

TEST(Half, EveryHalfIsTheFloatTheStandardSays) {
  for (std::uint32_t n = 0; n < 0x10000; ++n) {
    const auto half = static_cast<std::uint16_t>(n);
    const float value = FloatFromHalf(half);
    ASSERT_EQ(std::signbit(value), half >= 0x8000) << n;
    if (IsNanHalf(half)) {
      ASSERT_TRUE(std::isnan(value)) << n;
    } else if ((half & 0x7fff) == 0x7c00) {
      ASSERT_EQ(std::abs(value), kInfinity) << n;
    } else {
      ASSERT_EQ(value, Meaning(half)) << n;
    }
  }
}

TEST(Half, EveryHalfComesBack) {
  for (std::uint32_t n = 0; n < 0x10000; ++n) {
    const auto half = static_cast<std::uint16_t>(n);
    const std::uint16_t back = HalfFromFloat(FloatFromHalf(half));
    ASSERT_EQ(back, IsNanHalf(half) ? half | 0x200 : half) << n;
  }
}

TEST(Half, BetweenTwoHalvesTheNearestIsTakenAndTiesGoToEven) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) {
    const float a = FloatFromHalf(low), b = FloatFromHalf(static_cast<std::uint16_t>(low + 1));
    const float middle = (a + b) / 2;  // exact: one more bit than a half has
    const auto even = static_cast<std::uint16_t>(low + low % 2);
    ASSERT_EQ(HalfFromFloat(middle), even) << low;
    ASSERT_EQ(HalfFromFloat(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(HalfFromFloat(std::nextafter(middle, kInfinity)), low + 1) << low;
    ASSERT_EQ(HalfFromFloat(-middle), even | 0x8000) << low;
  }
}

TEST(Half, AnyFloatGoesToItsNearestHalf) {
  Rng rng(1);
  for (int n = 0; n < 1'000'000; ++n) {
    const float value = n % 2 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(rng.Next()))
                                   : static_cast<float>(rng.Normal() * rng.LogUniform(1e-9, 1e5));
    if (std::isnan(value)) continue;
    ASSERT_EQ(HalfFromFloat(value), Nearest(value)) << std::bit_cast<std::uint32_t>(value);
  }
}

TEST(Half, BeyondTheLargestIsInfinity) {
  EXPECT_EQ(HalfFromFloat(65504), 0x7bff);
  EXPECT_EQ(HalfFromFloat(std::nextafter(kHalfOverflow, 0.0f)), 0x7bff);
  EXPECT_EQ(HalfFromFloat(kHalfOverflow), 0x7c00);
  EXPECT_EQ(HalfFromFloat(-kInfinity), 0xfc00);
  EXPECT_EQ(HalfFromFloat(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(HalfFromFloat(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_TRUE(IsNanHalf(HalfFromFloat(std::numeric_limits<float>::signaling_NaN())));
}

}  // namespace
}  // namespace aerocast
