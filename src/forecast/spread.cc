// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/spread.h"

#include <algorithm>
#include <cmath>

namespace aerocast {
namespace {

constexpr double kUnknownSpeed = 5;     // m/s
constexpr double kSpeedSpanS = 0.3;     // of the straight fit that measures speed
constexpr double kLeastSigma = 1e-3;    // metres
constexpr double kLargestSigma = 1e6;   // metres
constexpr double kLeastRatio = 1e-4;    // of the smallest to the largest sigma
constexpr double kGenericBase = 0.3;    // m/s
constexpr double kGenericRelaxS = 2.0;  // when quadratic growth turns into linear

double Sigma(double base, double rate, double speed, double noise_variance) {
  const double moving = rate * speed;
  const double sigma = std::sqrt(noise_variance + base * base + moving * moving);
  return sigma < kLargestSigma ? std::max(sigma, kLeastSigma) : kLargestSigma;
}

}  // namespace

SpreadStep Spread::At(int i, double t_s) const {
  if (!table.empty()) return table[static_cast<std::size_t>(i)];
  const double u = t_s * t_s / (t_s + kGenericRelaxS);
  const double base = kGenericBase * u;
  const double rate = kind == PathKind::kParabolic ? t_s * t_s / kGenericRelaxS : u;
  return {{base, base, base / 2}, {kind == PathKind::kHeld ? t_s : rate, rate, rate / 3}};
}

Spread GenericSpread(PathKind kind) {
  Spread spread;
  spread.kind = kind;
  return spread;
}

Spread NoiseOnlySpread(int steps) {
  Spread spread;
  spread.table.resize(static_cast<std::size_t>(steps));
  return spread;
}

double NoiseGain::At(double t_s) const {
  const double s = length_s > 0 ? 1 + 2 * t_s / length_s : 0;
  double sum = 1;
  if (order >= 1) sum += 3 * s * s;
  if (order >= 2) {
    const double p2 = (3 * s * s - 1) / 2;
    sum += 5 * p2 * p2;
  }
  return sum / std::max(1, samples);
}

Scene LookAt(const History& history) {
  Scene scene;
  scene.frame = FitHeading(history.samples);
  const Motion motion = FitMotion(history.samples, kSpeedSpanS, 1);
  scene.speed = motion.samples < 2 ? kUnknownSpeed : Norm(motion.v);
  scene.noise_m = history.noise_m;
  return scene;
}

Vec3 SpreadSigma(const SpreadStep& step, const Scene& scene, double t_s) {
  const double noise = scene.noise_m * scene.noise_m * scene.gain.At(t_s);
  const Vec3 sigma = {Sigma(step.base.x, step.rate.x, scene.speed, noise),
                      Sigma(step.base.y, step.rate.y, scene.speed, noise),
                      Sigma(step.base.z, step.rate.z, scene.speed, noise)};
  const double least = kLeastRatio * std::max({sigma.x, sigma.y, sigma.z});
  return {std::max(sigma.x, least), std::max(sigma.y, least), std::max(sigma.z, least)};
}

Cov3 SpreadCov(const SpreadStep& step, const Scene& scene, double t_s) {
  const Vec3 sigma = SpreadSigma(step, scene, t_s);
  return scene.frame.to_world.Rotate(
      Cov3::Diagonal(sigma.x * sigma.x, sigma.y * sigma.y, sigma.z * sigma.z));
}

void WriteSpread(const Spread& spread, const Scene& scene, int k, Forecast& forecast) {
  for (int i = 0; i < forecast.steps(); ++i) {
    const double t_s = (i + 1) * forecast.dt_s;
    forecast.cov(k, i) = SpreadCov(spread.At(i, t_s), scene, t_s);
  }
  forecast.residual_correlation = spread.residual_correlation;
}

void WriteSingleMode(const Spread& spread, const Scene& scene, Forecast& forecast) {
  forecast.weight(0) = 1;
  for (int i = 0; i < forecast.steps(); ++i) forecast.mean(0, i) = forecast.point(i);
  WriteSpread(spread, scene, 0, forecast);
}

void ForecastHold(const History& history, const Spread& spread, Forecast& forecast) {
  const Scene scene = LookAt(history);  // its gain is that of one sample
  for (int i = 0; i < forecast.steps(); ++i) forecast.point(i) = scene.frame.origin;
  WriteSingleMode(spread, scene, forecast);
}

}  // namespace aerocast
