// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/summary.h"

#include <cmath>
#include <limits>
#include <map>

namespace aerocast {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Shares(std::span<const double> counts, double total) {
  std::vector<double> shares;
  for (const double c : counts) shares.push_back(c / total);
  return shares;
}

HorizonSummary SummarizeHorizon(const TallyLayout& layout, const Tally& t, int h) {
  HorizonSummary s;
  const std::span<const double> detail = t.detail;
  const auto scored = static_cast<double>(t.scored);
  s.t_s = layout.horizon_s(h);
  const int step = layout.horizon_steps()[static_cast<std::size_t>(h)];
  s.error = t.scored > 0 ? detail[layout.error(step)] / scored : kNone;
  s.sharpness_90 = kNone;
  if (const double n = detail[layout.distributions(h)]; n > 0) {
    s.sharpness_90 = detail[layout.sharpness(h)] / n;
    s.region = Shares(detail.subspan(layout.region(h), kCoverageLevels.size()), n);
    s.radial = Shares(detail.subspan(layout.radial(h), kCoverageLevels.size()), n);
    for (int axis = 0; axis < 3; ++axis) {
      s.pit[static_cast<std::size_t>(axis)] =
          Shares(detail.subspan(layout.pit(h, axis), kPitBins), n);
    }
  }
  if (const double n = detail[layout.conformal(h) + kMaxConformalLevels]; n > 0) {
    s.conformal_level = t.conformal_level;
    s.conformal_ball = Shares(detail.subspan(layout.conformal(h), t.conformal_level.size()), n);
  }
  return s;
}

std::vector<double> PooledCalibration(const TallyLayout& layout, const Tally& t) {
  std::vector<double> sums(kCalibrationLevels);
  double windows = 0;
  for (int h = 0; h < layout.horizons(); ++h) {
    const std::size_t at = layout.calibration(h);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += t.metric[at + i];
    windows += t.metric[at + kCalibrationLevels];
  }
  return windows > 0 ? Shares(sums, windows) : std::vector<double>();
}

std::vector<double> ModeUse(const TallyLayout& layout, const Tally& t) {
  std::span<const double> use = std::span(t.metric).subspan(layout.mode_use(), kMaxModes);
  double total = 0;
  for (const double u : use) total += u;
  if (total == 0) return {};
  while (use.back() == 0) use = use.first(use.size() - 1);
  return Shares(use, total);
}

// Everything but intervals and counts of clusters, of one sum of tallies.
GroupSummary SummarizeTally(const TallyLayout& layout, const Tally& t) {
  GroupSummary s;
  s.windows = t.windows, s.scored = t.scored;
  const MetricValues values = ComputeMetrics(layout, t.metric);
  for (std::size_t m = 0; m < kMetricCount; ++m) s.metrics[m] = {values[m], kNone, kNone};
  for (int i = 0; i < layout.steps() && t.scored > 0; ++i) {
    s.error.push_back(t.detail[layout.error(i)] / static_cast<double>(t.scored));
  }
  for (int h = 0; h < layout.horizons(); ++h) {
    s.horizons.push_back(SummarizeHorizon(layout, t, h));
  }
  s.calibration = PooledCalibration(layout, t);
  s.mode_use = ModeUse(layout, t);
  return s;
}

void AddScaled(std::vector<double>& a, const std::vector<double>& b, double weight) {
  if (a.size() < b.size()) a.resize(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) a[i] += weight * b[i];
}

// The mean of one field over all parts; empty when a part has none.
template <typename Field>
std::vector<double> MeanOf(const std::vector<GroupSummary>& parts, Field field) {
  std::vector<double> mean;
  for (const GroupSummary& p : parts) {
    const std::vector<double>& values = field(p);
    if (values.empty()) return {};
    AddScaled(mean, values, 1.0 / static_cast<double>(parts.size()));
  }
  return mean;
}

HorizonSummary AverageHorizon(const std::vector<GroupSummary>& parts, std::size_t h) {
  HorizonSummary mean;
  const double w = 1.0 / static_cast<double>(parts.size());
  mean.t_s = parts[0].horizons[h].t_s;
  for (const GroupSummary& p : parts) {
    mean.error += w * p.horizons[h].error, mean.sharpness_90 += w * p.horizons[h].sharpness_90;
  }
  const auto of = [&](auto field) {
    return MeanOf(parts, [&](const GroupSummary& p) -> const std::vector<double>& {
      return field(p.horizons[h]);
    });
  };
  using S = HorizonSummary;
  using Values = const std::vector<double>&;
  mean.region = of([](const S& s) -> Values { return s.region; });
  mean.radial = of([](const S& s) -> Values { return s.radial; });
  mean.conformal_ball = of([](const S& s) -> Values { return s.conformal_ball; });
  if (!mean.conformal_ball.empty()) mean.conformal_level = parts[0].horizons[h].conformal_level;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    mean.pit[axis] = of([axis](const S& s) -> Values { return s.pit[axis]; });
  }
  return mean;
}

// The mean of several summaries, each counting once.
GroupSummary Average(const std::vector<GroupSummary>& parts) {
  if (parts.size() == 1) return parts[0];
  const double w = 1.0 / static_cast<double>(parts.size());
  GroupSummary mean;
  for (const GroupSummary& p : parts) {
    mean.windows += p.windows, mean.scored += p.scored;
    for (std::size_t m = 0; m < kMetricCount; ++m) mean.metrics[m].value += w * p.metrics[m].value;
  }
  using G = GroupSummary;
  using Values = const std::vector<double>&;
  mean.error = MeanOf(parts, [](const G& g) -> Values { return g.error; });
  mean.calibration = MeanOf(parts, [](const G& g) -> Values { return g.calibration; });
  mean.mode_use = MeanOf(parts, [](const G& g) -> Values { return g.mode_use; });
  for (std::size_t h = 0; h < parts[0].horizons.size(); ++h) {
    mean.horizons.push_back(AverageHorizon(parts, h));
  }
  return mean;
}

Tally SumOf(const ModelEvaluation& e, const std::vector<std::size_t>& members) {
  Tally sum(e.layout);
  for (const std::size_t i : members) sum.Add(e.flights[i].tally);
  return sum;
}

Stratum ClusterCells(const ModelEvaluation& e, const std::vector<std::size_t>& members,
                     Cluster cluster) {
  std::map<std::string_view, std::size_t> index;
  Stratum cells;
  for (const std::size_t i : members) {
    const FlightTally& flight = e.flights[i];
    const auto [at, is_new] = index.try_emplace(ClusterOf(flight, cluster), cells.size());
    if (is_new) cells.emplace_back(flight.tally.metric.size());
    AddScaled(cells[at->second], flight.tally.metric, 1);
  }
  return cells;
}

void SetIntervals(const TallyLayout& layout, std::span<const Stratum> strata,
                  const BootstrapOptions& options, GroupSummary& group) {
  const auto intervals = Bootstrap(strata, kMetricCount, options,
                                   [&](std::span<const std::vector<double>> sums, auto values) {
                                     std::fill(values.begin(), values.end(), 0.0);
                                     for (const std::vector<double>& cells : sums) {
                                       const MetricValues v = ComputeMetrics(layout, cells);
                                       for (std::size_t m = 0; m < kMetricCount; ++m) {
                                         values[m] += v[m] / static_cast<double>(sums.size());
                                       }
                                     }
                                   });
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    group.metrics[m].low = intervals[m].low, group.metrics[m].high = intervals[m].high;
  }
}

}  // namespace

std::vector<GroupSummary> Summarize(const ModelEvaluation& evaluation,
                                    const BootstrapOptions& options) {
  std::vector<GroupSummary> summaries;
  for (const FlightGroup& group : MakeGroups(evaluation.flights)) {
    std::vector<GroupSummary> parts;
    std::vector<Stratum> strata;
    std::int64_t flights = 0;
    int clusters = 0;
    for (const std::vector<std::size_t>& members : group.strata) {
      parts.push_back(SummarizeTally(evaluation.layout, SumOf(evaluation, members)));
      strata.push_back(ClusterCells(evaluation, members, options.cluster));
      flights += static_cast<std::int64_t>(members.size());
      clusters += static_cast<int>(strata.back().size());
    }
    GroupSummary summary = Average(parts);
    summary.kind = group.kind, summary.name = group.name;
    summary.flights = flights, summary.clusters = clusters;
    SetIntervals(evaluation.layout, strata, options, summary);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace aerocast
