// SPDX-License-Identifier: BSD-3-Clause
//
// Fits the classical forecasters to the flights of the train side: how fast each one's error grows
// (spread), how errors hang together along a path, and, for ridge and knn, what they learn from
// windows. Formulas: docs/forecasters.md.
//
// The result depends on the flights and the options, never on the number of threads.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "aerocast/forecaster.h"
#include "aerocast/result.h"
#include "aerocast/window.h"
#include "src/data/windows.h"

namespace aerocast {

struct FitOptions {
  WindowSpec spec;  // horizon and dt of the forecaster; of its history at most 2 s, replay 10 s
  int threads = 0;  // 0: one per core
  // Windows overlap, so that neighbouring ones say the same: where there are more than this, every
  // n-th is taken.
  std::size_t spread_windows = 8'000;    // that the spread is fitted on
  std::size_t library_windows = 40'000;  // that knn remembers and ridge is fitted on
  // Whether windows are divided by their own RMS step; the defaults did better on flights left out.
  bool ridge_per_speed = false;
  bool knn_per_speed = false;
  // Where the errors of ridge and knn are measured on flights left out, leave out whole
  // configurations, as a split by configuration does: a repetition that stays in would make the
  // errors smaller than that split's flights will show. A flight that states no configuration is
  // one of its own.
  bool by_configuration = false;
};

// hold, cv, ca, ctrv, imm, replay, ridge, knn. Every test that promises something for all
// forecasters loops over this list.
std::vector<std::string_view> AllForecasterNames();

// Errors: an unknown name, an invalid spec, fewer than 100 windows with recorded targets. For ridge
// and knn also: fewer than two steps of history, fewer than 100 of the windows with a history
// without gaps, or all of them of one flight (configuration), so that none can be left out.
// info().fingerprint is the SHA-256 of the name, the spec and every fitted number.
Result<std::unique_ptr<Forecaster>> FitClassical(std::string_view name,
                                                 std::span<const FlightWindows> train,
                                                 const FitOptions& options);

}  // namespace aerocast
