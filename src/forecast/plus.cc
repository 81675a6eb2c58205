// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/plus.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/forecast/network_forecaster.h"

namespace aerocast {
namespace {

std::size_t Size(int n) { return static_cast<std::size_t>(n); }

Vec3 At(std::span<const float> numbers, std::size_t i) {
  return {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
}

// The covariance in the axes of the direction.
Cov3 Spread(double curve, const Vec3& log_sigma) {
  const auto variance = [&](double x) {
    const double sigma = curve * std::exp(std::clamp(x, kLeastLogSigma, kMostLogSigma));
    return sigma * sigma;
  };
  return Cov3::Diagonal(variance(log_sigma.x), variance(log_sigma.y), variance(log_sigma.z));
}

// The horizontal direction of mode k at step i, as a rotation of the x axis; its means are still in
// the frame.
Yaw Direction(const Forecast& forecast, int k, int i) {
  const Vec3 before = i > 0 ? forecast.mean(k, i - 1) : Vec3{};
  const Vec3 way = forecast.mean(k, std::min(i + 1, forecast.steps() - 1)) - before;
  const double x = way.x + kHeadingShare, y = way.y;
  const double length = std::hypot(x, y);
  return length > 0 ? Yaw{x / length, y / length} : Yaw{};
}

}  // namespace

PlusSpec PlusSpecOf(const ModelConfig& config) {
  const PlusSpec spec = {config.history_steps, config.patch, config.positions, config.told_least_m,
                         config.told_most_m};
  AEROCAST_CHECK(spec.inputs() == config.inputs());
  return spec;
}

void DecodePlus(std::span<const float> heads, const ModelConfig& config, const PlusFrame& frame,
                Forecast& forecast) {
  AEROCAST_CHECK(heads.size() == Size(config.outputs()));
  AEROCAST_CHECK(forecast.steps() == config.horizon_steps && forecast.modes() == config.modes());
  const int steps = config.horizon_steps, modes = config.modes();
  const std::size_t path = 3 * Size(steps), all = path * Size(modes);
  const std::span<const float> point = heads.first(path), means = heads.subspan(path, all),
                               log_sigmas = heads.subspan(path + all, all);
  const auto row = [&](int k, int i) { return Size(k) * Size(steps) + Size(i); };
  Softmax(heads.last(Size(modes)), forecast.weights());
  for (int i = 0; i < steps; ++i) {
    const double curve = PlusMeanCurve(i + 1);
    const Vec3 at = At(point, Size(i));
    forecast.point(i) = frame.ToWorld(curve * at);
    for (int k = 0; k < modes; ++k) forecast.mean(k, i) = curve * (at + At(means, row(k, i)));
  }
  const double area = frame.scale * frame.scale;
  for (int i = 0; i < steps; ++i) {
    const double curve = PlusSigmaCurve(i + 1);
    for (int k = 0; k < modes; ++k) {
      const Cov3 cov = Spread(curve, At(log_sigmas, row(k, i)));
      forecast.cov(k, i) = frame.to_world.Rotate(Direction(forecast, k, i).Rotate(cov)) * area;
    }
  }
  for (int k = 0; k < modes; ++k) {
    for (int i = 0; i < steps; ++i) forecast.mean(k, i) = frame.ToWorld(forecast.mean(k, i));
  }
}

}  // namespace aerocast
