// SPDX-License-Identifier: BSD-3-Clause
//
// How much of a calibration is luck: the network stays, the flights it was not trained on are
// divided anew, many times, into calibration and test, and every time the calibration is fitted and
// judged, on each length of history apart. A single split gives one number for coverage; this gives
// its mean and its spread.
//
// Every flight counts the same, in fitting and in judging: that is what conformal regions promise,
// an outcome of a random window of a new flight.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/eval/calibration_windows.h"

namespace aerocast {

struct RedrawOptions {
  int redraws = 200;
  std::size_t calibration_flights = 15;  // of each redraw; the others are its test flights
  double level = 0.9;
  std::uint64_t seed = 1;
  int draws = 64;  // per step, for the mixture's own regions
  int threads = 0;
  std::function<void()> progress = {};  // after each redraw, from any thread, one at a time
};

// One number per redraw; "ece_of_mean_coverage", the part of "ece_position" that is no luck of a
// redraw, has one for all of them. Where the calibration flights are too few for the level, ball
// and tube are missing.
struct RedrawSeries {
  std::string key;       // "region_coverage", "ball_coverage", "tube_coverage", ...
  double history_s = 0;  // of the windows it was judged on
  double t_s = 0;        // seconds ahead; 0: of the whole path, or the mean of the whole seconds
  std::vector<double> values;

  double Mean() const;
  double Deviation() const;
  double Quantile(double share) const;
};

struct RedrawResult {
  std::size_t flights = 0, calibration_flights = 0, windows = 0;
  std::vector<RedrawSeries> series;
};

// Needs at least one flight on either side; other options are the caller's to check.
RedrawResult RunRedraws(const CalibrationWindows& windows, const RedrawOptions& options);

}  // namespace aerocast
