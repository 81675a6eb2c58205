// SPDX-License-Identifier: BSD-3-Clause
//
// Inputs of a network that look like a flight's, for comparing one implementation with another:
// helices at 0.5 m/s to `fastest`, with a millimetre of noise.
#pragma once

#include <cstdint>
#include <vector>

#include "src/model/config.h"

namespace aerocast {

// (windows, T, inputs), all tokens seen.
std::vector<float> MadeUpTokens(const ModelConfig& config, std::uint64_t seed, int windows,
                                double fastest = 20);

}  // namespace aerocast
