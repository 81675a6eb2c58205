// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/trunk.h"

namespace aerocast {

// Tokens side by side; then linear, norm, ReLU per layer.
std::string MlpTrunk(Graph& graph, const std::string& tokens) {
  const ModelConfig& config = graph.config();
  std::string x = graph.Reshape(tokens, {-1, config.tokens() * config.inputs()}, "flat");
  for (std::size_t i = 0; i < config.hidden.size(); ++i) {
    const std::string layer = "layers." + std::to_string(i);
    const std::string norm = graph.LayerNorm(graph.Linear(x, layer), layer + ".norm");
    x = graph.Op("Relu", {norm}, layer + ".out");
  }
  return x;
}

}  // namespace aerocast
