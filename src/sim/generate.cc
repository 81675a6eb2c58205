// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/parallel.h"
#include "src/sim/fork.h"
#include "src/sim/kinds.h"

namespace aerocast {
namespace {

constexpr double kMostSamples =
    2e8;  // about 10 GB: beyond it a typing error is likelier than a wish

Error Refuse(std::string message) {
  return {ErrorCode::kInvalidArgument, "generate: " + std::move(message)};
}

Status CheckRanges(const GenerateOptions& options, std::size_t categories) {
  if (options.flights_per_category < 1 || options.flights_per_category > 100'000) {
    return Refuse(fmt::format("flights per category must be 1 to 100000, not {}",
                              options.flights_per_category));
  }
  if (!(options.duration_s >= 0.1 && options.duration_s <= 3600)) {
    return Refuse(fmt::format("the duration must be 0.1 to 3600 s, not {}", options.duration_s));
  }
  if (options.noise_m && !(*options.noise_m >= 0 && *options.noise_m <= 10)) {
    return Refuse(fmt::format("the noise must be 0 to 10 m, not {}", *options.noise_m));
  }
  const double samples = static_cast<double>(categories) * options.flights_per_category *
                         static_cast<double>(SamplesFor(options.duration_s));
  if (samples > kMostSamples) {
    return Refuse(
        fmt::format("{:.0f} million samples are more than {:.0f} million; ask for fewer "
                    "or shorter flights",
                    samples * 1e-6, kMostSamples * 1e-6));
  }
  return {};
}

// Options that only some kinds know are refused where none of these is asked for.
Status CheckKinds(const GenerateOptions& options, const std::vector<int>& kinds) {
  const auto any = [&](auto&& is) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](int k) { return is(kFlightKinds[static_cast<std::size_t>(k)]); });
  };
  const bool forks = any([](const FlightKind& kind) { return kind.fly == FlyFork; });
  if (options.regime && !any([](const FlightKind& kind) { return kind.is_shape(); })) {
    return Refuse(
        "a regime is for the nine shapes, and none of them is asked for; fliers and forks "
        "always fly in the open");
  }
  if (options.fork_probability && !forks) {
    return Refuse("a fork probability is for category \"fork\", which is not asked for");
  }
  if (options.fork_probability &&
      !(*options.fork_probability >= 0 && *options.fork_probability <= 1)) {
    return Refuse(
        fmt::format("the fork probability must be 0 to 1, not {}", *options.fork_probability));
  }
  if (forks && (options.duration_s < kForkLeastS || options.duration_s > kForkMostS)) {
    return Refuse(fmt::format("a fork branches at {} s; its duration must be {} to {} s, not {}",
                              kForkTimeS, kForkLeastS, kForkMostS, options.duration_s));
  }
  return {};
}

}  // namespace

Result<std::vector<Recording>> GenerateFlights(const GenerateOptions& options) {
  const Result<std::vector<int>> kinds = KindsFromNames(options.categories);
  if (!kinds.ok()) return kinds.error();
  if (Status s = CheckRanges(options, kinds->size()); !s.ok()) return s.error();
  if (Status s = CheckKinds(options, *kinds); !s.ok()) return s.error();

  const FlightRequest request{options.regime.value_or(Regime::kArena), options.duration_s,
                              options.fork_probability.value_or(0.5)};
  const auto per_category = static_cast<std::size_t>(options.flights_per_category);
  std::vector<Recording> flights(kinds->size() * per_category);
  ParallelFor(flights.size(), options.threads, [&](std::size_t i, int) {
    const FlightKey key{options.seed, (*kinds)[i / per_category], i % per_category, 0};
    const FlightKind& kind = kFlightKinds[static_cast<std::size_t>(key.category)];
    flights[i] = Record(key, kind.fly(key, request), options.noise_m);
  });
  return flights;
}

}  // namespace aerocast
