// SPDX-License-Identifier: BSD-3-Clause
//
// How wrong a path gets with time. The error of a forecast is described in the heading frame, along
// the motion, across it and vertically, one direction at a time:
//
//   var_d(t) = noise^2 * gain(t) + base_d(t)^2 + (rate_d(t) * speed)^2
//
// `base` (metres) is what even a hovering object does, `rate` (metres per m/s) grows with speed:
// whoever flies twice as fast has left the forecast twice as far behind when it turns. `gain` is
// how much the fit behind the path amplifies observation noise when it is extrapolated.
//
// base and rate come from a table fitted to flights (src/eval/fit_classical.h), or from the generic
// growth below, which holds for any step length and any number of steps.
#pragma once

#include <vector>

#include "aerocast/forecast.h"
#include "aerocast/history.h"
#include "src/data/motion.h"

namespace aerocast {

// One step's terms; x is along the heading, y across (left), z up.
struct SpreadStep {
  Vec3 base;  // sigma at rest, metres
  Vec3 rate;  // sigma per speed, seconds
};

// What kind of path errs. A held path is late by its whole motion, a moving one only by its turns,
// a parabolic one runs away with an acceleration that did not last.
enum class PathKind { kHeld, kMoving, kParabolic };

struct Spread {
  PathKind kind = PathKind::kMoving;
  std::vector<SpreadStep> table;  // (S); empty: generic growth
  double residual_correlation = 0.98;

  // Terms at step i, which lies t_s ahead.
  SpreadStep At(int i, double t_s) const;
};

// Documented constants, no fit, no allocation. With u = t^2 / (t + 2 s), which grows like t^2 / 4
// at first (an unforeseen acceleration) and like t later (a flier does not run away for ever):
//   rate  u along and across, a third of it vertically; held: t along; parabolic: t^2 / 2s for u
//   base  0.3 m/s * u, vertically half of it
Spread GenericSpread(PathKind kind);

// A table of nothing but noise: what a fit starts from.
Spread NoiseOnlySpread(int steps);

// Variance at t_s ahead of a least-squares polynomial of `order` through n samples spread evenly
// over the last length_s seconds, per unit of observation variance:
//   gain(t) = 1/n * sum_k (2k + 1) P_k(1 + 2 t / length)^2,   P_k the Legendre polynomials,
// the limit of many samples; a little more than the truth for few.
struct NoiseGain {
  int samples = 1;
  double length_s = 0;
  int order = 0;

  double At(double t_s) const;
};

// What a spread depends on, as the newest samples show it.
struct Scene {
  HeadingFrame frame;
  double speed = 0;  // m/s, straight fit over the last 0.3 s
  double noise_m = 0;
  NoiseGain gain;
};

// With fewer than two samples the speed is unknown, not zero: 5 m/s is assumed.
Scene LookAt(const History& history);

// Standard deviations along, across, vertical. Each is at least 1 mm and at least 1e-4 of the
// largest, at most 1e6 m, so that the covariance is positive definite however it is rotated.
Vec3 SpreadSigma(const SpreadStep& step, const Scene& scene, double t_s);
Cov3 SpreadCov(const SpreadStep& step, const Scene& scene, double t_s);

// Fills the covariances of mode k, and the residual correlation.
void WriteSpread(const Spread& spread, const Scene& scene, int k, Forecast& forecast);

// Writes the point path into mode 0 with weight one: the forecast of a method with a single path.
void WriteSingleMode(const Spread& spread, const Scene& scene, Forecast& forecast);

// The object stays at its newest position. Needs one sample; what answers when nothing else can.
void ForecastHold(const History& history, const Spread& spread, Forecast& forecast);

}  // namespace aerocast
