// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a forecast say what a calibration has found out: weights by the temperature, wider or
// narrower modes along their paths, by how vague it is and by how long the object had been seen,
// heavy tails, conformal regions, paths to sample from. Works on any forecast in the world that has
// modes, so one function serves every family. Means and point path stay; so does a displacement
// mixture, which remains what the network said.
//
// Moving, turning (about the vertical) or scaling the forecast does the same to the result.
#pragma once

#include <memory>
#include <vector>

#include "aerocast/forecast.h"
#include "aerocast/forecaster.h"
#include "src/data/roughness.h"
#include "src/forecast/residuals.h"
#include "src/model/calibration.h"

namespace aerocast {

// C' = M C M, where M stretches by three factors, along the path, across it and vertically.
// Where the path has no clear direction, along and across meet at their geometric mean:
//   M = exp(((a + c) I + (a - c) Q) / 2) horizontally, Q = (cos2 sin2; sin2 -cos2),
// a and c the logarithms of the factors.
struct PathScale {
  double xx = 1, xy = 0, yy = 1, zz = 1;

  PathScale(const Vec3& log_factor, const PathDirection& direction);
  Cov3 Apply(const Cov3& c) const;
};

class Calibrator {
 public:
  // The calibration fits forecasts of so many steps (CalibrationComplaint has none).
  Calibrator(const Calibration& calibration, int steps, double dt_s);

  // What Apply makes of a forecast of this shape.
  ForecastShape Shape(const ForecastShape& raw) const;

  // `forecast` has modes and room for Shape(); nothing is allocated then. Garbage in gives garbage
  // out, which IsValid tells. log_seen is LogSeen of its history. Spreads and regions are `widened`
  // by this factor.
  void Apply(Forecast& forecast, double log_seen, double widened = 1) const noexcept;

  // How far beyond what the calibration knows a motion is: above 1 its forecast is out of domain.
  double BeyondDomain(const Roughness& roughness) const noexcept;

  // Logarithms of the factors along, across and vertical at step i.
  const Vec3& log_scale(int i) const { return log_scale_[static_cast<std::size_t>(i)]; }

 private:
  void ApplyTemperature(Forecast& forecast) const;
  void ApplyScale(Forecast& forecast, double widened) const;
  void AddTails(Forecast& forecast) const;
  void WriteRegions(Forecast& forecast) const;

  Calibration calibration_;                           // without its residuals
  std::vector<Vec3> log_scale_;                       // (S)
  std::shared_ptr<const ResidualLibrary> residuals_;  // none: no library
};

// sqrt(E |x - point|^2 / 3) of the mixture at step i: the unit of the conformal radii.
double SpreadAboutPoint(const Forecast& forecast, int i);

// How wide a forecast is for the way it goes: log of SpreadAboutPoint, root mean square over the
// steps, over the length of the point path. Moving, turning or scaling a forecast leaves it.
double Vagueness(const Forecast& forecast);

// How long an object has been seen: log of the seconds from the oldest sample that a forecaster
// with so much history can use (the next one is at most 0.25 s later) to the newest, at least 0.1.
double LogSeen(const History& history, double history_s);

// `forecaster`, calibrated. What it could not answer (quality fallback) stays as it is, without
// regions. Motion that is rougher than the calibration knows is out_of_domain, and its spreads and
// regions are wider by as much as it is beyond, at most threefold. The same threads, batches and
// promises.
std::unique_ptr<Forecaster> MakeCalibrated(std::unique_ptr<Forecaster> forecaster,
                                           const Calibration& calibration);

}  // namespace aerocast
