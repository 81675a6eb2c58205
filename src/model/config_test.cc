// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include "src/base/sha256.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;

ModelConfig Transformer(int width, int layers, int components) {
  ModelConfig config;
  config.width = width;
  config.layers = layers;
  config.feed_forward = 4 * width;
  config.components = components;
  return config;
}

ModelConfig Recurrent(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.layers = 3;
  config.components = 3;
  return config;
}

ModelConfig Mlp() {
  ModelConfig config;
  config.architecture = Architecture::kMlp;
  config.hidden = {2048, 2048, 1024};
  config.components = 3;
  return config;
}

std::vector<ModelConfig> OneOfEach() {
  return {Transformer(512, 4, 5), Recurrent(Architecture::kGru), Recurrent(Architecture::kLstm),
          Recurrent(Architecture::kBiGru), Mlp()};
}

TEST(ModelConfigTest, ParameterCountsAreThePapers) {
  EXPECT_EQ(ParameterCount(Transformer(512, 4, 5)), 13'511'894u);
  EXPECT_EQ(ParameterCount(Transformer(512, 4, 3)), 13'152'794u);
  EXPECT_EQ(ParameterCount(Recurrent(Architecture::kGru)), 4'751'898u);
  EXPECT_EQ(ParameterCount(Recurrent(Architecture::kLstm)), 6'068'762u);
  EXPECT_EQ(ParameterCount(Recurrent(Architecture::kBiGru)), 13'172'762u);
  EXPECT_EQ(ParameterCount(Mlp()), 7'628'826u);
  EXPECT_EQ(ParameterCount(Transformer(256, 2, 3)), 1'851'674u);
  EXPECT_EQ(ParameterCount(ModelConfig{}), 13'511'894u) << "the defaults are the paper's model";
}

TEST(ModelConfigTest, PositionsOnlyHasThreeInputs) {
  ModelConfig config = Transformer(512, 4, 5);
  config.velocity = false;
  EXPECT_EQ(config.inputs(), 3);
  EXPECT_EQ(ParameterCount(config), 13'511'894u - 512 * 3);
}

TEST(ModelConfigTest, ContextIsWhatTheHeadsRead) {
  EXPECT_EQ(Transformer(256, 2, 3).context(), 256);
  EXPECT_EQ(Recurrent(Architecture::kGru).context(), 512);
  EXPECT_EQ(Recurrent(Architecture::kLstm).context(), 512);
  EXPECT_EQ(Recurrent(Architecture::kBiGru).context(), 1024);
  EXPECT_EQ(Mlp().context(), 1024);
}

TEST(ModelConfigTest, TensorNamesAndShapes) {
  ModelConfig config = Recurrent(Architecture::kBiGru);
  config.width = 5;
  config.layers = 2;
  config.horizon_steps = 3;
  config.components = 2;
  using Shape = std::vector<std::int64_t>;
  const std::vector<TensorSpec> expected = {
      {"layers.0.weight_ih", Shape{15, 6}},
      {"layers.0.weight_hh", Shape{15, 5}},
      {"layers.0.bias_ih", Shape{15}},
      {"layers.0.bias_hh", Shape{15}},
      {"layers.0.reverse.weight_ih", Shape{15, 6}},
      {"layers.0.reverse.weight_hh", Shape{15, 5}},
      {"layers.0.reverse.bias_ih", Shape{15}},
      {"layers.0.reverse.bias_hh", Shape{15}},
      {"layers.1.weight_ih", Shape{15, 10}},
      {"layers.1.weight_hh", Shape{15, 5}},
      {"layers.1.bias_ih", Shape{15}},
      {"layers.1.bias_hh", Shape{15}},
      {"layers.1.reverse.weight_ih", Shape{15, 10}},
      {"layers.1.reverse.weight_hh", Shape{15, 5}},
      {"layers.1.reverse.bias_ih", Shape{15}},
      {"layers.1.reverse.bias_hh", Shape{15}},
      {"project.weight", Shape{10, 10}},
      {"project.bias", Shape{10}},
      {"heads.mean.weight", Shape{18, 10}},
      {"heads.mean.bias", Shape{18}},
      {"heads.log_sigma.weight", Shape{18, 10}},
      {"heads.log_sigma.bias", Shape{18}},
      {"heads.logit.weight", Shape{6, 10}},
      {"heads.logit.bias", Shape{6}},
  };
  EXPECT_EQ(TensorsOf(config), expected);
}

TEST(ModelConfigTest, TensorNamesAreUniqueInEveryArchitecture) {
  for (const ModelConfig& config : OneOfEach()) {
    std::set<std::string> names;
    for (const TensorSpec& tensor : TensorsOf(config)) {
      EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
      EXPECT_GT(tensor.size(), 0u) << tensor.name;
    }
  }
}

TEST(ModelConfigTest, JsonRoundTrip) {
  for (ModelConfig config : OneOfEach()) {
    config.history_steps = 7;
    config.horizon_steps = 13;
    config.dt_s = 0.1 + 0.2;  // needs all its digits
    config.lambda_m = 1.0 / 3;
    config.velocity = false;
    config.sigma_min_m = 1e-3;
    ASSERT_TRUE(Validate(config).ok()) << Validate(config).error().message;
    const std::string json = ToJson(config);
    EXPECT_EQ(json.find('\n'), std::string::npos);
    const Result<ModelConfig> read = ModelConfigFromJson(json, "x.model: config");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, config) << json;
  }
}

TEST(ModelConfigTest, NamesRoundTrip) {
  for (const ModelConfig& config : OneOfEach()) {
    const Result<Architecture> read = ArchitectureFromName(ArchitectureName(config.architecture));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, config.architecture);
  }
  const Result<Architecture> unknown = ArchitectureFromName("rnn\n");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "field 'architecture' is 'rnn?', expected one of transformer, gru, lstm, bigru, mlp");
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ModelConfigTest, JsonIsRefusedByName) {
  const std::string good = ToJson(ModelConfig{});
  const struct {
    std::string_view from, to, expected;
  } kCases[] = {
      {"{", "[", "is not JSON"},
      {good, "[]", "is a list, expected an object"},
      {good, "", "is not JSON"},
      {"\"width\":512,", "", "field 'width' is missing, expected a whole number"},
      {"\"width\":512", "\"width\":512,\"width\":512", "the key 'width' is there twice"},
      {"\"width\":512", "\"width\":512.5", "field 'width' is 512.5, expected a whole number"},
      {"\"width\":512", "\"width\":\"512\"", "field 'width' is \"512\", expected a whole number"},
      {"\"width\":512", "\"width\":99999999999", "field 'width' is 2147483647, expected 1 to 8192"},
      {"\"width\":512", "\"width\":99999999999999999999", "field 'width' is 1e+20, expected"},
      {"\"width\":512", "\"width\":18446744073709551615", "field 'width' is 18446744073709551615"},
      {"\"width\":512", "\"width\":-512", "field 'width' is -512, expected 1 to 8192"},
      {"\"width\":512", "\"width\":512,\"hidden\":[1]", "field 'hidden' is not known here"},
      {"\"width\":512", "\"width\":512,\"depth\":{}", "field 'depth' is not known here"},
      {"\"velocity\":true", "\"velocity\":1", "field 'velocity' is 1, expected true or false"},
      {"\"dt_s\":0.1", "\"dt_s\":null", "field 'dt_s' is null, expected a number"},
      {"\"dt_s\":0.1", "\"dt_s\":1e999", "is not JSON"},
      {"\"transformer\"", "\"rnn\"", "field 'architecture' is \"rnn\", expected a known one"},
      {"\"transformer\"", "\"gru\"", "field 'feed_forward' is not known here"},
      {"\"transformer\"", "\"mlp\"", "field 'hidden' is missing"},
      {"\"transformer\"", "3", "field 'architecture' is 3, expected a text"},
      {"\"components\":5", "\"components\":[[[[[[[[5]]]]]]]]", "nested too deep"},
  };
  for (const auto& c : kCases) {
    const Result<ModelConfig> read = ModelConfigFromJson(Replaced(good, c.from, c.to), "a.model");
    ASSERT_FALSE(read.ok()) << c.to;
    EXPECT_THAT(read.error().message, HasSubstr(c.expected));
    EXPECT_THAT(read.error().message, ::testing::StartsWith("a.model: "));
  }
}

TEST(ModelConfigTest, ValidateNamesTheField) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  using Change = std::function<void(ModelConfig&)>;
  const struct {
    std::string_view field;
    Change change;
  } kCases[] = {
      {"history_steps", [](ModelConfig& c) { c.history_steps = 0; }},
      {"history_steps", [](ModelConfig& c) { c.history_steps = 1001; }},
      {"horizon_steps", [](ModelConfig& c) { c.horizon_steps = 0; }},
      {"horizon_steps", [](ModelConfig& c) { c.horizon_steps = 1001; }},
      {"dt_s", [](ModelConfig& c) { c.dt_s = 0; }},
      {"dt_s", [](ModelConfig& c) { c.dt_s = kNan; }},
      {"lambda_m", [](ModelConfig& c) { c.lambda_m = -1; }},
      {"lambda_m", [](ModelConfig& c) { c.lambda_m = kInf; }},
      {"width", [](ModelConfig& c) { c.width = 0; }},
      {"width", [](ModelConfig& c) { c.width = 8193; }},
      {"layers", [](ModelConfig& c) { c.layers = 0; }},
      {"layers", [](ModelConfig& c) { c.layers = 33; }},
      {"heads", [](ModelConfig& c) { c.heads = 0; }},
      {"heads", [](ModelConfig& c) { c.heads = 7; }},
      {"feed_forward", [](ModelConfig& c) { c.feed_forward = 0; }},
      {"hidden", [](ModelConfig& c) { c.hidden = {3}; }},
      {"components", [](ModelConfig& c) { c.components = 0; }},
      {"components", [](ModelConfig& c) { c.components = 17; }},
      {"sigma_min_m", [](ModelConfig& c) { c.sigma_min_m = 0; }},
      {"sigma_min_m", [](ModelConfig& c) { c.sigma_min_m = kNan; }},
      {"hidden", [](ModelConfig& c) { c.architecture = Architecture::kMlp; }},
      {"hidden", [](ModelConfig& c) { c = Mlp(), c.hidden.assign(17, 4); }},
      {"hidden", [](ModelConfig& c) { c = Mlp(), c.hidden[1] = 0; }},
      {"width", [](ModelConfig& c) { c = Mlp(), c.width = 7; }},
      {"layers", [](ModelConfig& c) { c = Mlp(), c.layers = 3; }},
      {"heads", [](ModelConfig& c) { c = Mlp(), c.heads = 4; }},
      {"feed_forward",
       [](ModelConfig& c) { c.architecture = Architecture::kGru, c.feed_forward = 1; }},
      {"positional_encoding", [](ModelConfig& c) { c = Mlp(), c.positional_encoding = false; }},
  };
  for (const auto& c : kCases) {
    ModelConfig config;
    c.change(config);
    const Status status = Validate(config);
    ASSERT_FALSE(status.ok()) << c.field;
    EXPECT_THAT(status.error().message, HasSubstr("field '" + std::string(c.field) + "' is "));
    EXPECT_THAT(status.error().message, HasSubstr(", expected "));
  }
}

TEST(ModelConfigTest, TheLargestNetworkStaysWithinTheFile) {
  ModelConfig config = Transformer(8192, 32, 16);
  config.feed_forward = 32768;
  config.horizon_steps = 1000;
  const Status status = Validate(config);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("parameters, expected at most 250000000"));
  EXPECT_LE(TensorsOf(config).size(), 512u);
  for (const TensorSpec& tensor : TensorsOf(config)) {
    for (const std::int64_t n : tensor.shape) EXPECT_LE(n, 65536) << tensor.name;
  }
}

TEST(ModelConfigTest, TheStructureHashIsOfConfigAndTensors) {
  ModelConfig config = Mlp();
  config.hidden = {1}, config.history_steps = config.horizon_steps = config.components = 1;
  config.velocity = false;
  EXPECT_EQ(StructureHash(config),
            Sha256Hex(R"({"architecture":"mlp","history_steps":1,"horizon_steps":1,"dt_s":0.1,)"
                      R"("lambda_m":2.5,"velocity":false,"hidden":[1],"components":1,)"
                      R"("sigma_min_m":0.05})"
                      "\nlayers.0.weight [1,3]\nlayers.0.bias [1]\nlayers.0.norm.weight [1]\n"
                      "layers.0.norm.bias [1]\nheads.mean.weight [3,1]\nheads.mean.bias [3]\n"
                      "heads.log_sigma.weight [3,1]\nheads.log_sigma.bias [3]\n"
                      "heads.logit.weight [1,1]\nheads.logit.bias [1]\n"));
}

TEST(ModelConfigTest, EveryFieldChangesTheStructureHash) {
  std::set<std::string> hashes;
  for (const ModelConfig& config : OneOfEach()) hashes.insert(StructureHash(config));
  using Change = std::function<void(ModelConfig&)>;
  const std::vector<Change> changes = {[](ModelConfig& c) { c.history_steps = 19; },
                                       [](ModelConfig& c) { c.horizon_steps = 49; },
                                       [](ModelConfig& c) { c.dt_s = 0.2; },
                                       [](ModelConfig& c) { c.lambda_m = 2; },
                                       [](ModelConfig& c) { c.velocity = false; },
                                       [](ModelConfig& c) { c.width = 256; },
                                       [](ModelConfig& c) { c.layers = 3; },
                                       [](ModelConfig& c) { c.heads = 4; },
                                       [](ModelConfig& c) { c.feed_forward = 2047; },
                                       [](ModelConfig& c) { c.components = 4; },
                                       [](ModelConfig& c) { c.sigma_min_m = 0.1; },
                                       [](ModelConfig& c) { c.positional_encoding = false; }};
  for (const Change& change : changes) {
    ModelConfig config;
    change(config);
    hashes.insert(StructureHash(config));
  }
  EXPECT_EQ(hashes.size(), OneOfEach().size() + changes.size());
  EXPECT_EQ(StructureHash(ModelConfig{}), StructureHash(Transformer(512, 4, 5)));
}

}  // namespace
}  // namespace aerocast
