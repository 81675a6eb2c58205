// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/parity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/eval/made_up_tokens.h"

namespace aerocast {
namespace {

TEST(Compare, TakesTheLargestDifferenceRelativeToTheLargestNumber) {
  const std::vector<float> a = {1, 2, -4.5f, 0.25f}, b = {1, 2.5f, -4, 0};
  const Parity parity = Compare(a, b, 2);
  EXPECT_EQ(parity.windows, 2);
  EXPECT_DOUBLE_EQ(parity.absolute, 0.5);
  EXPECT_DOUBLE_EQ(parity.largest, 4);
  EXPECT_DOUBLE_EQ(parity.relative(), 0.125);
  EXPECT_DOUBLE_EQ(Compare(std::vector<float>{0.1f}, std::vector<float>{0}, 1).relative(), 0.1f);
}

TEST(Compare, NeverPassesWhatIsNoNumberOrMissing) {
  const std::vector<float> good = {1, 2}, nan = {1, NAN}, fewer = {1};
  EXPECT_TRUE(std::isinf(Compare(nan, good, 1).absolute));
  EXPECT_TRUE(std::isinf(Compare(good, nan, 1).absolute));
  EXPECT_TRUE(std::isinf(Compare(nan, nan, 1).absolute));
  EXPECT_TRUE(std::isinf(Compare(fewer, good, 1).absolute));
}

TEST(MadeUpTokens, AreTheSameForTheSameSeedAndAlive) {
  const ModelConfig config;
  const std::vector<float> tokens = MadeUpTokens(config, 1, 3);
  ASSERT_EQ(tokens.size(), 3u * 20 * 6);
  EXPECT_EQ(tokens, MadeUpTokens(config, 1, 3));
  EXPECT_NE(tokens, MadeUpTokens(config, 2, 3));
  EXPECT_GT(Compare(tokens, MadeUpTokens(config, 2, 3), 3).absolute, 0.1);
}

}  // namespace
}  // namespace aerocast
