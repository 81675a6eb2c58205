// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/tracking.h"

#include <cmath>

namespace aerocast {
namespace {

// Normal, cut at two standard deviations: a flight's gains stay among those seen.
double CutNormal(Rng& rng, double mean, double std) {
  return mean + std * std::clamp(rng.Normal(), -2.0, 2.0);
}

Vec3 Limit(const Vec3& v, double length) {
  const double norm = Norm(v);
  return norm > length ? v * (length / norm) : v;
}

double ClipCommand(const AxisGains& gains, double error) {
  return std::clamp(gains.kp * error, -gains.vmax, gains.vmax);
}

}  // namespace

TrackingModel DrawArenaTracking(Rng& rng) {
  TrackingModel model;
  model.horizontal.kp = CutNormal(rng, kFlightKpMean, kFlightKpStd);
  model.horizontal.kv = CutNormal(rng, kFlightKvMean, kFlightKvStd);
  model.vertical.kp *= CutNormal(rng, 1, 0.1);
  model.vertical.kv *= CutNormal(rng, 1, 0.1);
  model.residual_xy_m *= rng.Uniform(0.7, 1.3);
  model.residual_z_m *= rng.Uniform(0.7, 1.3);
  model.sag_m = kSagM * rng.Uniform(0, 2);
  return model;
}

double GustStd(const AxisGains& gains, double residual_m, double time_s) {
  // Variance of the output of 1 / ((s + b)(s^2 + a1 s + a0)) driven by white noise of strength
  // 2 b std^2, by the third-order integral of James, Nichols and Phillips (1947), I3.
  const double b = 1 / time_s, a1 = gains.kv, a0 = gains.kv * gains.kp;
  const double c2 = a1 + b, c1 = a0 + a1 * b, c0 = a0 * b;
  const double variance_of_unit = 2 * b * c2 / (2 * c0 * (c1 * c2 - c0));
  return residual_m / std::sqrt(variance_of_unit);
}

std::vector<Vec3> DrawGusts(const TrackingModel& model, Rng& rng, std::size_t n) {
  const double std_xy = GustStd(model.horizontal, model.residual_xy_m, kGustTimeXyS);
  const double std_z = GustStd(model.vertical, model.residual_z_m, kGustTimeZS);
  const double keep_xy = std::exp(-kSimStepS / kGustTimeXyS);
  const double keep_z = std::exp(-kSimStepS / kGustTimeZS);
  const double fresh_xy = std_xy * std::sqrt(1 - keep_xy * keep_xy);
  const double fresh_z = std_z * std::sqrt(1 - keep_z * keep_z);
  const auto normals = [&rng] {
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    return Vec3{x, y, z};
  };
  Vec3 gust = normals();
  gust = {std_xy * gust.x, std_xy * gust.y, std_z * gust.z};
  std::vector<Vec3> gusts(n);
  for (Vec3& out : gusts) {
    out = gust;
    const Vec3 w = normals();
    gust = {keep_xy * gust.x + fresh_xy * w.x, keep_xy * gust.y + fresh_xy * w.y,
            keep_z * gust.z + fresh_z * w.z};
  }
  return gusts;
}

void Tracker::Step(const Vec3& set_point, const Vec3& gust) {
  const AxisGains &h = model_.horizontal, &u = model_.vertical;
  const Vec3 error = set_point - p_;
  const Vec3 command =
      Limit({ClipCommand(h, error.x), ClipCommand(h, error.y), ClipCommand(u, error.z)},
            model_.speed_limit);
  const Vec3 wanted{h.kv * (command.x - v_.x), h.kv * (command.y - v_.y),
                    u.kv * (command.z - v_.z)};
  v_ += Limit(wanted + gust, model_.accel_limit) * kSimStepS;
  p_ += v_ * kSimStepS;
}

}  // namespace aerocast
