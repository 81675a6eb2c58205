// SPDX-License-Identifier: BSD-3-Clause
//
// IEEE 754 half precision (binary16) to and from float, by integer arithmetic: the same bits on
// every machine, and the same as the CPU's own instructions (F16C) give.
#pragma once

#include <bit>
#include <cstdint>

namespace aerocast {

// Magnitudes from here on are infinite as a half: halfway between the largest, 65504, and what
// would come next.
inline constexpr float kHalfOverflow = 65520.0f;

// `value` without its last `shift` bits (1 to 31), rounded to the nearest, ties to even.
constexpr std::uint32_t RoundedShift(std::uint32_t value, std::uint32_t shift) {
  const std::uint32_t kept = value >> shift;
  const std::uint32_t rest = value & ((std::uint32_t{1} << shift) - 1);
  const std::uint32_t middle = std::uint32_t{1} << (shift - 1);
  return kept + (rest > middle || (rest == middle && (kept & 1) != 0) ? 1 : 0);
}

// The nearest half, ties to even. Beyond the largest it is infinity; NaN stays NaN (quiet).
constexpr std::uint16_t HalfFromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000) {  // NaN
    half = 0x7e00 | (magnitude >> 13 & 0x3ff);
  } else if (magnitude >= std::bit_cast<std::uint32_t>(kHalfOverflow)) {
    half = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // 2^-14: normal in both, only the exponent's bias differs
    half = RoundedShift(magnitude - 0x38000000, 13);
  } else if (magnitude >= 0x33000000) {  // 2^-25: a multiple of 2^-24, all bits of it mantissa
    half = RoundedShift((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >> 23));
  }
  return static_cast<std::uint16_t>(sign | half);
}

// Exact: every half is a float. NaN becomes quiet.
constexpr float FloatFromHalf(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  std::uint32_t magnitude = 0;
  if (exponent == 31) {
    magnitude = 0x7f800000 | mantissa << 13 | (mantissa != 0 ? 0x400000 : 0);
  } else if (exponent == 0) {
    magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
  } else {
    magnitude = (exponent + 112) << 23 | mantissa << 13;
  }
  return std::bit_cast<float>(sign | magnitude);
}

}  // namespace aerocast
