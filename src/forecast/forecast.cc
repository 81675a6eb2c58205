// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/forecast/residuals.h"

namespace aerocast {
namespace {

// Modes that end within two standard deviations of each other are one way the future may go.
bool AreOneWay(const Forecast& f, int a, int b) {
  const int last = f.steps() - 1;
  const Cholesky3 spread(f.cov(a, last) + f.cov(b, last));
  return spread.ok && SquaredNorm(spread.Whiten(f.mean(a, last) - f.mean(b, last))) < 4;
}

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

// Vectors that are copied alone lose their capacity.
template <typename T>
void CopyWithRoom(const T& from, T& to) {
  to.reserve(from.capacity());
  to = from;
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
  return AllFinite(mixture.mean) && IsFinite(mixture.anchor) &&
         std::all_of(mixture.sigma.begin(), mixture.sigma.end(), positive);
}

bool IsValidRegions(const ConformalRegions& regions, std::size_t steps) {
  const std::size_t l = regions.level.size();
  const bool has_tube = !regions.tube.empty() || !regions.shape.empty();
  if (regions.radius.size() != l * steps) return false;
  if (has_tube && (regions.tube.size() != l || regions.shape.size() != steps)) return false;
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

std::string_view CutId(std::string_view id) {
  if (id.size() <= kMaxIdLength) return id;
  const auto continues = [&](std::size_t n) {  // byte n belongs to the character before it
    return (static_cast<unsigned char>(id[n]) & 0xC0) == 0x80;
  };
  std::size_t n = kMaxIdLength;
  while (n + 3 > kMaxIdLength && continues(n)) --n;
  return id.substr(0, continues(n) ? kMaxIdLength : n);  // what is no UTF-8 is cut anywhere
}

Forecast& Forecast::operator=(const Forecast& other) {
  CopyWithRoom(other.id, id);
  t0_ns = other.t0_ns, dt_s = other.dt_s, quality = other.quality, age_s = other.age_s;
  residual_correlation = other.residual_correlation;
  paired_modes = other.paired_modes, residuals = other.residuals;
  steps_ = other.steps_, modes_ = other.modes_;
  CopyWithRoom(other.point_, point_), CopyWithRoom(other.weight_, weight_);
  CopyWithRoom(other.mean_, mean_), CopyWithRoom(other.cov_, cov_);

  const DisplacementMixture& d = other.displacement;
  displacement.components = d.components, displacement.anchor = d.anchor;
  displacement.sigma_floor_m = d.sigma_floor_m, displacement.scale_m = d.scale_m;
  CopyWithRoom(d.weight, displacement.weight), CopyWithRoom(d.mean, displacement.mean);
  CopyWithRoom(d.sigma, displacement.sigma);

  const ConformalRegions& c = other.conformal;
  CopyWithRoom(c.level, conformal.level), CopyWithRoom(c.radius, conformal.radius);
  CopyWithRoom(c.tube, conformal.tube), CopyWithRoom(c.shape, conformal.shape);
  return *this;
}

void Forecast::Reserve(const ForecastShape& capacity) {
  AEROCAST_CHECK(capacity.steps > 0 && capacity.modes > 0 && capacity.modes <= kMaxModes);
  const auto s = static_cast<std::size_t>(capacity.steps);
  const auto k = static_cast<std::size_t>(capacity.modes);
  const auto c = static_cast<std::size_t>(capacity.displacement_components);
  const auto l = static_cast<std::size_t>(capacity.conformal_levels);
  id.reserve(kMaxIdLength);
  // Written to, not only reserved: the first forecast shall fault no page.
  const auto touch = [](auto& v, std::size_t n) {
    const std::size_t used = v.size();
    v.resize(std::max(n, used)), v.resize(used);
  };
  touch(point_, s), touch(weight_, k), touch(mean_, k * s), touch(cov_, k * s);
  touch(displacement.weight, s * c), touch(displacement.mean, s * c);
  touch(displacement.sigma, s * c);
  touch(conformal.level, l), touch(conformal.radius, l * s), touch(conformal.tube, l);
  touch(conformal.shape, l > 0 ? s : 0);
}

void Forecast::Reset(const ForecastShape& shape, std::string_view object_id, TimeNs t0, double dt) {
  id.assign(CutId(object_id));
  t0_ns = t0, dt_s = dt, quality = Quality::kOk, age_s = 0;
  steps_ = shape.steps, modes_ = shape.modes;
  const auto s = static_cast<std::size_t>(steps_);
  const auto k = static_cast<std::size_t>(modes_);
  const auto c = static_cast<std::size_t>(shape.displacement_components);
  const auto l = static_cast<std::size_t>(shape.conformal_levels);
  point_.assign(s, {}), weight_.assign(k, 0), mean_.assign(k * s, {}), cov_.assign(k * s, {});
  displacement.components = shape.displacement_components;
  displacement.anchor = {}, displacement.sigma_floor_m = 0, displacement.scale_m = 1;
  displacement.weight.assign(s * c, 0), displacement.mean.assign(s * c, {});
  displacement.sigma.assign(s * c, {});
  conformal.level.assign(l, 0), conformal.radius.assign(l * s, 0), conformal.tube.assign(l, 0);
  conformal.shape.assign(l > 0 ? s : 0, 0);
  residual_correlation = 0.98;
  paired_modes = false, residuals.reset();
}

void Forecast::ResizeModes(int modes) {
  AEROCAST_CHECK(modes >= 0 && modes <= kMaxModes);
  modes_ = modes;
  const auto k = static_cast<std::size_t>(modes), s = static_cast<std::size_t>(steps_);
  weight_.resize(k), mean_.resize(k * s), cov_.resize(k * s);
}

void Forecast::MakeNone(std::string_view object_id, TimeNs t0, double dt) {
  Reset({.steps = 0, .modes = 0}, object_id, t0, dt);
  quality = Quality::kNone;
}

double Forecast::way_weight(int k) const {
  if (!paired_modes) return weight(k);
  const int half = modes_ / 2;
  return weight(k) + weight(k < half ? k + half : k - half);
}

double Forecast::mode_entropy() const {
  std::array<double, kMaxModes> weight{};  // of the ways, at their first modes
  const int ways = paired_modes ? modes_ / 2 : modes_;
  double entropy = 0;
  for (int k = 0; k < ways; ++k) {
    int first = 0;
    while (first < k &&
           (weight[static_cast<std::size_t>(first)] == 0 || !AreOneWay(*this, first, k))) {
      ++first;
    }
    weight[static_cast<std::size_t>(first)] += way_weight(k);
  }
  for (const double w : weight) {
    if (w > 0) entropy -= w * std::log(w);
  }
  return entropy;
}

int Forecast::most_likely_mode() const {
  return static_cast<int>(std::max_element(weight_.begin(), weight_.end()) - weight_.begin());
}

Vec3 Forecast::mixture_mean(int i) const {
  if (modes_ == 0) return point(i);
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
    if (residuals && modes_ > 0) {
      const int way = Pick(weight_, rng.Uniform());
      const std::uint64_t residual = rng.Below(static_cast<std::uint64_t>(residuals->paths));
      LayResidual(*this, paired_modes ? way % (modes_ / 2) : way, *residuals, residual, line);
      continue;
    }
    if (displacement.present()) {
      SampleDisplacements(displacement, displacement.anchor, rng, line);
      continue;
    }
    if (modes_ == 0) {
      std::copy(point_.begin(), point_.end(), line.begin());
      continue;
    }
    const auto k = static_cast<std::size_t>(Pick(weight_, rng.Uniform()));
    SampleMode(std::span(mean_).subspan(k * s, s), std::span(cov_).subspan(k * s, s),
               residual_correlation, rng, line);
  }
}

bool Forecast::IsValid() const {
  if (quality == Quality::kNone) return steps_ == 0 && modes_ == 0;
  if (steps_ <= 0 || modes_ < 0 || modes_ > kMaxModes) return false;
  if (!(dt_s > 0 && std::isfinite(dt_s) && age_s >= 0)) return false;
  if (!(residual_correlation >= 0 && residual_correlation <= 1)) return false;
  if (paired_modes && modes_ % 2 != 0) return false;
  if (residuals && (residuals->steps != steps_ || residuals->paths < 1)) return false;
  return (modes_ == 0 || IsDistribution(weight_)) && AllFinite(point_) && AllFinite(mean_) &&
         std::all_of(cov_.begin(), cov_.end(), IsPositiveDefinite) &&
         IsValidMixture(displacement, static_cast<std::size_t>(steps_)) &&
         IsValidRegions(conformal, static_cast<std::size_t>(steps_));
}

}  // namespace aerocast
