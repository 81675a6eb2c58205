// SPDX-License-Identifier: BSD-3-Clause
//
// Forecasts as a table for spreadsheets and plots: one row per step (docs/forecast_format.md). It
// says less than the JSON lines: the point path, and the spread of the whole mixture per axis.
#pragma once

#include <string>

#include "aerocast/forecast.h"

namespace aerocast {

// The header line, with its end.
std::string ForecastCsvHeader();
// The rows of one forecast, each with its end; none when its quality is none.
std::string FormatForecastCsv(const Forecast& forecast);

}  // namespace aerocast
