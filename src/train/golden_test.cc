// SPDX-License-Identifier: BSD-3-Clause
//
// The golden files in tests/golden. After a wanted change of the networks rewrite them:
//   AEROCAST_REWRITE_GOLDEN=1 train_network_test --gtest_filter='*Golden*'
// encoder_layer.safetensors is Python's and comes from scripts/make_encoder_golden.py.
#include "src/train/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <filesystem>

#include "src/train/test_network.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(AEROCAST_SOURCE_DIR) / "tests" / "golden";

torch::Tensor AsTorch(const TensorFile& file, const std::string& name) {
  const Tensor* tensor = file.Find(name);
  if (tensor == nullptr) {
    ADD_FAILURE() << "no tensor " << name;
    return torch::full({1}, NAN);
  }
  return torch::tensor(tensor->data).view(tensor->shape);
}

std::vector<Tensor> Weights(const TensorFile& file, const ModelConfig& config) {
  std::vector<Tensor> weights;
  for (const TensorSpec& spec : TensorsOf(config)) {
    const Tensor* tensor = file.Find("weights." + spec.name);
    EXPECT_NE(tensor, nullptr) << spec.name;
    if (tensor != nullptr) weights.push_back({spec.name, tensor->shape, tensor->data});
  }
  return weights;
}

TEST(EncoderGolden, OurLayersArePythonTorchs) {
  const auto file = ReadTensorFile(kFolder / "encoder_layer.safetensors");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const ModelConfig config = TinyConfig(Architecture::kTransformer);
  for (const bool pruned : {false, true}) {
    Network network(config, 1);
    {
      const torch::NoGradGuard no_grad;
      for (const TensorSpec& spec : TensorsOf(config)) {
        if (spec.name.starts_with("heads")) continue;
        torch::Tensor parameter = network.parameter(spec.name);
        parameter.copy_(AsTorch(*file, "weights." + spec.name));
      }
    }
    ForwardOptions options;
    options.pruned = pruned;
    torch::Tensor context;
    options.trace = [&](const std::string& name, const torch::Tensor& value) {
      if (name == "context") context = value;
      if (name != "context" && name != "embed" && name != "layers.0" && name != "layers.1") return;
      torch::Tensor expected = AsTorch(*file, "activations." + name);
      if (pruned && name == "layers.1") expected = expected.narrow(1, config.tokens() - 1, 1);
      ASSERT_EQ(value.sizes(), expected.sizes()) << name;
      EXPECT_LT(MaxDifference(value, expected), 1e-5) << name;
    };
    (void)network.Forward(AsTorch(*file, "tokens"), options);
    (context * AsTorch(*file, "probe")).sum().backward();
    for (const TensorSpec& spec : TensorsOf(config)) {
      if (spec.name.starts_with("heads")) continue;
      const torch::Tensor expected = AsTorch(*file, "gradients." + spec.name);
      EXPECT_LT(MaxDifference(network.parameter(spec.name).grad(), expected),
                1e-5 * (1 + expected.abs().max().item<double>()))
          << spec.name;
    }
  }
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  fs::path Committed() const { return kFolder / (GetParam() + ".safetensors"); }
  fs::path Written() const {
    return fs::path(testing::TempDir()) / ("golden_" + GetParam() + ".safetensors");
  }
};
INSTANTIATE_TEST_SUITE_P(, Golden,
                         testing::Values("transformer", "gru", "lstm", "bigru", "mlp", "plus"),
                         [](const auto& test) { return test.param; });

TEST_P(Golden, IsWhatTheNetworkSaysToday) {
  const ModelConfig config = TinyNamed(GetParam());
  Network network(config, 1);
  // Biases and norms that matter: a fresh network's are zeros and ones.
  network.flat() += RandomNormal({network.flat().numel()}, 0.05, 2);
  if (std::getenv("AEROCAST_REWRITE_GOLDEN") != nullptr) {
    const Status status = WriteGolden(Committed(), network, 3, 2);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  const Status status = WriteGolden(Written(), network, 3, 2);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const auto committed = ReadTensorFile(Committed()), written = ReadTensorFile(Written());
  ASSERT_TRUE(committed.ok()) << committed.error().message;
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(committed->metadata.at("config"), ToJson(config));
  EXPECT_EQ(committed->metadata.at("format"), "aerocast-golden");
  ASSERT_EQ(committed->tensors.size(), written->tensors.size());
  for (std::size_t i = 0; i < written->tensors.size(); ++i) {
    const Tensor &a = committed->tensors[i], &b = written->tensors[i];
    ASSERT_EQ(a.name, b.name);
    ASSERT_EQ(a.shape, b.shape) << a.name;
    EXPECT_THAT(a.data, testing::Pointwise(testing::FloatNear(1e-5f), b.data)) << a.name;
  }
  fs::remove(Written());
}

// Weights and tokens of the file alone give its heads: a reader needs nothing else.
TEST_P(Golden, HoldsAllThatAReaderNeeds) {
  const auto file = ReadTensorFile(Committed());
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto config = ModelConfigFromJson(file->metadata.at("config"), "golden");
  ASSERT_TRUE(config.ok()) << config.error().message;
  Network network(*config, 99);
  network.Load(Weights(*file, *config));
  const torch::Tensor tokens = AsTorch(*file, "tokens");
  const Heads heads = network.Forward(tokens);
  if (config->plus()) {
    EXPECT_LT(MaxDifference(heads.point, AsTorch(*file, "heads.point")), 1e-5);
  }
  EXPECT_LT(MaxDifference(heads.mean, AsTorch(*file, "heads.mean")), 1e-5);
  EXPECT_LT(MaxDifference(heads.log_sigma, AsTorch(*file, "heads.log_sigma")), 1e-5);
  EXPECT_LT(MaxDifference(heads.logit, AsTorch(*file, "heads.logit")), 1e-5);
  // The windows are alive: they move, and differ.
  EXPECT_GT(tokens.std().item<double>(), 0.1);
  EXPECT_GT(MaxDifference(tokens[0], tokens[1]), 0.1);
}

TEST(WriteGolden, SaysWhereItCannotWrite) {
  const Network network(TinyConfig(Architecture::kMlp), 1);
  const Status status = WriteGolden("/no/such/folder/x.safetensors", network, 1, 1);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("/no/such/folder"));
}

TEST(GoldenFolder, IsSmall) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) bytes += entry.file_size();
  EXPECT_LE(bytes, 200u * 1024);
}

}  // namespace
}  // namespace aerocast
