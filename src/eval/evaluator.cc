// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/base/text.h"
#include "src/eval/window_score.h"

namespace aerocast {
namespace {

Error Refuse(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Status CheckOptions(const ForecastSource& source, const EvaluationOptions& options) {
  const Status window = Validate(options.window);
  if (!window.ok()) return window;
  if (options.draws < 2 || options.draws > kMaxDraws) {
    return Refuse(fmt::format("draws must be 2 to {}", kMaxDraws));
  }
  if (options.path_samples < 0 || options.path_samples > 1000) {
    return Refuse("path samples must be 0 to 1000");
  }
  const int steps = options.window.horizon_steps();
  if (source.shape().steps < steps || std::abs(source.dt_s() - options.window.dt_s) > 1e-9) {
    return Refuse(fmt::format("{} forecasts {} steps of {} s, the windows ask for {} of {} s",
                              source.info().name, source.shape().steps, source.dt_s(), steps,
                              options.window.dt_s));
  }
  return {};
}

// One thread's memory.
struct Worker {
  Worker(const ForecastSource& source, const TallyLayout& layout, const NormalPool& pool,
         const EvaluationOptions& options)
      : reader(source.MakeReader()),
        scorer(layout, pool, options.draws, options.path_samples),
        now(RoomFor(source)),
        before(RoomFor(source)),
        targets(static_cast<std::size_t>(layout.steps())) {}

  std::unique_ptr<ForecastReader> reader;
  WindowScorer scorer;
  Forecast now, before;
  std::vector<Vec3> targets;
  std::vector<Observation> seen;
};

struct FlightOutcome {
  Tally tally;
  TimeNs first_missing_ns = 0;
};

FlightOutcome EvaluateFlight(const FlightWindows& windows, const EvaluationOptions& options,
                             const TallyLayout& layout, Worker& worker) {
  const Recording& flight = *windows.flight;
  FlightOutcome result{Tally(layout)};
  Tally& tally = result.tally;
  bool has_before = false;
  for (const std::uint32_t i : windows.t0) {
    ++tally.windows;
    const TimeNs t0 = flight.samples[i].t_ns;
    const History history = HistoryAt(windows, i, options.window.history_s, worker.seen);
    if (!worker.reader->Read(flight, i, history, worker.now)) {
      if (tally.missing++ == 0) result.first_missing_ns = t0;
      has_before = false;
      continue;
    }
    ++tally.quality[static_cast<std::size_t>(worker.now.quality)];
    if (worker.now.quality == Quality::kNone || worker.now.steps() < layout.steps()) {
      has_before = false;
      continue;
    }
    // CutWindows only gives windows whose targets exist.
    AEROCAST_CHECK(TargetsAt(flight, i, options.window, worker.targets));
    const Outcome outcome{worker.targets, flight.target(i), FitHeading(history.samples).to_world,
                          WindowKey(options.seed, flight.id, t0)};
    worker.scorer.Score(worker.now, outcome, tally);
    if (has_before) worker.scorer.ScoreConsistency(worker.before, worker.now, tally);
    std::swap(worker.now, worker.before), has_before = true;
  }
  return result;
}

Status CheckOutcomes(const std::string& name, std::span<const FlightWindows> flights,
                     const std::vector<FlightOutcome>& outcomes, bool allow_missing) {
  std::int64_t missing = 0;
  std::string first;
  const std::vector<double>* levels = nullptr;
  for (std::size_t n = 0; n < outcomes.size(); ++n) {
    const Tally& tally = outcomes[n].tally;
    if (tally.missing > 0 && missing == 0) {
      first = fmt::format("flight {} at t0 = ", flights[n].flight->id);
      AppendSeconds(outcomes[n].first_missing_ns, first);
    }
    missing += tally.missing;
    if (tally.conformal_level.empty()) continue;
    if (levels == nullptr) levels = &tally.conformal_level;
    if (tally.mixed_levels || *levels != tally.conformal_level) {
      return Refuse(
          fmt::format("flight {}: forecasts of one model state different conformal "
                      "levels, or more than {}",
                      flights[n].flight->id, kMaxConformalLevels));
    }
  }
  if (missing == 0 || allow_missing) return {};
  return Error{
      ErrorCode::kNotFound,
      fmt::format("{}: {} windows have no forecast, the first is {} s", name, missing, first)};
}

}  // namespace

Result<ModelEvaluation> Evaluate(const ForecastSource& source,
                                 std::span<const FlightWindows> flights,
                                 const EvaluationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Status valid = CheckOptions(source, options);
  if (!valid.ok()) return valid.error();
  ModelEvaluation evaluation{source.info(), TallyLayout(options.window), {}, 0};
  const NormalPool pool(options.seed);
  std::vector<std::unique_ptr<Worker>> workers(
      static_cast<std::size_t>(ThreadCount(options.threads)));
  std::vector<FlightOutcome> outcomes(flights.size());
  std::mutex progress_mutex;
  std::size_t done = 0;
  ParallelFor(flights.size(), options.threads, [&](std::size_t n, int thread) {
    auto& worker = workers[static_cast<std::size_t>(thread)];
    if (!worker) worker = std::make_unique<Worker>(source, evaluation.layout, pool, options);
    outcomes[n] = EvaluateFlight(flights[n], options, evaluation.layout, *worker);
    const std::scoped_lock lock(progress_mutex);
    if (++done, options.progress) options.progress(done, flights.size());
  });
  const Status complete =
      CheckOutcomes(source.info().name, flights, outcomes, options.allow_missing);
  if (!complete.ok()) return complete.error();
  for (std::size_t n = 0; n < flights.size(); ++n) {
    if (flights[n].t0.empty()) continue;
    const Recording& flight = *flights[n].flight;
    evaluation.flights.push_back({flight.id, flight.category, flight.configuration, flight.source,
                                  std::move(outcomes[n].tally)});
  }
  evaluation.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return evaluation;
}

}  // namespace aerocast
