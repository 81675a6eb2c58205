// SPDX-License-Identifier: BSD-3-Clause
//
// The paper's objective: the mixture's negative log-likelihood of each step's displacement, by
// log-sum-exp, plus mse_weight times the squared error (summed over the three axes) of the heaviest
// component's mean. All in lambda units, averaged over windows and steps.
#pragma once

#include <torch/types.h>

#include "src/train/network.h"

namespace aerocast {

struct Loss {
  torch::Tensor total, nll, mse;  // scalars; total is differentiable
};

// targets (B, S, 3).
Loss MixtureLoss(const Heads& heads, const torch::Tensor& targets, const ModelConfig& config,
                 double mse_weight);

// Per window (B): distance in metres, averaged over the path, between the target path and the sum
// of the heaviest components' means.
torch::Tensor PointError(const Heads& heads, const torch::Tensor& targets,
                         const ModelConfig& config);

// No mixture with this floor can have a lower negative log-likelihood per step: 3 (ln floor + ln
// sqrt(2 pi)), floor in lambda units.
double LowestNll(const ModelConfig& config);

}  // namespace aerocast
