// SPDX-License-Identifier: BSD-3-Clause
//
// What calibration adds to a network: how wide its modes have to be and how much each counts, the
// radii of its conformal regions, and the paths of its errors. Fitted on flights that the network
// was not trained on (src/eval/fit_calibration.h), kept in the model file, applied by Calibrator
// (src/forecast/calibrate.h). Formulas: docs/calibration.md.
//
// Lengths are multiples of the forecast's own spread everywhere, so a calibration knows no metres:
// a flight that is twice as large and fast gets regions that are twice as large.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

inline constexpr std::size_t kMostConformalLevels = 8;
inline constexpr int kMostResidualPaths = 1024;
inline constexpr std::size_t kMostHistories = 16;

// Which flights a calibration was fitted on.
struct CalibrationOrigin {
  std::string corpus_name, corpus_hash, split, split_hash, side;
  // RecordingKey of every recording, sorted; empty when there were more than kMostRecordingKeys.
  std::vector<std::string> flights;
  std::uint64_t flight_count = 0;  // independent flights that the regions stand on
  std::uint64_t windows = 0;       // looked at
  // How much history the network was given at most; every window was looked at by each of these.
  std::vector<double> histories_s;
  std::string version;  // of AeroCast

  friend bool operator==(const CalibrationOrigin&, const CalibrationOrigin&) = default;
};

// A factor that follows something known of a forecast, z: exp(slope (z - middle of the range)), z
// kept within the range. Slope 0: all are treated alike.
struct SpreadSlope {
  double slope = 0, low = 0, high = 0;

  double LogFactor(double z) const {
    return slope == 0 ? 0 : slope * (std::clamp(z, low, high) - (low + high) / 2);
  }

  friend bool operator==(const SpreadSlope&, const SpreadSlope&) = default;
};

struct Calibration {
  // Mode weights become w^(1/T), renormalised.
  double temperature = 1;
  // Factors of the spread along a mode's path, across it and vertically, at these times ahead;
  // between them the logarithm is linear in time, beyond them it stays.
  std::vector<double> knot_s;                // (G), ascending
  std::array<std::vector<double>, 3> scale;  // each (G)
  // Each mode becomes a narrow and a wide Gaussian; the wide one has this share of the weight and
  // is this much wider. Share 0: modes stay single.
  double tail_share = 0, tail_factor = 1;
  // Spreads follow how vague a forecast is for its path and how long the object had been seen
  // (Vagueness and LogSeen in src/forecast/calibrate.h).
  SpreadSlope vague, seen;

  // Conformal regions, in units of u, the calibrated forecast's root mean square distance from its
  // own point path per axis at that step.
  std::vector<double> level;   // (L), ascending
  std::vector<double> radius;  // (L, S)
  std::vector<double> tube;    // (L)
  std::vector<double> shape;   // (S), empty without levels

  // Motion that is rougher than the flights it was fitted on (src/data/roughness.h): mean and
  // standard deviation of the roughness, and how far above the mean a motion may be, in standard
  // deviations, before a forecast says out_of_domain. 0: nothing does.
  std::array<double, 3> domain_mean = {}, domain_sigma = {1, 1, 1};
  double domain_limit = 0;

  double residual_correlation = 0.98;  // see Forecast
  int residual_paths = 0;
  std::vector<float> residuals;  // (residual_paths, S, 3), see ResidualLibrary

  CalibrationOrigin origin;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

// Whether n flights are enough for a level: ceil((n + 1) level) <= n.
bool EnoughFlights(std::uint64_t flights, double level);
std::uint64_t FlightsNeeded(double level);  // the smallest number that is enough; level < 1

// What is out of range for a network of so many steps and modes, if anything is.
std::string CalibrationComplaint(const Calibration& calibration, int steps, int modes);

// Everything but the residuals themselves, which are a tensor. JSON on one line; `where` begins
// every message of the reader, which refuses what CalibrationComplaint does not look at: fields
// that are missing, unknown or of another type.
std::string ToJson(const Calibration& calibration);
Result<Calibration> CalibrationFromJson(std::string_view text, const std::string& where);

}  // namespace aerocast
