// SPDX-License-Identifier: BSD-3-Clause
//
// The Transformer's fixed positional encoding, as src/train/network.cc has it.
#pragma once

#include <cmath>
#include <vector>

namespace aerocast {

// Sinusoids of base 10000: sin in the even columns, cos in the odd ones. (T, D)
inline std::vector<float> SinusoidalPositions(int steps, int width) {
  std::vector<float> positions;
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < width; ++j) {
      const double angle = t / std::pow(10000.0, static_cast<double>(j - j % 2) / width);
      positions.push_back(static_cast<float>(j % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return positions;
}

}  // namespace aerocast
