// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/base/rng.h"

namespace aerocast {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The sum of as many clusters as there are, drawn with replacement.
void Resample(const Stratum& clusters, Rng& rng, std::vector<double>& sums) {
  std::vector<int> times(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) ++times[rng.Below(clusters.size())];
  sums.assign(clusters[0].size(), 0);
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    if (times[c] == 0) continue;
    const double n = times[c];
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += n * clusters[c][i];
  }
}

// Linear between the order statistics around p (n - 1).
double Quantile(const std::vector<double>& sorted, double p) {
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(rank);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (rank - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

Interval IntervalOf(std::vector<double> values, double level) {
  const std::size_t replicates = values.size();
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty() || 20 * (replicates - values.size()) > replicates) return {kNone, kNone};
  std::sort(values.begin(), values.end());
  return {Quantile(values, (1 - level) / 2), Quantile(values, (1 + level) / 2)};
}

}  // namespace

std::string_view ClusterName(Cluster cluster) {
  return cluster == Cluster::kFlight ? "flight" : "configuration";
}

Result<Cluster> ClusterFromName(std::string_view name) {
  for (const Cluster cluster : {Cluster::kFlight, Cluster::kConfiguration}) {
    if (name == ClusterName(cluster)) return cluster;
  }
  return Error{ErrorCode::kInvalidArgument,
               "cluster is '" + std::string(name) + "', expected flight or configuration"};
}

const std::string& ClusterOf(const FlightTally& flight, Cluster cluster) {
  const bool by_id = cluster == Cluster::kFlight || flight.configuration.empty();
  return by_id ? flight.id : flight.configuration;
}

std::vector<Interval> Bootstrap(std::span<const Stratum> strata, std::size_t outputs,
                                const BootstrapOptions& options,
                                const std::function<void(std::span<const std::vector<double>> sums,
                                                         std::span<double> values)>& statistic) {
  std::vector<Interval> intervals(outputs, {kNone, kNone});
  const auto too_few = [](const Stratum& s) { return s.size() < 2; };
  if (strata.empty() || std::any_of(strata.begin(), strata.end(), too_few)) return intervals;
  if (options.replicates < 1) return intervals;
  const auto replicates = static_cast<std::size_t>(options.replicates);
  std::vector<double> values(replicates * outputs);
  ParallelFor(replicates, options.threads, [&](std::size_t r, int) {
    Rng rng(options.seed, r);
    std::vector<std::vector<double>> sums(strata.size());
    for (std::size_t s = 0; s < strata.size(); ++s) Resample(strata[s], rng, sums[s]);
    statistic(sums, std::span(values).subspan(r * outputs, outputs));
  });
  std::vector<double> column(replicates);
  for (std::size_t i = 0; i < outputs; ++i) {
    for (std::size_t r = 0; r < replicates; ++r) column[r] = values[r * outputs + i];
    intervals[i] = IntervalOf(column, options.level);
  }
  return intervals;
}

}  // namespace aerocast
