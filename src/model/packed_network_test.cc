// SPDX-License-Identifier: BSD-3-Clause
//
// The forward passes against what libtorch gave (tests/golden), layer by layer, and against
// themselves: the same bits for any threads, batch, position and instruction set.
#include "src/model/packed_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/rng.h"
#include "src/model/golden_testing.h"
#include "src/model/random_model.h"

namespace aerocast {
namespace {

class GoldenTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, GoldenTest, testing::ValuesIn(kGoldenNetworks),
                         [](const auto& test) { return test.param; });

TEST_P(GoldenTest, EveryLayerIsLibtorchs) {
  const Golden golden = ReadGolden(GetParam());
  for (const Kernels& kernels : AllKernels()) ExpectEveryLayer(golden, kernels, 1e-5);
}

class PackedNetworkTest : public testing::TestWithParam<OddNetwork> {};
INSTANTIATE_TEST_SUITE_P(, PackedNetworkTest, testing::ValuesIn(OddNetworks()),
                         [](const auto& test) { return test.param.name; });

std::vector<float> RandomTokens(const ModelConfig& config, int windows, std::uint64_t seed) {
  Rng rng(seed, 0);
  std::vector<float> tokens(static_cast<std::size_t>(windows * config.tokens() * config.inputs()));
  for (float& x : tokens) x = static_cast<float>(rng.Normal());
  return tokens;
}

// Heads of each window, asked for `batch` at a time.
std::vector<std::vector<float>> Batched(const PackedNetwork& network,
                                        const std::vector<float>& tokens, int batch, int threads,
                                        int seen = 0) {
  const ModelConfig& config = network.config();
  const std::size_t in = static_cast<std::size_t>(config.tokens() * config.inputs());
  const auto out = static_cast<std::ptrdiff_t>(config.outputs());
  std::vector<std::vector<float>> all;
  for (std::size_t at = 0, n = tokens.size() / in; at < n;) {
    const std::size_t count = std::min(static_cast<std::size_t>(batch), n - at);
    std::vector<float> heads(count * static_cast<std::size_t>(out));
    network.Forward(std::span(tokens).subspan(at * in, count * in), static_cast<int>(count),
                    seen > 0 ? seen : config.tokens(), *network.MakeScratch(threads), heads);
    for (auto row = heads.begin(); row != heads.end(); row += out) all.emplace_back(row, row + out);
    at += count;
  }
  return all;
}

TEST_P(PackedNetworkTest, SameBitsForThreadsBatchPositionAndTarget) {
  const ModelConfig config = GetParam().config;
  ASSERT_TRUE(Validate(config).ok()) << Validate(config).error().message;
  const Model model = RandomModel(config, 1);
  const std::vector<float> tokens = RandomTokens(config, 37, 2);
  for (const auto storage : {WeightStorage::kSingle, WeightStorage::kHalf}) {
    const auto reference =
        Batched(**PackedNetwork::Make(model, storage, ScalarKernels()), tokens, 1, 1);
    EXPECT_NE(reference[0], reference[1]);
    for (const Kernels& kernels : AllKernels()) {
      const auto network = *PackedNetwork::Make(model, storage, kernels);
      for (const int threads : {1, 2, 3}) {
        for (const int batch : {1, 2, 5, 16, 37}) {
          const auto heads = Batched(*network, tokens, batch, threads);
          ASSERT_EQ(heads.size(), reference.size());
          for (std::size_t w = 0; w < heads.size(); ++w) {
            if (kernels.fused) {
              ASSERT_EQ(heads[w], reference[w])
                  << kernels.name << ", " << threads << " threads, batch " << batch;
            } else {
              ASSERT_LE(Difference(heads[w], reference[w]), 1e-5) << kernels.name;
            }
          }
        }
      }
    }
  }
}

// Tokens that are not seen do not count, whatever is in them.
TEST_P(PackedNetworkTest, SeesTheLastTokensOnly) {
  const ModelConfig config = GetParam().config;
  const auto network =
      *PackedNetwork::Make(RandomModel(config, 1), WeightStorage::kSingle, *FindKernels(""));
  const std::vector<float> tokens = RandomTokens(config, 5, 2);
  const bool mlp = config.architecture == Architecture::kMlp;  // its caller writes zeros
  for (const int seen : {1, 3, config.tokens()}) {
    std::vector<float> hidden = tokens;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      const auto token = static_cast<int>(i) / config.inputs() % config.tokens();
      if (token < config.tokens() - seen) hidden[i] = 0;
    }
    const auto reference = Batched(*network, hidden, 1, 1, seen);
    EXPECT_EQ(Batched(*network, mlp ? hidden : tokens, 5, 2, seen), reference) << seen;
    if (seen < config.tokens()) {
      EXPECT_NE(reference, Batched(*network, tokens, 5, 1));
    }
  }
}

TEST_P(PackedNetworkTest, HalfPrecisionIsTheSameNetworkWithRoundedWeights) {
  const ModelConfig config = GetParam().config;
  const Model model = RandomModel(config, 3);
  const std::vector<float> tokens = RandomTokens(config, 2, 4);
  const Kernels& kernels = *FindKernels("");
  const auto single = *PackedNetwork::Make(model, WeightStorage::kSingle, kernels);
  const auto half = *PackedNetwork::Make(model, WeightStorage::kHalf, kernels);
  EXPECT_LT(half->weight_bytes(), single->weight_bytes());
  const auto a = Batched(*single, tokens, 2, 1), b = Batched(*half, tokens, 2, 1);
  EXPECT_NE(a[0], b[0]);
  EXPECT_LT(Difference(b[0], a[0]), 1e-2);
}

// 1024 heads of one number each: 17 MB of weights would become 300.
TEST(PackedNetwork, RefusesToGrowOutOfProportion) {
  ModelConfig config;
  config.width = config.heads = 1024, config.feed_forward = 1, config.layers = 1;
  const auto network =
      PackedNetwork::Make(RandomModel(config, 1), WeightStorage::kSingle, ScalarKernels());
  ASSERT_FALSE(network.ok());
  EXPECT_THAT(network.error().message, testing::HasSubstr("padded to 16"));
}

TEST(PackedNetwork, RefusesHalfPrecisionBeyondItsRange) {
  // The embedding is kept scaled by the root of the width.
  Model model = RandomModel(OddConfig(Architecture::kTransformer), 5);
  ASSERT_EQ(model.tensors[0].name, "embed.weight");
  model.tensors[0].data[3] = -2e4f;
  const auto half = PackedNetwork::Make(model, WeightStorage::kHalf, ScalarKernels());
  ASSERT_FALSE(half.ok());
  EXPECT_THAT(half.error().message, testing::HasSubstr("tensor 'embed.weight'"));
  EXPECT_TRUE(PackedNetwork::Make(model, WeightStorage::kSingle, ScalarKernels()).ok());
}

}  // namespace
}  // namespace aerocast
