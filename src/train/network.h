// SPDX-License-Identifier: BSD-3-Clause
//
// The networks in libtorch, for training and as the reference the runtime is compared with.
//
// All parameters lie in one flat tensor in the order of TensorsOf(config), their gradients in
// another, so that clipping, AdamW, averaging, all-reduce and checkpoints are each one pass over
// one array.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/model/config.h"
#include "src/model/model_file.h"
#include "src/train/dropout.h"

namespace aerocast {

// What the heads say (HeadsOf, src/model/config.h): in lambda units, or of order one (plus).
struct Heads {
  torch::Tensor point;      // plus: (B, S, 3)
  torch::Tensor mean;       // (B, S, K, 3); plus: (B, K, S, 3)
  torch::Tensor log_sigma;  // alike
  torch::Tensor logit;      // (B, S, K); plus: (B, K)

  // All of them side by side, as the runtime has them: (B, outputs).
  torch::Tensor Flat() const;
};

struct ForwardOptions {
  int history = 0;                   // the last so many tokens are seen; 0: all
  double sigma_gradient = 1;         // share of log_sigma's gradient that goes on to the trunk
  bool pruned = true;                // the last layer computes only what the last token needs
  const Dropout* dropout = nullptr;  // nullptr: off
  // Called with every intermediate result by name ("embed", "layers.0.attention", ..., "context"),
  // for golden files.
  std::function<void(const std::string& name, const torch::Tensor& value)> trace;
  // Called with the attention of every layer of a Transformer: (B, H, queries, T), rows sum to 1.
  std::function<void(const torch::Tensor& weights)> attention;
};

class Network {
 public:
  // Xavier-uniform matrices from `seed`, zero biases, unit norms. The same on every machine.
  Network(const ModelConfig& config, std::uint64_t seed);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const ModelConfig& config() const { return config_; }

  // tokens (B, T, inputs), as the batch builder makes them.
  Heads Forward(const torch::Tensor& tokens, const ForwardOptions& options = {}) const;

  torch::Tensor& flat() { return flat_; }  // (N), the parameters
  const torch::Tensor& flat() const { return flat_; }
  torch::Tensor& flat_grad() { return flat_grad_; }  // (N), accumulated by backward()
  const torch::Tensor& parameter(const std::string& name) const;

  // A view of `flat` (this network's or an array like it, e.g. averaged weights) as the model
  // file's tensors.
  std::vector<Tensor> Export(const torch::Tensor& flat) const;
  void Load(const std::vector<Tensor>& tensors);  // exactly TensorsOf(config)

 private:
  ModelConfig config_;
  torch::Tensor flat_, flat_grad_;
  std::map<std::string, torch::Tensor> parameters_;  // views of flat_, with gradients
  torch::Tensor positions_;                          // (T, D), fixed
};

}  // namespace aerocast
