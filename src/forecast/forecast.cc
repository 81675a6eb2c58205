// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

bool AllFinite(std::span<const Vec3> vectors) {
  return std::all_of(vectors.begin(), vectors.end(), IsFinite);
}

bool IsValidMixture(const DisplacementMixture& mixture, std::size_t steps) {
  const auto c = static_cast<std::size_t>(mixture.components);
  const std::size_t size = steps * c;
  if (mixture.components < 0 || mixture.weight.size() != size || mixture.mean.size() != size ||
      mixture.sigma.size() != size) {
    return false;
  }
  for (std::size_t row = 0; row < size; row += c) {
    if (!IsDistribution(std::span(mixture.weight).subspan(row, c))) return false;
  }
  const auto positive = [](const Vec3& v) { return IsFinite(v) && v.x > 0 && v.y > 0 && v.z > 0; };
  return AllFinite(mixture.mean) &&
         std::all_of(mixture.sigma.begin(), mixture.sigma.end(), positive);
}

bool IsValidRegions(const ConformalRegions& regions, std::size_t steps) {
  const std::size_t l = regions.level.size();
  if (regions.radius.size() != l * steps || regions.tube.size() != l ||
      regions.shape.size() != (l > 0 ? steps : 0)) {
    return false;
  }
  const auto all = [](const std::vector<double>& values, double most) {
    return std::all_of(values.begin(), values.end(),
                       [most](double v) { return std::isfinite(v) && v >= 0 && v <= most; });
  };
  const double any = std::numeric_limits<double>::max();
  return all(regions.level, 1) && all(regions.radius, any) && all(regions.tube, any) &&
         all(regions.shape, any);
}

Vec3 Normals(Rng& rng) {
  const double x = rng.Normal(), y = rng.Normal();
  return {x, y, rng.Normal()};
}

// Steps drawn one by one, each from its own mixture, and summed.
void SampleDisplacements(const DisplacementMixture& mixture, Vec3 p, Rng& rng,
                         std::span<Vec3> path) {
  const auto c = static_cast<std::size_t>(mixture.components);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::span<const double> weights = std::span(mixture.weight).subspan(i * c, c);
    const std::size_t j = i * c + static_cast<std::size_t>(Pick(weights, rng.Uniform()));
    const Vec3 z = Normals(rng);
    const Vec3& sigma = mixture.sigma[j];
    p += mixture.mean[j] + Vec3{sigma.x * z.x, sigma.y * z.y, sigma.z * z.z};
    path[i] = p;
  }
}

// A mode's mean plus a residual that is standard normal at every step and correlated along them.
void SampleMode(std::span<const Vec3> mean, std::span<const Cov3> cov, double correlation, Rng& rng,
                std::span<Vec3> path) {
  const double innovation = std::sqrt(std::max(0.0, 1 - correlation * correlation));
  Vec3 z = Normals(rng);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) z = correlation * z + innovation * Normals(rng);
    path[i] = mean[i] + Cholesky3(cov[i]).Apply(z);
  }
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
  // Unsigned: the distance of two stamps may not fit in int64.
  const std::uint64_t age_ns =
      static_cast<std::uint64_t>(t_now_ns) - static_cast<std::uint64_t>(t0_ns);
  age_s = t_now_ns > t0_ns ? static_cast<double>(age_ns) * 1e-9 : 0;
  if (age_s > stale_after_s) quality = std::max(quality, Quality::kStale);
}

void Forecast::SamplePaths(std::uint64_t seed, int n, std::span<Vec3> out) const {
  const auto s = static_cast<std::size_t>(steps_);
  AEROCAST_CHECK(n >= 0 && out.size() == static_cast<std::size_t>(n) * s);
  if (s == 0) return;
  for (std::size_t path = 0; path < static_cast<std::size_t>(n); ++path) {
    Rng rng(seed, path);
    const std::span<Vec3> line = out.subspan(path * s, s);
    if (displacement.present()) {
      // The anchor is the newest position: every mode's first mean less its first displacement.
      SampleDisplacements(displacement, mean(0, 0) - displacement.mean[0], rng, line);
      continue;
    }
    const auto k = static_cast<std::size_t>(Pick(weight_, rng.Uniform()));
    SampleMode(std::span(mean_).subspan(k * s, s), std::span(cov_).subspan(k * s, s),
               residual_correlation, rng, line);
  }
}

bool Forecast::IsValid() const {
  if (quality == Quality::kNone) return steps_ == 0 && modes_ == 0;
  if (steps_ <= 0 || modes_ <= 0 || modes_ > kMaxModes) return false;
  if (!(dt_s > 0 && std::isfinite(dt_s) && age_s >= 0)) return false;
  if (!(residual_correlation >= 0 && residual_correlation <= 1)) return false;
  return IsDistribution(weight_) && AllFinite(point_) && AllFinite(mean_) &&
         std::all_of(cov_.begin(), cov_.end(), IsPositiveDefinite) &&
         IsValidMixture(displacement, static_cast<std::size_t>(steps_)) &&
         IsValidRegions(conformal, static_cast<std::size_t>(steps_));
}

}  // namespace aerocast
