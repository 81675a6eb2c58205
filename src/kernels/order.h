// SPDX-License-Identifier: BSD-3-Clause
//
// What the kernels of every instruction set and their scalar twin have in common: constants, and
// the order of a sum.
#pragma once

#include <bit>
#include <cstdint>

#include "src/kernels/kernels.h"

namespace aerocast {

inline constexpr float kNormEpsilon = 1e-5f;

// 16 partial sums in halves: 8 + 8, 4 + 4, 2 + 2, 1 + 1.
inline float AddHalves(float* partial) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) partial[i] += partial[i + width];
  }
  return partial[0];
}

// exp(x) = 2^n * exp(r), |r| <= ln 2 / 2, by a polynomial whose largest error is 1 unit in the last
// place; x is held within the range of normal numbers.
namespace exp_constants {
inline constexpr float kLeast = -87.336544f, kMost = 88.02f;
inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
inline constexpr float kC2 = 5.0000001201e-1f, kC3 = 1.6666665459e-1f, kC4 = 4.1665795894e-2f,
                       kC5 = 8.3334519073e-3f, kC6 = 1.3981999507e-3f, kC7 = 1.9875691500e-4f;
}  // namespace exp_constants

}  // namespace aerocast
