// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace aerocast {
namespace {

// Shares of a run such as 20/300 are not exact: what is this near has been reached.
constexpr double kNear = 1e-9;

// From 1 at the start of a cycle to 0 at its end.
double Cosine(double position) { return 0.5 * (1 + std::cos(std::numbers::pi * position)); }

double RestartingCosine(const TrainConfig& config, double position) {
  double start = 0, length = config.restart_first;
  // The end of the run starts no cycle: it ends the last one.
  while (position >= start + length - kNear && start + length < 1 - kNear) {
    start += length;
    length *= config.restart_factor;
  }
  return Cosine(std::clamp((position - start) / length, 0.0, 1.0));
}

// The part of the way from lr_min to lr that is left, after the warm-up.
double ShareOfRate(const TrainConfig& config, double position) {
  switch (config.schedule) {
    case ScheduleKind::kCosine:
      return Cosine(position);
    case ScheduleKind::kWarmRestarts:
      return RestartingCosine(config, position);
    case ScheduleKind::kConstant:
      break;
  }
  return 1;
}

}  // namespace

double LearningRate(const TrainConfig& config, double progress) {
  progress = std::clamp(progress, 0.0, 1.0);
  const double warmup = config.lr_warmup;
  const double share = progress < warmup ? progress / warmup
                                         : ShareOfRate(config, (progress - warmup) / (1 - warmup));
  return config.lr_min + (config.lr - config.lr_min) * share;
}

int CurriculumHistory(const TrainConfig& config, int history_steps, double progress) {
  if (progress >= config.curriculum) return history_steps;
  const double begun = std::floor(history_steps * progress / config.curriculum + kNear) + 1;
  return std::min(history_steps, std::max(config.curriculum_least, static_cast<int>(begun)));
}

bool Augments(const TrainConfig& config, double progress) { return progress < config.curriculum; }

bool EarlyStopping::Observe(double loss, double progress) {
  if (!(loss < best_loss_)) return false;
  best_loss_ = loss;
  best_progress_ = progress;
  return true;
}

bool EarlyStopping::Exhausted(double progress) const {
  return patience_ > 0 && progress - best_progress_ >= patience_ - kNear;
}

void EarlyStopping::Restore(double best_loss, double best_progress) {
  best_loss_ = best_loss;
  best_progress_ = best_progress;
}

}  // namespace aerocast
