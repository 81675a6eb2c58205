// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TrainConfig WarmRestarts() {
  TrainConfig config;
  config.schedule = ScheduleKind::kWarmRestarts;
  return config;
}

TEST(LearningRate, CosineFallsFromLrToLrMin) {
  const TrainConfig config;
  EXPECT_DOUBLE_EQ(LearningRate(config, 0), 1e-4);
  EXPECT_NEAR(LearningRate(config, 0.25), 1e-6 + 0.99e-4 * (0.5 + std::sqrt(0.125)), 1e-12);
  EXPECT_NEAR(LearningRate(config, 0.5), 0.505e-4, 1e-12);
  EXPECT_DOUBLE_EQ(LearningRate(config, 1), 1e-6);
  // A step that runs over the end, or a clock that does, stays at the end.
  EXPECT_DOUBLE_EQ(LearningRate(config, 1.2), 1e-6);
  EXPECT_DOUBLE_EQ(LearningRate(config, -0.1), 1e-4);
}

TEST(LearningRate, RestartsAtThePapersEpochs) {
  const TrainConfig config = WarmRestarts();
  for (const int epoch : {0, 20, 60, 140}) {
    EXPECT_NEAR(LearningRate(config, epoch / 300.0), 1e-4, 1e-12) << epoch;
    // Just before a restart, and at the end of the run, the rate is the least.
    const int end = epoch == 0 ? 300 : epoch;
    EXPECT_NEAR(LearningRate(config, (end - 0.001) / 300.0), 1e-6, 1e-9) << end;
  }
  EXPECT_NEAR(LearningRate(config, 10 / 300.0), 0.505e-4, 1e-12);
  EXPECT_NEAR(LearningRate(config, 40 / 300.0), 0.505e-4, 1e-12);
  EXPECT_NEAR(LearningRate(config, 220 / 300.0), 0.505e-4, 1e-12);
  EXPECT_NEAR(LearningRate(config, 1), 1e-6, 1e-12);
}

TEST(LearningRate, CutsTheLastCycleOffAtTheEnd) {
  TrainConfig config = WarmRestarts();
  config.restart_first = 0.4;
  config.restart_factor = 1;
  EXPECT_NEAR(LearningRate(config, 0.8), config.lr, 1e-12);
  EXPECT_NEAR(LearningRate(config, 1), 0.505e-4, 1e-12);  // the third is half done
}

TEST(LearningRate, ConstantStays) {
  TrainConfig config;
  config.schedule = ScheduleKind::kConstant;
  for (const double progress : {0.0, 0.3, 1.0}) {
    EXPECT_DOUBLE_EQ(LearningRate(config, progress), config.lr);
  }
}

TEST(LearningRate, WarmUpRisesThenTheScheduleFillsTheRest) {
  for (const ScheduleKind schedule :
       {ScheduleKind::kCosine, ScheduleKind::kWarmRestarts, ScheduleKind::kConstant}) {
    TrainConfig config;
    config.schedule = schedule;
    config.lr_warmup = 0.2;
    EXPECT_DOUBLE_EQ(LearningRate(config, 0), config.lr_min);
    EXPECT_NEAR(LearningRate(config, 0.1), 0.505e-4, 1e-12);
    EXPECT_NEAR(LearningRate(config, 0.2), config.lr, 1e-12);
  }
  TrainConfig config;
  config.lr_warmup = 0.2;
  EXPECT_NEAR(LearningRate(config, 0.6), 0.505e-4, 1e-12);
  EXPECT_DOUBLE_EQ(LearningRate(config, 1), config.lr_min);
}

TEST(CurriculumHistory, IsThePapersAtEveryEpoch) {
  const TrainConfig config;
  for (int epoch = 1; epoch <= 300; ++epoch) {
    const int paper = std::min(20, std::max(5, 20 * epoch / 20));
    for (const double within : {0.0, 0.5, 0.999}) {  // epoch 1 is the first 300th of the run
      EXPECT_EQ(CurriculumHistory(config, 20, (epoch - 1 + within) / 300.0), paper) << epoch;
    }
  }
  EXPECT_EQ(CurriculumHistory(config, 20, 0), 5);
}

// Shares such as 20/207 are rounded; the step they stand for must not come an epoch late.
TEST(CurriculumHistory, RoundingCostsNoStep) {
  for (int epochs = 21; epochs <= 400; ++epochs) {
    TrainConfig config;
    config.curriculum = 20.0 / epochs;
    config.curriculum_least = 1;
    for (int epoch = 1; epoch <= 20; ++epoch) {
      EXPECT_EQ(CurriculumHistory(config, 20, static_cast<double>(epoch - 1) / epochs), epoch)
          << epochs;
    }
  }
}

TEST(LearningRate, RoundingMovesNoRestart) {
  for (int epochs = 150; epochs <= 400; ++epochs) {
    TrainConfig config = WarmRestarts();
    config.restart_first = 20.0 / epochs;
    for (const double epoch : {20, 60}) {
      EXPECT_NEAR(LearningRate(config, epoch / epochs), config.lr, 1e-12) << epochs;
    }
  }
}

TEST(CurriculumHistory, OddLengths) {
  TrainConfig config;
  EXPECT_EQ(CurriculumHistory(config, 3, 0), 3);  // shorter than the least
  EXPECT_EQ(CurriculumHistory(config, 1, 0.01), 1);
  config.curriculum = 0.5;
  config.curriculum_least = 1;
  EXPECT_EQ(CurriculumHistory(config, 7, 0.25), 4);  // the fourth of seven steps has begun
  config.curriculum = 0;
  EXPECT_EQ(CurriculumHistory(config, 7, 0), 7);  // off
}

TEST(Augments, DuringTheCurriculumOnly) {
  TrainConfig config;
  EXPECT_TRUE(Augments(config, 0));
  EXPECT_TRUE(Augments(config, 19.9 / 300));
  EXPECT_FALSE(Augments(config, 20.0 / 300));
  EXPECT_FALSE(Augments(config, 1));
  config.curriculum = 0;
  EXPECT_FALSE(Augments(config, 0));
}

TEST(EarlyStopping, EndsAfterPatienceWithoutImprovement) {
  EarlyStopping stopping(120.0 / 300);
  EXPECT_TRUE(stopping.Observe(2.0, 10 / 300.0));
  EXPECT_FALSE(stopping.Observe(2.0, 20 / 300.0));  // equal is no improvement
  EXPECT_TRUE(stopping.Observe(1.0, 30 / 300.0));
  EXPECT_FALSE(stopping.Observe(1.5, 149 / 300.0));
  EXPECT_FALSE(stopping.Exhausted(149 / 300.0));
  EXPECT_TRUE(stopping.Exhausted(150 / 300.0));
  EXPECT_TRUE(stopping.Observe(0.5, 150 / 300.0));  // improved just in time
  EXPECT_FALSE(stopping.Exhausted(150 / 300.0));
  EXPECT_DOUBLE_EQ(stopping.best_loss(), 0.5);
  EXPECT_DOUBLE_EQ(stopping.best_progress(), 0.5);
}

TEST(EarlyStopping, ANanIsNoImprovement) {
  EarlyStopping stopping(0.1);
  EXPECT_FALSE(stopping.Observe(kNan, 0.05));
  EXPECT_TRUE(stopping.Exhausted(0.1));
  EXPECT_TRUE(stopping.Observe(-3, 0.1));
  EXPECT_FALSE(stopping.Observe(kNan, 0.15));
  EXPECT_DOUBLE_EQ(stopping.best_loss(), -3);
}

TEST(EarlyStopping, ZeroPatienceNeverEnds) {
  EarlyStopping stopping(0);
  EXPECT_FALSE(stopping.Exhausted(1));
  EXPECT_TRUE(stopping.Observe(1, 0.1));
  EXPECT_FALSE(stopping.Exhausted(1));
}

TEST(EarlyStopping, GoesOnFromACheckpoint) {
  EarlyStopping before(0.3), after(0.3);
  before.Observe(1, 0.2);
  after.Restore(before.best_loss(), before.best_progress());
  EXPECT_FALSE(after.Observe(1.1, 0.4));
  EXPECT_FALSE(after.Exhausted(0.49));
  EXPECT_TRUE(after.Exhausted(0.5));
}

}  // namespace
}  // namespace aerocast
