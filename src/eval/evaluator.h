// SPDX-License-Identifier: BSD-3-Clause
//
// Evaluation of one model on flights: every window is forecast, scored and forgotten.
//
//   Result<ModelEvaluation> evaluation = Evaluate(*source, flights, options);
//   std::vector<GroupSummary> groups = Summarize(*evaluation, bootstrap);    // summary.h
//
// Flights are shared out to threads; the windows of one flight are taken in time order by one
// thread, into a tally of that flight. So memory grows with flights and not with windows, and the
// result has the same bits for any number of threads.
//
// A forecast of quality `none` is not scored: there is nothing to score, and any stand-in would be
// our forecast and not the model's. It is counted, and tables say how many were left out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "aerocast/result.h"
#include "src/data/windows.h"
#include "src/eval/forecast_source.h"
#include "src/eval/tally.h"

namespace aerocast {

struct EvaluationOptions {
  WindowSpec window = {};
  int draws = 64;        // per step: energy score, highest-density regions, sharpness; 2 ... 1024
  int path_samples = 5;  // joint paths for the best-of-samples metrics; 0: leave them out
  std::uint64_t seed = 1;
  int threads = 0;             // <= 0: one per core
  bool allow_missing = false;  // windows without a recorded forecast are counted, not refused
  // Called after each flight with the number of flights done, from any thread, one at a time.
  std::function<void(std::size_t done, std::size_t flights)> progress = {};
};

// One flight's part of an evaluation: what the bootstrap and comparisons work on.
struct FlightTally {
  std::string id, category, configuration;
  Source source = Source::kReal;
  Tally tally;
};

struct ModelEvaluation {
  SourceInfo model;
  TallyLayout layout;
  std::vector<FlightTally> flights;  // in the order given; flights without windows are left out
  double seconds = 0;                // wall clock
};

// Refuses a window spec that is not valid or that the source does not forecast (other spacing,
// fewer steps), draws or samples out of range, and, unless allowed, windows without a forecast.
Result<ModelEvaluation> Evaluate(const ForecastSource& source,
                                 std::span<const FlightWindows> flights,
                                 const EvaluationOptions& options);

}  // namespace aerocast
