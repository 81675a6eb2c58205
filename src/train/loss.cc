// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/loss.h"

#include <torch/torch.h>

#include <cmath>
#include <numbers>

namespace aerocast {
namespace {

const double kLnSqrt2Pi = 0.5 * std::log(2 * std::numbers::pi);

double LogFloor(const ModelConfig& config) {
  return std::log(config.sigma_min_m / config.lambda_m);
}

// The mean of the component with the largest weight, (B, S, 3).
torch::Tensor HeaviestMean(const Heads& heads) {
  const torch::Tensor k = heads.logit.argmax(-1, /*keepdim=*/true).unsqueeze(-1);  // (B, S, 1, 1)
  return heads.mean.gather(2, k.expand({-1, -1, 1, 3})).squeeze(2);
}

// Log-density of each component at the target, (B, S, K), with the floor under sigma. The clamps
// keep absurd heads finite: sigma below e^40, an error below 1e18 sigma, whose square a float
// holds.
torch::Tensor ComponentLogDensity(const Heads& heads, const torch::Tensor& targets,
                                  const ModelConfig& config) {
  const torch::Tensor log_sigma = heads.log_sigma.clamp(LogFloor(config), 40);
  const torch::Tensor z =
      ((targets.unsqueeze(2) - heads.mean) * (-log_sigma).exp()).clamp(-1e18, 1e18);
  return (-0.5 * z * z - log_sigma).sum(-1) - 3 * kLnSqrt2Pi;
}

}  // namespace

Loss MixtureLoss(const Heads& heads, const torch::Tensor& targets, const ModelConfig& config,
                 double mse_weight) {
  const torch::Tensor log_weight = torch::log_softmax(heads.logit, -1);
  const torch::Tensor log_density = ComponentLogDensity(heads, targets, config);
  Loss loss;
  loss.nll = -torch::logsumexp(log_weight + log_density, -1).mean();
  loss.mse = (targets - HeaviestMean(heads)).square().sum(-1).mean();
  loss.total = loss.nll + mse_weight * loss.mse;
  return loss;
}

torch::Tensor PointError(const Heads& heads, const torch::Tensor& targets,
                         const ModelConfig& config) {
  const torch::Tensor path_error = (HeaviestMean(heads) - targets).cumsum(1);
  return config.lambda_m * path_error.norm(2, -1).mean(1);
}

double LowestNll(const ModelConfig& config) { return 3 * (LogFloor(config) + kLnSqrt2Pi); }

}  // namespace aerocast
