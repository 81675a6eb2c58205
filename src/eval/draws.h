// SPDX-License-Identifier: BSD-3-Clause
//
// Draws from a forecast's position mixture at one step, and what is estimated from them: the energy
// score, the rank of the outcome's density among the draws, the radius that holds a share of them.
//
// This is where evaluation spends its time (2,016 distances per step with 64 draws), so draws are
// floats, one array per coordinate, and every loop is element-wise over them: any vector width
// gives the same bits. Coordinates are relative to the mixture and in units of its size, so floats
// lose nothing and neither kilometres nor micrometres overflow.
//
// Normals come from a pool: the quantiles of the normal distribution in random order. A step reads
// a stretch of it from an offset that depends on (seed, flight, t0, step) only, so results do not
// depend on threads, and models that are compared see the same draws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "aerocast/geometry.h"

namespace aerocast {

inline constexpr int kMaxDraws = 1024;

class NormalPool {
 public:
  explicit NormalPool(std::uint64_t seed);

  // `count` <= 3 * kMaxDraws normals, or kMaxDraws uniforms in (0, 1), that belong to this key.
  const float* Normals(std::uint64_t key) const { return normals_.data() + (key >> (64 - kBits)); }
  const float* Uniforms(std::uint64_t key) const {
    return uniforms_.data() + (key & ((1u << kUniformBits) - 1));
  }

 private:
  static constexpr int kBits = 18, kUniformBits = 14;
  std::vector<float> normals_, uniforms_;
};

// A key from what names a window; steps mix their index in.
std::uint64_t WindowKey(std::uint64_t seed, std::string_view flight, std::int64_t t0_ns);

// A Gaussian mixture at one step: weights that sum to 1, means, and Cholesky factors of the
// covariances. Views; nothing is copied.
struct StepMixture {
  std::span<const double> weight;
  std::span<const Vec3> mean;
  std::span<const Cholesky3> chol;
};

class StepDraws {
 public:
  explicit StepDraws(int draws);

  // Draws from the mixture; `y` is the outcome the functions below speak of.
  void Draw(const StepMixture& mixture, const Vec3& y, const NormalPool& pool, std::uint64_t key);

  int draws() const { return m_; }
  Vec3 draw(int i) const;  // in metres, for tests

  // Unbiased energy score in metres.
  double Energy();
  // How many draws have a higher density than the outcome.
  int CountDenser(const StepMixture& mixture);
  // The radius around `center` that holds `share` of the draws, in metres.
  double Radius(const Vec3& center, double share);

 private:
  std::size_t Size() const { return static_cast<std::size_t>(m_); }
  void SplitByWeight(std::span<const double> weight, const float* uniforms);

  int m_;
  Vec3 origin_, y_;         // metres; y relative to the origin
  double scale_ = 1;        // metres per unit of the coordinates below
  std::vector<int> begin_;  // first draw of each component, and m at the end
  std::vector<float> px_, py_,
      pz_;  // (2 m): the draws twice in a row, so that pairs need no modulo
  std::vector<float> work_, density_;
};

}  // namespace aerocast
