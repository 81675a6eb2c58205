// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/optimizer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "src/train/test_network.h"

namespace aerocast {
namespace {

// More than one chunk, and an odd rest.
constexpr std::int64_t kParameters = (1 << 17) + 4321;

TEST(AdamW, IsTorchsWithItsClipping) {
  for (const double clip : {0.0, 0.5, 1e6}) {
    TrainConfig config;
    config.clip_norm = clip;
    config.weight_decay = 0.05;
    torch::Tensor flat = RandomNormal({kParameters}, 1, 1);
    torch::Tensor reference = flat.clone().requires_grad_();
    AdamW ours(kParameters, config);
    torch::optim::AdamW theirs(
        std::vector<torch::Tensor>{reference},
        torch::optim::AdamWOptions(1e-2).betas({0.9, 0.999}).eps(1e-8).weight_decay(0.05));
    for (int step = 0; step < 20; ++step) {
      const double lr = 1e-2 / (1 + step);
      const torch::Tensor grad = RandomNormal({kParameters}, 0.1 * (1 + step % 3), 10 + step);
      reference.mutable_grad() = grad.clone();
      const double norm =
          clip > 0 ? torch::nn::utils::clip_grad_norm_(std::vector<torch::Tensor>{reference}, clip)
                   : grad.norm().item<double>();
      static_cast<torch::optim::AdamWOptions&>(theirs.param_groups()[0].options()).lr(lr);
      theirs.step();
      EXPECT_NEAR(ours.Step(flat, grad, lr), norm, 1e-5 * norm);
      EXPECT_LT(MaxDifference(flat, reference.detach()), 2e-6) << clip << ' ' << step;
    }
    EXPECT_EQ(ours.steps(), 20);
  }
}

TEST(AdamW, DoesNotDependOnTheNumberOfThreads) {
  const int threads = at::get_num_threads();
  TrainConfig config;
  config.ema = 0.9;
  std::vector<torch::Tensor> results;
  std::vector<double> norms;
  for (const int n : {1, 2, 3}) {
    at::set_num_threads(n);
    torch::Tensor flat = RandomNormal({kParameters}, 1, 2);
    AdamW optimizer(kParameters, config);
    for (int step = 0; step < 3; ++step) {
      norms.push_back(optimizer.Step(flat, RandomNormal({kParameters}, 1, 3 + step), 1e-3));
    }
    results.push_back(torch::cat({flat, optimizer.average()}));
  }
  at::set_num_threads(threads);
  EXPECT_TRUE(torch::equal(results[0], results[1]));
  EXPECT_TRUE(torch::equal(results[0], results[2]));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(norms[i], norms[i + 3]);
}

TEST(AdamW, AveragesTheParameters) {
  TrainConfig config;
  config.ema = 0.6;
  torch::Tensor flat = RandomNormal({100}, 1, 4);
  AdamW optimizer(100, config);
  torch::Tensor expected;
  for (int step = 0; step < 40; ++step) {
    optimizer.Step(flat, RandomNormal({100}, 1, 50 + step), 1e-2);
    const double decay = std::min(0.6, step / (step + 10.0));
    expected = step == 0 ? flat.clone() : decay * expected + (1 - decay) * flat;
    ASSERT_LT(MaxDifference(optimizer.average(), expected), 1e-5) << step;
  }
  EXPECT_FALSE(AdamW(100, {}).average().defined());
}

TEST(AdamW, LeavesEverythingAloneWhenTheGradientIsNotFinite) {
  for (const float bad : {NAN, std::numeric_limits<float>::infinity()}) {
    TrainConfig config;
    config.ema = 0.5;
    torch::Tensor flat = RandomNormal({1000}, 1, 5), grad = RandomNormal({1000}, 1, 6);
    AdamW optimizer(1000, config);
    optimizer.Step(flat, grad, 1e-2);
    const torch::Tensor before = torch::cat(
        {flat, optimizer.first_moment(), optimizer.second_moment(), optimizer.average()});
    grad[777] = bad;
    EXPECT_FALSE(std::isfinite(optimizer.Step(flat, grad, 1e-2)));
    EXPECT_TRUE(torch::equal(before, torch::cat({flat, optimizer.first_moment(),
                                                 optimizer.second_moment(), optimizer.average()})));
    EXPECT_EQ(optimizer.steps(), 1);
  }
}

TEST(AdamW, GoesOnFromItsMoments) {
  torch::Tensor a = RandomNormal({500}, 1, 7);
  AdamW first(500, {}), second(500, {});
  first.Step(a, RandomNormal({500}, 1, 8), 1e-2);
  torch::Tensor b = a.clone();
  second.first_moment().copy_(first.first_moment());
  second.second_moment().copy_(first.second_moment());
  second.set_steps(first.steps());
  const torch::Tensor grad = RandomNormal({500}, 1, 9);
  first.Step(a, grad, 1e-2), second.Step(b, grad, 1e-2);
  EXPECT_TRUE(torch::equal(a, b));
}

}  // namespace
}  // namespace aerocast
