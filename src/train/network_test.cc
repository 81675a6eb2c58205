// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/network.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <numeric>

#include "src/train/loss.h"
#include "src/train/test_network.h"

namespace aerocast {
namespace {

double Difference(const Heads& a, const Heads& b) {
  return std::max({MaxDifference(a.mean, b.mean), MaxDifference(a.log_sigma, b.log_sigma),
                   MaxDifference(a.logit, b.logit)});
}

// The loss's gradient with respect to all parameters.
torch::Tensor Gradient(Network& network, const torch::Tensor& tokens, const torch::Tensor& targets,
                       const ForwardOptions& options) {
  network.flat_grad().zero_();
  MixtureLoss(network.Forward(tokens, options), targets, network.config(), 0.15).total.backward();
  return network.flat_grad().clone();
}

// The bidirectional GRU reads its last layer's way back at the last token, one step from a zero
// state: the matrix for the state never has a say there.
bool IsIdle(const ModelConfig& config, const std::string& name) {
  return config.architecture == Architecture::kBiGru &&
         name == "layers." + std::to_string(config.layers - 1) + ".reverse.weight_hh";
}

class EveryNetwork : public testing::TestWithParam<Architecture> {};
INSTANTIATE_TEST_SUITE_P(, EveryNetwork,
                         testing::Values(Architecture::kTransformer, Architecture::kGru,
                                         Architecture::kLstm, Architecture::kBiGru,
                                         Architecture::kMlp),
                         [](const auto& test) { return ArchitectureName(test.param).data(); });

TEST_P(EveryNetwork, HasHeadsOfTheConfiguredShape) {
  const ModelConfig config = TinyConfig(GetParam());
  const Network network(config, 1);
  const Heads heads = network.Forward(RandomTokens(config, 3, 1));
  EXPECT_EQ(heads.mean.sizes(), (std::vector<std::int64_t>{3, 4, 2, 3}));
  EXPECT_EQ(heads.log_sigma.sizes(), heads.mean.sizes());
  EXPECT_EQ(heads.logit.sizes(), (std::vector<std::int64_t>{3, 4, 2}));
}

TEST_P(EveryNetwork, IsTheSameForTheSameSeed) {
  const ModelConfig config = TinyConfig(GetParam());
  const Network a(config, 7), b(config, 7), c(config, 8);
  EXPECT_TRUE(torch::equal(a.flat(), b.flat()));
  EXPECT_FALSE(torch::equal(a.flat(), c.flat()));
}

TEST_P(EveryNetwork, BackwardAddsIntoTheFlatGradient) {
  const ModelConfig config = TinyConfig(GetParam());
  Network network(config, 2);
  const torch::Tensor tokens = RandomTokens(config, 3, 2), targets = RandomTargets(config, 3, 3);
  const float* where = network.flat_grad().data_ptr<float>();
  const torch::Tensor once = Gradient(network, tokens, targets, {});
  EXPECT_EQ(network.flat_grad().data_ptr<float>(), where);
  MixtureLoss(network.Forward(tokens), targets, config, 0.15).total.backward();
  EXPECT_LT(MaxDifference(network.flat_grad(), 2 * once), 1e-5);
  // Every parameter's gradient is a part of it, in the order of the table.
  std::int64_t at = 0;
  for (const TensorSpec& spec : TensorsOf(config)) {
    const torch::Tensor& parameter = network.parameter(spec.name);
    EXPECT_EQ(parameter.grad().data_ptr<float>(), where + at) << spec.name;
    EXPECT_EQ(parameter.data_ptr<float>(), network.flat().data_ptr<float>() + at) << spec.name;
    EXPECT_EQ(parameter.grad().abs().max().item<float>() == 0, IsIdle(config, spec.name))
        << spec.name;
    at += static_cast<std::int64_t>(spec.size());
  }
}

TEST_P(EveryNetwork, LeavingOutWorkChangesNeitherValueNorGradient) {
  for (const int history : {0, 4, 1}) {
    for (const double rate : {0.0, 0.25}) {
      const ModelConfig config = TinyConfig(GetParam());
      Network network(config, 3);
      const torch::Tensor tokens = RandomTokens(config, 5, 4),
                          targets = RandomTargets(config, 5, 5);
      const Dropout dropout(rate, 11, 100);
      ForwardOptions whole, pruned;
      whole.history = pruned.history = history;
      whole.dropout = pruned.dropout = &dropout;
      whole.pruned = false;
      EXPECT_LT(Difference(network.Forward(tokens, whole), network.Forward(tokens, pruned)), 1e-5);
      const torch::Tensor gradient = Gradient(network, tokens, targets, whole);
      EXPECT_LT(MaxDifference(gradient, Gradient(network, tokens, targets, pruned)),
                1e-5 * gradient.abs().max().item<double>());
    }
  }
}

TEST_P(EveryNetwork, DropsWhatBelongsToTheSampleNotToTheBatch) {
  const ModelConfig config = TinyConfig(GetParam());
  const Network network(config, 4);
  const torch::Tensor tokens = RandomTokens(config, 6, 6);
  const Dropout all(0.3, 5, 40), tail(0.3, 5, 44), other(0.3, 6, 40);
  ForwardOptions options;
  options.dropout = &all;
  const Heads heads = network.Forward(tokens, options);
  options.dropout = &tail;
  const Heads part = network.Forward(tokens.narrow(0, 4, 2), options);
  EXPECT_LT(MaxDifference(heads.mean.narrow(0, 4, 2), part.mean), 1e-5);
  options.dropout = &other;
  EXPECT_GT(Difference(heads, network.Forward(tokens, options)), 1e-2);
}

TEST_P(EveryNetwork, SeesTheLastTokensOnly) {
  const ModelConfig config = TinyConfig(GetParam());
  const Network network(config, 5);
  const torch::Tensor tokens = RandomTokens(config, 2, 7);
  torch::Tensor altered = tokens.clone();
  altered.narrow(1, 0, config.tokens() - 2).add_(1);
  ForwardOptions two;
  two.history = 2;
  EXPECT_EQ(Difference(network.Forward(tokens, two), network.Forward(altered, two)), 0);
  ForwardOptions three;
  three.history = 3;
  EXPECT_GT(Difference(network.Forward(tokens, three), network.Forward(altered, three)), 1e-4);
  EXPECT_GT(Difference(network.Forward(tokens), network.Forward(tokens, two)), 1e-4);
  ForwardOptions all;
  all.history = config.tokens();
  EXPECT_EQ(Difference(network.Forward(tokens), network.Forward(tokens, all)), 0);
}

TEST_P(EveryNetwork, ExportsWhatItLoads) {
  const ModelConfig config = TinyConfig(GetParam());
  const Network a(config, 6);
  Network b(config, 7);
  b.Load(a.Export(a.flat()));
  EXPECT_TRUE(torch::equal(a.flat(), b.flat()));
  const std::vector<aerocast::Tensor> tensors = a.Export(a.flat() * 2);
  EXPECT_EQ(tensors[0].data[0], 2 * a.flat()[0].item<float>());
  const torch::Tensor tokens = RandomTokens(config, 2, 8);
  EXPECT_EQ(Difference(a.Forward(tokens), b.Forward(tokens)), 0);
}

// d loss / d parameter along a direction, against the difference of two losses.
TEST_P(EveryNetwork, GradientMatchesFiniteDifferences) {
  const ModelConfig config = TinyConfig(GetParam());
  Network network(config, 8);
  const torch::Tensor tokens = RandomTokens(config, 4, 9), targets = RandomTargets(config, 4, 10);
  // Away from zero, where a fresh network has all its units near the kink of the ReLU.
  network.flat() += RandomNormal({network.flat().numel()}, 0.2, 12);
  // One component is the heaviest by far: where two change places the loss has a step.
  network.flat().narrow(0, network.flat().numel() - 8, 8).view({4, 2}).select(1, 0).fill_(3);
  const Dropout dropout(0.1, 3, 0);
  ForwardOptions options;
  options.dropout = &dropout;
  const torch::Tensor gradient = Gradient(network, tokens, targets, options);
  const auto loss_at = [&](const torch::Tensor& flat) {
    const torch::Tensor kept = network.flat().clone();
    network.flat().copy_(flat);
    const double loss =
        MixtureLoss(network.Forward(tokens, options), targets, config, 0.15).total.item<double>();
    network.flat().copy_(kept);
    return loss;
  };
  std::int64_t at = 0;
  for (const TensorSpec& spec : TensorsOf(config)) {
    // Along the gradient within one tensor: the largest slope there is.
    const auto n = static_cast<std::int64_t>(spec.size());
    torch::Tensor direction = torch::zeros_like(network.flat());
    direction.narrow(0, at, n).copy_(gradient.narrow(0, at, n));
    const double slope = direction.norm().item<double>();
    at += n;
    if (IsIdle(config, spec.name)) continue;
    direction /= slope;
    const double h = 2e-3;
    const double difference =
        (loss_at(network.flat() + h * direction) - loss_at(network.flat() - h * direction)) /
        (2 * h);
    EXPECT_NEAR(difference, slope, 0.02 * slope + 1e-3) << spec.name;
  }
}

TEST(Network, StartsWithXavierMatricesZeroBiasesAndUnitNorms) {
  const ModelConfig config = TinyConfig(Architecture::kTransformer);
  const Network network(config, 9);
  const torch::Tensor& packed = network.parameter("layers.0.attention.in.weight");
  const double bound = std::sqrt(6.0 / (4 * config.width));
  EXPECT_LE(packed.abs().max().item<double>(), bound);
  EXPECT_GT(packed.abs().max().item<double>(), 0.98 * bound);
  EXPECT_NEAR(packed.std().item<double>(), bound / std::sqrt(3.0), 0.05 * bound);
  EXPECT_TRUE(network.parameter("layers.1.norm2.weight").eq(1).all().item<bool>());
  EXPECT_TRUE(network.parameter("layers.1.norm2.bias").eq(0).all().item<bool>());
  EXPECT_TRUE(network.parameter("heads.logit.bias").eq(0).all().item<bool>());
}

TEST(Network, PositionsCountFromTheEnd) {
  ModelConfig config = TinyConfig(Architecture::kTransformer);
  Network network(config, 10);
  network.flat().zero_();  // all that is left of the embedding are the positions
  std::map<int, torch::Tensor> embedded;
  for (const int history : {config.tokens(), 2}) {
    ForwardOptions options;
    options.history = history;
    options.trace = [&](const std::string& name, const torch::Tensor& value) {
      if (name == "embed") embedded[history] = value[0].clone();
    };
    (void)network.Forward(RandomTokens(config, 1, 1), options);
  }
  const torch::Tensor& all = embedded[config.tokens()];
  EXPECT_TRUE(torch::equal(all.narrow(0, config.tokens() - 2, 2), embedded[2]));
  for (int t = 0; t < config.tokens(); ++t) {
    EXPECT_NEAR(all[t][0].item<double>(), std::sin(t), 1e-6);
    EXPECT_NEAR(all[t][1].item<double>(), std::cos(t), 1e-6);
    EXPECT_NEAR(all[t][2].item<double>(), std::sin(t / std::pow(10000, 2.0 / config.width)), 1e-6);
  }
  config.positional_encoding = false;
  const Network without(config, 10);
  const Heads a = without.Forward(RandomTokens(config, 1, 1));
  EXPECT_GT(
      Difference(
          a,
          Network(TinyConfig(Architecture::kTransformer), 10).Forward(RandomTokens(config, 1, 1))),
      1e-3);
}

TEST(Network, ReadsPositionsAlone) {
  ModelConfig config = TinyConfig(Architecture::kTransformer);
  config.velocity = false;
  const Network network(config, 1);
  EXPECT_EQ(network.Forward(RandomTokens(config, 2, 1)).logit.size(0), 2);
}

}  // namespace
}  // namespace aerocast
