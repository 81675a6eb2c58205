// SPDX-License-Identifier: BSD-3-Clause
//
// What a forecaster is given: the observations of one object up to now, and nothing later.
//
// t0, the instant a forecast starts from, is the stamp of the newest usable observation. It is
// never rounded, extrapolated or read from a clock. A History holds no sample after t0, so a
// forecaster cannot leak the future: it never sees it.
#pragma once

#include <cmath>
#include <span>
#include <string_view>

#include "aerocast/geometry.h"
#include "aerocast/time.h"

namespace aerocast {

// One measured position in the world frame.
struct Observation {
  TimeNs t_ns = 0;
  Vec3 p_world;

  friend bool operator==(const Observation&, const Observation&) = default;
};

// Stamps within 285 years of the clock's origin, so that no sum of ours overflows.
inline constexpr TimeNs kLatestStampNs = 9'000'000'000'000'000'000;
inline constexpr double kFarthestM = 1e7;  // from the origin, per axis

// Whether anything can be made of it: stamp and position within the limits above (NaN is not).
inline bool IsUsable(const Observation& o) {
  return o.t_ns > -kLatestStampNs && o.t_ns < kLatestStampNs &&
         std::abs(o.p_world.x) < kFarthestM && std::abs(o.p_world.y) < kFarthestM &&
         std::abs(o.p_world.z) < kFarthestM;
}

// A view: whoever makes it keeps `samples` and `id` alive and unchanged while it is used.
//
// Well-formed samples are usable and have strictly increasing stamps. Rate and spacing are free: 3
// Hz or 200 Hz, even or not, with gaps. Samples that break these rules are skipped by
// Forecaster::Predict, which still answers from the others.
//
// Which of two samples breaks the order? Going back from the end, each sample taken is the newest
// of the eight usable ones before it. So up to seven samples that arrive late are skipped, and t0
// stays at the newest; a lone stamp from the future is skipped once eight samples have followed it,
// or at once when it is 10 s or more ahead of the last sample; of equal stamps the last counts. A
// clock that was set back counts from there on.
struct History {
  std::string_view id;
  std::span<const Observation> samples;  // oldest first
  double noise_m = 0;                    // sigma of an observation per axis; 0: unknown or none
};

}  // namespace aerocast
