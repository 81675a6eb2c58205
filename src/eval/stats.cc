// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/stats.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/base/parallel.h"
#include "src/data/category.h"
#include "src/data/speeds.h"

namespace aerocast {
namespace {

// Order of the table: the nine first, then by name.
bool RowBefore(const StatsRow& a, const StatsRow& b) {
  const auto rank = [](const StatsRow& r) {
    const int c = CategoryIndex(r.name);
    return c < 0 ? static_cast<int>(kCategories.size()) : c;
  };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.name < b.name;
}

void AddFlight(StatsRow& row, const FlightWindows& flight, const FlightSpeeds& speeds) {
  const auto windows = static_cast<std::int64_t>(flight.t0.size());
  ++row.recordings, row.windows += windows;
  if (flight.flight->source == Source::kReal) row.real_windows += windows;
  row.measured += static_cast<std::int64_t>(speeds.windows);
  row.mean_speed += speeds.rms_sum;  // a sum until the end
  row.highest_speed = std::max(row.highest_speed, speeds.max);
}

}  // namespace

CorpusStats ComputeStats(std::span<const FlightWindows> flights, const WindowSpec& spec,
                         int threads) {
  std::vector<FlightSpeeds> speeds(flights.size());
  ParallelFor(flights.size(), threads, [&](std::size_t n, int) {
    speeds[n] = MeasureSpeeds(*flights[n].flight, flights[n].t0, spec);
  });
  CorpusStats stats;
  stats.total.name = "total";
  std::map<std::string, StatsRow> rows;
  for (std::size_t n = 0; n < flights.size(); ++n) {
    StatsRow& row = rows[flights[n].flight->category];
    row.name = flights[n].flight->category;
    AddFlight(row, flights[n], speeds[n]), AddFlight(stats.total, flights[n], speeds[n]);
  }
  const auto finish = [](StatsRow& row) {
    if (row.measured > 0) row.mean_speed /= static_cast<double>(row.measured);
  };
  finish(stats.total);
  int with_windows = 0;
  for (auto& [name, row] : rows) {
    finish(row);
    stats.categories.push_back(row);
    if (row.windows == 0 || CategoryIndex(name) < 0) continue;
    ++with_windows;
    stats.category_mean_speed += row.mean_speed, stats.category_mean_highest += row.highest_speed;
  }
  stats.category_mean_speed /= with_windows, stats.category_mean_highest /= with_windows;  // or NaN
  std::sort(stats.categories.begin(), stats.categories.end(), RowBefore);
  return stats;
}

}  // namespace aerocast
