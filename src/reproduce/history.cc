// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/history.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "src/eval/bootstrap.h"

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A model in the evaluations of the study: seen with so many tokens.
struct Seen {
  int tokens;
  std::string model;
};

// Sum and number of ADE of a flight, side by side for everything that is compared.
using Cells = std::map<std::string, std::vector<double>>;

// Appends one pair to every flight. False: the evaluation was not made, or has no flights' rows.
bool AppendColumn(const Findings& findings, const std::string& subset, const Seen& seen,
                  std::size_t column, std::size_t columns, Cells& cells) {
  const Results* results = findings.Find(fmt::format("history-{}-{}", subset, seen.tokens));
  const ModelResult* model = results == nullptr ? nullptr : results->Find(seen.model);
  if (model == nullptr || model->per_flight.empty()) return false;
  const TallyLayout layout(results->protocol.window);
  for (const FlightTally& flight : model->per_flight) {
    std::vector<double>& row = cells.try_emplace(flight.id, 2 * columns).first->second;
    row[2 * column] = flight.tally.metric[layout.sum(Metric::kAde)];
    row[2 * column + 1] = flight.tally.metric[layout.count(Metric::kAde)];
  }
  return true;
}

// For each pair (less history, all of it) in turn: the loss before manoeuvres, and elsewhere.
std::vector<double> Losses(const std::vector<double>& sums) {
  std::vector<double> losses;
  for (std::size_t i = 0; i + 3 < sums.size(); i += 4) {
    losses.push_back(sums[i] / sums[i + 1] - sums[i + 2] / sums[i + 3]);
  }
  return losses;
}

// The first pair's difference, less that of the second if there is one.
double Contrast(const std::vector<double>& losses) {
  const double first = losses[0] - losses[1];
  return losses.size() > 2 ? first - (losses[2] - losses[3]) : first;
}

HistoryLoss Measure(const Findings& findings, const std::vector<std::pair<Seen, Seen>>& pairs) {
  Cells cells;
  const std::size_t columns = 4 * pairs.size();
  std::size_t column = 0;
  for (const auto& [less, all] : pairs) {
    for (const std::string& subset : HistorySubsets()) {
      for (const Seen* seen : {&less, &all}) {
        if (!AppendColumn(findings, subset, *seen, column++, columns, cells))
          return {kNan, kNan, kNan, kNan, kNan};
      }
    }
  }
  Stratum flights;
  std::vector<double> sums(2 * columns);
  for (auto& [id, row] : cells) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i];
    flights.push_back(std::move(row));
  }
  const std::vector<double> losses = Losses(sums);
  const std::vector<Stratum> strata = {std::move(flights)};
  const Interval interval = Bootstrap(
      strata, 1, {}, [](auto resampled, auto out) { out[0] = Contrast(Losses(resampled[0])); })[0];
  return {losses[0], losses[1], Contrast(losses), interval.low, interval.high};
}

std::pair<Seen, Seen> Cut(const std::string& network, int tokens) {
  const std::string model = QuarterName(network, 1);
  return {{tokens, model}, {kTokensLeft.back(), model}};
}

}  // namespace

HistoryLoss LossOfCutting(const Findings& findings, const std::string& network, int tokens) {
  return Measure(findings, {Cut(network, tokens)});
}

HistoryLoss LossOfTraining(const Findings& findings, const std::string& network, int tokens) {
  const int all = kTokensLeft.back();
  return Measure(findings, {{{all, fmt::format("quarter-{}-t{}", network, tokens)},
                             {all, QuarterName(network, 1)}}});
}

HistoryLoss LossBeyond(const Findings& findings, const std::string& network,
                       const std::string& other, int tokens) {
  return Measure(findings, {Cut(network, tokens), Cut(other, tokens)});
}

std::string DifferenceText(const HistoryLoss& loss) {
  if (!std::isfinite(loss.difference)) return "–";
  if (!std::isfinite(loss.low)) return fmt::format("{:+.3f} m", loss.difference);
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}] m", loss.difference, loss.low, loss.high);
}

}  // namespace aerocast
