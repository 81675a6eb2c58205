// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/manoeuvres.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <optional>

#include "src/data/resample.h"

namespace aerocast {
namespace {

constexpr double kSlowest = 0.05;  // m/s
constexpr double kHalfS = 0.5;     // over which a course is measured

// The turn rate in the second that lies between three points half a second apart.
std::optional<double> TurnRate(const Vec3& a, const Vec3& b, const Vec3& c) {
  const std::complex<double> first(b.x - a.x, b.y - a.y), second(c.x - b.x, c.y - b.y);
  if (std::min(std::abs(first), std::abs(second)) < kSlowest * kHalfS) return std::nullopt;
  return std::arg(second * std::conj(first)) / kHalfS;
}

std::vector<FlightWindows> Select(std::span<const FlightWindows> flights, bool before) {
  std::vector<double> changes;
  for (const FlightWindows& f : flights) {
    for (const std::uint32_t t0 : f.t0) changes.push_back(TurnChange(*f.flight, t0));
  }
  std::vector<double> sorted = changes;
  const auto rank =
      static_cast<std::ptrdiff_t>((1 - kManoeuvreShare) * static_cast<double>(sorted.size()));
  if (rank >= static_cast<std::ptrdiff_t>(sorted.size())) return {};
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  const double limit = sorted[static_cast<std::size_t>(rank)];
  std::vector<FlightWindows> selected;
  std::size_t n = 0;
  for (const FlightWindows& f : flights) {
    FlightWindows some = f;
    some.t0.clear();
    for (const std::uint32_t t0 : f.t0) {
      // Where most windows turn no otherwise than before, the limit is 0: none of those counts.
      const double change = changes[n++];
      if ((change >= limit && change > 0) == before) some.t0.push_back(t0);
    }
    if (!some.t0.empty()) selected.push_back(std::move(some));
  }
  return selected;
}

}  // namespace

double TurnChange(const Recording& flight, std::size_t t0) {
  WindowSpec spec;
  spec.dt_s = kHalfS;
  std::array<Vec3, 2> after;
  if (!TargetsAt(flight, t0, spec, after)) return 0;
  std::array<Vec3, 3> grid;
  std::array<std::uint8_t, 3> present;
  ResampleHistory(HistoryAt(flight, t0, 1), kHalfS, spec.max_gap_s, grid, present);
  if (present[0] == 0 || present[1] == 0) return 0;
  const std::optional<double> was = TurnRate(grid[0], grid[1], grid[2]);
  const std::optional<double> will = TurnRate(grid[2], after[0], after[1]);
  return was && will ? std::abs(*will - *was) : 0;
}

std::vector<FlightWindows> BeforeManoeuvres(std::span<const FlightWindows> flights) {
  return Select(flights, true);
}

std::vector<FlightWindows> NotBeforeManoeuvres(std::span<const FlightWindows> flights) {
  return Select(flights, false);
}

}  // namespace aerocast
