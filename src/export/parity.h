// SPDX-License-Identifier: BSD-3-Clause
//
// How far two forward passes of the same network are apart.
#pragma once

#include <span>

namespace aerocast {

struct Parity {
  int windows = 0;
  double largest = 0;   // of |b|
  double absolute = 0;  // largest |a - b|
  // Largest |a - b| relative to max(1, largest |b|): heads are of order one, and a difference where
  // they are near zero is not worse than elsewhere.
  double relative() const { return absolute / (largest > 1 ? largest : 1); }
};

// `a` against `b`, both (windows, outputs). Not finite or not as many is infinitely far.
Parity Compare(std::span<const float> a, std::span<const float> b, int windows);

}  // namespace aerocast
