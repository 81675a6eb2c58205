// SPDX-License-Identifier: BSD-3-Clause
//
// Models for tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "src/base/rng.h"
#include "src/model/model_file.h"

namespace aerocast {

// Every size is odd, so that nothing fits into vectors by chance.
inline ModelConfig OddConfig(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.history_steps = 7, config.horizon_steps = 3, config.components = 2;
  config.layers = 2, config.width = 21;
  config.heads = architecture == Architecture::kTransformer ? 3 : ModelConfig{}.heads;
  config.feed_forward =
      architecture == Architecture::kTransformer ? 37 : ModelConfig{}.feed_forward;
  if (architecture == Architecture::kMlp) {
    config.width = ModelConfig{}.width, config.layers = ModelConfig{}.layers;
    config.hidden = {33, 19};
  }
  return config;
}

inline const std::vector<Architecture>& AllArchitectures() {
  static const std::vector<Architecture> all = {Architecture::kTransformer, Architecture::kGru,
                                                Architecture::kLstm, Architecture::kBiGru,
                                                Architecture::kMlp};
  return all;
}

// Weights as training begins with them, but for biases and norms, which are not all alike.
inline Model RandomModel(const ModelConfig& config, std::uint64_t seed) {
  Model model;
  model.name = "random", model.config = config;
  Rng rng(seed, 0);
  for (const TensorSpec& spec : TensorsOf(config)) {
    Tensor tensor = {spec.name, spec.shape, std::vector<float>(spec.size())};
    const bool matrix = spec.shape.size() == 2;
    const double scale =
        matrix ? std::sqrt(2.0 / static_cast<double>(spec.shape[0] + spec.shape[1])) : 0.1;
    const double centre =
        !matrix && spec.name.find("norm") != std::string::npos && spec.name.ends_with(".weight")
            ? 1
            : 0;
    for (float& x : tensor.data) x = static_cast<float>(centre + scale * rng.Normal());
    model.tensors.push_back(std::move(tensor));
  }
  return model;
}

}  // namespace aerocast
