// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/dropout.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "src/train/test_network.h"

namespace aerocast {
namespace {

// What is kept of ones, as 0 and 1.
torch::Tensor Mask(const Dropout& dropout, at::IntArrayRef shape, int site,
                   const MaskPart& part = {}) {
  return dropout(torch::ones(shape), site, part).ne(0).to(torch::kFloat);
}

// How far the share of agreement of two independent masks is from what chance gives, in standard
// deviations.
double Dependence(const torch::Tensor& a, const torch::Tensor& b, double rate) {
  const double n = static_cast<double>(a.numel());
  const double agree = rate * rate + (1 - rate) * (1 - rate);
  const double share = a.eq(b).to(torch::kDouble).mean().item<double>();
  return std::abs(share - agree) / std::sqrt(agree * (1 - agree) / n);
}

TEST(Dropout, OfRateZeroIsTheIdentity) {
  const Dropout dropout(0, 1, 0);
  const torch::Tensor x = RandomNormal({3, 5, 7}, 1, 1), residual = RandomNormal({3, 5, 7}, 1, 2);
  EXPECT_TRUE(torch::equal(dropout(x, 0), x));
  EXPECT_TRUE(torch::equal(dropout.Relu(x, 0), torch::relu(x)));
  EXPECT_TRUE(torch::equal(dropout.Add(residual, x, 0), residual + x));
}

TEST(Dropout, DropsTheRateAndKeepsTheMean) {
  for (const double rate : {0.001, 0.1, 0.5, 0.9}) {
    const torch::Tensor y = Dropout(rate, 2, 1000)(torch::ones({64, 100, 41}), 3);
    const double n = static_cast<double>(y.numel());
    const double dropped = y.eq(0).sum().item<double>() / n;
    EXPECT_NEAR(dropped, rate, 5 * std::sqrt(rate * (1 - rate) / n)) << rate;
    EXPECT_NEAR(y.max().item<double>(), 1 / (1 - rate), 1e-5 / (1 - rate));
  }
}

TEST(Dropout, EverySampleAndEveryPositionIsDroppedAlikeOften) {
  const double rate = 0.1, sd = std::sqrt(rate * (1 - rate));
  const torch::Tensor mask = Mask(Dropout(rate, 3, 0), {2000, 2000}, 1).to(torch::kDouble);
  for (const int dim : {0, 1}) {
    const torch::Tensor z = (mask.mean(dim) - (1 - rate)) / (sd / std::sqrt(2000.0));
    EXPECT_LT(z.abs().max().item<double>(), 5);
    EXPECT_NEAR(z.var().item<double>(), 1, 0.2);  // a mask too even would be as wrong
  }
}

TEST(Dropout, NeighboursAreIndependent) {
  const double rate = 0.3;
  const Dropout dropout(rate, 4, 10);
  const torch::Tensor mask = Mask(dropout, {300, 5000}, 2);
  for (const int lag : {1, 2, 3, 4, 8, 16, 64, 512}) {
    EXPECT_LT(Dependence(mask.narrow(1, 0, 5000 - lag), mask.narrow(1, lag, 5000 - lag), rate), 4.5)
        << lag;
  }
  for (const int lag : {1, 2, 128}) {
    EXPECT_LT(Dependence(mask.narrow(0, 0, 300 - lag), mask.narrow(0, lag, 300 - lag), rate), 4.5)
        << lag;
  }
  for (const int site : {0, 1, 3, 4, 8}) {
    EXPECT_LT(Dependence(mask, Mask(dropout, {300, 5000}, site), rate), 4.5) << site;
  }
  EXPECT_LT(Dependence(mask, Mask(Dropout(rate, 5, 10), {300, 5000}, 2), rate), 4.5);
  // Sample and site must not be interchangeable either.
  EXPECT_LT(Dependence(Mask(Dropout(rate, 4, 2), {1, 90000}, 1),
                       Mask(Dropout(rate, 4, 1), {1, 90000}, 2), rate),
            4.5);
}

TEST(Dropout, BelongsToTheSample) {
  const torch::Tensor whole = Mask(Dropout(0.4, 6, 100), {7, 3, 33}, 5);
  const torch::Tensor tail = Mask(Dropout(0.4, 6, 104), {3, 3, 33}, 5);
  EXPECT_TRUE(torch::equal(whole.narrow(0, 4, 3), tail));
}

TEST(Dropout, PartsAreDroppedAsInTheWhole) {
  const Dropout dropout(0.4, 7, 0);
  const torch::Tensor whole = Mask(dropout, {3, 4, 5, 7}, 1);
  EXPECT_TRUE(torch::equal(whole.select(2, 4), Mask(dropout, {3, 4, 7}, 1, {4 * 7, 4, 5 * 7})));
  EXPECT_TRUE(torch::equal(whole.select(1, 3), Mask(dropout, {3, 5, 7}, 1, {3 * 35})));
}

TEST(Dropout, FormsShareOneMask) {
  const Dropout dropout(0.25, 8, 3);
  for (const int n : {1, 7, 8, 31, 100}) {
    const torch::Tensor x = RandomNormal({5, n}, 1, 3), residual = RandomNormal({5, n}, 1, 4);
    EXPECT_TRUE(torch::equal(dropout.Relu(x, 2), torch::relu(dropout(x, 2))));
    EXPECT_TRUE(torch::equal(dropout.Add(residual, x, 2), residual + dropout(x, 2)));
  }
}

TEST(Dropout, BackwardDropsTheGradientAlike) {
  const Dropout dropout(0.25, 9, 17);
  const MaskPart part = {9, 2, 40};
  const torch::Tensor weight = RandomNormal({6, 22}, 1, 5);
  const torch::Tensor mask = dropout(torch::ones({6, 22}), 4, part);
  const auto gradients = [&](const auto& form) {
    torch::Tensor x = RandomNormal({6, 22}, 1, 6).requires_grad_();
    torch::Tensor residual = RandomNormal({6, 22}, 1, 7).requires_grad_();
    (form(residual, x) * weight).sum().backward();
    return std::make_pair(x.grad(), residual.grad());
  };
  const auto drop =
      gradients([&](const torch::Tensor&, const torch::Tensor& x) { return dropout(x, 4, part); });
  EXPECT_TRUE(torch::equal(drop.first, weight * mask));
  const auto relu = gradients(
      [&](const torch::Tensor&, const torch::Tensor& x) { return dropout.Relu(x, 4, part); });
  EXPECT_TRUE(torch::equal(relu.first, weight * mask * RandomNormal({6, 22}, 1, 6).gt(0)));
  const auto add = gradients(
      [&](const torch::Tensor& r, const torch::Tensor& x) { return dropout.Add(r, x, 4, part); });
  EXPECT_TRUE(torch::equal(add.first, weight * mask));
  EXPECT_TRUE(torch::equal(add.second, weight));
}

TEST(Dropout, DoesNotDependOnTheNumberOfThreads) {
  const int threads = at::get_num_threads();
  const Dropout dropout(0.1, 10, 0);
  const torch::Tensor x = RandomNormal({33, 5000}, 1, 8);
  at::set_num_threads(1);
  const torch::Tensor one = dropout(x, 0);
  at::set_num_threads(3);
  EXPECT_TRUE(torch::equal(one, dropout(x, 0)));
  at::set_num_threads(threads);
}

// A dropped NaN is gone, a kept one stays: the value is chosen, not multiplied by zero.
TEST(Dropout, ChoosesRatherThanMultiplies) {
  const torch::Tensor y = Dropout(0.5, 11, 0)(torch::full({1, 1000}, NAN), 0);
  EXPECT_GT(y.eq(0).sum().item<int>(), 400);
  EXPECT_GT(y.isnan().sum().item<int>(), 400);
}

}  // namespace
}  // namespace aerocast
