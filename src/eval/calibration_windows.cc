// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/calibration_windows.h"

#include <algorithm>
#include <mutex>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/data/resample.h"
#include "src/eval/draws.h"
#include "src/eval/tally.h"
#include "src/forecast/calibrate.h"

namespace aerocast {
namespace {

// The position modes alone, in memory of just that size.
Forecast WithoutDisplacement(const Forecast& from) {
  Forecast to;
  to.Reset({.steps = from.steps(), .modes = from.modes()}, from.id, from.t0_ns, from.dt_s);
  to.quality = from.quality, to.residual_correlation = from.residual_correlation;
  for (int i = 0; i < from.steps(); ++i) to.point(i) = from.point(i);
  for (int k = 0; k < from.modes(); ++k) {
    to.weight(k) = from.weight(k);
    for (int i = 0; i < from.steps(); ++i) {
      to.mean(k, i) = from.mean(k, i), to.cov(k, i) = from.cov(k, i);
    }
  }
  return to;
}

std::optional<Roughness> RoughnessOf(const History& history, double dt_s, double max_gap_s) {
  std::array<Vec3, kRoughnessPoints> grid;
  std::array<std::uint8_t, kRoughnessPoints> present;
  ResampleHistory(history, dt_s, max_gap_s, grid, present);
  Roughness roughness;
  if (!MeasureRoughness(grid, present, history.noise_m, roughness)) return std::nullopt;
  return roughness;
}

std::vector<CalibrationWindow> ForecastFlight(const Forecaster& raw, const FlightWindows& windows,
                                              const WindowSpec& spec, double history_s,
                                              Workspace& workspace) {
  const Recording& flight = *windows.flight;
  const auto batch = static_cast<std::size_t>(raw.info().batch);
  std::vector<Forecast> forecasts(batch, Forecast(raw.info().shape));
  std::vector<CalibrationWindow> result;
  for (std::size_t first = 0; first < windows.t0.size(); first += batch) {
    const std::size_t n = std::min(batch, windows.t0.size() - first);
    std::vector<History> histories;
    for (std::size_t i = 0; i < n; ++i) {
      histories.push_back(HistoryAt(flight, windows.t0[first + i], history_s));
    }
    raw.PredictBatch(histories, workspace, std::span(forecasts).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      if (forecasts[i].quality >= Quality::kFallback) continue;
      CalibrationWindow w;
      w.raw = WithoutDisplacement(forecasts[i]);
      w.roughness = RoughnessOf(histories[i], raw.info().dt_s, spec.max_gap_s);
      w.log_seen = LogSeen(histories[i], raw.info().history_s);
      w.targets.resize(static_cast<std::size_t>(w.raw.steps()));
      AEROCAST_CHECK(TargetsAt(flight, windows.t0[first + i], spec, w.targets));
      w.key = WindowKey(1, flight.id, w.raw.t0_ns);
      result.push_back(std::move(w));
    }
  }
  return result;
}

}  // namespace

std::size_t CalibrationWindows::CountOf(std::size_t flight) const {
  return static_cast<std::size_t>(
      std::count_if(windows.begin(), windows.end(),
                    [flight](const CalibrationWindow& w) { return w.flight == flight; }));
}

std::vector<int> WholeSeconds(const Forecast& forecast) {
  WindowSpec spec;
  spec.dt_s = forecast.dt_s, spec.horizon_s = forecast.steps() * forecast.dt_s;
  const TallyLayout layout(spec);
  if (layout.horizon_steps().empty()) return {forecast.steps() - 1};
  return {layout.horizon_steps().begin(), layout.horizon_steps().end()};
}

std::vector<std::size_t> ChooseWindows(const CalibrationWindows& windows, std::size_t per_flight) {
  std::vector<std::size_t> chosen;
  std::size_t first = 0;
  for (std::size_t f = 0; f < windows.flights.size(); ++f) {
    const std::size_t n = windows.CountOf(f), kept = std::min(n, per_flight);
    for (std::size_t i = 0; i < kept; ++i) chosen.push_back(first + (2 * i + 1) * n / (2 * kept));
    first += n;
  }
  return chosen;
}

FlightWindows ThinFlight(const FlightWindows& flight, std::size_t most) {
  const std::size_t n = flight.t0.size(), kept = std::min(n, std::max<std::size_t>(1, most));
  FlightWindows thin{flight.flight, {}};
  for (std::size_t i = 0; i < kept; ++i) thin.t0.push_back(flight.t0[(2 * i + 1) * n / (2 * kept)]);
  return thin;
}

CalibrationWindows ForecastWindows(const Forecaster& raw, std::span<const FlightWindows> flights,
                                   const CalibrationWindowOptions& options) {
  CalibrationWindows all;
  all.histories_s = options.histories_s;
  if (all.histories_s.empty()) all.histories_s = {options.spec.history_s};
  const std::size_t histories = all.histories_s.size();
  std::vector<std::vector<CalibrationWindow>> parts(flights.size());
  std::vector<std::unique_ptr<Workspace>> workspaces(
      static_cast<std::size_t>(ThreadCount(options.threads)));
  std::mutex mutex;
  const std::size_t each = options.most / std::max<std::size_t>(1, flights.size() * histories);
  ParallelFor(flights.size(), options.threads, [&](std::size_t n, int worker) {
    auto& workspace = workspaces[static_cast<std::size_t>(worker)];
    if (!workspace) workspace = raw.MakeWorkspace();
    const FlightWindows thin = ThinFlight(flights[n], each);
    for (std::size_t h = 0; h < histories; ++h) {
      for (CalibrationWindow& w :
           ForecastFlight(raw, thin, options.spec, all.histories_s[h], *workspace)) {
        w.history = h;
        parts[n].push_back(std::move(w));
      }
    }
    const std::scoped_lock lock(mutex);
    if (options.progress) options.progress();
  });
  for (std::size_t n = 0; n < flights.size(); ++n) {
    if (parts[n].empty()) continue;
    for (CalibrationWindow& w : parts[n]) {
      w.flight = all.flights.size();
      all.windows.push_back(std::move(w));
    }
    all.flights.push_back(flights[n].flight->id);
  }
  return all;
}

}  // namespace aerocast
