// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/stats.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/base/parallel.h"
#include "src/data/category.h"

namespace aerocast {
namespace {

// The best known position at t, between two samples up to sample i at most max_gap apart.
bool PositionAt(const Recording& recording, std::size_t i, TimeNs t, TimeNs max_gap, Vec3& p) {
  const auto begin = recording.samples.begin(), end = begin + static_cast<std::ptrdiff_t>(i) + 1;
  const auto at =
      std::lower_bound(begin, end, t, [](const Observation& o, TimeNs x) { return o.t_ns < x; });
  if (at == end) return false;
  const auto b = static_cast<std::size_t>(at - begin);
  if (at->t_ns == t) return p = recording.target(b), true;
  if (b == 0) return false;
  const TimeNs ta = recording.samples[b - 1].t_ns, gap = at->t_ns - ta;
  if (gap > max_gap) return false;
  const double u = static_cast<double>(t - ta) / static_cast<double>(gap);
  p = recording.target(b - 1) + (recording.target(b) - recording.target(b - 1)) * u;
  return true;
}

struct FlightSpeeds {
  double sum = 0, highest = 0;
};

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
  row.mean_speed += speeds.sum;  // a sum until the end
  row.highest_speed = std::max(row.highest_speed, speeds.highest);
}

}  // namespace

WindowSpeed SpeedOf(const Recording& recording, std::size_t i, const WindowSpec& spec) {
  const TimeNs t0 = recording.samples[i].t_ns, max_gap = DurationNs(spec.max_gap_s);
  WindowSpeed speed;
  Vec3 later = recording.target(i);
  bool later_known = true;
  double squares = 0;
  for (int k = 1; k <= spec.history_steps(); ++k) {
    Vec3 p;
    const bool known = PositionAt(recording, i, t0 - DurationNs(k * spec.dt_s), max_gap, p);
    if (known && later_known) {
      const double v = Norm(later - p) / spec.dt_s;
      squares += v * v, speed.highest = std::max(speed.highest, v), ++speed.steps;
    }
    later = p, later_known = known;
  }
  if (speed.steps > 0) speed.rms = std::sqrt(squares / speed.steps);
  return speed;
}

CorpusStats ComputeStats(std::span<const FlightWindows> flights, const WindowSpec& spec,
                         int threads) {
  std::vector<FlightSpeeds> speeds(flights.size());
  ParallelFor(flights.size(), threads, [&](std::size_t n, int) {
    for (const std::uint32_t i : flights[n].t0) {
      const WindowSpeed speed = SpeedOf(*flights[n].flight, i, spec);
      speeds[n].sum += speed.rms;
      speeds[n].highest = std::max(speeds[n].highest, speed.highest);
    }
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
    if (row.windows > 0) row.mean_speed /= static_cast<double>(row.windows);
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
  if (with_windows > 0) {
    stats.category_mean_speed /= with_windows, stats.category_mean_highest /= with_windows;
  }
  std::sort(stats.categories.begin(), stats.categories.end(), RowBefore);
  return stats;
}

}  // namespace aerocast
