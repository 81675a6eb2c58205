// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/golden.h"

#include <torch/torch.h>

#include <cmath>
#include <numbers>

#include "src/base/rng.h"
#include "src/forecast/network_forecaster.h"

namespace aerocast {
namespace {

// A helix at 0.5 ... 3 m/s with a millimetre of noise: T + 1 positions.
std::vector<Vec3> MadeUpFlight(const ModelConfig& config, Rng rng) {
  const double speed = rng.Uniform(0.5, 3), climb = rng.Uniform(-0.3, 0.3) * speed;
  const double radius = rng.Uniform(0.8, 3), turn = (rng.Chance(0.5) ? 1 : -1) * speed / radius;
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

torch::Tensor MadeUpTokens(const ModelConfig& config, std::uint64_t seed, int batch) {
  torch::Tensor tokens = torch::empty({batch, config.history_steps, config.inputs()});
  const std::size_t size = static_cast<std::size_t>(config.history_steps) * config.inputs();
  float* out = tokens.data_ptr<float>();
  for (int b = 0; b < batch; ++b, out += size) {
    PaperTokens(MadeUpFlight(config, Rng(seed, b)), config, {out, size});
  }
  return tokens;
}

}  // namespace

Status WriteGolden(const std::filesystem::path& file, const Network& network, std::uint64_t seed,
                   int batch) {
  const torch::NoGradGuard no_grad;
  const ModelConfig& config = network.config();
  std::vector<std::pair<std::string, torch::Tensor>> parts;
  const auto add = [&](const std::string& name, const torch::Tensor& value) {
    parts.emplace_back(name, value.contiguous());
  };
  const torch::Tensor tokens = MadeUpTokens(config, seed, batch);
  add("tokens", tokens);
  for (const TensorSpec& spec : TensorsOf(config)) {
    add("weights." + spec.name, network.parameter(spec.name));
  }
  ForwardOptions options;
  options.pruned = false;
  options.trace = [&](const std::string& name, const torch::Tensor& value) {
    add("activations." + name, value);
  };
  const Heads heads = network.Forward(tokens, options);
  add("heads.mean", heads.mean), add("heads.log_sigma", heads.log_sigma);
  add("heads.logit", heads.logit);

  std::vector<TensorView> views;
  for (const auto& [name, value] : parts) {
    views.push_back({name,
                     value.sizes().vec(),
                     {value.data_ptr<float>(), static_cast<std::size_t>(value.numel())}});
  }
  return WriteTensorFile(file, {{"format", "aerocast-golden"}, {"config", ToJson(config)}}, views);
}

}  // namespace aerocast
