// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "src/base/check.h"

namespace aerocast {
namespace {

Error Refuse(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// b's flights in the order of a's.
Result<std::vector<std::size_t>> Pair(const ComparedModel& a, const ComparedModel& b) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < b.flights.size(); ++i) index[b.flights[i].id] = i;
  std::vector<std::size_t> pairs;
  for (const FlightTally& flight : a.flights) {
    const auto at = index.find(flight.id);
    if (at == index.end()) {
      return Refuse(
          fmt::format("{} was evaluated on flight {}, {} was not", a.name, flight.id, b.name));
    }
    pairs.push_back(at->second);
  }
  if (a.flights.size() != b.flights.size()) {
    return Refuse(fmt::format("{} was evaluated on {} flights, {} on {}", a.name, a.flights.size(),
                              b.name, b.flights.size()));
  }
  return pairs;
}

// How many windows (or counts within them) stand behind a flight's value.
double Support(const TallyLayout& layout, const Tally& tally, Metric metric) {
  switch (metric) {
    case Metric::kEcePosition:
      return layout.horizons() > 0 ? tally.metric[layout.calibration(0) + kCalibrationLevels] : 0;
    case Metric::kEceDisplacement:
      return tally.metric[layout.paper_z() + kPaperZ];
    case Metric::kModeUseEntropy:
      return tally.metric[layout.count(Metric::kModeEntropy)];
    default:
      return tally.metric[layout.count(metric)];
  }
}

Status CheckPair(const ComparedModel& a, const ComparedModel& b,
                 const std::vector<std::size_t>& pairs, Metric metric) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const FlightTally &fa = a.flights[i], &fb = b.flights[pairs[i]];
    if (fa.tally.windows != fb.tally.windows) {
      return Refuse(fmt::format("flight {} has {} windows for {} and {} for {}", fa.id,
                                fa.tally.windows, a.name, fb.tally.windows, b.name));
    }
    const double na = Support(a.layout, fa.tally, metric);
    const double nb = Support(b.layout, fb.tally, metric);
    if (na == nb) continue;
    return Refuse(
        fmt::format("flight {}: {} stands on {} values of {} and {} of {}, so they are "
                    "not paired",
                    fa.id, Info(metric).key, na, a.name, nb, b.name));
  }
  return {};
}

// The metric of a, of b, and their difference; summed cells of a and b lie one after the other.
void PairValues(const TallyLayout& layout, std::span<const std::vector<double>> sums, Metric metric,
                std::span<double> values) {
  const std::size_t n = layout.metric_size(), m = static_cast<std::size_t>(metric);
  values[0] = values[1] = 0;
  for (const std::vector<double>& cells : sums) {
    const std::span<const double> all = cells;
    values[0] += ComputeMetrics(layout, all.first(n))[m] / static_cast<double>(sums.size());
    values[1] += ComputeMetrics(layout, all.subspan(n))[m] / static_cast<double>(sums.size());
  }
  values[2] = values[0] - values[1];
}

Stratum PairedCells(const ComparedModel& a, const ComparedModel& b,
                    const std::vector<std::size_t>& pairs, const std::vector<std::size_t>& members,
                    Cluster cluster) {
  std::map<std::string_view, std::size_t> index;
  Stratum cells;
  const std::size_t n = a.layout.metric_size();
  for (const std::size_t i : members) {
    const auto [at, is_new] = index.try_emplace(ClusterOf(a.flights[i], cluster), cells.size());
    if (is_new) cells.emplace_back(2 * n);
    std::vector<double>& to = cells[at->second];
    for (std::size_t c = 0; c < n; ++c) {
      to[c] += a.flights[i].tally.metric[c];
      to[n + c] += b.flights[pairs[i]].tally.metric[c];
    }
  }
  return cells;
}

const FlightGroup* FindGroup(const std::vector<FlightGroup>& groups, GroupKind kind) {
  for (const FlightGroup& group : groups) {
    if (group.kind == kind) return &group;
  }
  return nullptr;
}

}  // namespace

Result<Comparison> Compare(const ComparedModel& a, const ComparedModel& b, Metric metric,
                           GroupKind kind, const BootstrapOptions& options) {
  AEROCAST_CHECK(kind == GroupKind::kAll || kind == GroupKind::kCategoryAverage);
  if (a.layout.metric_size() != b.layout.metric_size()) {
    return Refuse(fmt::format("{} and {} were evaluated with different horizons", a.name, b.name));
  }
  const auto pairs = Pair(a, b);
  if (!pairs.ok()) return pairs.error();
  if (const Status same = CheckPair(a, b, *pairs, metric); !same.ok()) return same.error();
  const auto groups = MakeGroups(a.flights);
  const FlightGroup* group = FindGroup(groups, kind);
  if (group == nullptr) return Refuse("there are no flights of the nine categories to average");
  std::vector<Stratum> strata;
  std::vector<std::vector<double>> sums;
  Comparison c{a.name, b.name, metric, kind};
  for (const std::vector<std::size_t>& members : group->strata) {
    strata.push_back(PairedCells(a, b, *pairs, members, options.cluster));
    c.clusters += static_cast<int>(strata.back().size());
    sums.emplace_back(2 * a.layout.metric_size());
    for (const std::vector<double>& cells : strata.back()) {
      for (std::size_t i = 0; i < cells.size(); ++i) sums.back()[i] += cells[i];
    }
  }
  std::array<double, 3> values;
  PairValues(a.layout, sums, metric, values);
  if (std::isnan(values[2])) {
    return Refuse(fmt::format("{} or {} has no {}", a.name, b.name, Info(metric).key));
  }
  const auto intervals = Bootstrap(strata, 3, options, [&](auto resampled, auto out) {
    PairValues(a.layout, resampled, metric, out);
  });
  c.mean_a = values[0], c.mean_b = values[1], c.difference = values[2];
  c.low = intervals[2].low, c.high = intervals[2].high;
  return c;
}

std::vector<Comparison> CompareWithBest(std::span<const ModelEvaluation> models, Metric metric,
                                        const BootstrapOptions& options) {
  const auto value = [&](const ModelEvaluation& model) {
    Tally sum(model.layout);
    for (const FlightTally& f : model.flights) sum.Add(f.tally);
    return ComputeMetrics(model.layout, sum.metric)[static_cast<std::size_t>(metric)];
  };
  const auto scored = [](const ModelEvaluation& model) {
    std::int64_t sum = 0;
    for (const FlightTally& f : model.flights) sum += f.tally.scored;
    return sum;
  };
  // A model that left windows out does not become the measure of the others.
  std::int64_t most = 0;
  for (const ModelEvaluation& model : models) most = std::max(most, scored(model));
  const ModelEvaluation* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const ModelEvaluation& model : models) {
    const double v = value(model);
    if (scored(model) == most && v < least) least = v, best = &model;
  }
  std::vector<Comparison> comparisons;
  for (const ModelEvaluation& model : models) {
    if (best == nullptr || &model == best) continue;
    auto c =
        Compare({model.model.name, model.layout, model.flights},
                {best->model.name, best->layout, best->flights}, metric, GroupKind::kAll, options);
    if (c.ok()) comparisons.push_back(std::move(*c));
  }
  return comparisons;
}

}  // namespace aerocast
