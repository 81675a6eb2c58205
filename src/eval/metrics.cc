// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/eval/normal.h"

namespace aerocast {
namespace {

// log sum exp of terms that are given one by one.
class LogSum {
 public:
  void Add(double log_term) {
    if (log_term <= highest_) {
      sum_ += std::exp(log_term - highest_);
    } else {
      sum_ = sum_ * std::exp(highest_ - log_term) + 1, highest_ = log_term;
    }
  }
  double value() const { return highest_ + std::log(sum_); }

 private:
  double highest_ = -std::numeric_limits<double>::infinity(), sum_ = 0;
};

}  // namespace

double PaperNominal(int i) { return std::erf(PaperZ(i) / std::numbers::sqrt2); }

double AverageDistance(std::span<const Vec3> a, std::span<const Vec3> b) {
  AEROCAST_CHECK(a.size() == b.size() && !a.empty());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += Norm(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

double FinalDistance(std::span<const Vec3> a, std::span<const Vec3> b) {
  AEROCAST_CHECK(a.size() == b.size() && !a.empty());
  return Norm(a.back() - b.back());
}

double MixtureNll(std::span<const double> weight, std::span<const Vec3> mean,
                  std::span<const Cov3> cov, const Vec3& y) {
  LogSum sum;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    if (weight[k] <= 0) continue;
    const Cholesky3 l(cov[k]);
    const double log_det = std::log(l.l00) + std::log(l.l11) + std::log(l.l22);
    sum.Add(std::log(weight[k]) - 0.5 * SquaredNorm(l.Whiten(y - mean[k])) - log_det);
  }
  return 3 * kHalfLogTwoPi - sum.value();
}

double DiagonalMixtureNll(std::span<const double> weight, std::span<const Vec3> mean,
                          std::span<const Vec3> sigma, const Vec3& y) {
  LogSum sum;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    if (weight[k] <= 0) continue;
    const Vec3 d = y - mean[k], s = sigma[k];
    const Vec3 z = {d.x / s.x, d.y / s.y, d.z / s.z};
    sum.Add(std::log(weight[k] / (s.x * s.y * s.z)) - 0.5 * SquaredNorm(z));
  }
  return 3 * kHalfLogTwoPi - sum.value();
}

double NllBound(double sigma_min) { return 3 * (std::log(sigma_min) + kHalfLogTwoPi); }

double MixtureCrps(std::span<const double> weight, std::span<const double> mean,
                   std::span<const double> sigma, double y) {
  const AbsMomentTable& moment = AbsMomentTable::Get();
  double score = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    // The pair (i, i) is 2 s / sqrt(pi); every other pair is met twice in the double sum.
    double pairs = 0.5 * weight[i] * 2 * sigma[i] * std::numbers::inv_sqrtpi;
    for (std::size_t j = 0; j < i; ++j) {
      const double s = std::sqrt(sigma[i] * sigma[i] + sigma[j] * sigma[j]);
      pairs += weight[j] * moment(mean[i] - mean[j], s);
    }
    score += weight[i] * (moment(y - mean[i], sigma[i]) - pairs);
  }
  return score;
}

double EnergyScore(std::span<const Vec3> draws, const Vec3& y) {
  AEROCAST_CHECK(draws.size() >= 2);
  double to_y = 0, between = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    to_y += Norm(draws[i] - y);
    for (std::size_t j = 0; j < i; ++j) between += Norm(draws[i] - draws[j]);
  }
  const auto m = static_cast<double>(draws.size());
  return to_y / m - between / (m * (m - 1));
}

double MixturePit(std::span<const double> weight, std::span<const double> mean,
                  std::span<const double> sigma, double y) {
  double below = 0;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    below += weight[k] * NormalCdf((y - mean[k]) / sigma[k]);
  }
  return std::clamp(below, 0.0, 1.0);
}

double RegionShare(int denser, int draws, double level) {
  return std::clamp(level * (draws + 1) - denser, 0.0, 1.0);
}

double CalibrationError(std::span<const double> empirical, std::span<const double> nominal) {
  double sum = 0;
  for (std::size_t i = 0; i < empirical.size(); ++i) sum += std::abs(empirical[i] - nominal[i]);
  return sum / static_cast<double>(empirical.size());
}

double PaperEce(std::span<const double> within_z) {
  std::array<double, kPaperZ> nominal;
  for (int i = 0; i < kPaperZ; ++i) nominal[static_cast<std::size_t>(i)] = PaperNominal(i);
  return CalibrationError(within_z, nominal);
}

double Entropy(std::span<const double> counts) {
  double total = 0, entropy = 0;
  for (const double c : counts) total += c;
  for (const double c : counts) {
    if (c > 0) entropy -= c / total * std::log(c / total);
  }
  return entropy;
}

}  // namespace aerocast
