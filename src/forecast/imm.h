// SPDX-License-Identifier: BSD-3-Clause
//
// Interacting multiple models (Blom and Bar-Shalom, 1988): three Kalman filters run side by side,
// constant velocity (CV), constant acceleration (CA) and coordinated turn (CT), each restarted at
// every sample from a mixture of all three. The forecast's three modes are the three models
// continued, weighted by their probabilities.
//
// The three share one state: position, velocity, acceleration per axis. The turn is
// three-dimensional, in the plane of velocity and acceleration, with w = |v x a| / |v|^2 taken from
// the estimate, so every axis has the same transition over a time T (a steep helix is no such
// turn):
//
//   CV  1 T 0      CA  1 T T^2/2     CT  1  sin(wT)/w   (1 - cos wT)/w^2
//       0 1 0          0 1 T             0  cos wT      sin(wT)/w
//       0 0 0          0 0 1             0  -w sin wT   cos wT
//
// The axes are those of the heading frame, so that the forecast turns with the world. Covariance
// between axes is dropped: the models do not couple the axes (w is taken as known) and
// the measurement does not either, only the spread of the models' means does, a little.
//
// The filter believes CA from one sample to the next. The forecast does not believe it for five
// seconds: nothing accelerates that long, so CA's acceleration dies away as in Singer's model
// (1970).
//
// The forecast's spread is not the filters' covariance: that one believes its model for the whole
// horizon. It is a Spread of each model's own, generic or fitted.
#pragma once

#include <array>

#include "aerocast/forecaster.h"
#include "src/forecast/spread.h"

namespace aerocast {

inline constexpr int kImmModels = 3;  // CV, CA, CT, in this order

struct ImmOptions {
  double accel_psd = 5e-4;      // CV, the quiet model: white acceleration, m^2/s^3
  double jerk_psd_ca = 80;      // CA, the manoeuvring model: white jerk, m^2/s^5
  double jerk_psd_ct = 3;       // CT: the same
  double sojourn_s = 6.0;       // mean time a model stays the true one
  double manoeuvre_s = 0.5;     // how long a forecast keeps CA's acceleration: e^(-t / this)
  double least_sigma_m = 1e-3;  // of a measurement, stated or estimated
  double fastest_turn = 6.0;    // rad/s
  double spacing_s = 0.04;      // samples nearer than this are passed over, never the newest
};

struct ImmAxis {
  Vec3 x;  // position, velocity, acceleration of one axis
  Cov3 P;  // of those three
};
using ImmState = std::array<ImmAxis, 3>;  // along, across, up

struct ImmEstimate {
  std::array<ImmState, kImmModels> model;
  std::array<double, kImmModels> probability;
  std::array<double, kImmModels> turn_rate;  // zero but for CT
};

// Filters the samples, oldest to newest, in the given frame. Unknown noise (0) is estimated.
ImmEstimate FilterImm(std::span<const Observation> samples, const HeadingFrame& frame,
                      double noise_m, const ImmOptions& options);

// Where model m of the estimate will be after t_s, in the same frame.
Vec3 ContinueImm(const ImmEstimate& estimate, int m, double t_s, double manoeuvre_s);

class ImmForecaster final : public Forecaster {
 public:
  ImmForecaster(ForecasterInfo info, ImmOptions options, std::vector<Spread> spread)
      : Forecaster(std::move(info)), options_(options), spread_(std::move(spread)) {}

 private:
  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept override;

  ImmOptions options_;
  std::vector<Spread> spread_;  // of each model
};

}  // namespace aerocast
