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
  if (recording.samples.empty()) return {};
  // The grid starts at the first sample, as windows do; a window's own t0 may lie up to one sample
  // later. Gaps are bridged here because no window has one.
  WindowSpec bridged = spec;
  bridged.max_gap_s = 1e6;
  std::vector<Vec3> grid(1 + static_cast<std::size_t>(recording.duration_s() / spec.dt_s + 1e-9));
  grid[0] = recording.target(0);
  if (!TargetsAt(recording, 0, bridged, std::span(grid).subspan(1))) grid.pop_back();
  std::vector<std::size_t> at;
  const TimeNs start = recording.samples.front().t_ns;
  for (const std::uint32_t i : t0) {
    const double steps = DurationS(recording.samples[i].t_ns - start) / spec.dt_s;
    at.push_back(static_cast<std::size_t>(steps + 1e-6));
  }
  const int history = std::max(1, static_cast<int>(std::lround(spec.min_history_s / spec.dt_s)));
  return OnGrid(grid, at, history, spec.horizon_steps(), spec.dt_s);
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
