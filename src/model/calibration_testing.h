// SPDX-License-Identifier: BSD-3-Clause
//
// A calibration with nothing special about it, for tests.
#pragma once

#include <cmath>

#include "src/base/rng.h"
#include "src/model/calibration.h"

namespace aerocast {

// Its residuals wander: each step keeps 0.9 of the one before.
inline Calibration MadeUpCalibration(int steps, bool tail = true, int paths = 64) {
  Calibration c;
  c.temperature = 1.5;
  c.knot_s = {0.1, 1, 3};
  c.scale = {{{2, 1.5, 1.2}, {0.5, 0.8, 1}, {3, 2, 1.5}}};
  if (tail) c.tail_share = 0.2, c.tail_factor = 3;
  if (tail) c.vague = {0.5, -3, 1}, c.seen = {-0.25, 0.5, 2};
  c.level = {0.5, 0.9};
  for (int i = 0; i < 2 * steps; ++i) c.radius.push_back(i < steps ? 1 + 0.01 * i : 3);
  c.tube = {1.5, 3};
  for (int i = 0; i < steps; ++i) c.shape.push_back(1 + 0.02 * i);
  c.domain_mean = {-0.5, -0.1, 0.1}, c.domain_sigma = {0.2, 0.15, 0.1}, c.domain_limit = 3;
  c.residual_correlation = 0.9, c.residual_paths = paths;
  Rng rng(1);
  for (int n = 0; n < paths; ++n) {
    double z[3] = {rng.Normal(), rng.Normal(), rng.Normal()};
    for (int i = 0; i < steps; ++i) {
      for (double& v : z) {
        c.residuals.push_back(static_cast<float>(v));
        v = 0.9 * v + std::sqrt(1 - 0.81) * rng.Normal();
      }
    }
  }
  c.origin.corpus_name = "made up", c.origin.corpus_hash = "abc", c.origin.split = "flight";
  c.origin.side = "calibration", c.origin.flights = {"0123456789ab", "ba9876543210"};
  c.origin.flight_count = 12, c.origin.windows = 345, c.origin.histories_s = {2, 0.5};
  c.origin.version = "0.1.0";
  return c;
}

}  // namespace aerocast
