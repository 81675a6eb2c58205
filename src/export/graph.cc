// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/graph.h"

#include "src/base/check.h"

namespace aerocast {
namespace {

onnx::AttributeProto& AddAttribute(onnx::NodeProto& node, const char* name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

// Raw data is little-endian by definition, and so are the machines this runs on.
template <typename T>
void AddConstant(onnx::GraphProto& graph, const std::string& name, const Shape& shape,
                 const std::vector<T>& data, onnx::TensorProto::DataType type) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t n : shape) tensor.add_dims(n);
  tensor.set_raw_data(data.data(), data.size() * sizeof(T));
}

}  // namespace

Graph::Graph(const Model& model, onnx::GraphProto& proto) : model_(model), proto_(proto) {
  for (const Tensor& tensor : model.tensors) parameters_[tensor.name] = &tensor;
}

const Tensor& Graph::parameter(const std::string& name) const {
  const auto found = parameters_.find(name);
  AEROCAST_CHECK(found != parameters_.end());
  return *found->second;
}

std::string Graph::Parameter(const std::string& name) {
  const Tensor& tensor = parameter(name);
  return Floats(name, tensor.shape, tensor.data);
}

std::string Graph::Floats(const std::string& name, const Shape& shape,
                          const std::vector<float>& data) {
  if (added_.insert(name).second) {
    AddConstant(proto_, name, shape, data, onnx::TensorProto::FLOAT);
  }
  return name;
}

std::string Graph::Ints(const Shape& values) {
  std::string name = "ints";
  for (const std::int64_t value : values) name += "_" + std::to_string(value);
  if (added_.insert(name).second) {
    AddConstant(proto_, name, {static_cast<std::int64_t>(values.size())}, values,
                onnx::TensorProto::INT64);
  }
  return name;
}

onnx::NodeProto& Graph::Node(const char* op, const std::vector<std::string>& inputs,
                             const std::string& name) {
  onnx::NodeProto& node = *proto_.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(name);
  return node;
}

std::string Graph::Op(const char* op, const std::vector<std::string>& inputs,
                      const std::string& name) {
  Node(op, inputs, name);
  return name;
}

std::string Graph::Along(const char* op, const std::vector<std::string>& inputs, std::int64_t axis,
                         const std::string& name) {
  SetInt(Node(op, inputs, name), "axis", axis);
  return name;
}

std::string Graph::Linear(const std::string& x, const std::string& name) {
  return Linear(x, Parameter(name + ".weight"), Parameter(name + ".bias"), name);
}

std::string Graph::Linear(const std::string& x, const std::string& weight, const std::string& bias,
                          const std::string& name) {
  SetInt(Node("Gemm", {x, weight, bias}, name), "transB", 1);
  return name;
}

std::string Graph::LayerNorm(const std::string& x, const std::string& name) {
  onnx::NodeProto& node =
      Node("LayerNormalization", {x, Parameter(name + ".weight"), Parameter(name + ".bias")}, name);
  SetInt(node, "axis", -1);
  SetFloat(node, "epsilon", 1e-5f);
  return name;
}

std::string Graph::Reshape(const std::string& x, const Shape& shape, const std::string& name) {
  return Op("Reshape", {x, Ints(shape)}, name);
}

std::string Graph::Transpose(const std::string& x, const Shape& order, const std::string& name) {
  SetInts(Node("Transpose", {x}, name), "perm", order);
  return name;
}

std::vector<std::string> Graph::Split(const std::string& x, std::int64_t axis, int n,
                                      const std::string& name) {
  if (n == 1) return {x};
  onnx::NodeProto& node = Node("Split", {x}, name + ".0");
  for (int i = 1; i < n; ++i) node.add_output(name + "." + std::to_string(i));
  SetInt(node, "axis", axis);
  return {node.output().begin(), node.output().end()};
}

std::string Graph::Take(const std::string& x, std::int64_t axis, std::int64_t index,
                        const std::string& name) {
  const std::string scalar = "index_" + std::to_string(index);
  if (added_.insert(scalar).second) {
    AddConstant<std::int64_t>(proto_, scalar, {}, {index}, onnx::TensorProto::INT64);
  }
  return Along("Gather", {x, scalar}, axis, name);
}

void SetInt(onnx::NodeProto& node, const char* name, std::int64_t value) {
  AddAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void SetFloat(onnx::NodeProto& node, const char* name, float value) {
  AddAttribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

void SetInts(onnx::NodeProto& node, const char* name, const Shape& values) {
  onnx::AttributeProto& attribute = AddAttribute(node, name, onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void SetText(onnx::NodeProto& node, const char* name, std::string_view value) {
  AddAttribute(node, name, onnx::AttributeProto::STRING).set_s(std::string(value));
}

}  // namespace aerocast
