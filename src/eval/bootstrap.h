// SPDX-License-Identifier: BSD-3-Clause
//
// Percentile bootstrap over clusters. Windows of one flight overlap, and flights of one
// configuration repeat one another, so what is resampled is the flight or the configuration with
// all its windows: its summed cells (tally.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/eval/evaluator.h"

namespace aerocast {

enum class Cluster { kFlight, kConfiguration };
std::string_view ClusterName(Cluster cluster);           // "flight", "configuration"
Result<Cluster> ClusterFromName(std::string_view name);  // an unknown name lists the known ones

struct BootstrapOptions {
  Cluster cluster = Cluster::kFlight;
  int replicates = 1000;
  double level = 0.95;
  std::uint64_t seed = 1;
  int threads = 0;  // changes nothing but the time
};

// A flight's cluster: its id, or its configuration (its id when it has none).
const std::string& ClusterOf(const FlightTally& flight, Cluster cluster);

// An interval that does not exist is NaN at both ends.
struct Interval {
  double low, high;
};

// Cells of each cluster of a stratum. Every stratum is resampled on its own and keeps its number of
// clusters.
using Stratum = std::vector<std::vector<double>>;

// Resamples the clusters of each stratum with replacement, sums their cells, and hands the sums
// (one vector per stratum) to `statistic`, which writes `outputs` values. Returns the interval of
// each value: from the sorted replicates, NaN ones left out; none when a stratum has fewer than two
// clusters or more than a twentieth of the replicates is NaN. The same seed gives the same bits.
std::vector<Interval> Bootstrap(std::span<const Stratum> strata, std::size_t outputs,
                                const BootstrapOptions& options,
                                const std::function<void(std::span<const std::vector<double>> sums,
                                                         std::span<double> values)>& statistic);

}  // namespace aerocast
