// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/golden.h"

#include <torch/torch.h>

#include "src/eval/made_up_tokens.h"

namespace aerocast {
namespace {

constexpr double kFastest = 3;  // m/s

}  // namespace
Status WriteGolden(const std::filesystem::path& file, const Network& network, std::uint64_t seed,
                   int batch) {
  const torch::NoGradGuard no_grad;
  const ModelConfig& config = network.config();
  std::vector<std::pair<std::string, torch::Tensor>> parts;
  const auto add = [&](const std::string& name, const torch::Tensor& value) {
    parts.emplace_back(name, value.contiguous());
  };
  const torch::Tensor tokens = torch::tensor(MadeUpTokens(config, seed, batch, kFastest))
                                   .view({batch, config.tokens(), config.inputs()});
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
  if (config.plus()) add("heads.point", heads.point);
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
