// SPDX-License-Identifier: BSD-3-Clause
//
// Shift tests: the same flights as another sensor would have seen them, or flown otherwise
// (docs/shift_tests.md). What forecasters see is disturbed, what they are scored on is not.
//
//   Result<DisturbedFlights> shifted = DisturbFlights(recordings, disturbance, spec, min_z);
//   Evaluate(*source, shifted->windows, options);
//
// First the flight changes: its clock, its size, its direction. Targets go with it. Then the sensor
// fails: noise, outliers, dropped observations. Targets stay what they were, to the bit, and so do
// the windows. The observation at t0, from which a forecast starts, is noisy but always there.
//
// The result depends on the disturbance, its seed and the recording's id and nothing else. Each
// fault draws from a stream of its own and every sample takes its turn, so that twice the noise is
// the same noise twice as large, and what is dropped at 10 % is dropped at 30 % too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aerocast/recording.h"
#include "aerocast/result.h"
#include "src/data/windows.h"

namespace aerocast {

struct Disturbance {
  double time_scale = 1;     // 2: the same path flown twice as fast
  double scale = 1;          // positions, and the noise the recording states, times this
  double yaw_deg = 0;        // rotation about the vertical through the origin
  double noise_m = 0;        // sigma per axis, added to observations
  bool noise_stated = true;  // whether forecasters are told the sum of old and new noise
  double outliers = 0;       // share of observations displaced by 0.5 to 3 m, in any direction
  double drop = 0;           // share of observations dropped, after thinning them to 10 Hz
  std::uint64_t seed = 1;

  bool none() const { return *this == Disturbance{.seed = seed}; }
  bool random() const { return noise_m != 0 || outliers != 0 || drop != 0; }
  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

// Says which number is out of range, if one is.
Status Validate(const Disturbance& disturbance);

// "noise 0.02 m (not stated), 30 % of 10 Hz dropped", for people, with the seed where it is another
// than the default; "none".
std::string Describe(const Disturbance& disturbance);

struct DisturbedFlight {
  Recording flight;               // with truth, where the sensor is disturbed
  std::vector<Observation> seen;  // outliers and gaps: see FlightWindows::seen; else empty
};

DisturbedFlight Disturb(const Recording& recording, const Disturbance& disturbance);

// Movable; `windows` points into `flights`, or to the recordings where nothing is disturbed.
struct DisturbedFlights {
  DisturbedFlights() = default;
  DisturbedFlights(DisturbedFlights&&) = default;
  DisturbedFlights& operator=(DisturbedFlights&&) = default;

  std::vector<DisturbedFlight> flights;
  std::vector<FlightWindows> windows;  // of flights that have any
};

// Disturbed flights with their windows. The windows are those of the undisturbed flights, above the
// same min_z, unless the time scale differs from one. Refuses what Validate refuses, and positions
// that get too far away for a forecaster.
Result<DisturbedFlights> DisturbFlights(std::span<const Recording* const> recordings,
                                        const Disturbance& disturbance, const WindowSpec& spec,
                                        double min_z = kNoMinZ);

}  // namespace aerocast
