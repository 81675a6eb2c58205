// SPDX-License-Identifier: BSD-3-Clause
//
// An ONNX graph under construction. Every function adds one node and returns the name of its
// result. Weights keep the names of the model file, results those of the golden files
// (docs/model_format.md), so that a graph can be read beside them.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/model_file.h"

namespace aerocast {

using Shape = std::vector<std::int64_t>;

class Graph {
 public:
  // Both outlive the graph.
  Graph(const Model& model, onnx::GraphProto& proto);

  const ModelConfig& config() const { return model_.config; }
  const Tensor& parameter(const std::string& name) const;  // must be there

  // Constants. A parameter is added once, under its own name.
  std::string Parameter(const std::string& name);
  std::string Floats(const std::string& name, const Shape& shape, const std::vector<float>& data);
  std::string Ints(const Shape& values);

  // Any operator with one result, which is called `name`. The node may be given attributes.
  onnx::NodeProto& Node(const char* op, const std::vector<std::string>& inputs,
                        const std::string& name);
  std::string Op(const char* op, const std::vector<std::string>& inputs, const std::string& name);

  // One with an attribute `axis`.
  std::string Along(const char* op, const std::vector<std::string>& inputs, std::int64_t axis,
                    const std::string& name);

  // x (N, inputs) -> (N, outputs), with the parameters name.{weight,bias}, or those given.
  std::string Linear(const std::string& x, const std::string& name);
  std::string Linear(const std::string& x, const std::string& weight, const std::string& bias,
                     const std::string& name);
  // Over the last dimension, with the parameters name.{weight,bias}.
  std::string LayerNorm(const std::string& x, const std::string& name);
  std::string Reshape(const std::string& x, const Shape& shape, const std::string& name);
  std::string Transpose(const std::string& x, const Shape& order, const std::string& name);
  // n equal parts along `axis`, called name.0, name.1, ...
  std::vector<std::string> Split(const std::string& x, std::int64_t axis, int n,
                                 const std::string& name);
  // Element `index` along `axis`, which disappears.
  std::string Take(const std::string& x, std::int64_t axis, std::int64_t index,
                   const std::string& name);

 private:
  const Model& model_;
  onnx::GraphProto& proto_;
  std::map<std::string, const Tensor*> parameters_;
  std::set<std::string> added_;  // constants in the graph
};

void SetInt(onnx::NodeProto& node, const char* name, std::int64_t value);
void SetFloat(onnx::NodeProto& node, const char* name, float value);
void SetInts(onnx::NodeProto& node, const char* name, const Shape& values);
void SetText(onnx::NodeProto& node, const char* name, std::string_view value);

}  // namespace aerocast
