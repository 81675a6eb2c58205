// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/parity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/base/rng.h"
#include "src/forecast/network_forecaster.h"

namespace aerocast {
namespace {

// A helix at 0.5 ... 20 m/s with a millimetre of noise: T + 1 positions.
std::vector<Vec3> MadeUpFlight(const ModelConfig& config, Rng rng) {
  const double speed = rng.Uniform(0.5, 20), climb = rng.Uniform(-0.3, 0.3) * speed;
  const double radius = rng.Uniform(0.8, 30), turn = (rng.Chance(0.5) ? 1 : -1) * speed / radius;
  const double phase = rng.Uniform(0, 2 * std::numbers::pi);
  std::vector<Vec3> grid;
  for (int i = 0; i <= config.history_steps; ++i) {
    const double t = i * config.dt_s, angle = phase + turn * t;
    grid.push_back({radius * std::cos(angle) + 1e-3 * rng.Normal(),
                    radius * std::sin(angle) + 1e-3 * rng.Normal(),
                    1.5 + climb * t + 1e-3 * rng.Normal()});
  }
  return grid;
}

}  // namespace

Parity Compare(std::span<const float> a, std::span<const float> b, int windows) {
  Parity parity;
  parity.windows = windows;
  if (a.size() != b.size()) parity.absolute = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    parity.absolute =
        std::max(parity.absolute,
                 std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity());
    parity.largest = std::max(parity.largest, std::abs(double{b[i]}));
  }
  return parity;
}

std::vector<float> MadeUpTokens(const ModelConfig& config, std::uint64_t seed, int windows) {
  const std::size_t size = static_cast<std::size_t>(config.history_steps * config.inputs());
  std::vector<float> tokens(static_cast<std::size_t>(windows) * size);
  std::span<float> rest = tokens;
  for (int w = 0; w < windows; ++w, rest = rest.subspan(size)) {
    PaperTokens(MadeUpFlight(config, Rng(seed, static_cast<std::uint64_t>(w))), config,
                rest.first(size));
  }
  return tokens;
}

}  // namespace aerocast
