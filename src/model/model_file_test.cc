// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>

#include "src/base/file.h"
#include "src/base/half.h"
#include "src/base/rng.h"
#include "src/model/calibration_testing.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;

ModelConfig SmallConfig(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.history_steps = 3;
  config.horizon_steps = 2;
  config.components = 3;
  if (architecture == Architecture::kMlp) {
    config.hidden = {5, 3};
  } else {
    config.width = 6;
    config.layers = 2;
  }
  if (architecture == Architecture::kTransformer) config.heads = 3, config.feed_forward = 7;
  return config;
}

Model SmallModel(Architecture architecture = Architecture::kTransformer) {
  Model model;
  model.name = "small-1";
  model.config = SmallConfig(architecture);
  model.provenance = {.training = "[train]\nlr = 1e-4\n",
                      .corpus_name = "flights \"ü\"",
                      .corpus_hash = "abc",
                      .split = "flight",
                      .split_hash = "def",
                      .train_flights = {"0123456789ab", "ba9876543210"},
                      .seed = std::numeric_limits<std::uint64_t>::max(),
                      .windows_seen = 12345,
                      .epochs_seen = 1.0 / 3,
                      .version = "0.1.0",
                      .metrics = {{"validation_nll", -3.25}, {"validation_ade_m", 0.1}}};
  Rng rng(1);
  for (const TensorSpec& spec : TensorsOf(model.config)) {
    Tensor& tensor = model.tensors.emplace_back();
    tensor.name = spec.name, tensor.shape = spec.shape;
    for (std::size_t i = 0; i < spec.size(); ++i) {
      tensor.data.push_back(static_cast<float>(rng.Normal()));
    }
  }
  return model;
}

std::filesystem::path TestFile() {
  return std::filesystem::path(::testing::TempDir()) /
         ("model_file_test_" + std::to_string(getpid()) + ".model");
}

class ModelFileTest : public ::testing::Test {
 protected:
  ~ModelFileTest() override { std::filesystem::remove(TestFile()); }
};

TEST_F(ModelFileTest, RoundTripOfEveryArchitecture) {
  for (const auto architecture : {Architecture::kTransformer, Architecture::kGru,
                                  Architecture::kLstm, Architecture::kBiGru, Architecture::kMlp}) {
    const Model model = SmallModel(architecture);
    const Status written = WriteModel(TestFile(), model);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const Result<Model> read = ReadModel(TestFile());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->name, model.name);
    EXPECT_EQ(read->config, model.config);
    EXPECT_EQ(read->provenance, model.provenance);
    ASSERT_EQ(read->tensors.size(), model.tensors.size());
    for (std::size_t n = 0; n < model.tensors.size(); ++n) {
      EXPECT_EQ(read->tensors[n].name, model.tensors[n].name);
      EXPECT_EQ(read->tensors[n].data, model.tensors[n].data);
    }
    EXPECT_EQ(read->sha256.size(), 64u);
  }
}

TEST_F(ModelFileTest, RoundTripOfACalibration) {
  Model model = SmallModel();
  const std::string bare = *EncodeModel(model, "x");
  EXPECT_EQ(bare.find("calibration"), bare.npos) << "files without one stay as they were";
  model.calibration = MadeUpCalibration(2);
  for (const WeightStorage storage : {WeightStorage::kSingle, WeightStorage::kHalf}) {
    ASSERT_TRUE(WriteModel(TestFile(), model, storage).ok());
    const std::string bytes = *ReadFile(TestFile());
    Result<Model> read = ReadModel(TestFile());
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_TRUE(read->calibration);
    EXPECT_EQ(read->tensors.size(), model.tensors.size()) << "residuals are no weights";
    EXPECT_EQ(*EncodeModel(*read, "x", storage), bytes);
    for (std::size_t i = 0; i < model.calibration->residuals.size(); ++i) {
      EXPECT_NEAR(read->calibration->residuals[i], model.calibration->residuals[i], 2e-3);
    }
    if (storage == WeightStorage::kHalf) continue;
    EXPECT_EQ(*read->calibration, *model.calibration);
    read->calibration.reset();
    EXPECT_EQ(*EncodeModel(*read, "x"), bare);
  }
}

TEST_F(ModelFileTest, ACalibrationThatDoesNotFitIsNotWritten) {
  Model model = SmallModel();
  const auto refusal = [&](const std::function<void(Calibration&)>& spoil) {
    model.calibration = MadeUpCalibration(2);
    spoil(*model.calibration);
    const Result<std::string> bytes = EncodeModel(model, "x");
    return bytes.ok() ? "" : bytes.error().message;
  };
  EXPECT_EQ(refusal([](Calibration&) {}), "");
  EXPECT_EQ(refusal([](Calibration& c) { c.temperature = std::nan(""); }),
            "x: calibration: 'temperature' holds null, expected 0.05 to 20.0; nothing was written");
  EXPECT_THAT(refusal([](Calibration& c) { c.residuals.pop_back(); }),
              HasSubstr("'residuals' has"));
  EXPECT_THAT(refusal([](Calibration& c) { c = MadeUpCalibration(3); }), HasSubstr("'radius' has"));
  EXPECT_THAT(refusal([](Calibration& c) { c.origin.flights = {"a b"}; }),
              HasSubstr("keys without spaces"));
}

TEST_F(ModelFileTest, TheHashIsThatOfTheWeights) {
  Model model = SmallModel();
  ASSERT_TRUE(WriteModel(TestFile(), model).ok());
  const std::string hash = ReadModel(TestFile())->sha256;
  model.provenance.seed = 4;
  ASSERT_TRUE(WriteModel(TestFile(), model).ok());
  EXPECT_EQ(ReadModel(TestFile())->sha256, hash);
  model.tensors[3].data[1] += 1;
  ASSERT_TRUE(WriteModel(TestFile(), model).ok());
  EXPECT_NE(ReadModel(TestFile())->sha256, hash);
}

TEST_F(ModelFileTest, HalfPrecisionIsRoundedOnce) {
  const Model model = SmallModel();
  ASSERT_TRUE(WriteModel(TestFile(), model, WeightStorage::kHalf).ok());
  const std::string bytes = *ReadFile(TestFile());
  const Result<Model> read = ReadModel(TestFile());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->stored, WeightStorage::kHalf);
  for (std::size_t n = 0; n < model.tensors.size(); ++n) {
    for (std::size_t i = 0; i < model.tensors[n].data.size(); ++i) {
      const float value = model.tensors[n].data[i];
      ASSERT_EQ(read->tensors[n].data[i], FloatFromHalf(HalfFromFloat(value)));
    }
  }
  ASSERT_TRUE(WriteModel(TestFile(), *read, WeightStorage::kHalf).ok());
  EXPECT_EQ(*ReadFile(TestFile()), bytes);
  ASSERT_TRUE(WriteModel(TestFile(), *read).ok());
  EXPECT_NE(ReadModel(TestFile())->sha256, read->sha256) << "the hash is of the bytes in the file";
}

TEST_F(ModelFileTest, WhatHalfPrecisionCannotHoldIsRefused) {
  Model model = SmallModel();
  model.tensors[2].data[1] = -65520;
  std::filesystem::remove(TestFile());
  const Status written = WriteModel(TestFile(), model, WeightStorage::kHalf);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message,
            TestFile().string() +
                ": tensor 'layers.0.norm1.weight' holds a number that half precision cannot hold, "
                "expected at most 65504; nothing was written");
  EXPECT_FALSE(std::filesystem::exists(TestFile()));
  EXPECT_TRUE(WriteModel(TestFile(), model).ok());
}

TEST_F(ModelFileTest, TheSameModelGivesTheSameFile) {
  ASSERT_TRUE(WriteModel(TestFile(), SmallModel()).ok());
  const std::string first = *ReadFile(TestFile());
  ASSERT_TRUE(WriteModel(TestFile(), SmallModel()).ok());
  EXPECT_EQ(first, *ReadFile(TestFile()));
}

TEST_F(ModelFileTest, WritingRefusesWhatReadingWould) {
  using Change = std::function<void(Model&)>;
  const struct {
    Change change;
    std::string expected;
  } kCases[] = {
      {[](Model& m) { m.name = ""; }, "the model's name is '', expected up to 64 letters"},
      {[](Model& m) { m.name = "a b"; }, "the model's name is 'a b', expected"},
      {[](Model& m) { m.config.width = 0; }, "field 'width' is 0, expected 1 to 8192"},
      {[](Model& m) { m.tensors.pop_back(); }, "tensor 'heads.logit.bias' is missing"},
      {[](Model& m) { m.tensors.clear(); }, "tensor 'embed.weight' is missing"},
      {[](Model& m) { m.tensors[1].name = "bias"; }, "tensor 'bias' is no part of a network"},
      {[](Model& m) { m.tensors.push_back(m.tensors[0]); }, "'embed.weight' is there twice"},
      {[](Model& m) { std::swap(m.tensors[0], m.tensors[1]); },
       "tensor 'embed.weight' is expected where 'embed.bias' stands"},
      {[](Model& m) {
         std::swap(m.tensors[0].shape[0], m.tensors[0].shape[1]);
         m.config.velocity = false;
       },
       "tensor 'embed.weight' has shape (6, 6), expected (6, 3)"},
      {[](Model& m) { m.tensors[0].data.pop_back(); }, "has 35 numbers, expected 36"},
      {[](Model& m) { m.tensors[2].data[0] = std::numeric_limits<float>::quiet_NaN(); },
       "tensor 'layers.0.norm1.weight' holds a number that is not finite"},
      {[](Model& m) { m.provenance.metrics["x"] = std::numeric_limits<double>::infinity(); },
       "metric 'x' is not finite"},
      {[](Model& m) { m.provenance.epochs_seen = std::numeric_limits<double>::quiet_NaN(); },
       "'epochs_seen' is not finite"},
      {[](Model& m) { m.provenance.train_flights = {"a b"}; },
       "'train_flights' has 'a b', expected keys without spaces"},
      {[](Model& m) { m.provenance.training.assign(70'000, 'x'); },
       "bytes, expected at most 65536"},
  };
  for (const auto& c : kCases) {
    std::filesystem::remove(TestFile());
    Model model = SmallModel();
    c.change(model);
    const Status written = WriteModel(TestFile(), model);
    ASSERT_FALSE(written.ok()) << c.expected;
    EXPECT_THAT(written.error().message, HasSubstr(c.expected));
    EXPECT_THAT(written.error().message, HasSubstr(TestFile().string() + ": "));
    EXPECT_FALSE(std::filesystem::exists(TestFile()));
  }
}

TEST_F(ModelFileTest, ReadingNamesWhatIsWrong) {
  ASSERT_TRUE(WriteModel(TestFile(), SmallModel()).ok());
  const TensorFile good = *ReadTensorFile(TestFile());
  const auto replaced = [&](const char* key, std::string_view from, std::string_view to) {
    std::string text = good.metadata.at(key);
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  using Change = std::function<void(TensorFile&)>;
  const struct {
    Change change;
    std::string expected;
  } kCases[] = {
      {[](TensorFile& f) { f.metadata.erase("format"); },
       "metadata 'format' is missing, expected 'aerocast-model'"},
      {[](TensorFile& f) { f.metadata["format"] = "aerocast-golden"; },
       "metadata 'format' is 'aerocast-golden', expected 'aerocast-model'"},
      {[](TensorFile& f) { f.metadata["format_version"] = "2"; },
       "metadata 'format_version' is '2', expected '1', the only one this program knows"},
      {[](TensorFile& f) { f.metadata.erase("format_version"); }, "'format_version' is missing"},
      {[](TensorFile& f) { f.metadata.erase("name"); }, "metadata 'name' is missing"},
      {[](TensorFile& f) { f.metadata["name"] = "../x"; }, "metadata 'name' is '../x', expected"},
      {[](TensorFile& f) { f.metadata.erase("config"); }, "metadata 'config' is missing"},
      {[](TensorFile& f) { f.metadata["config"] = "{"; }, "config: byte 2 is not JSON"},
      {[](TensorFile& f) { f.metadata["config"] = "{}"; },
       "config: field 'architecture' is missing"},
      {[&](TensorFile& f) {
         f.metadata["config"] = replaced("config", "\"width\":6", "\"width\":9");
       },
       "tensor 'embed.weight' has shape (6, 6), expected (9, 6)"},
      {[&](TensorFile& f) {
         f.metadata["config"] = replaced("config", "\"layers\":2", "\"layers\":1");
       },
       "tensor 'layers.1.norm1.weight' is no part of a network"},
      {[](TensorFile& f) { f.metadata.erase("provenance"); }, "metadata 'provenance' is missing"},
      {[&](TensorFile& f) {
         f.metadata["provenance"] = replaced("provenance", "\"seed\":", "\"sead\":");
       },
       "provenance: field 'seed' is missing, expected a whole number"},
      {[&](TensorFile& f) { f.metadata["provenance"] = replaced("provenance", "-3.25", "null"); },
       "provenance: metrics: field 'validation_nll' is null, expected a number"},
      {[](TensorFile& f) { f.metadata["more"] = ""; }, "metadata 'more' is not known here"},
      {[](TensorFile& f) { f.tensors.pop_back(); }, "tensor 'heads.logit.bias' is missing"},
      {[](TensorFile& f) { f.tensors[0].name = "x"; }, "tensor 'x' is no part of a network"},
      {[](TensorFile& f) { std::swap(f.tensors[0], f.tensors[2]); },
       "tensor 'embed.weight' is expected where 'layers.0.norm1.weight' stands"},
  };
  for (const auto& c : kCases) {
    TensorFile file = good;
    c.change(file);
    std::vector<TensorView> views;
    for (const Tensor& t : file.tensors) views.push_back({t.name, t.shape, t.data});
    ASSERT_TRUE(WriteTensorFile(TestFile(), file.metadata, views).ok());
    const Result<Model> read = ReadModel(TestFile());
    ASSERT_FALSE(read.ok()) << c.expected;
    EXPECT_THAT(read.error().message, HasSubstr(c.expected));
    EXPECT_THAT(read.error().message, ::testing::StartsWith(TestFile().string() + ": "));
  }
}

TEST_F(ModelFileTest, AMissingFileIsNamed) {
  const Result<Model> read = ReadModel("/nowhere/at/all.model");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("/nowhere/at/all.model"));
}

}  // namespace
}  // namespace aerocast
