// SPDX-License-Identifier: BSD-3-Clause
//
// The data-set table (the paper's Table II): what a corpus holds, per category.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/data/windows.h"

namespace aerocast {

struct StatsRow {
  std::string name;
  std::int64_t recordings = 0, windows = 0, real_windows = 0;
  double mean_speed = 0;      // mean over windows of the window's RMS speed, m/s (speeds.h)
  double highest_speed = 0;   // inside any window, m/s
  std::int64_t measured = 0;  // windows the mean stands on: those with their history recorded

  double real_share() const {
    return windows > 0 ? static_cast<double>(real_windows) / static_cast<double>(windows) : 0;
  }
};

struct CorpusStats {
  std::vector<StatsRow> categories;  // the nine in their order, then others by name
  StatsRow total;                    // over all windows; highest_speed is the highest of all
  // Mean over the nine categories, each counting once, of mean and highest speed: the paper's
  // total row. NaN when there is none of them.
  double category_mean_speed = 0, category_mean_highest = 0;
};

// Parallel over flights; the same bits for any number of threads.
CorpusStats ComputeStats(std::span<const FlightWindows> flights, const WindowSpec& spec,
                         int threads = 0);

}  // namespace aerocast
