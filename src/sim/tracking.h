// SPDX-License-Identifier: BSD-3-Clause
//
// How a quadrotor follows its set-point: late, rounded at corners, shaken by the air.
//
// Per axis a velocity-limited cascade, the structure of the flown controller:
//
//   x'' = kv * (clip(kp * (set-point - x), +-vmax) - x') + gust
//
// The constants were fitted to 67 real flights by `fit_tracking` (bench/fit_tracking.cc), which
// prints them and the tracking error they reproduce; docs/generator.md has its output. A delay or
// a velocity feed-forward did not improve an exploratory fit, so there is none.
//
// The gust is an acceleration with a short memory (Ornstein-Uhlenbeck) pushed through the loop,
// strong enough that the position residual has the spread the fit leaves over. Adding that
// residual to the position instead would give the truth a jitter no aircraft has.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "aerocast/geometry.h"
#include "src/base/rng.h"

namespace aerocast {

inline constexpr double kSimStepS = 0.01;    // 100 Hz, the rate of the real recordings
inline constexpr double kGravity = 9.80665;  // m/s^2

struct AxisGains {
  double kp = 0;    // 1/s
  double kv = 0;    // 1/s
  double vmax = 0;  // m/s

  double Acceleration(double set_point, double x, double v) const {
    return kv * (std::clamp(kp * (set_point - x), -vmax, vmax) - v);
  }
};

// All flights together; horizontal position residual 0.040 m RMS per axis.
inline constexpr AxisGains kFittedHorizontal{2.051, 2.864, 1.103};
// Vertical: wn 3.37 rad/s, zeta 0.55 (weakly identified: few flights move much in z), written as
// a cascade (kv = 2 zeta wn, kp = wn / (2 zeta)); its limit was not reached and is taken over.
inline constexpr AxisGains kFittedVertical{3.064, 3.707, 1.103};

// From flight to flight: mean and standard deviation of single-flight fits.
inline constexpr double kFlightKpMean = 2.10, kFlightKpStd = 0.17;
inline constexpr double kFlightKvMean = 2.59, kFlightKvStd = 0.40;

// What single-flight gains leave over: spread of the position and its correlation time (to 1/e).
inline constexpr double kResidualXyM = 0.029;  // 0.63 to 0.92 s
inline constexpr double kResidualZM = 0.030;   // 1.6 s
// Memory of the gust that gives these times through the loop.
inline constexpr double kGustTimeXyS = 0.2, kGustTimeZS = 1.2;
// The height sinks as the battery empties: on average 3.4 mm/s at first, levelling off.
inline constexpr double kSagM = 0.10, kSagTimeS = 30;

struct TrackingModel {
  AxisGains horizontal = kFittedHorizontal;
  AxisGains vertical = kFittedVertical;
  double residual_xy_m = kResidualXyM;
  double residual_z_m = kResidualZM;
  double sag_m = 0;
  double accel_limit = std::numeric_limits<double>::infinity();  // length of the vector, m/s^2
  double speed_limit = std::numeric_limits<double>::infinity();  // of the commanded velocity, m/s
};

// A flight of the arena: gains, gusts and sag of its own.
TrackingModel DrawArenaTracking(Rng& rng);

// The standard deviation of a gust with memory time_s that moves the position by residual_m RMS.
double GustStd(const AxisGains& gains, double residual_m, double time_s);

// n accelerations, one per simulation step, in the stationary state from the first on.
std::vector<Vec3> DrawGusts(const TrackingModel& model, Rng& rng, std::size_t n);

// Position and velocity, stepped at kSimStepS.
class Tracker {
 public:
  Tracker(const TrackingModel& model, const Vec3& p, const Vec3& v = {})
      : model_(model), p_(p), v_(v) {}

  const Vec3& position() const { return p_; }
  const Vec3& velocity() const { return v_; }
  void Step(const Vec3& set_point, const Vec3& gust);

 private:
  TrackingModel model_;
  Vec3 p_, v_;
};

}  // namespace aerocast
