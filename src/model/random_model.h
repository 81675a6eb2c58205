// SPDX-License-Identifier: BSD-3-Clause
//
// Networks that nobody trained, for comparing engines and for tests.
#pragma once

#include <cstdint>
#include <span>

#include "src/model/model_file.h"

namespace aerocast {

std::span<const Architecture> AllArchitectures();

// A small network whose every size is odd, so that nothing fits into vectors by chance.
ModelConfig OddConfig(Architecture architecture);

// Weights as training begins with them, but for biases and norms, which are not all alike. The same
// on every machine.
Model RandomModel(const ModelConfig& config, std::uint64_t seed);

}  // namespace aerocast
