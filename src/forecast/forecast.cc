// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/check.h"
#include "src/base/rng.h"

namespace aerocast {
namespace {

// Index of the component that u in [0, 1) falls into.
int Pick(std::span<const double> weights, double u) {
  for (std::size_t k = 0; k + 1 < weights.size(); ++k) {
    u -= weights[k];
    if (u < 0) return static_cast<int>(k);
  }
  return static_cast<int>(weights.size()) - 1;
}

bool IsDistribution(std::span<const double> weights) {
  double sum = 0;
  for (const double w : weights) {
    if (!(w >= 0)) return false;
    sum += w;
  }
  return std::abs(sum - 1) < 1e-9;
}

}  // namespace

std::string_view QualityName(Quality quality) {
  constexpr std::array<std::string_view, 6> kNames = {"ok",    "short_history", "out_of_domain",
                                                      "stale", "fallback",      "none"};
  return kNames[static_cast<std::size_t>(quality)];
}

void Forecast::Reserve(const ForecastShape& capacity) {
  AEROCAST_CHECK(capacity.steps > 0 && capacity.modes > 0 && capacity.modes <= kMaxModes);
  const auto s = static_cast<std::size_t>(capacity.steps);
  const auto k = static_cast<std::size_t>(capacity.modes);
  const auto c = static_cast<std::size_t>(capacity.displacement_components);
  const auto l = static_cast<std::size_t>(capacity.conformal_levels);
  id.reserve(kMaxIdLength);
  point_.reserve(s), weight_.reserve(k), mean_.reserve(k * s), cov_.reserve(k * s);
  displacement.weight.reserve(s * c), displacement.mean.reserve(s * c);
  displacement.sigma.reserve(s * c);
  conformal.level.reserve(l), conformal.radius.reserve(l * s), conformal.tube.reserve(l);
  conformal.shape.reserve(l > 0 ? s : 0);
}

void Forecast::Reset(const ForecastShape& shape, std::string_view object_id, TimeNs t0, double dt) {
  id.assign(object_id.substr(0, kMaxIdLength));
  t0_ns = t0, dt_s = dt, quality = Quality::kOk, age_s = 0;
  steps_ = shape.steps, modes_ = shape.modes;
  const auto s = static_cast<std::size_t>(steps_);
  const auto k = static_cast<std::size_t>(modes_);
  const auto c = static_cast<std::size_t>(shape.displacement_components);
  const auto l = static_cast<std::size_t>(shape.conformal_levels);
  point_.assign(s, {}), weight_.assign(k, 0), mean_.assign(k * s, {}), cov_.assign(k * s, {});
  displacement.components = shape.displacement_components;
  displacement.weight.assign(s * c, 0), displacement.mean.assign(s * c, {});
  displacement.sigma.assign(s * c, {});
  conformal.level.assign(l, 0), conformal.radius.assign(l * s, 0), conformal.tube.assign(l, 0);
  conformal.shape.assign(l > 0 ? s : 0, 0);
  residual_correlation = 0.98;
}

void Forecast::MakeNone(std::string_view object_id, TimeNs t0) {
  Reset({.steps = 0, .modes = 0}, object_id, t0, dt_s);
  quality = Quality::kNone;
}

double Forecast::mode_entropy() const {
  double entropy = 0;
  for (const double w : weight_) {
    if (w > 0) entropy -= w * std::log(w);
  }
  return entropy;
}

int Forecast::most_likely_mode() const {
  return static_cast<int>(std::max_element(weight_.begin(), weight_.end()) - weight_.begin());
}

Vec3 Forecast::mixture_mean(int i) const {
  Vec3 m;
  for (int k = 0; k < modes_; ++k) m += weight(k) * mean(k, i);
  return m;
}

Cov3 Forecast::mixture_cov(int i) const {
  const Vec3 center = mixture_mean(i);
  Cov3 c;
  for (int k = 0; k < modes_; ++k) {
    c += (cov(k, i) + Cov3::Outer(mean(k, i) - center)) * weight(k);
  }
  return c;
}

void Forecast::AskAt(TimeNs t_now_ns, double stale_after_s) {
  age_s = std::max(0.0, DurationS(t_now_ns - t0_ns));
  if (age_s > stale_after_s) quality = std::max(quality, Quality::kStale);
}

void Forecast::SamplePaths(std::uint64_t seed, int n, std::span<Vec3> out) const {
  AEROCAST_CHECK(out.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(steps_));
  const double innovation =
      std::sqrt(std::max(0.0, 1 - residual_correlation * residual_correlation));
  for (int path = 0; path < n; ++path) {
    Rng rng(seed, static_cast<std::uint64_t>(path));
    const auto normals = [&] {
      const double a = rng.Normal(), b = rng.Normal();
      return Vec3{a, b, rng.Normal()};
    };
    const std::span<Vec3> line =
        out.subspan(static_cast<std::size_t>(path) * static_cast<std::size_t>(steps_),
                    static_cast<std::size_t>(steps_));
    if (displacement.present()) {
      // The anchor is the newest position: every mode's first mean less its first displacement.
      Vec3 p = mean(0, 0) - displacement.mean[0];
      for (int i = 0; i < steps_; ++i) {
        const auto c = static_cast<std::size_t>(displacement.components);
        const std::size_t row = static_cast<std::size_t>(i) * c;
        const std::size_t j =
            row + static_cast<std::size_t>(
                      Pick(std::span(displacement.weight).subspan(row, c), rng.Uniform()));
        const Vec3 z = normals();
        const Vec3& sigma = displacement.sigma[j];
        p += displacement.mean[j] + Vec3{sigma.x * z.x, sigma.y * z.y, sigma.z * z.z};
        line[static_cast<std::size_t>(i)] = p;
      }
      continue;
    }
    const int k = Pick(weight_, rng.Uniform());
    Vec3 z = normals();
    for (int i = 0; i < steps_; ++i) {
      if (i > 0) z = residual_correlation * z + innovation * normals();
      line[static_cast<std::size_t>(i)] = mean(k, i) + Cholesky3(cov(k, i)).Apply(z);
    }
  }
}

bool Forecast::IsValid() const {
  if (quality == Quality::kNone) return steps_ == 0 && modes_ == 0;
  if (steps_ <= 0 || modes_ <= 0 || modes_ > kMaxModes || !(dt_s > 0)) return false;
  if (!IsDistribution(weight_)) return false;
  if (!(residual_correlation >= 0 && residual_correlation <= 1)) return false;
  const auto finite = [](const Vec3& v) { return IsFinite(v); };
  if (!std::all_of(point_.begin(), point_.end(), finite)) return false;
  if (!std::all_of(mean_.begin(), mean_.end(), finite)) return false;
  if (!std::all_of(cov_.begin(), cov_.end(), IsPositiveDefinite)) return false;
  const auto c = static_cast<std::size_t>(displacement.components);
  for (std::size_t row = 0; c > 0 && row < displacement.weight.size(); row += c) {
    if (!IsDistribution(std::span(displacement.weight).subspan(row, c))) return false;
  }
  const auto positive = [](const Vec3& v) { return IsFinite(v) && v.x > 0 && v.y > 0 && v.z > 0; };
  if (!std::all_of(displacement.mean.begin(), displacement.mean.end(), finite)) return false;
  if (!std::all_of(displacement.sigma.begin(), displacement.sigma.end(), positive)) return false;
  const auto radius = [](double r) { return std::isfinite(r) && r >= 0; };
  return std::all_of(conformal.radius.begin(), conformal.radius.end(), radius) &&
         std::all_of(conformal.tube.begin(), conformal.tube.end(), radius) &&
         std::all_of(conformal.shape.begin(), conformal.shape.end(), radius);
}

}  // namespace aerocast
