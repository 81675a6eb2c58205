// SPDX-License-Identifier: BSD-3-Clause
//
// `aerocast predict` on a live stream: observations of several objects come in as JSON lines
// (src/import/observation_line.h), forecasts go out. Each object has a TrackBuffer.
#pragma once

#include <atomic>

#include "aerocast/forecaster.h"
#include "aerocast/track.h"
#include "apps/cli/forecast_writer.h"

namespace aerocast::cli {

struct StreamOptions {
  double every_s = 0;  // between two forecasts of one object, by its stamps; 0: at every advance
  bool last = false;   // one forecast of each object instead, at the end
  int most_tracks = 256;
  TrackOptions track;
};

// Reads `fd` to its end, until `stop` is set or until nobody reads the forecasts; then says on
// standard error what became of every line. Bad lines are noted there and are no failure.
Status PredictStream(int fd, const std::atomic<bool>& stop, const Forecaster& forecaster,
                     Workspace& workspace, const StreamOptions& options, ForecastWriter& writer);

}  // namespace aerocast::cli
