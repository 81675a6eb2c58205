// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/normal.h"

#include <array>

namespace aerocast {
namespace {

// Horner's rule, highest power first.
template <std::size_t N>
double Polynomial(const std::array<double, N>& c, double x) {
  double y = c[0];
  for (std::size_t i = 1; i < N; ++i) y = y * x + c[i];
  return y;
}

// P. J. Acklam's rational approximation, relative error 1.2e-9, for p <= 1/2.
double RoughQuantile(double p) {
  constexpr std::array<double, 6> kA = {-3.969683028665376e+01, 2.209460984245205e+02,
                                        -2.759285104469687e+02, 1.383577518672690e+02,
                                        -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 6> kB = {-5.447609879822406e+01, 1.615858368580409e+02,
                                        -1.556989798598866e+02, 6.680131188771972e+01,
                                        -1.328068155288572e+01, 1};
  constexpr std::array<double, 6> kC = {-7.784894002430293e-03, -3.223964580411365e-01,
                                        -2.400758277161838e+00, -2.549732539343734e+00,
                                        4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 5> kD = {7.784695709041462e-03, 3.224671290700398e-01,
                                        2.445134137142996e+00, 3.754408661907416e+00, 1};
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    return Polynomial(kC, q) / Polynomial(kD, q);
  }
  const double q = p - 0.5, r = q * q;
  return Polynomial(kA, r) * q / Polynomial(kB, r);
}

}  // namespace

double NormalQuantile(double p) {
  if (p > 0.5) return -NormalQuantile(1 - p);
  const double z = RoughQuantile(p);
  // One step of Halley's method takes it to the last digits.
  const double u = (NormalCdf(z) - p) / NormalPdf(z);
  return z - u / (1 + z * u / 2);
}

double RadialCoverage(double z) { return std::erf(z / std::numbers::sqrt2) - 2 * z * NormalPdf(z); }

double RadialQuantile(double p) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (RadialCoverage(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

const AbsMomentTable& AbsMomentTable::Get() {
  static const AbsMomentTable table;
  return table;
}

AbsMomentTable::AbsMomentTable() {
  const auto count = static_cast<std::size_t>(kEnd * kPerUnit) + 2;
  for (std::size_t i = 0; i < count; ++i) {
    const double z = static_cast<double>(i) / kPerUnit;
    nodes_.push_back({AbsMoment(z, 1), std::erf(z / std::numbers::sqrt2) / kPerUnit});
  }
}

}  // namespace aerocast
