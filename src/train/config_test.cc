// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "src/base/file.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr std::string_view kHead = "name = \"x\"\n";

Result<RunConfig> Parse(const std::string& body, const std::vector<std::string>& overrides = {}) {
  return ParseRunConfig(std::string(kHead) + body, "x.toml", overrides);
}

std::string ErrorOf(const std::string& body, const std::vector<std::string>& overrides = {}) {
  const Result<RunConfig> run = Parse(body, overrides);
  return run.ok() ? "no error" : run.error().message;
}

RunConfig Committed(const std::string& name) {
  const fs::path file = fs::path(AEROCAST_SOURCE_DIR) / "configs" / (name + ".toml");
  const Result<RunConfig> run = ReadRunConfig(file);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run.ok() ? *run : RunConfig{};
}

TEST(RunConfig, WhatIsAbsentHasItsDefault) {
  const Result<RunConfig> run = Parse("");
  ASSERT_TRUE(run.ok()) << run.error().message;
  RunConfig expected;
  expected.name = "x";
  EXPECT_EQ(*run, expected);
}

TEST(RunConfig, ReadsEveryKindOfValue) {
  const Result<RunConfig> run = Parse(R"(description = "a \"b\""
[model]
architecture = "transformer"
width = 64
heads = 2
lambda_m = 1
positional_encoding = false
[train]
lr = 3e-4
clip_norm = 0
schedule = "warm_restarts"
batch = 65536)");
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->description, "a \"b\"");
  EXPECT_EQ(run->model.width, 64);
  EXPECT_EQ(run->model.lambda_m, 1.0);  // a whole number will do for a number
  EXPECT_FALSE(run->model.positional_encoding);
  EXPECT_EQ(run->train.lr, 3e-4);
  EXPECT_EQ(run->train.clip_norm, 0);
  EXPECT_EQ(run->train.schedule, ScheduleKind::kWarmRestarts);
  EXPECT_EQ(run->train.batch, 65536);
  const Result<RunConfig> mlp = Parse("model = {architecture = 'mlp', hidden = [7, 5]}");
  ASSERT_TRUE(mlp.ok()) << mlp.error().message;
  EXPECT_EQ(mlp->model.hidden, (std::vector<int>{7, 5}));
}

TEST(RunConfig, NamesAnUnknownKeyWithItsLineAndTheKnownOnes) {
  EXPECT_EQ(ErrorOf("[train]\n\nlearning_rate = 1"),
            "x.toml:4: there is no key train.learning_rate; expected one of epochs, batch, lr, "
            "lr_min, beta1, beta2, epsilon, weight_decay, clip_norm, ema, schedule, lr_warmup, "
            "restart_first, restart_factor, dropout, mse_weight, curriculum, curriculum_least, "
            "augment_noise_m, augment_scale, patience, validations, validation_windows");
  EXPECT_THAT(ErrorOf("[train]\nbatsh = 1"),
              HasSubstr("x.toml:3: there is no key train.batsh (nearest: batch); expected one of"));
  EXPECT_EQ(ErrorOf("[trian]\nlr = 1"),
            "x.toml:2: there is no key trian (nearest: train); expected one of name, description, "
            "model, train, sampler");
  EXPECT_THAT(ErrorOf("[model]\narchitecture = 'gru'\nwitdh = 3"),
              AllOf(HasSubstr("no key model.witdh (nearest: width)"), Not(HasSubstr("heads"))));
  EXPECT_THAT(ErrorOf("[train]\n\"a\\u001bb\" = 1"), HasSubstr("no key train.a?b"));
}

TEST(RunConfig, RefusesAKeyOfAnotherArchitecture) {
  EXPECT_EQ(ErrorOf("[model]\nheads = 8\narchitecture = 'gru'"),
            "x.toml:3: model.heads does not belong to architecture gru");
  EXPECT_EQ(ErrorOf("[model]\nwidth = 512\narchitecture = 'mlp'\nhidden = [1]"),
            "x.toml:3: model.width does not belong to architecture mlp");
  EXPECT_EQ(ErrorOf("[model]\nhidden = [1]"),
            "x.toml:3: model.hidden does not belong to architecture transformer");
}

TEST(RunConfig, SaysWhatAnIllTypedValueIsAndShouldBe) {
  const std::map<std::string, std::string> cases = {
      {"batch = 'many'", "train.batch is a string, expected a whole number from 1 to 65536"},
      {"batch = 1.5", "train.batch is 1.5, expected a whole number from 1 to 65536"},
      {"batch = 0", "train.batch is 0, expected a whole number from 1 to 65536"},
      {"batch = 4294967297", "train.batch is 4294967297, expected a whole number from 1 to 65536"},
      {"batch = true", "train.batch is true, expected a whole number from 1 to 65536"},
      {"lr = nan", "train.lr is nan, expected a number from 1e-09 to 1"},
      {"lr = -1", "train.lr is -1, expected a number from 1e-09 to 1"},
      {"lr = [1]", "train.lr is a list, expected a number from 1e-09 to 1"},
      {"lr = {a = 1}", "train.lr is a table, expected a number from 1e-09 to 1"},
      {"lr = 2026-11-16", "train.lr is a date or time, expected a number from 1e-09 to 1"},
      {"schedule = 'cosin'",
       "train.schedule is 'cosin', expected one of cosine, warm_restarts, constant"},
      {"schedule = 1", "train.schedule is 1, expected one of cosine, warm_restarts, constant"},
  };
  for (const auto& [line, message] : cases) {
    EXPECT_EQ(ErrorOf("[train]\n" + line), "x.toml:3: " + message);
  }
  EXPECT_EQ(ErrorOf("[model]\nvelocity = 1"),
            "x.toml:3: model.velocity is 1, expected true or false");
  EXPECT_EQ(ErrorOf("[model]\narchitecture = 'mlp'\nhidden = [1, 'a']"),
            "x.toml:4: model.hidden is a list of other things, expected a list of whole numbers");
  EXPECT_EQ(ErrorOf("[model]\narchitecture = 'rnn'"),
            "x.toml:3: model.architecture is 'rnn', expected one of transformer, gru, lstm, bigru, "
            "mlp");
  EXPECT_EQ(ErrorOf("train = 3"), "x.toml:2: train is 3, expected a table");
}

TEST(RunConfig, ChecksTheNetworkWithTheLineOfTheField) {
  EXPECT_THAT(ErrorOf("[model]\nlayers = 2\nheads = 7"),
              AllOf(HasSubstr("x.toml:4: [model]: "), HasSubstr("'heads' is 7")));
  EXPECT_THAT(ErrorOf("[model]\nwidth = 99999999999"),
              AllOf(HasSubstr("x.toml:3: [model]: "), HasSubstr("'width'")));
  EXPECT_THAT(ErrorOf("[model]\narchitecture = 'mlp'"),
              AllOf(HasSubstr("x.toml: [model]: "), HasSubstr("'hidden'")));
}

TEST(RunConfig, ChecksTheRunAsAWhole) {
  EXPECT_EQ(ErrorOf("[train]\nlr_min = 1e-3"),
            "x.toml: train.lr_min is 0.001, expected at most train.lr, which is 0.0001");
  EXPECT_EQ(ParseRunConfig("", "y.toml").error().message,
            "y.toml: name is missing, expected 1 to 40 characters");
  for (const std::string name : {"a/b", "..", "a b", "\\u00e9"}) {
    const Result<RunConfig> run = ParseRunConfig("name = \"" + name + "\"", "y.toml");
    ASSERT_FALSE(run.ok()) << name;
    EXPECT_THAT(run.error().message, HasSubstr("expected letters, digits, '-' and '_'"));
  }
  EXPECT_FALSE(ParseRunConfig("name = \"" + std::string(41, 'a') + "\"", "y.toml").ok());
  EXPECT_TRUE(ParseRunConfig("name = \"" + std::string(40, 'a') + "\"", "y.toml").ok());
  EXPECT_THAT(ErrorOf("description = \"two\\nlines\""),
              HasSubstr("x.toml:2: description is 'two?lines', expected one line"));
}

TEST(RunConfig, RefusesWhatIsNoToml) {
  EXPECT_THAT(ErrorOf("[train]\nlr = = 1"), HasSubstr("x.toml:3: not TOML: "));
  EXPECT_THAT(ErrorOf("[train]\nlr = 1e-3\nlr = 1e-4"), HasSubstr("x.toml:4: not TOML: "));
  EXPECT_THAT(ErrorOf("a = \"\xff\""), HasSubstr("x.toml:2: not TOML: "));
  EXPECT_THAT(ErrorOf("a = " + std::string(100'000, '[')), HasSubstr("x.toml:2: not TOML: "));
  EXPECT_THAT(ReadRunConfig("/nonexistent/z.toml").error().message,
              HasSubstr("/nonexistent/z.toml"));
}

TEST(RunConfig, OverridesComeLast) {
  const Result<RunConfig> run =
      Parse("[train]\nlr = 1e-3",
            {"train.lr=3e-4", "train.batch = 8", "train.lr=5e-4", "model.velocity=false",
             "train.schedule=constant", "description=two words", "name='quoted'"});
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->train.lr, 5e-4);
  EXPECT_EQ(run->train.batch, 8);
  EXPECT_FALSE(run->model.velocity);
  EXPECT_EQ(run->train.schedule, ScheduleKind::kConstant);
  EXPECT_EQ(run->description, "two words");
  EXPECT_EQ(run->name, "quoted");
  // An override repairs a value that the file has out of range.
  EXPECT_TRUE(Parse("[train]\nlr = 7", {"train.lr=1"}).ok());
  const Result<RunConfig> mlp = Parse("", {"model.hidden=[3, 4]", "model.architecture=mlp"});
  ASSERT_TRUE(mlp.ok()) << mlp.error().message;
  EXPECT_EQ(mlp->model.hidden, (std::vector<int>{3, 4}));
}

TEST(RunConfig, WrongOverridesNameTheOption) {
  EXPECT_EQ(ErrorOf("", {"train.lr"}),
            "--set train.lr: there is no '=' in it, expected a setting such as train.lr=3e-4");
  EXPECT_EQ(ErrorOf("", {"train.batch=\"8\""}),
            "--set train.batch=\"8\": train.batch is a string, expected a whole number from 1 to "
            "65536");
  EXPECT_THAT(ErrorOf("", {"train.batch=many"}), HasSubstr("--set train.batch=many: not TOML: "));
  EXPECT_THAT(ErrorOf("", {"train.batch=1\nx = 2"}), HasSubstr("expected one value"));
  EXPECT_THAT(ErrorOf("", {"train.lrr=1"}),
              HasSubstr("--set train.lrr=1: there is no key train.lrr (nearest: lr)"));
  EXPECT_THAT(ErrorOf("", {"lr=1"}), HasSubstr("there is no key lr; expected one of name"));
  EXPECT_EQ(ErrorOf("", {"tain.lr=1"}),
            "--set tain.lr=1: there is no key tain.lr, expected [model], [train] or [sampler]");
  EXPECT_EQ(ErrorOf("[model]\nheads = 8", {"model.architecture=gru"}),
            "x.toml:3: model.heads does not belong to architecture gru");
  EXPECT_THAT(ErrorOf("", {"model.heads=7"}), HasSubstr("--set model.heads=7: [model]: "));
}

TEST(RunConfig, WhatIsPrintedReadsBackEqual) {
  RunConfig odd;
  odd.name = "odd-1_2-3";
  odd.description = R"(quote " backslash \ and 'this')";
  odd.model.architecture = Architecture::kMlp;
  odd.model.hidden = {3, 2, 1};
  odd.model.dt_s = 0.1 + 0.2;
  odd.train.epochs = 1.0 / 3;
  odd.train.lr_min = 4.9e-324;
  odd.train.augment_scale = 0.7 - 1e-16;
  odd.train.schedule = ScheduleKind::kConstant;
  std::vector<RunConfig> runs = {odd};
  for (const char* name : {"paper", "gru", "lstm", "bigru", "mlp", "small"}) {
    runs.push_back(Committed(name));
  }
  for (const RunConfig& run : runs) {
    const std::string text = ToToml(run);
    EXPECT_THAT(text, testing::StartsWith("# "));
    const Result<RunConfig> back = ParseRunConfig(text, "printed");
    ASSERT_TRUE(back.ok()) << back.error().message << "\n" << text;
    EXPECT_EQ(*back, run) << text;
  }
  EXPECT_THAT(ToToml(Committed("gru")),
              AllOf(HasSubstr("\nwidth = 512\n"), Not(HasSubstr("\nheads"))));
  EXPECT_THAT(ToToml(Committed("mlp")), Not(HasSubstr("\nwidth")));
}

TEST(RunConfig, TheManualExplainsEveryKey) {
  const Result<std::string> manual =
      ReadFile(fs::path(AEROCAST_SOURCE_DIR) / "docs" / "training.md");
  ASSERT_TRUE(manual.ok());
  for (const char* name : {"paper", "mlp", "plus-small"}) {
    const std::string text = ToToml(Committed(name));
    for (std::size_t at = text.find(" = "); at != std::string::npos;
         at = text.find(" = ", at + 1)) {
      const std::size_t line = text.rfind('\n', at) + 1;
      const std::string key = text.substr(line, at - line);
      EXPECT_THAT(*manual, HasSubstr("| `" + key + "` |"));
    }
  }
}

TEST(Configs, AllParseAndAreNamedAsTheirFile) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(AEROCAST_SOURCE_DIR) / "configs")) {
    SCOPED_TRACE(entry.path().string());
    ASSERT_EQ(entry.path().extension(), ".toml");
    const Result<RunConfig> run = ReadRunConfig(entry.path());
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->name, entry.path().stem().string());
    EXPECT_FALSE(run->description.empty());
    ++files;
  }
  EXPECT_GE(files, 15);
}

TEST(Configs, AblationsChangeWhatTheySayAndNothingElse) {
  const std::map<std::string, std::function<void(ModelConfig&)>> changes = {
      {"ablation-k1", [](ModelConfig& m) { m.components = 1; }},
      {"ablation-k3", [](ModelConfig& m) { m.components = 3; }},
      {"ablation-k10", [](ModelConfig& m) { m.components = 10; }},
      {"ablation-tiny", [](ModelConfig& m) { m.width = 128, m.layers = 2, m.feed_forward = 512; }},
      {"ablation-small",
       [](ModelConfig& m) { m.width = 256, m.layers = 2, m.feed_forward = 1024; }},
      {"ablation-medium", [](ModelConfig& m) { m.width = 256, m.feed_forward = 1024; }},
      {"ablation-no-position", [](ModelConfig& m) { m.positional_encoding = false; }},
      {"ablation-positions-only", [](ModelConfig& m) { m.velocity = false; }},
      {"paper-sigma-1mm", [](ModelConfig& m) { m.sigma_min_m = 1e-3; }},
  };
  const RunConfig paper = Committed("paper");
  for (const auto& [name, change] : changes) {
    const RunConfig run = Committed(name);
    ModelConfig expected = paper.model;
    change(expected);
    EXPECT_EQ(run.model, expected) << name;
    EXPECT_EQ(run.train, paper.train) << name;
  }
}

TEST(Configs, PaperIsTheDefault) {
  EXPECT_EQ(Committed("paper").model, ModelConfig{});
  EXPECT_EQ(Committed("paper").train, TrainConfig{});
}

TEST(Configs, BaselinesDifferInNetworkAndScheduleOnly) {
  TrainConfig expected;
  expected.schedule = ScheduleKind::kWarmRestarts;
  for (const char* name : {"gru", "lstm", "bigru", "mlp"}) {
    EXPECT_EQ(Committed(name).train, expected) << name;
  }
}

// The paper prints the counts at K = 3 (docs/method.md).
TEST(Configs, HaveThePapersParameterCounts) {
  const std::map<std::string, std::size_t> at_three = {
      {"paper", 13'152'794}, {"gru", 4'751'898}, {"lstm", 6'068'762},
      {"bigru", 13'172'762}, {"mlp", 7'628'826}, {"ablation-small", 1'851'674}};
  for (const auto& [name, count] : at_three) {
    ModelConfig model = Committed(name).model;
    model.components = 3;
    EXPECT_EQ(ParameterCount(model), count) << name;
    // Two components more are 700 more outputs, each with its bias.
    const std::size_t more = 700 * (static_cast<std::size_t>(model.context()) + 1);
    EXPECT_EQ(ParameterCount(Committed(name).model), count + more) << name;
  }
  EXPECT_EQ(ParameterCount(Committed("paper").model), 13'511'894u);
}

}  // namespace
}  // namespace aerocast
