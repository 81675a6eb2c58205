// SPDX-License-Identifier: BSD-3-Clause
//
// The standard normal distribution and the few integrals of it that scores are made of.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace aerocast {

inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

inline double NormalPdf(double z) {
  return std::exp(-0.5 * z * z) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}
inline double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// The z with NormalCdf(z) = p; p in (0, 1).
double NormalQuantile(double p);

// The share of a three-dimensional standard normal inside the ball of radius z (chi-square with
// three degrees of freedom): erf(z / sqrt 2) - sqrt(2 / pi) z exp(-z^2 / 2).
double RadialCoverage(double z);
// The radius that holds the share p, in (0, 1).
double RadialQuantile(double p);

// E|X - d| for X ~ Normal(0, s): d (2 Phi(d/s) - 1) + 2 s phi(d/s).
inline double AbsMoment(double d, double s) {
  const double z = d / s;
  return d * std::erf(z / std::numbers::sqrt2) + 2 * s * NormalPdf(z);
}

// The same from a table of value and slope (cubic Hermite), exact to 1e-9 s: a mixture of K
// components needs K (K + 3) / 2 of them per axis and step, and erf is too slow for that.
class AbsMomentTable {
 public:
  static const AbsMomentTable& Get();

  double operator()(double d, double s) const {
    const double z = std::abs(d) / s;
    if (!(z < kEnd)) return std::abs(d);
    const double u = z * kPerUnit;
    const auto i = static_cast<std::size_t>(u);
    const double t = u - static_cast<double>(i);
    const Node &a = nodes_[i], &b = nodes_[i + 1];
    const double rise = b.value - a.value;
    const double c2 = 3 * rise - 2 * a.slope - b.slope, c3 = a.slope + b.slope - 2 * rise;
    return s * (a.value + t * (a.slope + t * (c2 + t * c3)));
  }

 private:
  struct Node {
    double value, slope;  // slope per node distance
  };
  static constexpr double kEnd = 7, kPerUnit = 64;

  AbsMomentTable();

  std::vector<Node> nodes_;
};

}  // namespace aerocast
