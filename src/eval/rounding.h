// SPDX-License-Identifier: BSD-3-Clause
//
// Fitted numbers as they are written to files: five digits are more than a fit knows.
#pragma once

#include <cmath>

namespace aerocast {

inline double RoundDigits(double value, double (*round)(double) = std::round) {
  if (value == 0) return 0;
  const double digits = 4 - std::floor(std::log10(std::abs(value)));
  const double ten = std::pow(10.0, std::abs(digits));  // a whole number, so exact
  return digits >= 0 ? round(value * ten) / ten : round(value / ten) * ten;
}

}  // namespace aerocast
