// SPDX-License-Identifier: BSD-3-Clause
//
// Networks that nobody trained, for comparing engines and for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/model/model_file.h"

namespace aerocast {

// A small network whose every size is odd, so that nothing fits into vectors by chance.
ModelConfig OddConfig(Architecture architecture, Family family = Family::kPaper);

// One of each architecture and family, by name: "gru", "plus_gru".
struct OddNetwork {
  std::string name;
  ModelConfig config;
};
const std::vector<OddNetwork>& OddNetworks();

// Weights as training begins with them, but for biases and norms, which are not all alike. The same
// on every machine.
Model RandomModel(const ModelConfig& config, std::uint64_t seed);

}  // namespace aerocast
