// SPDX-License-Identifier: BSD-3-Clause
//
// Seeded random numbers that are the same on every compiler and standard library.
//
// xoshiro256++ (Blackman and Vigna, 2019), seeded by splitmix64. A generator is named by a seed and
// a stream: streams of one seed are independent, so each flight, window or thread-free unit of work
// takes its own and the result does not depend on who computes what in which order.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace aerocast {

// One step of splitmix64: a good 64-bit mixer, also used to hash small integers.
inline std::uint64_t Mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// FNV-1a: names a stream after something that has a name.
inline std::uint64_t HashText(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

__extension__ using Uint128 = unsigned __int128;

class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t x = Mix64(seed) ^ Mix64(~stream);
    for (std::uint64_t& word : state_) word = Mix64(x), x += 0x9E3779B97F4A7C15ull;
  }

  std::uint64_t Next() {
    const std::uint64_t result = Rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0], state_[3] ^= state_[1], state_[1] ^= state_[2], state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotl(state_[3], 45);
    return result;
  }

  // In [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // In {0 ... n-1}; n > 0. The bias is below 2^-64 * n.
  std::uint64_t Below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<Uint128>(Next()) * n) >> 64);
  }
  bool Chance(double p) { return Uniform() < p; }
  // e^U(ln low, ln high): every factor of two is equally likely.
  double LogUniform(double low, double high) {
    return std::exp(Uniform(std::log(low), std::log(high)));
  }
  // Standard normal, Box-Muller; the second of each pair is kept.
  double Normal() {
    if (has_spare_) return has_spare_ = false, spare_;
    const double r = std::sqrt(-2 * std::log(1 - Uniform()));
    const double angle = 2 * std::numbers::pi * Uniform();
    spare_ = r * std::sin(angle), has_spare_ = true;
    return r * std::cos(angle);
  }

 private:
  static std::uint64_t Rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  std::uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace aerocast
