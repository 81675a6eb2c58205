// SPDX-License-Identifier: BSD-3-Clause
//
// Draws from a whole forecast, step by step, for judging its regions.
#pragma once

#include <vector>

#include "aerocast/forecast.h"
#include "src/base/rng.h"
#include "src/eval/draws.h"

namespace aerocast {

class ForecastDraws {
 public:
  ForecastDraws(const NormalPool& pool, int draws) : pool_(pool), draws_(draws) {}

  // Draws from step i of the forecast and counts the draws that are denser than the outcome `y`.
  int CountDenser(const Forecast& f, int i, const Vec3& y, std::uint64_t window_key) {
    weight_.clear(), mean_.clear(), chol_.clear();
    for (int k = 0; k < f.modes(); ++k) {
      if (f.weight(k) <= 0) continue;
      weight_.push_back(f.weight(k)), mean_.push_back(f.mean(k, i));
      chol_.emplace_back(f.cov(k, i));
    }
    const StepMixture mixture = {weight_, mean_, chol_};
    draws_.Draw(mixture, y, pool_, Mix64(window_key + static_cast<std::uint64_t>(i)));
    return draws_.CountDenser(mixture);
  }

  int count() const { return draws_.draws(); }
  // Of the step that was drawn from last: the radius around `center` that holds `share` of it.
  double Radius(const Vec3& center, double share) { return draws_.Radius(center, share); }

 private:
  const NormalPool& pool_;
  StepDraws draws_;
  std::vector<double> weight_;
  std::vector<Vec3> mean_;
  std::vector<Cholesky3> chol_;
};

}  // namespace aerocast
