// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/trunk.h"

#include <torch/torch.h>

namespace aerocast {

torch::Tensor Trunk(const Network& network, const torch::Tensor& tokens,
                    const torch::Tensor& positions, const ForwardOptions& options) {
  switch (network.config().architecture) {
    case Architecture::kTransformer:
      return TransformerTrunk(network, tokens, positions, options);
    case Architecture::kMlp:
      return MlpTrunk(network, tokens, options);
    case Architecture::kGru:
    case Architecture::kLstm:
    case Architecture::kBiGru:
      break;
  }
  return RecurrentTrunk(network, tokens, options);
}

torch::Tensor Linear(const Network& network, const std::string& name, const torch::Tensor& x) {
  return torch::addmm(network.parameter(name + ".bias"), x,
                      network.parameter(name + ".weight").t());
}

torch::Tensor LayerNorm(const Network& network, const std::string& name, const torch::Tensor& x) {
  return torch::layer_norm(x, {x.size(-1)}, network.parameter(name + ".weight"),
                           network.parameter(name + ".bias"), 1e-5);
}

torch::Tensor Drop(const ForwardOptions& options, const torch::Tensor& x, int site,
                   const MaskPart& part) {
  return options.dropout == nullptr ? x : (*options.dropout)(x, site, part);
}

torch::Tensor DropRelu(const ForwardOptions& options, const torch::Tensor& x, int site,
                       const MaskPart& part) {
  return options.dropout == nullptr ? torch::relu(x) : options.dropout->Relu(x, site, part);
}

torch::Tensor DropAdd(const ForwardOptions& options, const torch::Tensor& residual,
                      const torch::Tensor& x, int site, const MaskPart& part) {
  return options.dropout == nullptr ? residual + x : options.dropout->Add(residual, x, site, part);
}

void Trace(const ForwardOptions& options, const std::string& name, const torch::Tensor& value) {
  if (options.trace) options.trace(name, value);
}

std::int64_t Seen(const Network& network, const ForwardOptions& options) {
  return options.history > 0 ? options.history : network.config().tokens();
}

// Tokens side by side, those not seen as zeros; then linear, norm, ReLU per layer.
torch::Tensor MlpTrunk(const Network& network, const torch::Tensor& tokens,
                       const ForwardOptions& options) {
  torch::Tensor seen = tokens;
  if (const std::int64_t hidden = tokens.size(1) - Seen(network, options); hidden > 0) {
    seen = tokens.clone();
    seen.narrow(1, 0, hidden).zero_();
  }
  torch::Tensor x = seen.reshape({tokens.size(0), -1});
  for (int i = 0; i < static_cast<int>(network.config().hidden.size()); ++i) {
    const std::string layer = "layers." + std::to_string(i);
    x = LayerNorm(network, layer + ".norm", Linear(network, layer, x));
    x = DropRelu(options, x, i);
    Trace(options, layer, x);
  }
  return x;
}

}  // namespace aerocast
