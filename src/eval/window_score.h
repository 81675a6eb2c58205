// SPDX-License-Identifier: BSD-3-Clause
//
// Scores one forecast against what happened and adds the result to the flight's tally.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "aerocast/forecast.h"
#include "src/data/motion.h"
#include "src/eval/draws.h"
#include "src/eval/tally.h"

namespace aerocast {

// What happened after t0.
struct Outcome {
  std::span<const Vec3> targets;  // (S)
  Vec3 start;                     // the true position at t0, from which displacements count
  Yaw heading;                    // heading axes to world axes, for the PIT
  std::uint64_t key = 0;          // WindowKey
};

// Scratch memory of one thread. The result depends on the arguments only, never on what was scored
// before.
class WindowScorer {
 public:
  // The pool outlives the scorer. path_samples may be 0: no best-of-samples metrics.
  WindowScorer(const TallyLayout& layout, const NormalPool& pool, int draws, int path_samples);

  // `forecast` has at least S steps; further ones are not looked at. Without modes only the point
  // path is scored.
  void Score(const Forecast& forecast, const Outcome& outcome, Tally& tally);

  // Adds how far `now` is from `before`, the forecast of the window before, at the instants of
  // `now` that both reach. Nothing is added when they share less than half of the horizon.
  void ScoreConsistency(const Forecast& before, const Forecast& now, Tally& tally) const;

 private:
  void ScorePoint(const Forecast& forecast, const Outcome& outcome, Tally& tally) const;
  void ScoreModes(const Forecast& forecast, const Outcome& outcome, Tally& tally);
  void ScoreSamples(const Forecast& forecast, const Outcome& outcome, Tally& tally);
  void ScoreDensity(const Forecast& forecast, const Outcome& outcome, Tally& tally);
  void ScoreDisplacement(const Forecast& forecast, const Outcome& outcome, Tally& tally);
  void ScoreConformal(const Forecast& forecast, const Outcome& outcome, Tally& tally) const;

  // One way the future may go, and how far from it the outcome was: a mode or, with a displacement
  // mixture, one component from beginning to end, as the paper reads it.
  struct Way {
    int index;
    double ade, fde, weight;
  };
  void GatherWays(const Forecast& forecast, std::span<const Vec3> targets);

  // Copies step i of the mixture to where it lies together.
  StepMixture Gather(const Forecast& forecast, int i);
  double StepNll(const StepMixture& mixture, const Vec3& y) const;
  double StepCrps(const Forecast& forecast, int i, const Vec3& y);
  void ScoreHorizon(const Forecast& forecast, const StepMixture& mixture, int h,
                    const Outcome& outcome, Tally& tally);
  void ScoreRegion(const StepMixture& mixture, int h, const Vec3& y, Tally& tally);
  void ScorePit(const Forecast& forecast, int h, const Outcome& outcome, Tally& tally);
  std::pair<double, double> DisplacementAxis(const DisplacementMixture& d, std::size_t row,
                                             double Vec3::*axis);
  void CountPaperZ(double z, Tally& tally) const;
  double Project(const Forecast& forecast, int i, const Vec3& direction, const Vec3& y);

  const TallyLayout& layout_;
  const NormalPool& pool_;
  StepDraws draws_;
  int path_samples_;
  std::vector<Way> ways_;
  std::vector<Vec3> paths_, means_;
  std::vector<Cholesky3> chols_;
  std::vector<double> weights_, m_, s_;
};

}  // namespace aerocast
