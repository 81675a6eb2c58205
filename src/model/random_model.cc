// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/random_model.h"

#include <cmath>

#include "src/base/rng.h"

namespace aerocast {
namespace {

constexpr Architecture kArchitectures[] = {Architecture::kTransformer, Architecture::kGru,
                                           Architecture::kLstm, Architecture::kBiGru,
                                           Architecture::kMlp};

bool IsGain(const std::string& name) {
  return name.find("norm") != std::string::npos && name.ends_with(".weight");
}

}  // namespace

ModelConfig OddConfig(Architecture architecture, Family family) {
  ModelConfig config;
  config.family = family;
  config.architecture = architecture;
  config.history_steps = 7, config.horizon_steps = 11, config.components = 2;
  if (config.plus()) config.history_steps = 15, config.patch = 3;
  if (architecture == Architecture::kMlp) {
    config.hidden = {33, 19};
    return config;
  }
  config.layers = 2, config.width = 21;
  if (architecture == Architecture::kTransformer) config.heads = 3, config.feed_forward = 37;
  return config;
}

const std::vector<OddNetwork>& OddNetworks() {
  static const std::vector<OddNetwork> kNetworks = [] {
    std::vector<OddNetwork> networks;
    for (const Family family : {Family::kPaper, Family::kPlus}) {
      for (const Architecture architecture : kArchitectures) {
        networks.push_back(
            {(family == Family::kPlus ? "plus_" : "") + std::string(ArchitectureName(architecture)),
             OddConfig(architecture, family)});
      }
    }
    return networks;
  }();
  return kNetworks;
}

Model RandomModel(const ModelConfig& config, std::uint64_t seed) {
  Model model;
  model.name = "random", model.config = config;
  Rng rng(seed, 0);
  for (const TensorSpec& spec : TensorsOf(config)) {
    Tensor tensor = {spec.name, spec.shape, std::vector<float>(spec.size())};
    const bool matrix = spec.shape.size() == 2;
    const double scale =
        matrix ? std::sqrt(2.0 / static_cast<double>(spec.shape[0] + spec.shape[1])) : 0.1;
    const double centre = !matrix && IsGain(spec.name) ? 1 : 0;
    for (float& x : tensor.data) x = static_cast<float>(centre + scale * rng.Normal());
    model.tensors.push_back(std::move(tensor));
  }
  return model;
}

}  // namespace aerocast
