// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/loss.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>

#include "src/train/test_network.h"

namespace aerocast {
namespace {

// In double: the loss takes the type of its heads.
Heads RandomHeads(const ModelConfig& config, int batch, double sigma, std::uint64_t seed) {
  const std::int64_t steps = config.horizon_steps, k = config.components;
  const auto random = [&](at::IntArrayRef shape, int n) {
    return RandomNormal(shape, sigma, seed * 10 + n).to(torch::kDouble).requires_grad_();
  };
  return {{},
          random({batch, steps, k, 3}, 1),
          random({batch, steps, k, 3}, 2),
          random({batch, steps, k}, 3)};
}

torch::Tensor Targets(const ModelConfig& config, int batch, std::uint64_t seed) {
  return RandomTargets(config, batch, seed).to(torch::kDouble);
}

TEST(MixtureLoss, IsTheMixturesDensityWrittenOut) {
  const ModelConfig config = TinyConfig(Architecture::kMlp);
  const Heads heads = RandomHeads(config, 3, 1, 1);
  const torch::Tensor targets = Targets(config, 3, 2);
  const Loss loss = MixtureLoss(heads, targets, config, 0.15);
  const auto mean = heads.mean.accessor<double, 4>(),
             log_sigma = heads.log_sigma.accessor<double, 4>();
  const auto logit = heads.logit.accessor<double, 3>(), y = targets.accessor<double, 3>();
  double nll = 0, mse = 0;
  for (int b = 0; b < 3; ++b) {
    for (int s = 0; s < 4; ++s) {
      double density = 0, total = 0;
      for (int k = 0; k < 2; ++k) {
        double p = std::exp(logit[b][s][k]);
        total += p;
        for (int a = 0; a < 3; ++a) {
          const double sigma = std::max(std::exp(log_sigma[b][s][k][a]), 0.05 / 2.5);
          const double z = (y[b][s][a] - mean[b][s][k][a]) / sigma;
          p *= std::exp(-z * z / 2) / (sigma * std::sqrt(2 * M_PI));
        }
        density += p;
      }
      nll -= std::log(density / total) / 12;
      const int heaviest = logit[b][s][1] > logit[b][s][0];
      for (int a = 0; a < 3; ++a) mse += std::pow(y[b][s][a] - mean[b][s][heaviest][a], 2) / 12;
    }
  }
  EXPECT_NEAR(loss.nll.item<double>(), nll, 1e-9);
  EXPECT_NEAR(loss.mse.item<double>(), mse, 1e-9);
  EXPECT_NEAR(loss.total.item<double>(), nll + 0.15 * mse, 1e-9);
}

TEST(MixtureLoss, GradientMatchesFiniteDifferences) {
  const ModelConfig config = TinyConfig(Architecture::kMlp);
  Heads heads = RandomHeads(config, 2, 1, 3);
  {
    torch::NoGradGuard no_grad;
    heads.log_sigma.flatten()[5] = -6;  // one below the floor: no gradient
  }
  const torch::Tensor targets = Targets(config, 2, 4);
  MixtureLoss(heads, targets, config, 0.15).total.backward();
  EXPECT_EQ(heads.log_sigma.grad().flatten()[5].item<double>(), 0);
  torch::NoGradGuard no_grad;
  for (torch::Tensor* head : {&heads.mean, &heads.log_sigma, &heads.logit}) {
    double* value = head->data_ptr<double>();
    const double* gradient = head->grad().data_ptr<double>();
    for (std::int64_t i = 0; i < head->numel(); ++i) {
      const double kept = value[i], h = 1e-6;
      const auto loss_at = [&](double x) {
        value[i] = x;
        return MixtureLoss(heads, targets, config, 0.15).total.item<double>();
      };
      EXPECT_NEAR((loss_at(kept + h) - loss_at(kept - h)) / (2 * h), gradient[i], 1e-7) << i;
      value[i] = kept;
    }
  }
}

TEST(MixtureLoss, IsNeverBelowTheBound) {
  ModelConfig config = TinyConfig(Architecture::kMlp);
  EXPECT_NEAR(LowestNll(config), -8.98, 5e-3);                                  // lambda units
  EXPECT_NEAR(LowestNll(config) + 3 * std::log(config.lambda_m), -6.23, 5e-3);  // metres
  for (int seed = 0; seed < 50; ++seed) {
    Heads heads = RandomHeads(config, 2, 3, 100 + seed);
    const torch::Tensor targets = Targets(config, 2, 200 + seed);
    torch::NoGradGuard no_grad;
    if (seed % 2 == 0) heads.mean.copy_(targets.unsqueeze(2).expand_as(heads.mean));
    EXPECT_GE(MixtureLoss(heads, targets, config, 0).nll.item<double>(), LowestNll(config));
  }
  // And the bound is reached.
  Heads heads = RandomHeads(config, 1, 0, 1);
  torch::NoGradGuard no_grad;
  heads.log_sigma.fill_(-10);
  EXPECT_NEAR(
      MixtureLoss(heads, torch::zeros({1, 4, 3}, torch::kDouble), config, 0).nll.item<double>(),
      LowestNll(config), 1e-9);
}

TEST(MixtureLoss, HasAFiniteGradientForAbsurdHeads) {
  const ModelConfig config = TinyConfig(Architecture::kMlp);
  const torch::Tensor targets = RandomTargets(config, 2, 5);
  const float huge = 1e18f;
  const std::vector<std::function<void(Heads&)>> spoil = {
      [&](Heads& h) { h.mean.fill_(huge); },
      [&](Heads& h) { h.mean.fill_(huge), h.log_sigma.fill_(-huge); },
      [&](Heads& h) { h.mean.select(2, 0).fill_(-huge); },
      [&](Heads& h) { h.log_sigma.fill_(huge); },
      [&](Heads& h) { h.log_sigma.fill_(-huge); },
      [&](Heads& h) { h.log_sigma.fill_(80); },
      [&](Heads& h) { h.logit.fill_(huge); },
      [&](Heads& h) { h.logit.fill_(-huge), h.logit.select(2, 1).fill_(huge); },
      [&](Heads& h) {
        h.mean.fill_(huge), h.log_sigma.fill_(80), h.logit.select(2, 1).fill_(huge);
      },
  };
  for (std::size_t i = 0; i < spoil.size(); ++i) {
    Heads heads = {
        {}, torch::zeros({2, 4, 2, 3}), torch::zeros({2, 4, 2, 3}), torch::zeros({2, 4, 2})};
    spoil[i](heads);
    for (torch::Tensor* head : {&heads.mean, &heads.log_sigma, &heads.logit})
      head->requires_grad_();
    const Loss loss = MixtureLoss(heads, targets, config, 0.15);
    loss.total.backward();
    EXPECT_TRUE(std::isfinite(loss.total.item<float>())) << i;
    for (const torch::Tensor* head : {&heads.mean, &heads.log_sigma, &heads.logit}) {
      EXPECT_TRUE(head->grad().isfinite().all().item<bool>()) << i;
    }
  }
}

TEST(PointError, IsTheMeanDistanceBetweenPathsInMetres) {
  const ModelConfig config = TinyConfig(Architecture::kMlp);
  Heads heads = {
      {}, torch::zeros({2, 4, 2, 3}), torch::zeros({2, 4, 2, 3}), torch::zeros({2, 4, 2})};
  heads.logit.select(2, 1).fill_(1);  // component 1 is the heaviest
  heads.mean.select(2, 0).fill_(100);
  torch::Tensor targets = torch::zeros({2, 4, 3});
  targets[1].select(1, 0).fill_(3.f);  // window 1 moves by (3, 4, 0) each step
  targets[1].select(1, 1).fill_(4.f);
  const torch::Tensor error = PointError(heads, targets, config);
  EXPECT_EQ(error.sizes(), std::vector<std::int64_t>{2});
  EXPECT_EQ(error[0].item<float>(), 0);
  EXPECT_NEAR(error[1].item<double>(), 2.5 * (5 + 10 + 15 + 20) / 4, 1e-4);
}

}  // namespace
}  // namespace aerocast
