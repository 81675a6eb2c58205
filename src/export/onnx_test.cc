// SPDX-License-Identifier: BSD-3-Clause
//
// The graphs by themselves. What they compute is tests/onnx_test.cc's, with ONNX Runtime.
#include "src/export/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <set>

#include "src/model/golden_testing.h"

namespace aerocast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::ModelProto Parsed(const std::string& bytes) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(bytes));
  return proto;
}

onnx::ModelProto Exported(const Model& model, const OnnxOptions& options = {}) {
  const Result<std::string> bytes = ExportOnnx(model, options);
  if (!bytes.ok()) return ADD_FAILURE() << bytes.error().message, onnx::ModelProto();
  return Parsed(*bytes);
}

// "tokens (batch, 6, 6)"
std::string Declared(const onnx::ValueInfoProto& value) {
  std::string text = value.name() + " (";
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    if (!text.ends_with("(")) text += ", ";
    text += dim.has_dim_param() ? dim.dim_param() : std::to_string(dim.dim_value());
  }
  return text + ")";
}

std::map<std::string, int> OperatorCounts(const onnx::ModelProto& proto) {
  std::map<std::string, int> counts;
  for (const auto& node : proto.graph().node()) ++counts[node.op_type()];
  return counts;
}

class ExportEvery : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ExportEvery, testing::ValuesIn(kGoldenNetworks),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ExportEvery, HasOneInputTheHeadsAndStandardOperatorsOnly) {
  const Golden golden = ReadGolden(GetParam());
  std::vector<std::string> heads = {"mean (batch, 4, 2, 3)", "log_sigma (batch, 4, 2, 3)",
                                    "logit (batch, 4, 2)"};
  std::string tokens = "6, 6)";
  if (golden.model.config.plus()) {  // three patches of two steps
    heads = {"point (batch, 4, 3)", "mean (batch, 2, 4, 3)", "log_sigma (batch, 2, 4, 3)",
             "logit (batch, 2)"};
    tokens = "3, 21)";
  }
  for (const bool pruned : {false, true}) {
    const onnx::ModelProto proto = Exported(golden.model, {.pruned = pruned});
    ASSERT_EQ(proto.graph().input_size(), 1);
    EXPECT_EQ(Declared(proto.graph().input(0)), "tokens (batch, " + tokens);
    std::vector<std::string> outputs;
    for (const auto& output : proto.graph().output()) outputs.push_back(Declared(output));
    EXPECT_EQ(outputs, heads);
    ASSERT_EQ(proto.opset_import_size(), 1);
    EXPECT_EQ(proto.opset_import(0).domain(), "");
    EXPECT_EQ(proto.opset_import(0).version(), 17);
    for (const auto& node : proto.graph().node()) EXPECT_EQ(node.domain(), "") << node.name();
    const onnx::ModelProto fixed =
        Exported(golden.model, {.pruned = pruned, .dynamic_batch = false});
    EXPECT_EQ(Declared(fixed.graph().input(0)), "tokens (1, " + tokens);
    EXPECT_THAT(Declared(fixed.graph().output(0)), HasSubstr(" (1, "));
  }
}

TEST_P(ExportEvery, IsDataAndTheSameBytesEachTime) {
  const Golden golden = ReadGolden(GetParam());
  EXPECT_EQ(*ExportOnnx(golden.model), *ExportOnnx(golden.model));
  const onnx::ModelProto proto = Exported(golden.model);
  for (const auto& tensor : proto.graph().initializer()) {
    EXPECT_FALSE(tensor.has_data_location()) << tensor.name();  // nothing outside the file
  }
}

TEST_P(ExportEvery, CarriesWhatDecodingNeeds) {
  Golden golden = ReadGolden(GetParam());
  golden.model.sha256 = "0123";
  std::map<std::string, std::string> metadata;
  const onnx::ModelProto proto = Exported(golden.model);
  for (const auto& entry : proto.metadata_props()) {
    metadata[entry.key()] = entry.value();
  }
  EXPECT_EQ(metadata["name"], GetParam());
  const ModelConfig& config = golden.model.config;
  EXPECT_EQ(metadata["architecture"], ArchitectureName(config.architecture));
  EXPECT_EQ(metadata["config"], ToJson(config));
  EXPECT_EQ(metadata["dt_s"], "0.1");
  EXPECT_EQ(metadata["data_sha256"], "0123");
  EXPECT_EQ(metadata["lambda_m"], config.plus() ? "" : "2.5");
  EXPECT_EQ(metadata["sigma_min_m"], config.plus() ? "" : "0.05");
  EXPECT_THAT(metadata["units"], HasSubstr(config.plus() ? "in units of the history's mean step"
                                                         : "log(sigma / lambda_m)"));
}

TEST_P(ExportEvery, RefusesTensorsThatAreNotTheConfigs) {
  const Golden golden = ReadGolden(GetParam());
  Model fewer = golden.model, renamed = golden.model, more = golden.model, shaped = golden.model;
  fewer.tensors.pop_back();
  renamed.tensors[1].name = "other";
  more.tensors.push_back(more.tensors[0]);
  shaped.tensors[0].data.pop_back();
  for (const Model& model : {fewer, renamed, more, shaped}) {
    const Result<std::string> bytes = ExportOnnx(model);
    ASSERT_FALSE(bytes.ok());
    EXPECT_THAT(bytes.error().message, HasSubstr(GetParam()));
  }
}

TEST(ExportOnnx, PrunesTheLastLayerOfATransformer) {
  const Golden golden = ReadGolden("transformer");
  auto plain = OperatorCounts(Exported(golden.model));
  auto pruned = OperatorCounts(Exported(golden.model, {.pruned = true}));
  EXPECT_EQ(pruned["Gemm"], plain["Gemm"] + 1);  // query apart from key and value
  EXPECT_EQ(pruned["LayerNormalization"], plain["LayerNormalization"]);
}

TEST(ExportOnnx, PrunesTheBackwardDirectionOfABidirectionalGru) {
  const Golden golden = ReadGolden("bigru");
  EXPECT_EQ(OperatorCounts(Exported(golden.model))["GRU"], 2);
  EXPECT_EQ(OperatorCounts(Exported(golden.model, {.pruned = true}))["GRU"], 3);
}

TEST(EmptyOnnx, HasTheSameBordersAndNoArithmetic) {
  const onnx::ModelProto proto = Parsed(EmptyOnnx(ReadGolden("gru").model));
  EXPECT_NO_THROW(onnx::checker::check_model(proto));
  EXPECT_EQ(Declared(proto.graph().input(0)), "tokens (batch, 6, 6)");
  EXPECT_THAT(OperatorCounts(proto), ElementsAre(std::pair("Identity", 3)));
}

}  // namespace
}  // namespace aerocast
