// SPDX-License-Identifier: BSD-3-Clause
//
// GRU, LSTM and bidirectional GRU: layers of one direction each from torch's own step loop, which
// takes the products with the input for all steps at once.
#include <torch/torch.h>

#include "src/train/trunk.h"

namespace aerocast {
namespace {

// One direction of one layer, x (B, T, n) -> (B, T, D), zero state before the first step.
torch::Tensor Scan(const Network& network, const std::string& name, const torch::Tensor& x) {
  const torch::Tensor start = torch::zeros({1, x.size(0), network.config().width});
  std::vector<torch::Tensor> parameters;
  for (const char* part : {".weight_ih", ".weight_hh", ".bias_ih", ".bias_hh"}) {
    parameters.push_back(network.parameter(name + part));
  }
  if (network.config().architecture == Architecture::kLstm) {
    return std::get<0>(torch::lstm(x, {start, start}, parameters, true, 1, 0, false, false, true));
  }
  return std::get<0>(torch::gru(x, start, parameters, true, 1, 0, false, false, true));
}

// From the last token to the first; output t has seen tokens T-1 ... t.
torch::Tensor ReverseScan(const Network& network, const std::string& name, const torch::Tensor& x) {
  return Scan(network, name, x.flip(1)).flip(1);
}

torch::Tensor LastToken(const torch::Tensor& x) { return x.select(1, x.size(1) - 1); }

// The last layer's output at the last token, (B, D or 2 D). Backwards that is the first step.
torch::Tensor LastTokenLayer(const Network& network, const std::string& layer,
                             const torch::Tensor& x) {
  const torch::Tensor forward = LastToken(Scan(network, layer, x));
  if (network.config().architecture != Architecture::kBiGru) return forward;
  const torch::Tensor last = x.narrow(1, x.size(1) - 1, 1);
  return torch::cat({forward, LastToken(Scan(network, layer + ".reverse", last))}, -1);
}

torch::Tensor Layer(const Network& network, const std::string& layer, const torch::Tensor& x) {
  const torch::Tensor forward = Scan(network, layer, x);
  if (network.config().architecture != Architecture::kBiGru) return forward;
  return torch::cat({forward, ReverseScan(network, layer + ".reverse", x)}, -1);
}

}  // namespace

torch::Tensor RecurrentTrunk(const Network& network, const torch::Tensor& tokens,
                             const ForwardOptions& options) {
  const std::int64_t seen = Seen(network, options);
  const int last = network.config().layers - 1;
  const auto name = [](int i) { return "layers." + std::to_string(i); };
  torch::Tensor x = tokens.narrow(1, tokens.size(1) - seen, seen);
  for (int i = 0; i < last; ++i) {
    x = Layer(network, name(i), x);
    Trace(options, name(i), x);
    x = Drop(options, x, i);
  }
  x = options.pruned ? LastTokenLayer(network, name(last), x)
                     : LastToken(Layer(network, name(last), x));
  Trace(options, name(last), x);
  return torch::relu(Linear(network, "project", x));
}

}  // namespace aerocast
