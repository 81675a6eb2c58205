// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/made_up_tokens.h"

#include <cmath>
#include <numbers>

#include "src/base/rng.h"
#include "src/forecast/network_forecaster.h"

namespace aerocast {
namespace {

constexpr double kNoiseM = 1e-3;

std::vector<Vec3> MadeUpFlight(const ModelConfig& config, double fastest, Rng rng) {
  const double speed = rng.Uniform(0.5, fastest), climb = rng.Uniform(-0.3, 0.3) * speed;
  const double radius = rng.Uniform(0.8, fastest);
  const double turn = (rng.Chance(0.5) ? 1 : -1) * speed / radius;
  const double phase = rng.Uniform(0, 2 * std::numbers::pi);
  std::vector<Vec3> grid;
  for (int i = 0; i <= config.history_steps; ++i) {
    const double t = i * config.dt_s, angle = phase + turn * t;
    grid.push_back({radius * std::cos(angle) + kNoiseM * rng.Normal(),
                    radius * std::sin(angle) + kNoiseM * rng.Normal(),
                    1.5 + climb * t + kNoiseM * rng.Normal()});
  }
  return grid;
}

}  // namespace

std::vector<float> MadeUpTokens(const ModelConfig& config, std::uint64_t seed, int windows,
                                double fastest) {
  const auto size = static_cast<std::size_t>(config.tokens() * config.inputs());
  std::vector<float> tokens(static_cast<std::size_t>(windows) * size);
  std::span<float> rest = tokens;
  for (int w = 0; w < windows; ++w, rest = rest.subspan(size)) {
    WholeTokens(MadeUpFlight(config, fastest, Rng(seed, static_cast<std::uint64_t>(w))), kNoiseM,
                config, rest.first(size));
  }
  return tokens;
}

}  // namespace aerocast
