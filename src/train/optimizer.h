// SPDX-License-Identifier: BSD-3-Clause
//
// AdamW over one flat array, clipping and weight averaging included, in two passes. The sums are
// taken in a fixed order: the result does not depend on the number of threads.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "src/train/config.h"

namespace aerocast {

class AdamW {
 public:
  AdamW(std::int64_t parameters, const TrainConfig& config);

  // One step with gradients `grad`, clipped to config.clip_norm as a whole. Returns the norm before
  // clipping; when it is not finite nothing is changed. The average's decay rises from 0 to
  // config.ema as n / (n + 10): it begins as the parameters and soon forgets where they began.
  double Step(torch::Tensor& parameters, const torch::Tensor& grad, double lr);

  // For checkpoints.
  torch::Tensor& first_moment() { return first_; }
  torch::Tensor& second_moment() { return second_; }
  torch::Tensor& average() { return average_; }  // empty when config.ema is 0
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  TrainConfig config_;
  torch::Tensor first_, second_, average_;
  std::int64_t steps_ = 0;
};

}  // namespace aerocast
