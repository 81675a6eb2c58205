// SPDX-License-Identifier: BSD-3-Clause
//
// The windows that calibrations are fitted and judged on: forecast once, as the network says it,
// and kept, so that any number of calibrations can be tried on them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aerocast/forecaster.h"
#include "src/data/roughness.h"
#include "src/data/windows.h"

namespace aerocast {

struct CalibrationWindow {
  Forecast raw;  // without its displacement mixture
  std::vector<Vec3> targets;
  std::optional<Roughness> roughness;  // of its history, where it can be measured
  double log_seen = 0;                 // LogSeen of its history
  std::size_t flight = 0;
  std::size_t history = 0;  // which of CalibrationWindows::histories_s it was forecast by
  std::uint64_t key = 0;    // WindowKey, for draws
};

struct CalibrationWindows {
  std::vector<CalibrationWindow> windows;  // flight by flight, in it history by history
  std::vector<std::string> flights;        // ids of those that have a window here
  std::vector<double> histories_s;

  std::size_t CountOf(std::size_t flight) const;
};

struct CalibrationWindowOptions {
  WindowSpec spec = {};
  // Seconds of history: every window is forecast by each, so that one calibration serves objects
  // that have been seen for long and for a moment. Empty: spec.history_s alone.
  std::vector<double> histories_s = {};
  std::size_t most = 3000;  // windows in all; each flight is thinned evenly to its equal share
  int threads = 0;
  std::function<void()> progress = {};  // after each flight, from any thread, one at a time
};

// The steps at whole seconds ahead; the last one where there is none.
std::vector<int> WholeSeconds(const Forecast& forecast);

// Indices of at most `per_flight` windows of each flight, evenly spread over it.
std::vector<std::size_t> ChooseWindows(const CalibrationWindows& windows, std::size_t per_flight);

// At most `most` windows of a flight, evenly spread over it.
FlightWindows ThinFlight(const FlightWindows& flight, std::size_t most);

// Windows that the forecaster cannot answer (fallback, none) are left out: they stay uncalibrated.
CalibrationWindows ForecastWindows(const Forecaster& raw, std::span<const FlightWindows> flights,
                                   const CalibrationWindowOptions& options);

}  // namespace aerocast
