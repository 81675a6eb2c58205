// SPDX-License-Identifier: BSD-3-Clause
//
// Windows that stand before a manoeuvre: those whose turn changes most right after t0. The future
// decides which they are, so this is for studies of windows, never for a forecaster.
#pragma once

#include <span>
#include <vector>

#include "src/data/windows.h"

namespace aerocast {

inline constexpr double kManoeuvreShare = 0.1;  // of all windows

// |turn rate in the second after t0 - turn rate in the second before|, rad/s, horizontally; 0 where
// the object hardly moves (0.05 m/s) or a second is not recorded.
double TurnChange(const Recording& flight, std::size_t t0);

// The windows with the largest turn change (kManoeuvreShare of all of them together, fewer when
// fewer change at all), or all others. Flights that have none left are left out.
std::vector<FlightWindows> BeforeManoeuvres(std::span<const FlightWindows> flights);
std::vector<FlightWindows> NotBeforeManoeuvres(std::span<const FlightWindows> flights);

}  // namespace aerocast
