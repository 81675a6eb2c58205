// SPDX-License-Identifier: BSD-3-Clause
//
// The objective of the plus family, in units of each window's mean step:
//
//   distance of the point path, averaged over steps (a Euclidean loss, so the point is a median)
// + mode_weight * beta-likelihood of the modes a window is assigned to, in position space
// + logit_weight * cross-entropy of the modes' weights with that assignment
//
// Assignment is softmax(-ADE_k / T): soft at first, so that every mode learns, and the nearest mode
// alone after `assign_until` of the run. Modes are offsets from the point path, which their
// likelihood does not move.
#pragma once

#include <torch/types.h>

#include "src/train/config.h"
#include "src/train/network.h"

namespace aerocast {

struct PlusLoss {
  torch::Tensor total;  // differentiable
  // Averages over windows and steps, as numbers: negative log-density of the position mixture in
  // the frame, in mean steps; distance of the point path in metres.
  double nll = 0, ade_m = 0;
};

// targets (B, 3 S + 1): positions in the frame, then metres per mean step (PlusTargets).
PlusLoss EvaluatePlusLoss(const Heads& heads, const torch::Tensor& targets,
                          const ModelConfig& model, const TrainConfig& train, double progress);

}  // namespace aerocast
