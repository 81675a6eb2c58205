// SPDX-License-Identifier: BSD-3-Clause
//
// Where the forecasts under evaluation come from: a Forecaster that is asked, or a file of
// forecasts that another tool wrote (src/report/forecast_lines.h). The evaluator does not know.
#pragma once

#include <memory>
#include <string>

#include "aerocast/forecaster.h"
#include "aerocast/recording.h"

namespace aerocast {

struct SourceInfo {
  std::string name, description, fingerprint;
  std::string fitted_on;  // "train", or empty
};

// One thread's way to the forecasts.
class ForecastReader {
 public:
  virtual ~ForecastReader() = default;
  // The forecast at t0 = flight.samples[i].t_ns; `history` is all it may stand on. False: there is
  // none for this window (not the same as a forecast of quality `none`).
  virtual bool Read(const Recording& flight, std::size_t i, const History& history,
                    Forecast& forecast) = 0;
};

// Shared by threads; each makes a reader of its own.
class ForecastSource {
 public:
  virtual ~ForecastSource() = default;
  virtual const SourceInfo& info() const = 0;
  // The shape forecasts will have, so that buffers are made once.
  virtual ForecastShape shape() const = 0;
  virtual double dt_s() const = 0;
  virtual std::unique_ptr<ForecastReader> MakeReader() const = 0;
};

// The shape of a Forecast that takes any of its forecasts. Sources of point paths have no modes; a
// Forecast has room for at least one.
ForecastShape RoomFor(const ForecastSource& source);

// The forecaster outlives the source.
std::unique_ptr<ForecastSource> MakeForecasterSource(const Forecaster& forecaster,
                                                     std::string fitted_on = "");

}  // namespace aerocast
