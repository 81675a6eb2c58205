// SPDX-License-Identifier: BSD-3-Clause
//
// Generated flights (docs/generator.md): the nine categories with randomised geometry, speed and
// noise, flown by the tracking loop fitted to real flights; fast fliers (bird, soaring, racing,
// fixed_wing); the fork, a scene with two futures.
//
// The same seed gives the same recordings to the bit, whatever the number of threads. Flight n of
// a category depends on (seed, regime, duration, category, n) only, a fork's side also on the
// probability: asking for more flights or other categories leaves it as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aerocast/recording.h"
#include "aerocast/result.h"
#include "src/sim/flight.h"

namespace aerocast {

struct GenerateOptions {
  // Names of kFlightKinds, or "nine" or "fliers" for all of these; empty: all nine.
  std::vector<std::string> categories = {};
  int flights_per_category = 10;  // 1 to 100,000
  double duration_s = 30;         // 0.1 to 3600
  std::uint64_t seed = 1;
  std::optional<Regime> regime = std::nullopt;  // of the nine; not given: arena
  // Of turning left, 0 to 1, for category "fork"; not given: one half.
  std::optional<double> fork_probability = std::nullopt;
  // Every flight's sensor noise, 0 to 10; not given: one per flight, 0.05 mm to 5 cm.
  std::optional<double> noise_m = std::nullopt;
  int threads = 0;  // 0: one per core
};

// Category by category in the order asked for. Refuses unknown categories, naming those there are,
// options out of range, and a regime or fork probability that no category asked for knows.
Result<std::vector<Recording>> GenerateFlights(const GenerateOptions& options);

}  // namespace aerocast
