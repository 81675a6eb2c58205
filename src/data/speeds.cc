// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/speeds.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/data/windows.h"

namespace aerocast {
namespace {

// Positions on an even grid, and which grid points are the t0 of a window.
FlightSpeeds OnGrid(std::span<const Vec3> grid, std::span<const std::size_t> t0, int history,
                    int horizon, double dt_s) {
  const auto past = static_cast<std::size_t>(history), ahead = static_cast<std::size_t>(horizon);
  std::vector<double> square(grid.size(), 0.0);  // running sum of squared steps
  for (std::size_t i = 1; i < grid.size(); ++i) {
    square[i] = square[i - 1] + SquaredNorm(grid[i] - grid[i - 1]);
  }
  FlightSpeeds speeds;
  std::size_t seen = 0;  // centred differences up to here are counted
  for (const std::size_t i : t0) {
    if (i < past || i + ahead >= grid.size()) continue;
    ++speeds.windows;
    speeds.rms_sum += std::sqrt((square[i] - square[i - past]) / history) / dt_s;
    for (std::size_t k = std::max(seen, i - past + 1); k < i + ahead; ++k) {
      speeds.max = std::max(speeds.max, Norm(grid[k + 1] - grid[k - 1]) / (2 * dt_s));
    }
    seen = i + ahead;
  }
  return speeds;
}

}  // namespace

FlightSpeeds& FlightSpeeds::operator+=(const FlightSpeeds& o) {
  windows += o.windows, rms_sum += o.rms_sum, max = std::max(max, o.max);
  return *this;
}

FlightSpeeds MeasureSpeeds(const Recording& recording, std::span<const std::uint32_t> t0,
                           const WindowSpec& spec) {
  const std::vector<Observation>& samples = recording.samples;
  const int history = std::max(1, static_cast<int>(std::lround(spec.min_history_s / spec.dt_s)));
  const TimeNs dt = DurationNs(spec.dt_s), max_gap = DurationNs(spec.max_gap_s);
  FlightSpeeds speeds;
  std::vector<Vec3> grid;
  std::vector<std::size_t> at;
  // One grid per stretch without a gap; a window lies within one. Its t0 is up to one step behind
  // the grid point that stands for it.
  for (std::size_t begin = 0, window = 0; window < t0.size();) {
    std::size_t end = begin;
    while (end + 1 < samples.size() && samples[end + 1].t_ns - samples[end].t_ns <= max_gap) ++end;
    at.clear();
    for (; window < t0.size() && t0[window] <= end; ++window) {
      at.push_back(static_cast<std::size_t>((samples[t0[window]].t_ns - samples[begin].t_ns) / dt));
    }
    if (!at.empty()) {
      grid.resize(1 + static_cast<std::size_t>((samples[end].t_ns - samples[begin].t_ns) / dt));
      grid[0] = recording.target(begin);
      if (!TargetsAt(recording, begin, spec, std::span(grid).subspan(1))) grid.pop_back();
      speeds += OnGrid(grid, at, history, spec.horizon_steps(), spec.dt_s);
    }
    begin = end + 1;
  }
  return speeds;
}

FlightSpeeds MeasureSpeeds(std::span<const Vec3> truth_100hz) {
  const WindowSpec spec = PaperWindows();
  std::vector<Vec3> grid;
  std::vector<std::size_t> every;
  for (std::size_t i = 0; i < truth_100hz.size(); i += 10) {
    every.push_back(grid.size());
    grid.push_back(truth_100hz[i]);
  }
  return OnGrid(grid, every, spec.history_steps(), spec.horizon_steps(), spec.dt_s);
}

}  // namespace aerocast
