// SPDX-License-Identifier: BSD-3-Clause
//
// Windows of a recording: cut once as a list of sample indices (four bytes each), looked at on
// demand. Nothing is resampled or stored ahead, so a corpus needs no more memory than its samples.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "aerocast/history.h"
#include "aerocast/recording.h"
#include "aerocast/window.h"

namespace aerocast {

inline constexpr double kNoMinZ = -std::numeric_limits<double>::infinity();

// The samples of `recording` that are the t0 of a window, oldest first. Candidates are the first
// sample at or after start + min_history_s + n * stride * dt_s. A candidate is a window when
// [t0 - min_history_s, t0 + horizon_s] is recorded, has no gap longer than max_gap_s, and lies
// wholly above min_z (the airborne filter; truth where it is known).
std::vector<std::uint32_t> CutWindows(const Recording& recording, const WindowSpec& spec,
                                      double min_z = kNoMinZ);

// A flight with its windows: what is fitted on and evaluated. The recording outlives it.
struct FlightWindows {
  const Recording* flight = nullptr;
  std::vector<std::uint32_t> t0;  // sample indices
  // What was seen before t0, where it is not the flight's own samples (a sensor with faults). The
  // observation at t0 is the flight's.
  const std::vector<Observation>* seen = nullptr;
};

// CutWindows for several flights, in their order; those without a window are left out.
std::vector<FlightWindows> CutFlights(std::span<const Recording* const> flights,
                                      const WindowSpec& spec, double min_z = kNoMinZ);

std::size_t CountWindows(std::span<const FlightWindows> flights);

// What a forecaster may see at t0 = samples[i].t_ns: the observations in [t0 - history_s, t0] and
// the one before them, from which the oldest grid point is interpolated. A view, nothing is copied.
History HistoryAt(const Recording& recording, std::size_t i, double history_s);

// The same at t0 = flight.samples[i].t_ns of a flight that may have been seen otherwise; then the
// view is of `buffer`, which lives as long as it.
History HistoryAt(const FlightWindows& windows, std::size_t i, double history_s,
                  std::vector<Observation>& buffer);

// The positions at t0 + dt, t0 + 2 dt, ... into `targets`, as many as it holds: truth where it is
// recorded, linear between samples. False when the recording ends before or has a longer gap.
bool TargetsAt(const Recording& recording, std::size_t i, const WindowSpec& spec,
               std::span<Vec3> targets);

}  // namespace aerocast
