// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/plus_loss.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "src/eval/metrics.h"
#include "src/forecast/network_forecaster.h"
#include "src/forecast/plus.h"
#include "src/train/test_network.h"

namespace aerocast {
namespace {

ModelConfig Config() {
  ModelConfig config = TinyNamed("plus");
  config.components = 3;
  return config;
}

Heads RandomHeads(const ModelConfig& c, int batch, std::uint64_t seed) {
  return {RandomNormal({batch, c.horizon_steps, 3}, 0.7, seed),
          RandomNormal({batch, c.components, c.horizon_steps, 3}, 0.3, seed + 1),
          RandomNormal({batch, c.components, c.horizon_steps, 3}, 0.5, seed + 2),
          RandomNormal({batch, c.components}, 1, seed + 3)};
}

// Positions of order the curve, then the scale.
torch::Tensor RandomPlusTargets(const ModelConfig& c, int batch, std::uint64_t seed) {
  torch::Tensor targets = RandomNormal({batch, 3 * c.horizon_steps + 1}, 2, seed);
  targets.select(1, 3 * c.horizon_steps).fill_(0.07);
  return targets;
}

// The trainer's density is that of the forecast the runtime makes of the same heads.
TEST(PlusLoss, SaysTheDensityOfTheForecast) {
  const ModelConfig config = Config();
  const TrainConfig train;
  PlusFrame frame;
  frame.origin = {3, -4, 5}, frame.to_world = Yaw::FromAngle(0.8), frame.scale = 0.07;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Heads heads = RandomHeads(config, 1, 10 * seed);
    const torch::Tensor targets = RandomPlusTargets(config, 1, 10 * seed + 5);
    const PlusLoss loss = EvaluatePlusLoss(heads, targets, config, train, 0.5);
    const torch::Tensor flat = heads.Flat().contiguous();
    Forecast forecast;
    forecast.Reset(NetworkShape(config), "", 0, 0.1);
    DecodePlus({flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())}, config, frame,
               forecast);
    std::vector<Vec3> means(3);
    std::vector<Cov3> covs(3);
    double nll = 0, ade = 0;
    const float* y = targets.data_ptr<float>();
    for (int i = 0; i < config.horizon_steps; ++i, y += 3) {
      const Vec3 target = frame.ToWorld({y[0], y[1], y[2]});
      for (int k = 0; k < 3; ++k) {
        means[static_cast<std::size_t>(k)] = forecast.mean(k, i);
        covs[static_cast<std::size_t>(k)] = forecast.cov(k, i);
      }
      nll += MixtureNll(forecast.weights(), means, covs, target) / config.horizon_steps;
      ade += Norm(target - forecast.point(i)) / config.horizon_steps;
    }
    EXPECT_NEAR(loss.nll, nll - 3 * std::log(frame.scale), 1e-4 * std::abs(nll) + 1e-4);
    EXPECT_NEAR(loss.ade_m, ade, 1e-5);
  }
}

TEST(PlusLoss, GradientsAreThoseOfFiniteDifferences) {
  const ModelConfig config = Config();
  TrainConfig train;
  train.beta = 0;  // its weights are not differentiated
  for (const double progress : {0.1, 0.9}) {
    Heads heads = RandomHeads(config, 2, 3);
    const torch::Tensor targets = RandomPlusTargets(config, 2, 4);
    for (torch::Tensor* head : {&heads.mean, &heads.log_sigma, &heads.logit, &heads.point}) {
      head->requires_grad_(true);
    }
    EvaluatePlusLoss(heads, targets, config, train, progress).total.backward();
    // Assignment and directions are made of the means, and the loss does not see through them: only
    // the other heads can be compared.
    for (torch::Tensor* head : {&heads.log_sigma, &heads.logit}) {
      const torch::Tensor gradient = head->grad().flatten();
      const torch::NoGradGuard no_grad;
      torch::Tensor flat = head->flatten();  // a view
      for (std::int64_t i = 0; i < flat.numel(); i += 5) {
        const float before = flat[i].item<float>();
        const auto at = [&](float value) {
          flat[i] = value;
          return EvaluatePlusLoss(heads, targets, config, train, progress).total.item<double>();
        };
        const double difference = (at(before + 1e-2f) - at(before - 1e-2f)) / 2e-2;
        flat[i] = before;
        EXPECT_NEAR(gradient[i].item<double>(), difference, 5e-3 + 1e-3 * std::abs(difference))
            << i << " at " << progress;
      }
    }
    EXPECT_GT(heads.mean.grad().abs().max().item<double>(), 0);
  }
}

// Two modes, one on the target: it takes all in the end, and is told to weigh more.
TEST(PlusLoss, TheNearestModeTakesAll) {
  ModelConfig config = Config();
  config.components = 2;
  const TrainConfig train;
  Heads heads = RandomHeads(config, 1, 1);
  heads.mean.zero_();
  heads.mean.select(1, 1).fill_(3);
  heads.logit.zero_();
  heads.mean.requires_grad_(true), heads.logit.requires_grad_(true);
  torch::Tensor targets = torch::zeros({1, 3 * config.horizon_steps + 1});
  heads.point = torch::zeros_like(heads.point);
  EvaluatePlusLoss(heads, targets, config, train, 0.99).total.backward();
  EXPECT_EQ(heads.mean.grad().select(1, 1).abs().max().item<double>(), 0);
  EXPECT_LT(heads.logit.grad()[0][0].item<double>(), 0);
  heads.mean.mutable_grad().zero_();
  EvaluatePlusLoss(heads, targets, config, train, 0).total.backward();
  EXPECT_GT(heads.mean.grad().select(1, 1).abs().max().item<double>(), 0) << "all learn at first";
}

}  // namespace
}  // namespace aerocast
