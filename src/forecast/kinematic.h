// SPDX-License-Identifier: BSD-3-Clause
//
// Paths from kinematics alone: hold, constant velocity, constant acceleration, constant turn rate.
// Each is a least-squares fit to the newest samples, continued. Formulas and parameters:
// docs/forecasters.md.
#pragma once

#include <memory>
#include <string_view>

#include "aerocast/forecaster.h"
#include "src/forecast/spread.h"

namespace aerocast {

enum class Kinematics { kHold, kCv, kCa, kCtrv };

// A fitted motion that can be continued to any time ahead.
struct KinematicPath {
  Motion start;          // at t0
  double turn_rate = 0;  // rad/s about the vertical, left positive; then start.a is zero
  NoiseGain gain;
  bool complete = false;  // the history reached as far back as the method looks

  Vec3 At(double t_s) const;
};

KinematicPath FitPath(Kinematics kind, std::span<const Observation> samples);

// Fits, continues, and writes the forecast's only mode. Quality is ok or short_history.
Quality ForecastKinematic(Kinematics kind, const Spread& spread, const History& history,
                          Forecast& forecast);

class KinematicForecaster final : public Forecaster {
 public:
  KinematicForecaster(ForecasterInfo info, Kinematics kind, Spread spread)
      : Forecaster(std::move(info)), kind_(kind), spread_(std::move(spread)) {}

 private:
  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept override;

  Kinematics kind_;
  Spread spread_;
};

}  // namespace aerocast
