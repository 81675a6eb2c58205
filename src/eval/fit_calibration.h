// SPDX-License-Identifier: BSD-3-Clause
//
// Fits a Calibration (src/model/calibration.h) to windows of flights that the network has not
// learnt from. Formulas and choices: docs/calibration.md. Every flight counts the same, however
// many windows it has; the result depends on the windows alone, not on threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aerocast/result.h"
#include "src/eval/calibration_windows.h"
#include "src/model/calibration.h"

namespace aerocast {

class CalibrationRows;
struct CalibrationParameters;

struct CalibrationFitOptions {
  std::vector<double> levels = {0.5, 0.8, 0.9};  // those with too few flights are left out
  int residual_paths = 256;                      // at most
  double kept = 0.97;                            // share of the windows that are in the domain
  int threads = 0;
};

// The windows in a form that is quick to score: made once, fitted on as often as wanted. They stay
// the caller's.
class CalibrationFit {
 public:
  explicit CalibrationFit(const CalibrationWindows& windows);
  ~CalibrationFit();
  CalibrationFit(const CalibrationFit&) = delete;
  CalibrationFit& operator=(const CalibrationFit&) = delete;

  // Temperature, scales and tails that score best on the flights that are `used`, one flag per
  // flight; at least one is. Then all spreads are widened as flights that were left out ask for:
  // what is fitted on few flights is too sure of the next one.
  Calibration FitSpread(const std::vector<bool>& used, int threads) const;

 private:
  struct LeftOut {
    std::vector<bool> flights;
    Calibration calibration;  // fitted on the others
  };
  double Widening(const std::vector<bool>& used, const CalibrationParameters& fitted,
                  int threads) const;
  bool HeldTooLittle(std::span<const LeftOut> left_out, double by, int threads) const;

  const CalibrationWindows& windows_;
  std::unique_ptr<CalibrationRows> rows_;
};

// Conformal radii and tube on calibrated forecasts; `calibration` has its scales already and gets
// regions and flight_count. `calibrated[n]` is window n of `windows`, calibrated so far.
void FitRegions(const CalibrationWindows& windows, std::span<const Forecast> calibrated,
                const std::vector<bool>& used, std::span<const double> levels,
                Calibration& calibration);

// The library of residual paths, of windows spread evenly over all flights: what the nearest way of
// a calibrated forecast got wrong, in units of its spread, then scaled to a mean square of 1.
void FitResiduals(const CalibrationWindows& windows, std::span<const Forecast> calibrated,
                  int paths, Calibration& calibration);

// What roughness is usual: mean and spread over all windows, flights counting alike, and the limit
// that `kept` of the mass stays within. Without a limit when no window has a roughness.
void FitDomain(const CalibrationWindows& windows, double kept, Calibration& calibration);

// Forecasts of all windows as `calibration` makes them.
std::vector<Forecast> ApplyCalibration(const CalibrationWindows& windows,
                                       const Calibration& calibration, int threads);

// All of it, on all flights, and the library of residual paths. The origin has flight_count,
// windows, histories_s and nothing else. Refuses an empty set of windows.
Result<Calibration> FitCalibration(const CalibrationWindows& windows,
                                   const CalibrationFitOptions& options);

// The score within which `level` of a new flight's scores lie on average, as far as these flights
// can tell: the quantile of all, every flight counting the same, at the share at which the quantile
// of all flights but one holds `level` of that one, on average over the flights. The largest score
// where no share is enough, and the plain quantile of a single flight.
struct FlightScore {
  double score = 0;
  std::size_t flight = 0;
};
double FlightQuantile(std::vector<FlightScore> scores, double level);

}  // namespace aerocast
