// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/network.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/train/trunk.h"

namespace aerocast {
namespace {

// Xavier uniform for matrices, one for the weights of norms, zero for the rest.
void Initialise(const TensorSpec& spec, Rng rng, float* data) {
  const std::size_t n = spec.size();
  if (spec.shape.size() == 2) {
    const double a = std::sqrt(6.0 / static_cast<double>(spec.shape[0] + spec.shape[1]));
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<float>(rng.Uniform(-a, a));
  } else {
    std::fill_n(data, n, spec.name.ends_with(".weight") ? 1.f : 0.f);
  }
}

}  // namespace

Network::Network(const ModelConfig& config, std::uint64_t seed) : config_(config) {
  const auto size = static_cast<std::int64_t>(ParameterCount(config));
  flat_ = torch::empty({size});
  flat_grad_ = torch::zeros({size});
  std::int64_t at = 0;
  std::uint64_t stream = 0;
  for (const TensorSpec& spec : TensorsOf(config)) {
    const auto n = static_cast<std::int64_t>(spec.size());
    Initialise(spec, Rng(seed, stream++), flat_.data_ptr<float>() + at);
    torch::Tensor parameter = flat_.narrow(0, at, n).view(spec.shape).detach();
    parameter.set_requires_grad(true);
    // Backward adds to a gradient that is there, in place.
    parameter.mutable_grad() = flat_grad_.narrow(0, at, n).view(spec.shape);
    parameters_.emplace(spec.name, parameter);
    at += n;
  }
  if (config.architecture == Architecture::kTransformer && config.positional_encoding) {
    std::vector<float> table = PositionTable(config);
    positions_ = torch::from_blob(table.data(), {config.tokens(), config.width}).clone();
  }
}

const torch::Tensor& Network::parameter(const std::string& name) const {
  const auto found = parameters_.find(name);
  AEROCAST_CHECK(found != parameters_.end());
  return found->second;
}

Heads Network::Forward(const torch::Tensor& tokens, const ForwardOptions& options) const {
  AEROCAST_CHECK(tokens.dim() == 3 && tokens.size(1) == config_.tokens() &&
                 tokens.size(2) == config_.inputs());
  AEROCAST_CHECK(options.history >= 0 && options.history <= config_.tokens());
  const torch::Tensor context = Trunk(*this, tokens, positions_, options);
  if (options.trace) options.trace("context", context);

  const std::int64_t batch = tokens.size(0), steps = config_.horizon_steps, k = config_.components;
  torch::Tensor damped = context;
  if (options.sigma_gradient < 1) {
    damped = context.detach() + options.sigma_gradient * (context - context.detach());
  }
  const auto head = [&](const std::string& name, const torch::Tensor& x) {
    return Linear(*this, "heads." + name, x);
  };
  Heads heads = {{}, head("mean", context), head("log_sigma", damped), head("logit", context)};
  if (config_.plus()) {
    heads.point = head("point", context).view({batch, steps, 3});
    heads.mean = heads.mean.view({batch, k, steps, 3});
    heads.log_sigma = heads.log_sigma.view({batch, k, steps, 3});
  } else {
    heads.mean = heads.mean.view({batch, steps, k, 3});
    heads.log_sigma = heads.log_sigma.view({batch, steps, k, 3});
    heads.logit = heads.logit.view({batch, steps, k});
  }
  return heads;
}

torch::Tensor Heads::Flat() const {
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& part : {point, mean, log_sigma, logit}) {
    if (part.defined()) parts.push_back(part.flatten(1));
  }
  return torch::cat(parts, 1);
}

std::vector<Tensor> Network::Export(const torch::Tensor& flat) const {
  AEROCAST_CHECK(flat.numel() == flat_.numel() && flat.is_contiguous());
  const float* data = flat.data_ptr<float>();
  std::vector<Tensor> tensors;
  for (const TensorSpec& spec : TensorsOf(config_)) {
    tensors.push_back({spec.name, spec.shape, {data, data + spec.size()}});
    data += spec.size();
  }
  return tensors;
}

void Network::Load(const std::vector<Tensor>& tensors) {
  const std::vector<TensorSpec> specs = TensorsOf(config_);
  AEROCAST_CHECK(tensors.size() == specs.size());
  float* out = flat_.data_ptr<float>();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    AEROCAST_CHECK(tensors[i].name == specs[i].name && tensors[i].shape == specs[i].shape &&
                   tensors[i].data.size() == specs[i].size());
    out = std::copy(tensors[i].data.begin(), tensors[i].data.end(), out);
  }
}

}  // namespace aerocast
