// SPDX-License-Identifier: BSD-3-Clause
//
// Tokens of all windows are rows of one matrix (B * T, D), so that every product is one Gemm with a
// constant matrix, which runtimes pack once.
#include <cmath>
#include <vector>

#include "src/export/trunk.h"

namespace aerocast {
namespace {

std::string LastToken(Graph& graph, const std::string& x, const std::string& name) {
  const ModelConfig& config = graph.config();
  const std::string windows =
      graph.Reshape(x, {-1, config.tokens(), config.width}, name + ".windows");
  return graph.Take(windows, 1, config.tokens() - 1, name);
}

// sqrt(D) (W s + b) + PE, (B * T, D). The scale is in the constants.
std::string Embed(Graph& graph, const std::string& tokens) {
  const ModelConfig& config = graph.config();
  const std::size_t width = static_cast<std::size_t>(config.width);
  const std::size_t inputs = static_cast<std::size_t>(config.inputs());
  const double scale = std::sqrt(static_cast<double>(config.width));
  const std::vector<float>& weight = graph.parameter("embed.weight").data;
  const std::vector<float>& bias = graph.parameter("embed.bias").data;
  std::vector<float> scaled(weight.size());  // (inputs, D)
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) {
      scaled[j * width + i] = static_cast<float>(scale * weight[i * inputs + j]);
    }
  }
  std::vector<float> offset = PositionTable(config);
  for (std::size_t i = 0; i < offset.size(); ++i) {
    offset[i] = static_cast<float>(offset[i] + scale * bias[i % width]);
  }
  const std::string product = graph.Op(
      "MatMul", {tokens, graph.Floats("embed.scaled", {config.inputs(), config.width}, scaled)},
      "embed.product");
  const std::string added = graph.Op(
      "Add", {product, graph.Floats("embed.offset", {config.tokens(), config.width}, offset)},
      "embed.windows");
  return graph.Reshape(added, {-1, config.width}, "embed");
}

// Columns of x (B * t, n * D), as n values (B, H, t, d).
std::vector<std::string> SplitHeads(Graph& graph, const std::string& x, int n, int tokens,
                                    const std::string& name) {
  const ModelConfig& config = graph.config();
  std::vector<std::string> parts = graph.Split(x, -1, n, name);
  for (std::string& part : parts) {
    const std::string heads = graph.Reshape(
        part, {-1, tokens, config.heads, config.width / config.heads}, part + ".heads");
    part = graph.Transpose(heads, {0, 2, 1, 3}, part + ".ordered");
  }
  return parts;
}

// softmax(q k' / sqrt(d)) v, all (B, H, ., d) -> (B * queries, D).
std::string Attend(Graph& graph, const std::string& q, const std::string& k, const std::string& v,
                   const std::string& name) {
  const ModelConfig& config = graph.config();
  const float scale =
      static_cast<float>(1 / std::sqrt(static_cast<double>(config.width / config.heads)));
  const std::string turned = graph.Transpose(k, {0, 1, 3, 2}, name + ".key");
  const std::string scores = graph.Op("MatMul", {q, turned}, name + ".scores");
  const std::string scaled =
      graph.Op("Mul", {scores, graph.Floats("attention_scale", {}, {scale})}, name + ".scaled");
  const std::string weights = graph.Along("Softmax", {scaled}, -1, name + ".weights");
  const std::string mixed = graph.Op("MatMul", {weights, v}, name + ".mixed");
  const std::string ordered = graph.Transpose(mixed, {0, 2, 1, 3}, name + ".tokens");
  return graph.Reshape(ordered, {-1, config.width}, name);
}

// What follows the attention, for rows x (N, D).
std::string AfterAttention(Graph& graph, const std::string& x, const std::string& attention,
                           const std::string& layer) {
  const std::string projected = graph.Linear(attention, layer + ".attention.out");
  const std::string middle = graph.Op("Add", {x, projected}, layer + ".middle");
  const std::string norm = graph.LayerNorm(middle, layer + ".norm2");
  const std::string hidden =
      graph.Op("Relu", {graph.Linear(norm, layer + ".ff.in")}, layer + ".ff");
  return graph.Op("Add", {middle, graph.Linear(hidden, layer + ".ff.out")}, layer);
}

// x (B * T, D) -> (B * T, D).
std::string Layer(Graph& graph, const std::string& x, const std::string& layer) {
  const std::string norm = graph.LayerNorm(x, layer + ".norm1");
  const std::string in = graph.Linear(norm, layer + ".attention.in");
  const std::vector<std::string> qkv =
      SplitHeads(graph, in, 3, graph.config().tokens(), layer + ".attention.in");
  const std::string attention = Attend(graph, qkv[0], qkv[1], qkv[2], layer + ".attention");
  return AfterAttention(graph, x, attention, layer);
}

// Rows [first, first + rows) of a parameter, as a constant of its own.
std::string Rows(Graph& graph, const std::string& parameter, std::int64_t first, std::int64_t rows,
                 const std::string& name) {
  const Tensor& whole = graph.parameter(parameter);
  const std::int64_t size = static_cast<std::int64_t>(whole.data.size()) / whole.shape[0];
  Shape shape = whole.shape;
  shape[0] = rows;
  const auto begin = whole.data.begin() + first * size;
  return graph.Floats(name, shape, {begin, begin + rows * size});
}

// The same for the last token of each window alone: x (B * T, D) -> (B, D).
std::string LastTokenLayer(Graph& graph, const std::string& x, const std::string& layer) {
  const ModelConfig& config = graph.config();
  const std::string in = layer + ".attention.in", query = layer + ".attention.query",
                    key_value = layer + ".attention.key_value";
  const auto part = [&](const std::string& rows, std::int64_t first, std::int64_t count,
                        const std::string& name) {
    return graph.Linear(rows, Rows(graph, in + ".weight", first, count, name + ".weight"),
                        Rows(graph, in + ".bias", first, count, name + ".bias"), name);
  };
  const std::string norm = graph.LayerNorm(x, layer + ".norm1");
  const std::string last = LastToken(graph, norm, layer + ".norm1.last");
  const std::vector<std::string> q =
      SplitHeads(graph, part(last, 0, config.width, query), 1, 1, query);
  const std::vector<std::string> kv = SplitHeads(
      graph, part(norm, config.width, 2 * config.width, key_value), 2, config.tokens(), key_value);
  const std::string attention = Attend(graph, q[0], kv[0], kv[1], layer + ".attention");
  return AfterAttention(graph, LastToken(graph, x, layer + ".last"), attention, layer);
}

}  // namespace

std::string TransformerTrunk(Graph& graph, const std::string& tokens, bool pruned) {
  std::string x = Embed(graph, tokens);
  const int layers = graph.config().layers;
  for (int i = 0; i < layers; ++i) {
    const std::string layer = "layers." + std::to_string(i);
    x = pruned && i + 1 == layers ? LastTokenLayer(graph, x, layer) : Layer(graph, x, layer);
  }
  return graph.LayerNorm(pruned ? x : LastToken(graph, x, "last"), "norm");
}

}  // namespace aerocast
