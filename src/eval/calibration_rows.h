// SPDX-License-Identifier: BSD-3-Clause
//
// Windows in a form whose scores under any calibration are quick to compute. Internal to
// src/eval/fit_calibration.cc.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "src/eval/calibration_windows.h"
#include "src/forecast/calibrate.h"

namespace aerocast {

// What is fitted by scores, as logarithms.
struct CalibrationParameters {
  double log_temperature = 0;
  std::array<std::vector<double>, 3> log_scale;  // each (G)
  bool tail = false;
  double log_share = 0, log_factor = 0;  // count with a tail only
  SpreadSlope vague, seen;
};

// Means over windows, per axis: along the point path, across it, vertical.
struct AxisScores {
  std::array<double, 3> crps{};       // metres
  std::array<double, 3> log_score{};  // -log density, nats
};

class CalibrationRows {
 public:
  explicit CalibrationRows(const CalibrationWindows& windows);

  std::size_t windows() const { return flight_.size(); }
  std::size_t flights() const { return flights_; }
  std::size_t modes() const { return modes_; }
  std::size_t steps() const { return hat_.size(); }  // J: scored steps, not all of the forecast's
  std::span<const double> knot_s() const { return knot_s_; }
  std::size_t flight(std::size_t n) const { return flight_[n]; }
  double vagueness(std::size_t n) const { return vagueness_[n]; }
  double log_seen(std::size_t n) const { return log_seen_[n]; }
  // How much of knot g is in scored step j.
  double hat(std::size_t j, std::size_t g) const { return hat_[j][g]; }

  // Weights of the windows in `index` at a temperature, (windows, K).
  std::vector<double> Weights(std::span<const std::size_t> index, double log_temperature) const;
  // Sum over `index` of share * score at scored step j; axes not asked for are 0. `weight` is that
  // of Weights.
  AxisScores Score(std::size_t j, const CalibrationParameters& p,
                   std::span<const std::size_t> index, std::span<const double> share,
                   std::span<const double> weight, bool horizontal, bool vertical) const;

 private:
  // One mode at one step, in a frame along the point path with the outcome at zero.
  struct Mode {
    Vec3 mean;
    Cov3 cov;
    PathDirection direction;
  };
  void AddStep(std::span<const CalibrationWindow> windows, int i);

  std::size_t flights_ = 0, modes_ = 0;
  std::vector<double> knot_s_;            // (G)
  std::vector<std::vector<double>> hat_;  // (J, G)
  std::vector<std::size_t> flight_;       // (N)
  std::vector<double> vagueness_;         // (N)
  std::vector<double> log_seen_;          // (N)
  std::vector<double> log_weight_;        // (N, K)
  std::vector<Mode> mode_;                // (J, N, K)
};

}  // namespace aerocast
