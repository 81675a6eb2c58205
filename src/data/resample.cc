// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/resample.h"

#include "src/base/check.h"

namespace aerocast {

int ResampleHistory(const History& history, double dt_s, double max_gap_s, std::span<Vec3> grid,
                    std::span<std::uint8_t> present) {
  AEROCAST_CHECK(grid.size() == present.size());
  const std::span<const Observation> samples = history.samples;
  const TimeNs max_gap = DurationNs(max_gap_s);
  int known = 0;
  std::size_t b = samples.size();  // one behind the last sample at or before the grid point
  for (std::size_t k = 0; k < grid.size(); ++k) {
    const std::size_t slot = grid.size() - 1 - k;
    grid[slot] = {};
    present[slot] = 0;
    if (samples.empty()) continue;
    const TimeNs t = samples.back().t_ns - DurationNs(static_cast<double>(k) * dt_s);
    while (b > 0 && samples[b - 1].t_ns > t) --b;
    if (b == 0) continue;
    const Observation& before = samples[b - 1];
    if (before.t_ns == t) {
      grid[slot] = before.p_world;
    } else {
      const Observation& after = samples[b];
      if (after.t_ns - before.t_ns > max_gap) continue;
      const double share =
          static_cast<double>(t - before.t_ns) / static_cast<double>(after.t_ns - before.t_ns);
      grid[slot] = before.p_world + (after.p_world - before.p_world) * share;
    }
    present[slot] = 1;
    ++known;
  }
  return known;
}

}  // namespace aerocast
