// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/plus_loss.h"

#include <torch/torch.h>

#include <cmath>
#include <numbers>

#include "src/forecast/plus.h"

namespace aerocast {
namespace {

const double kLnSqrt2Pi = 0.5 * std::log(2 * std::numbers::pi);
constexpr double kUsualStep = 0.07;  // metres: what speed_power weighs against

torch::Tensor Curve(int steps, double (*at)(int)) {
  torch::Tensor curve = torch::empty({steps});
  for (int i = 0; i < steps; ++i) curve[i] = static_cast<float>(at(i + 1));
  return curve;
}

// Length of the last dimension's vectors; its gradient at zero is zero.
torch::Tensor Length(const torch::Tensor& v) { return (v.square().sum(-1) + 1e-12).sqrt(); }

// The paths as DecodePlus makes them, in the frame.
struct Paths {
  torch::Tensor point;      // (B, S, 3)
  torch::Tensor mean;       // (B, K, S, 3)
  torch::Tensor log_sigma;  // (B, K, S, 3): of sigma over its curve
  torch::Tensor curve;      // (S, 1): sigma's
};

Paths MakePaths(const Heads& heads, const ModelConfig& model) {
  const torch::Tensor curve = Curve(model.horizon_steps, PlusMeanCurve).unsqueeze(-1);
  Paths paths;
  paths.point = heads.point * curve;
  paths.mean = paths.point.detach().unsqueeze(1) + heads.mean * curve;
  paths.log_sigma = heads.log_sigma.clamp(kLeastLogSigma, kMostLogSigma);
  paths.curve = Curve(model.horizon_steps, PlusSigmaCurve).unsqueeze(-1);
  return paths;
}

// The modes' horizontal directions of motion, as DecodePlus has them: (B, K, S, 2).
torch::Tensor Directions(const torch::Tensor& mean) {
  const torch::NoGradGuard no_grad;
  const std::int64_t steps = mean.size(2);
  const torch::Tensor before =
      torch::cat({torch::zeros_like(mean.narrow(2, 0, 1)), mean.narrow(2, 0, steps - 1)}, 2);
  const torch::Tensor after =
      torch::cat({mean.narrow(2, 1, steps - 1), mean.narrow(2, steps - 1, 1)}, 2);
  const torch::Tensor x = (after - before).select(-1, 0) + kHeadingShare;
  const torch::Tensor y = (after - before).select(-1, 1);
  const torch::Tensor length = (x.square() + y.square()).sqrt().clamp_min(1e-12);
  return torch::stack({x / length, y / length}, -1);
}

// Along, across and above: (B, K, S, 3).
torch::Tensor Turned(const torch::Tensor& residual, const torch::Tensor& direction) {
  const torch::Tensor c = direction.select(-1, 0), s = direction.select(-1, 1);
  const torch::Tensor x = residual.select(-1, 0), y = residual.select(-1, 1);
  return torch::stack({c * x + s * y, c * y - s * x, residual.select(-1, 2)}, -1);
}

// How much of each window belongs to each mode, (B, K).
torch::Tensor Assign(const torch::Tensor& ade, const TrainConfig& train, double progress) {
  const double temperature =
      train.assign_until > 0
          ? train.assign_temperature * std::max(0.0, 1 - progress / train.assign_until)
          : 0;
  if (temperature > 1e-3) return torch::softmax(-ade / temperature, -1);
  return torch::one_hot(ade.argmin(-1), ade.size(-1)).to(torch::kFloat32);
}

}  // namespace

PlusLoss EvaluatePlusLoss(const Heads& heads, const torch::Tensor& targets,
                          const ModelConfig& model, const TrainConfig& train, double progress) {
  const std::int64_t steps = model.horizon_steps;
  const torch::Tensor target = targets.narrow(1, 0, 3 * steps).view({-1, steps, 3});
  const torch::Tensor metres = targets.select(1, 3 * steps);  // (B)
  const Paths paths = MakePaths(heads, model);
  const torch::Tensor importance = train.speed_power > 0
                                       ? (metres / kUsualStep).clamp(0.2, 3).pow(train.speed_power)
                                       : torch::ones_like(metres);

  const torch::Tensor point_ade = Length(target - paths.point).mean(-1);  // (B)
  const torch::Tensor residual = target.unsqueeze(1) - paths.mean;        // (B, K, S, 3)
  const torch::Tensor assigned =
      Assign(Length(residual).mean(-1).detach(), train, progress);  // (B, K)

  const torch::Tensor direction = Directions(paths.mean);
  const torch::Tensor z = Turned(residual, direction) / paths.curve * (-paths.log_sigma).exp();
  const torch::Tensor nll = 0.5 * z.square() + paths.log_sigma;  // (B, K, S, 3)
  const torch::Tensor weight = (2 * train.beta * paths.log_sigma).exp().detach();
  const torch::Tensor mode_loss = (assigned * (weight * nll).sum(-1).mean(-1)).sum(-1);  // (B)
  const torch::Tensor log_weight = torch::log_softmax(heads.logit, -1);
  const torch::Tensor logit_loss = -(assigned * log_weight).sum(-1);  // (B)

  PlusLoss loss;
  loss.total =
      (importance * (point_ade + train.mode_weight * mode_loss + train.logit_weight * logit_loss))
          .mean();
  const torch::NoGradGuard no_grad;
  const torch::Tensor density =
      (-nll - paths.curve.log() - kLnSqrt2Pi).sum(-1) + log_weight.unsqueeze(-1);  // (B, K, S)
  loss.nll = -torch::logsumexp(density, 1).mean().item<double>();
  loss.ade_m = (point_ade * metres).mean().item<double>();
  return loss;
}

}  // namespace aerocast
