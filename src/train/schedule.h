// SPDX-License-Identifier: BSD-3-Clause
//
// What changes over a run, as functions of its progress: 0 at the start, 1 at the end. Progress is
// windows seen over windows to see, or the training clock over the budget; these functions do not
// know which.
#pragma once

#include <limits>

#include "src/train/config.h"

namespace aerocast {

// Cosine from lr to lr_min, or cosine cycles that restart, or constant; after a linear rise from
// lr_min over lr_warmup. The paper's cycles (20, 40, 80, 160 of 300 epochs) fill the run; others
// are cut off by its end.
double LearningRate(const TrainConfig& config, double progress);

// Tokens the network sees, of `history_steps`: min(T, max(least, floor(T * progress / share) + 1)):
// the paper's T_eff, whose epochs count from 1, as shares of the run.
int CurriculumHistory(const TrainConfig& config, int history_steps, double progress);

// Whether observed positions are disturbed: during the curriculum.
bool Augments(const TrainConfig& config, double progress);

// Ends a run whose validation loss has not improved for config.patience of the run.
class EarlyStopping {
 public:
  explicit EarlyStopping(double patience) : patience_(patience) {}
  // True when this is the best so far.
  bool Observe(double loss, double progress);
  bool Exhausted(double progress) const;

  // For checkpoints.
  double best_loss() const { return best_loss_; }
  double best_progress() const { return best_progress_; }
  void Restore(double best_loss, double best_progress);

 private:
  double patience_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  double best_progress_ = 0;
};

}  // namespace aerocast
