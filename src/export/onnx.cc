// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/onnx.h"

#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "aerocast/version.h"
#include "src/export/graph.h"
#include "src/export/trunk.h"

namespace aerocast {
namespace {

constexpr int kOpset = 17;  // the first with LayerNormalization
constexpr int kIrVersion = 8;
constexpr const char* kUnits =
    "tokens: displacement / lambda_m and, with velocity, m/s, oldest first, the last step before "
    "t0; mean: displacement per step / lambda_m; log_sigma: log(sigma / lambda_m), the floor "
    "sigma_min_m is not applied; logit: mixture weights before the softmax over components";
constexpr const char* kPlusUnits =
    "tokens: patches of steps along the heading in units of the history's mean step, all of the "
    "history known (src/data/plus_features.h); point, mean, log_sigma: times the curves of "
    "src/forecast/plus.h; logit: weights of the modes before the softmax";

Status CheckTensors(const Model& model) {
  if (Status valid = Validate(model.config); !valid.ok()) return valid;
  const std::vector<TensorSpec> specs = TensorsOf(model.config);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Tensor* tensor = i < model.tensors.size() ? &model.tensors[i] : nullptr;
    if (tensor != nullptr && tensor->name == specs[i].name && tensor->shape == specs[i].shape &&
        tensor->data.size() == specs[i].size()) {
      continue;
    }
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("model '{}': tensor {} is {}, expected {} in the shape of its config",
                    model.name, i, tensor == nullptr ? "missing" : tensor->name, specs[i].name)};
  }
  if (model.tensors.size() == specs.size()) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("model '{}' has {} tensors, expected {}", model.name,
                           model.tensors.size(), specs.size())};
}

// A float tensor of the graph's border; the first dimension is the batch, `batch` 0 leaves it open.
void Declare(onnx::ValueInfoProto& value, const char* name, int batch, const Shape& shape) {
  value.set_name(name);
  onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  onnx::TensorShapeProto::Dimension& first = *type.mutable_shape()->add_dim();
  if (batch == 0) {
    first.set_dim_param("batch");
  } else {
    first.set_dim_value(batch);
  }
  for (const std::int64_t n : shape) type.mutable_shape()->add_dim()->set_dim_value(n);
}

void DeclareTokens(const ModelConfig& config, int batch, onnx::GraphProto& graph) {
  Declare(*graph.add_input(), "tokens", batch, {config.tokens(), config.inputs()});
}

std::string Trunk(Graph& graph, bool pruned) {
  switch (graph.config().architecture) {
    case Architecture::kTransformer:
      return TransformerTrunk(graph, "tokens", pruned);
    case Architecture::kMlp:
      return MlpTrunk(graph, "tokens");
    case Architecture::kGru:
    case Architecture::kLstm:
    case Architecture::kBiGru:
      break;
  }
  return RecurrentTrunk(graph, "tokens", pruned);
}

// The heads as tensors with the names and shapes of HeadsOf.
Shape HeadShape(const ModelConfig& config, std::string_view name) {
  const std::int64_t steps = config.horizon_steps, components = config.components;
  if (name == "point") return {steps, 3};
  if (config.plus()) return name == "logit" ? Shape{components} : Shape{components, steps, 3};
  return name == "logit" ? Shape{steps, components} : Shape{steps, components, 3};
}

void AddHeads(const ModelConfig& config, const std::string& context, int batch, Graph& graph,
              onnx::GraphProto& proto) {
  for (const HeadSpec& head : HeadsOf(config)) {
    const std::string name(head.name);
    const std::string flat = graph.Linear(context, "heads." + name);
    const Shape shape = HeadShape(config, name);
    Shape whole = shape;
    whole.insert(whole.begin(), -1);
    graph.Reshape(flat, whole, name);
    Declare(*proto.add_output(), name.c_str(), batch, shape);
  }
}

onnx::ModelProto NewModel(const std::string& graph_name) {
  onnx::ModelProto proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name("aerocast");
  proto.set_producer_version(std::string(Version()));
  proto.add_opset_import()->set_version(kOpset);
  proto.mutable_graph()->set_name(graph_name);
  return proto;
}

void AddMetadata(const Model& model, const OnnxOptions& options, onnx::ModelProto& proto) {
  const auto add = [&](const char* key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("name", model.name);
  add("architecture", std::string(ArchitectureName(model.config.architecture)));
  add("config", ToJson(model.config));
  add("dt_s", fmt::format("{}", model.config.dt_s));
  if (!model.config.plus()) {
    add("lambda_m", fmt::format("{}", model.config.lambda_m));
    add("sigma_min_m", fmt::format("{}", model.config.sigma_min_m));
  }
  add("units", model.config.plus() ? kPlusUnits : kUnits);
  add("pruned", options.pruned ? "true" : "false");
  add("data_sha256", model.sha256);
}

}  // namespace

Result<std::string> ExportOnnx(const Model& model, const OnnxOptions& options) {
  if (Status good = CheckTensors(model); !good.ok()) return good.error();
  onnx::ModelProto proto = NewModel(model.name);
  AddMetadata(model, options, proto);
  onnx::GraphProto& graph_proto = *proto.mutable_graph();
  const int batch = options.dynamic_batch ? 0 : 1;
  DeclareTokens(model.config, batch, graph_proto);
  Graph graph(model, graph_proto);
  AddHeads(model.config, Trunk(graph, options.pruned), batch, graph, graph_proto);
  try {
    onnx::checker::check_model(proto);
  } catch (const std::exception& error) {
    return Error{ErrorCode::kBadFormat,
                 fmt::format("model '{}': ONNX's checker: {}", model.name, error.what())};
  }
  return proto.SerializeAsString();
}

std::string EmptyOnnx(const Model& model) {
  onnx::ModelProto proto = NewModel("empty");
  onnx::GraphProto& graph_proto = *proto.mutable_graph();
  DeclareTokens(model.config, 0, graph_proto);
  Graph graph(model, graph_proto);
  for (const HeadSpec& head : HeadsOf(model.config)) {
    const std::string name(head.name);
    graph.Op("Identity", {"tokens"}, name);
    Declare(*graph_proto.add_output(), name.c_str(), 0,
            {model.config.tokens(), model.config.inputs()});
  }
  return proto.SerializeAsString();
}

}  // namespace aerocast
