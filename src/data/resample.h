// SPDX-License-Identifier: BSD-3-Clause
//
// History on the grid t0 - k * dt, for methods that want evenly spaced steps.
#pragma once

#include <cstdint>
#include <span>

#include "aerocast/history.h"
#include "aerocast/window.h"

namespace aerocast {

// Fills grid (T + 1 positions, oldest first, the last one the newest observation itself) and
// present (1: known, 0: masked, its position is zero). T + 1 = grid.size(). A grid point is known
// when a sample has its very stamp or two samples around it are at most max_gap_s apart; nothing is
// extrapolated and nothing later than t0 exists. Returns how many are known; 0 without samples.
int ResampleHistory(const History& history, double dt_s, double max_gap_s, std::span<Vec3> grid,
                    std::span<std::uint8_t> present);

}  // namespace aerocast
