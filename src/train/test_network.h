// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: networks of every family that are small enough to look at.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "src/base/rng.h"
#include "src/model/config.h"

namespace aerocast {

// T = 6, S = 4, K = 2.
inline ModelConfig TinyConfig(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.history_steps = 6;
  config.horizon_steps = 4;
  config.components = 2;
  config.width = 16;
  config.layers = 2;
  if (architecture == Architecture::kTransformer) {
    config.heads = 2;
    config.feed_forward = 32;
  } else if (architecture == Architecture::kMlp) {
    config.width = ModelConfig{}.width;
    config.layers = ModelConfig{}.layers;
    config.hidden = {24, 20, 16};
  } else if (architecture == Architecture::kBiGru) {
    config.width = 12;
  }
  return config;
}

// By the name of its golden file: an architecture, or "plus" for that family's Transformer.
inline ModelConfig TinyNamed(const std::string& name) {
  if (name != "plus") return TinyConfig(*ArchitectureFromName(name));
  ModelConfig config = TinyConfig(Architecture::kTransformer);
  config.family = Family::kPlus;
  config.patch = 2;
  config.width = 12, config.feed_forward = 20;  // the golden files are to stay small
  return config;
}

inline torch::Tensor RandomNormal(at::IntArrayRef shape, double sigma, std::uint64_t seed) {
  torch::Tensor out = torch::empty(shape);
  Rng rng(seed);
  float* data = out.data_ptr<float>();
  for (std::int64_t i = 0; i < out.numel(); ++i) data[i] = static_cast<float>(sigma * rng.Normal());
  return out;
}
inline torch::Tensor RandomTokens(const ModelConfig& config, int batch, std::uint64_t seed) {
  return RandomNormal({batch, config.tokens(), config.inputs()}, 0.5, seed);
}
inline torch::Tensor RandomTargets(const ModelConfig& config, int batch, std::uint64_t seed) {
  return RandomNormal({batch, config.horizon_steps, 3}, 0.5, seed);
}

inline double MaxDifference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace aerocast
