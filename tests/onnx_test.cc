// SPDX-License-Identifier: BSD-3-Clause
//
// Exported networks in ONNX Runtime say what libtorch said in the golden files. Started by
// tests/onnx_test.sh, which installs ONNX Runtime first.
#include "src/export/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/base/file.h"
#include "src/eval/made_up_tokens.h"
#include "src/export/onnx_runtime.h"
#include "src/export/parity.h"
#include "src/model/golden_testing.h"
#include "src/model/packed_network.h"
#include "tests/process.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr double kTolerance = 1e-5;
const fs::path kTools = fs::path(AEROCAST_SOURCE_DIR) / "tools" / "onnx";

class InOnnxRuntime : public testing::TestWithParam<const char*> {
 protected:
  // One process for all tests: node takes a moment to start.
  static void SetUpTestSuite() {
    Result<std::unique_ptr<OnnxRuntime>> started = OnnxRuntime::Start(kTools);
    ASSERT_TRUE(started.ok()) << started.error().message;
    runtime_ = std::move(*started);
  }
  static void TearDownTestSuite() { runtime_.reset(); }

  std::vector<float> Heads(const Model& model, const OnnxOptions& options,
                           std::span<const float> tokens, int windows) {
    const Result<std::string> onnx = ExportOnnx(model, options);
    if (!onnx.ok()) return ADD_FAILURE() << onnx.error().message, std::vector<float>();
    Status done = runtime_->Load("network", *onnx, 1);
    if (done.ok()) done = runtime_->Feed("network", tokens, windows);
    if (!done.ok()) return ADD_FAILURE() << done.error().message, std::vector<float>();
    const Result<std::vector<float>> heads = runtime_->Run("network", windows);
    if (!heads.ok()) return ADD_FAILURE() << heads.error().message, std::vector<float>();
    return *heads;
  }

  static std::unique_ptr<OnnxRuntime> runtime_;
};
std::unique_ptr<OnnxRuntime> InOnnxRuntime::runtime_;
INSTANTIATE_TEST_SUITE_P(, InOnnxRuntime, testing::ValuesIn(kGoldenNetworks),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(InOnnxRuntime, SaysWhatLibtorchSaid) {
  const Golden golden = ReadGolden(GetParam());
  for (const bool pruned : {false, true}) {
    const std::vector<float> heads =
        Heads(golden.model, {.pruned = pruned}, golden.tokens, golden.windows);
    EXPECT_LE(Compare(heads, golden.heads, golden.windows).relative(), kTolerance) << pruned;
  }
}

TEST_P(InOnnxRuntime, SaysTheSamePrunedAndInAnyBatch) {
  const Golden golden = ReadGolden(GetParam());
  const ModelConfig& config = golden.model.config;
  const std::vector<float> tokens = MadeUpTokens(config, 5, 3);
  const std::vector<float> reference =
      (*PackedNetwork::Make(golden.model, WeightStorage::kSingle, *FindKernels("")))
          ->Heads(tokens, 3);
  const std::vector<float> three = Heads(golden.model, {}, tokens, 3);
  const std::vector<float> pruned = Heads(golden.model, {.pruned = true}, tokens, 3);
  EXPECT_LE(Compare(three, reference, 3).relative(), kTolerance);
  EXPECT_LE(Compare(pruned, three, 3).relative(), kTolerance);
  const std::size_t window = tokens.size() / 3,
                    outputs = static_cast<std::size_t>(config.outputs());
  for (const bool dynamic : {true, false}) {
    const std::vector<float> one = Heads(golden.model, {.dynamic_batch = dynamic},
                                         std::span(tokens).subspan(2 * window, window), 1);
    EXPECT_LE(Compare(one, std::span(three).subspan(2 * outputs), 1).relative(), kTolerance);
  }
}

TEST_F(InOnnxRuntime, TimesRunsAndNamesWhatIsWrong) {
  const Golden golden = ReadGolden("mlp");
  ASSERT_TRUE(runtime_->Load("empty", EmptyOnnx(golden.model), 1).ok());
  ASSERT_TRUE(runtime_->Feed("empty", golden.tokens, golden.windows).ok());
  const Result<std::vector<double>> times = runtime_->Time("empty", golden.windows, 4);
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_THAT(*times, testing::SizeIs(4));
  EXPECT_THAT(*times, testing::Each(testing::AllOf(testing::Gt(0), testing::Lt(10))));
  EXPECT_THAT(runtime_->Run("empty", 9).error().message, HasSubstr("batch of 9"));
  EXPECT_THAT(runtime_->Time("nobody", 1, 1).error().message, HasSubstr("'nobody'"));
  EXPECT_THAT(runtime_->Feed("empty", golden.tokens, 7).error().message, HasSubstr("7 windows"));
  EXPECT_FALSE(runtime_->Load("broken", "no protobuf", 1).ok());
}

TEST(RunScript, WritesHeadsOfAFileOfTokens) {
  const Golden golden = ReadGolden("transformer");
  const fs::path dir = fs::path(testing::TempDir()) / "aerocast run script";
  fs::create_directories(dir);
  ASSERT_TRUE(WriteFileAtomically(dir / "a.onnx", *ExportOnnx(golden.model)).ok());
  const std::string tokens(reinterpret_cast<const char*>(golden.tokens.data()),
                           golden.tokens.size() * sizeof(float));
  ASSERT_TRUE(WriteFileAtomically(dir / "tokens", tokens).ok());
  const std::string node = "cd '" + dir.string() + "' && node '" + (kTools / "run.mjs").string();
  const Outcome outcome = RunCommand(node + "' a.onnx tokens heads", dir);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string bytes = Slurp(dir / "heads");
  std::vector<float> heads(bytes.size() / sizeof(float));
  std::memcpy(heads.data(), bytes.data(), heads.size() * sizeof(float));
  EXPECT_LE(Compare(heads, golden.heads, golden.windows).relative(), kTolerance);
  EXPECT_EQ(RunCommand(node + "' nothing.onnx tokens heads", dir).exit_code, 1);
  EXPECT_EQ(RunCommand(node + "' a.onnx", dir).exit_code, 2);
  fs::remove_all(dir);
}

class ExportVerb : public testing::Test {
 protected:
  ExportVerb() {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    const Status written = WriteModel(dir_ / "m.safetensors", ReadGolden("bigru").model);
    EXPECT_TRUE(written.ok()) << written.error().message;
  }
  ~ExportVerb() override { fs::remove_all(dir_); }
  Outcome Aerocast(const std::string& arguments) {
    return RunCommand("cd '" + dir_.string() + "' && '" AEROCAST_PROGRAM "' " + arguments, dir_);
  }

  fs::path dir_ = fs::path(testing::TempDir()) / "aerocast_export_verb";
};

TEST_F(ExportVerb, WritesWhatItHasChecked) {
  ASSERT_EQ(Aerocast("generate --flights 1 --duration 14 --out corpus").exit_code, 0);
  for (const std::string options : {"", " --pruned", " --fixed-batch"}) {
    const Outcome outcome =
        Aerocast("export m.safetensors --out m.onnx --check --corpus corpus --json -" + options);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["model"]["name"], "bigru");
    EXPECT_EQ(json["bytes"], fs::file_size(dir_ / "m.onnx"));
    ASSERT_EQ(json["checks"].size(), 2u);
    for (const auto& check : json["checks"]) {
      EXPECT_GT(check["count"], 5);
      EXPECT_GT(check["largest_head"], 0.1);
      EXPECT_LE(check["relative"], kTolerance);
      EXPECT_EQ(check["agrees"], true);
    }
  }
}

TEST_F(ExportVerb, RefusesInOneSentenceAndWritesNothing) {
  const auto refuses = [&](const std::string& arguments, int code, const std::string& what) {
    const Outcome outcome = Aerocast("export " + arguments);
    EXPECT_EQ(outcome.exit_code, code) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
    EXPECT_FALSE(fs::exists(dir_ / "out.onnx")) << arguments;
  };
  refuses("m.safetensors", 2, "--out is required");
  refuses("nothing.safetensors --out out.onnx", 1, "nothing.safetensors");
  refuses("stdout --out out.onnx", 1, "stdout");  // no model
  refuses("m.safetensors --out no/out.onnx", 1, "there is no directory no");
  refuses("m.safetensors --out out.onnx --json no/out.json", 1, "there is no directory no");
  refuses("m.safetensors --out out.onnx --corpus c", 2, "--corpus is for --check");
  refuses("m.safetensors --out out.onnx --check --corpus c", 1, "c");
  refuses("m.safetensors --out out.onnx --check --onnxruntime .", 1, "run.mjs");
  fs::create_directories(dir_ / "empty");
  std::ofstream(dir_ / "empty" / "run.mjs") << "";
  refuses("m.safetensors --out out.onnx --check --onnxruntime empty", 1, "npm ci");
  const Outcome no_node =
      RunCommand("cd '" + dir_.string() + "' && PATH=/nowhere '" + AEROCAST_PROGRAM +
                     "' export m.safetensors --out out.onnx --check",
                 dir_);
  EXPECT_EQ(no_node.exit_code, 1);
  EXPECT_THAT(no_node.err, HasSubstr("cannot start node"));
}

TEST(OnnxRuntime, SaysWhatIsNotInstalled) {
  const auto started = OnnxRuntime::Start("/no/such/folder");
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().message, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace aerocast
