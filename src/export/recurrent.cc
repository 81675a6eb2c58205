// SPDX-License-Identifier: BSD-3-Clause
//
// GRU, LSTM and bidirectional GRU as ONNX's own operators. They want steps first, (T, B, n), their
// gates in another order than torch stacks them, and both biases in one tensor.
#include <vector>

#include "src/export/trunk.h"

namespace aerocast {
namespace {

bool IsLstm(const Graph& graph) { return graph.config().architecture == Architecture::kLstm; }
bool IsBothWays(const Graph& graph) { return graph.config().architecture == Architecture::kBiGru; }

// For each gate of ONNX, its place in torch's order.
std::vector<std::size_t> GateOrder(const Graph& graph) {
  if (IsLstm(graph)) return {0, 3, 1, 2};  // i o f c of i f g o
  return {1, 0, 2};                        // z r h of r z n
}

// Appends the gates of one parameter in ONNX's order.
void AppendGates(const Graph& graph, const std::string& parameter, std::vector<float>& out) {
  const std::vector<float>& data = graph.parameter(parameter).data;
  const std::vector<std::size_t> order = GateOrder(graph);
  const std::size_t size = data.size() / order.size();
  for (const std::size_t gate : order) {
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(gate * size);
    out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  }
}

// A constant of the operator: the named parts of every direction, one behind the other.
std::string Gates(Graph& graph, const std::vector<std::string>& directions,
                  const std::vector<std::string>& parts, const std::string& name) {
  std::vector<float> data;
  for (const std::string& direction : directions) {
    for (const std::string& part : parts) AppendGates(graph, direction + part, data);
  }
  Shape shape = graph.parameter(directions[0] + parts[0]).shape;
  shape[0] *= static_cast<std::int64_t>(parts.size());
  shape.insert(shape.begin(), static_cast<std::int64_t>(directions.size()));
  return graph.Floats(name, shape, data);
}

// The outputs of one layer: all steps (T, directions, B, D) and the last state (directions, B, D).
struct Scanned {
  std::string all, last;
};

// x (T, B, n). `directions` names the parameters of one direction or of both; a single one runs
// from the first step to the last.
Scanned Scan(Graph& graph, const std::string& x, const std::vector<std::string>& directions,
             const std::string& name) {
  const std::string w = Gates(graph, directions, {".weight_ih"}, name + ".W");
  const std::string r = Gates(graph, directions, {".weight_hh"}, name + ".R");
  const std::string b = Gates(graph, directions, {".bias_ih", ".bias_hh"}, name + ".B");
  onnx::NodeProto& node = graph.Node(IsLstm(graph) ? "LSTM" : "GRU", {x, w, r, b}, name + ".steps");
  node.add_output(name + ".state");
  SetInt(node, "hidden_size", graph.config().width);
  SetText(node, "direction", directions.size() == 2 ? "bidirectional" : "forward");
  if (!IsLstm(graph)) SetInt(node, "linear_before_reset", 1);  // as torch has it
  return {node.output(0), node.output(1)};
}

std::vector<std::string> Directions(const Graph& graph, const std::string& layer) {
  if (IsBothWays(graph)) return {layer, layer + ".reverse"};
  return {layer};
}

// (directions, B, D) -> (B, directions * D)
std::string SideBySide(Graph& graph, const std::string& x, const std::string& name) {
  const std::string ordered = graph.Transpose(x, {1, 0, 2}, name + ".ordered");
  return graph.Reshape(ordered, {-1, graph.config().context()}, name);
}

// x (T, B, n) -> (T, B, C)
std::string Layer(Graph& graph, const std::string& x, const std::string& layer) {
  const Scanned scanned = Scan(graph, x, Directions(graph, layer), layer);
  const std::string ordered = graph.Transpose(scanned.all, {0, 2, 1, 3}, layer + ".ordered");
  return graph.Reshape(ordered, {graph.config().tokens(), -1, graph.config().context()}, layer);
}

// What the last layer says at the last token, x (T, B, n) -> (B, C).
std::string LastLayer(Graph& graph, const std::string& x, const std::string& layer, bool pruned) {
  const std::int64_t last = graph.config().tokens() - 1;
  if (!IsBothWays(graph)) {
    return SideBySide(graph, Scan(graph, x, {layer}, layer).last, layer);
  }
  if (!pruned) {
    const Scanned scanned = Scan(graph, x, Directions(graph, layer), layer);
    return SideBySide(graph, graph.Take(scanned.all, 0, last, layer + ".last"), layer);
  }
  // Backwards the last token is the first step, and the only one that is needed.
  const std::string forward = Scan(graph, x, {layer}, layer).last;
  const std::string token = graph.Along("Gather", {x, graph.Ints({last})}, 0, layer + ".token");
  const std::string backward = Scan(graph, token, {layer + ".reverse"}, layer + ".reverse").last;
  const std::string both = graph.Along("Concat", {forward, backward}, 0, layer + ".both");
  return SideBySide(graph, both, layer);
}

}  // namespace

std::string RecurrentTrunk(Graph& graph, const std::string& tokens, bool pruned) {
  std::string x = graph.Transpose(tokens, {1, 0, 2}, "steps");
  const int last = graph.config().layers - 1;
  const auto name = [](int i) { return "layers." + std::to_string(i); };
  for (int i = 0; i < last; ++i) x = Layer(graph, x, name(i));
  x = LastLayer(graph, x, name(last), pruned);
  return graph.Op("Relu", {graph.Linear(x, "project")}, "context");
}

}  // namespace aerocast
