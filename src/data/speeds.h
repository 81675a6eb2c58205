// SPDX-License-Identifier: BSD-3-Clause
//
// How fast a flight is, as the paper's data-set table counts it: on the 10 Hz grid, over windows,
// from true positions where they are known.
//
//   RMS speed of a window   root mean square of |x_t - x_{t-1}| / dt over the history it must have
//                           (2 s, 20 steps)
//   max speed               largest |x_{t+1} - x_{t-1}| / 2 dt inside any window
//
// On the airborne NanoBench windows these reproduce the paper's maxima within 0.014 m/s. This is
// the only place that says what speed is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aerocast/recording.h"
#include "aerocast/window.h"

namespace aerocast {

struct FlightSpeeds {
  std::size_t windows = 0;
  double rms_sum = 0;  // of the windows' RMS speeds, so that flights can be added up
  double max = 0;

  double mean_rms() const { return windows == 0 ? 0 : rms_sum / static_cast<double>(windows); }
  FlightSpeeds& operator+=(const FlightSpeeds& o);
};

// Over the windows `t0` (CutWindows of the same spec).
FlightSpeeds MeasureSpeeds(const Recording& recording, std::span<const std::uint32_t> t0,
                           const WindowSpec& spec = PaperWindows());

// The same for true positions at 100 Hz that are one unbroken airborne flight.
FlightSpeeds MeasureSpeeds(std::span<const Vec3> truth_100hz);

}  // namespace aerocast
