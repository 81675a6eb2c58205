// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/draws.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "aerocast/forecast.h"
#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/eval/normal.h"

namespace aerocast {
namespace {

// The sum of |p_i - p_j| over all pairs of m points whose coordinates lie twice in a row. Pairs are
// walked by their distance d in the ring, so the inner loop is element-wise: accumulator i belongs
// to point i, whatever the vector width.
double SumPairDistances(const float* __restrict x, const float* __restrict y,
                        const float* __restrict z, std::size_t m, float* __restrict sum) {
  std::fill_n(sum, m, 0.0f);
  for (std::size_t d = 1; 2 * d <= m; ++d) {
    const std::size_t n = 2 * d == m ? d : m;  // opposite points would be met twice
    for (std::size_t i = 0; i < n; ++i) {
      const float dx = x[i + d] - x[i], dy = y[i + d] - y[i], dz = z[i + d] - z[i];
      sum[i] += std::sqrt(dx * dx + dy * dy + dz * dz);
    }
  }
  double total = 0;
  for (std::size_t i = 0; i < m; ++i) total += sum[i];
  return total;
}

void DistancesTo(const float* __restrict x, const float* __restrict y, const float* __restrict z,
                 std::size_t m, const Vec3& center, float* __restrict out) {
  const auto cx = static_cast<float>(center.x), cy = static_cast<float>(center.y),
             cz = static_cast<float>(center.z);
  for (std::size_t i = 0; i < m; ++i) {
    const float dx = x[i] - cx, dy = y[i] - cy, dz = z[i] - cz;
    out[i] = std::sqrt(dx * dx + dy * dy + dz * dz);
  }
}

// A lower triangular factor and a mean as floats in the draws' own unit.
struct FloatGaussian {
  FloatGaussian(const Cholesky3& l, const Vec3& mean, double scale)
      : l00(F(l.l00 / scale)),
        l10(F(l.l10 / scale)),
        l11(F(l.l11 / scale)),
        l20(F(l.l20 / scale)),
        l21(F(l.l21 / scale)),
        l22(F(l.l22 / scale)),
        x(F(mean.x / scale)),
        y(F(mean.y / scale)),
        z(F(mean.z / scale)) {}
  static float F(double v) { return static_cast<float>(v); }

  float l00, l10, l11, l20, l21, l22, x, y, z;
};

void Transform(const FloatGaussian& g, const float* __restrict a, const float* __restrict b,
               const float* __restrict c, std::size_t n, float* __restrict x, float* __restrict y,
               float* __restrict z) {
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = g.x + g.l00 * a[i];
    y[i] = g.y + (g.l10 * a[i] + g.l11 * b[i]);
    z[i] = g.z + (g.l20 * a[i] + g.l21 * b[i] + g.l22 * c[i]);
  }
}

// e^v to 1e-6 relative, for v clamped to [-80, 80]: no table and no branch, so it vectorises.
inline float FastExp(float v) {
  v = std::min(80.0f, std::max(-80.0f, v));
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float t = v * 1.44269504f;
  const float shifted = t + kShift;
  const float whole = shifted - kShift;
  const float f = (v - whole * 0.693359375f) - whole * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  const float e = p * f * f + f + 1;
  const auto exponent = (std::bit_cast<std::int32_t>(shifted) - 0x4B400000 + 127) << 23;
  return e * std::bit_cast<float>(exponent);
}

// density[i] += exp(log_peak - |L^-1 (p_i - mean)|^2 / 2)
void AddDensity(const Cholesky3& l, const FloatGaussian& g, double scale, float log_peak,
                const float* __restrict x, const float* __restrict y, const float* __restrict z,
                std::size_t m, float* __restrict density) {
  const auto inv = [&](double v) { return static_cast<float>(scale / v); };
  const float i00 = inv(l.l00), i11 = inv(l.l11), i22 = inv(l.l22);
  for (std::size_t i = 0; i < m; ++i) {
    const float a = (x[i] - g.x) * i00;
    const float b = (y[i] - g.y - g.l10 * a) * i11;
    const float c = (z[i] - g.z - g.l20 * a - g.l21 * b) * i22;
    density[i] += FastExp(log_peak - 0.5f * (a * a + b * b + c * c));
  }
}

double LogPeak(double weight, const Cholesky3& l) {
  return std::log(weight) - std::log(l.l00) - std::log(l.l11) - std::log(l.l22);
}

double LogDensity(const StepMixture& mixture, const Vec3& y) {
  double highest = -std::numeric_limits<double>::infinity(), sum = 0;
  std::array<double, kMaxModes> term;
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) {
    term[k] = LogPeak(mixture.weight[k], mixture.chol[k]) -
              0.5 * SquaredNorm(mixture.chol[k].Whiten(y - mixture.mean[k]));
    highest = std::max(highest, term[k]);
  }
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) sum += std::exp(term[k] - highest);
  return highest + std::log(sum);
}

void Shuffle(std::vector<float>& values, std::size_t n, Rng& rng) {
  for (std::size_t i = n; i > 1; --i) std::swap(values[i - 1], values[rng.Below(i)]);
}

}  // namespace

NormalPool::NormalPool(std::uint64_t seed) {
  Rng rng(seed, 0x706f6f6c);
  constexpr std::size_t kNormals = std::size_t{1} << kBits;
  constexpr std::size_t kUniforms = std::size_t{1} << kUniformBits;
  normals_.resize(kNormals), uniforms_.resize(kUniforms);
  for (std::size_t i = 0; i < kNormals; ++i) {
    normals_[i] = static_cast<float>(NormalQuantile((static_cast<double>(i) + 0.5) / kNormals));
  }
  for (std::size_t i = 0; i < kUniforms; ++i) {
    uniforms_[i] = (static_cast<float>(i) + 0.5f) / kUniforms;
  }
  Shuffle(normals_, kNormals, rng), Shuffle(uniforms_, kUniforms, rng);
  // The beginning again at the end, so that a stretch may start anywhere.
  for (std::size_t i = 0; i < 3 * kMaxDraws; ++i) normals_.push_back(normals_[i]);
  for (std::size_t i = 0; i < kMaxDraws; ++i) uniforms_.push_back(uniforms_[i]);
}

std::uint64_t WindowKey(std::uint64_t seed, std::string_view flight, std::int64_t t0_ns) {
  return Mix64(Mix64(Mix64(seed) ^ HashText(flight)) ^ static_cast<std::uint64_t>(t0_ns));
}

StepDraws::StepDraws(int draws) : m_(draws) {
  AEROCAST_CHECK(draws >= 2 && draws <= kMaxDraws);
  begin_.reserve(kMaxModes + 1);
  px_.resize(2 * Size()), py_.resize(2 * Size()), pz_.resize(2 * Size());
  work_.resize(Size()), density_.resize(Size());
}

// Each draw chooses its component by a uniform of its own; draws of one component then lie
// together. (Stratified uniforms would be quieter, but draws must be independent of one another for
// the energy score's second term to be unbiased.)
void StepDraws::SplitByWeight(std::span<const double> weight, const float* uniforms) {
  begin_.assign(1, 0);
  double cumulative = 0;
  for (std::size_t k = 0; k + 1 < weight.size(); ++k) {
    cumulative += weight[k];
    const auto edge = static_cast<float>(cumulative);
    int below = 0;
    for (std::size_t i = 0; i < Size(); ++i) below += uniforms[i] < edge ? 1 : 0;
    begin_.push_back(below);
  }
  begin_.push_back(m_);
}

void StepDraws::Draw(const StepMixture& mixture, const Vec3& y, const NormalPool& pool,
                     std::uint64_t key) {
  SplitByWeight(mixture.weight, pool.Uniforms(key));
  origin_ = {};
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) {
    origin_ += mixture.weight[k] * mixture.mean[k];
  }
  y_ = y - origin_;
  scale_ = std::abs(y_.x) + std::abs(y_.y) + std::abs(y_.z);
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) {
    const Cholesky3& l = mixture.chol[k];
    const Vec3 d = mixture.mean[k] - origin_;
    const double size = std::abs(d.x) + std::abs(d.y) + std::abs(d.z) + l.l00 + std::abs(l.l10) +
                        l.l11 + std::abs(l.l20) + std::abs(l.l21) + l.l22;
    scale_ = std::max(scale_, size);
  }
  const float* normals = pool.Normals(key);
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) {
    const auto first = static_cast<std::size_t>(begin_[k]);
    const auto n = static_cast<std::size_t>(begin_[k + 1]) - first;
    Transform(FloatGaussian(mixture.chol[k], mixture.mean[k] - origin_, scale_), normals + first,
              normals + Size() + first, normals + 2 * Size() + first, n, px_.data() + first,
              py_.data() + first, pz_.data() + first);
  }
  for (std::vector<float>* c : {&px_, &py_, &pz_}) std::copy_n(c->begin(), m_, c->begin() + m_);
}

Vec3 StepDraws::draw(int i) const {
  const auto n = static_cast<std::size_t>(i);
  return origin_ + scale_ * Vec3{px_[n], py_[n], pz_[n]};
}

double StepDraws::Energy() {
  DistancesTo(px_.data(), py_.data(), pz_.data(), Size(), y_ * (1 / scale_), work_.data());
  double to_y = 0;
  for (const float d : work_) to_y += d;
  const double between = SumPairDistances(px_.data(), py_.data(), pz_.data(), Size(), work_.data());
  const double m = m_;
  return scale_ * (to_y / m - between / (m * (m - 1)));
}

int StepDraws::CountDenser(const StepMixture& mixture) {
  // Densities relative to the outcome's own: more than 1 is denser, at any scale.
  const double at_y = LogDensity(mixture, origin_ + y_);
  std::fill(density_.begin(), density_.end(), 0.0f);
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) {
    if (mixture.weight[k] <= 0) continue;
    const auto peak = static_cast<float>(LogPeak(mixture.weight[k], mixture.chol[k]) - at_y);
    AddDensity(mixture.chol[k], FloatGaussian(mixture.chol[k], mixture.mean[k] - origin_, scale_),
               scale_, peak, px_.data(), py_.data(), pz_.data(), Size(), density_.data());
  }
  int denser = 0;
  for (const float d : density_) denser += d > 1 ? 1 : 0;
  return denser;
}

double StepDraws::Radius(const Vec3& center, double share) {
  DistancesTo(px_.data(), py_.data(), pz_.data(), Size(), (center - origin_) * (1 / scale_),
              work_.data());
  // Between the order statistics around this rank, which is median-unbiased for any distribution
  // (Hyndman and Fan 1996, definition 8), counted from zero.
  const double rank = std::clamp(share * (m_ + 1.0 / 3) - 2.0 / 3, 0.0, m_ - 1.0);
  const auto low = static_cast<std::ptrdiff_t>(rank);
  std::nth_element(work_.begin(), work_.begin() + low, work_.end());
  const double a = work_[static_cast<std::size_t>(low)];
  if (low + 1 >= m_) return scale_ * a;
  const double b = *std::min_element(work_.begin() + low + 1, work_.end());
  return scale_ * (a + (rank - static_cast<double>(low)) * (b - a));
}

}  // namespace aerocast
