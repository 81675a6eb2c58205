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

double Spread(double log_sigma) {
  return std::exp(std::clamp(log_sigma, kLeastLogSigma, kMostLogSigma));
}

// One mode of the heads, in the frame.
struct Mode {
  std::span<const float> point, mean, log_sigma;
  int steps;

  Vec3 Mean(int i) const {  // i from 0; -1 is the newest position
    if (i < 0) return {};
    return PlusMeanCurve(i + 1) * (At(point, Size(i)) + At(mean, Size(i)));
  }
  // The horizontal direction of motion at step i, as a rotation of the x axis.
  Yaw Direction(int i) const {
    const Vec3 way = Mean(std::min(i + 1, steps - 1)) - Mean(i - 1);
    const double x = way.x + kHeadingShare, y = way.y;
    const double length = std::hypot(x, y);
    return length > 0 ? Yaw{x / length, y / length} : Yaw{};
  }
  Cov3 Cov(int i) const {
    const Vec3 s = At(log_sigma, Size(i));
    const double curve = PlusSigmaCurve(i + 1);
    const double along = curve * Spread(s.x), across = curve * Spread(s.y),
                 up = curve * Spread(s.z);
    return Direction(i).Rotate(Cov3::Diagonal(along * along, across * across, up * up));
  }
};

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
  AEROCAST_CHECK(forecast.steps() == config.horizon_steps && forecast.modes() == config.components);
  const std::size_t path = 3 * Size(config.horizon_steps), all = path * Size(config.components);
  const std::span<const float> point = heads.first(path), means = heads.subspan(path, all),
                               log_sigmas = heads.subspan(path + all, all);
  Softmax(heads.last(Size(config.components)), forecast.weights());
  for (int i = 0; i < config.horizon_steps; ++i) {
    forecast.point(i) = frame.ToWorld(PlusMeanCurve(i + 1) * At(point, Size(i)));
  }
  const double area = frame.scale * frame.scale;
  for (int k = 0; k < config.components; ++k) {
    const Mode mode = {point, means.subspan(Size(k) * path, path),
                       log_sigmas.subspan(Size(k) * path, path), config.horizon_steps};
    for (int i = 0; i < config.horizon_steps; ++i) {
      forecast.mean(k, i) = frame.ToWorld(mode.Mean(i));
      forecast.cov(k, i) = frame.to_world.Rotate(mode.Cov(i)) * area;
    }
  }
}

}  // namespace aerocast
