// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/forecaster.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/check.h"
#include "src/forecast/spread.h"

namespace aerocast {
namespace {

constexpr std::size_t kRepairCapacity = 4096;  // newest samples kept of a malformed history
constexpr int kLateWindow = 8;                 // samples within which order may be lost
constexpr double kLatestS = 10;  // a stamp further ahead than this is no late sample's

constexpr int kMaxBatch = 16;

constexpr double kLeastStepSigma = 1e-3;  // metres

bool WellFormed(std::span<const Observation> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!IsUsable(samples[i]) || (i > 0 && samples[i].t_ns <= samples[i - 1].t_ns)) return false;
  }
  return true;
}

constexpr std::size_t kNoSample = ~std::size_t{0};

// The usable sample with the newest stamp below `limit` among the last kLateWindow before `end`;
// when none of those is below it, the last one that is.
std::size_t NewestBefore(std::span<const Observation> samples, std::size_t end, TimeNs limit) {
  std::size_t best = kNoSample;
  int seen = 0;
  for (std::size_t i = end; i-- > 0 && (seen < kLateWindow || best == kNoSample);) {
    if (!IsUsable(samples[i])) continue;
    ++seen;
    if (samples[i].t_ns >= limit) continue;
    if (best == kNoSample || samples[i].t_ns > samples[best].t_ns) best = i;
  }
  return best;
}

// Copies the usable samples by the rule of history.h, newest last. Never grows `out` beyond its
// capacity.
std::span<const Observation> Repair(std::span<const Observation> samples,
                                    std::vector<Observation>& out) {
  out.resize(kRepairCapacity);
  std::size_t begin = out.size();
  std::size_t at = samples.size();
  while (at > 0 && !IsUsable(samples[at - 1])) --at;
  if (at == 0) return {};
  TimeNs limit = samples[at - 1].t_ns + DurationNs(kLatestS);
  while (begin > 0 && (at = NewestBefore(samples, at, limit)) != kNoSample) {
    out[--begin] = samples[at];
    limit = samples[at].t_ns;
  }
  return std::span<const Observation>(out).subspan(begin);
}

// The samples of the last history_s seconds, and the one before them if it is near enough for the
// oldest grid point to be interpolated from it.
std::span<const Observation> Cut(std::span<const Observation> samples, double history_s) {
  // Unsigned: the distance of two stamps may not fit in int64.
  const auto age = [&](std::size_t n) {  // of the n-th newest, from 1
    return static_cast<std::uint64_t>(samples.back().t_ns) -
           static_cast<std::uint64_t>(samples[samples.size() - n].t_ns);
  };
  const auto reach = static_cast<std::uint64_t>(DurationNs(history_s));
  std::size_t n = 1;
  while (n < samples.size() && age(n + 1) <= reach) ++n;
  const bool bracket = n < samples.size() && age(n) < reach && age(n + 1) <= reach + kNsPerSecond;
  return samples.last(bracket ? n + 1 : n);
}

// The held position as displacements: each step stays, and its variance is what the spread grows
// by, axis by axis, so that the steps add up to the spread again.
void WriteHeldDisplacement(double sigma_floor_m, double scale_m, Forecast& forecast) {
  DisplacementMixture& d = forecast.displacement;
  d.anchor = forecast.point(0);
  d.sigma_floor_m = sigma_floor_m, d.scale_m = scale_m;
  const auto sigma = [&](double growth) {  // of the variance
    return std::max({std::sqrt(std::max(growth, 0.0)), sigma_floor_m, kLeastStepSigma});
  };
  Cov3 before;
  for (int i = 0; i < forecast.steps(); ++i) {
    const Cov3& c = forecast.cov(0, i);
    d.weight[static_cast<std::size_t>(i)] = 1;
    d.sigma[static_cast<std::size_t>(i)] = {sigma(c.xx - before.xx), sigma(c.yy - before.yy),
                                            sigma(c.zz - before.zz)};
    before = c;
  }
}

}  // namespace

std::unique_ptr<Workspace> Forecaster::DoMakeWorkspace(int) const {
  return std::make_unique<Workspace>();
}

std::unique_ptr<Workspace> Forecaster::MakeWorkspace(int threads) const {
  AEROCAST_CHECK(info_.batch >= 1 && info_.batch <= kMaxBatch);
  auto workspace = DoMakeWorkspace(std::clamp(threads, 1, kMaxThreads));
  workspace->repaired_.resize(static_cast<std::size_t>(info_.batch));
  // Touched, so that the first malformed history faults no page.
  for (auto& repaired : workspace->repaired_) repaired.resize(kRepairCapacity);
  workspace->owner_ = this;
  return workspace;
}

bool Forecaster::Begin(const History& history, std::vector<Observation>& repaired,
                       Task& task) const noexcept {
  History& clean = task.history = history;
  if (!WellFormed(clean.samples)) clean.samples = Repair(clean.samples, repaired);
  if (clean.samples.empty()) {
    const TimeNs last = history.samples.empty() ? 0 : history.samples.back().t_ns;
    task.forecast->MakeNone(history.id, last, info_.dt_s);
    return false;
  }
  clean.samples = Cut(clean.samples, info_.history_s);
  if (!(clean.noise_m >= 0 && clean.noise_m < kFarthestM)) clean.noise_m = 0;
  task.forecast->Reset(info_.shape, clean.id, clean.samples.back().t_ns, info_.dt_s);
  return true;
}

void Forecaster::End(const Task& task) const noexcept {
  Forecast& forecast = *task.forecast;
  forecast.quality = task.quality;
  if (forecast.modes() > 0 && forecast.IsValid()) return;
  Hold(task.history, forecast);
}

void Forecaster::Predict(const History& history, Workspace& workspace,
                         Forecast& forecast) const noexcept {
  PredictBatch({&history, 1}, workspace, {&forecast, 1});
}

void Forecaster::PredictBatch(std::span<const History> histories, Workspace& workspace,
                              std::span<Forecast> forecasts) const noexcept {
  AEROCAST_CHECK(histories.size() == forecasts.size());
  AEROCAST_CHECK(workspace.owner_ == this);
  std::array<Task, kMaxBatch> tasks;
  std::size_t count = 0;
  for (std::size_t n = 0; n < histories.size(); ++n) {
    tasks[count].forecast = &forecasts[n];
    if (Begin(histories[n], workspace.repaired_[count], tasks[count])) ++count;
    if (count < workspace.repaired_.size() && n + 1 < histories.size()) continue;
    DoPredictTasks(std::span(tasks).first(count), workspace);
    for (std::size_t i = 0; i < count; ++i) End(tasks[i]);
    count = 0;
  }
}

void Forecaster::DoPredictTasks(std::span<Task> tasks, Workspace& workspace) const noexcept {
  for (Task& task : tasks) task.quality = DoPredict(task.history, workspace, *task.forecast);
}

void Forecaster::Hold(const History& history, Forecast& forecast) const noexcept {
  // The family's own floor and unit stay, or averages over windows would mix units.
  const double floor = forecast.displacement.sigma_floor_m, scale = forecast.displacement.scale_m;
  const bool displacement = info_.shape.displacement_components > 0;
  forecast.Reset({.steps = info_.shape.steps, .modes = 1, .displacement_components = displacement},
                 history.id, history.samples.back().t_ns, info_.dt_s);
  ForecastHold(history, GenericSpread(PathKind::kHeld), forecast);
  if (displacement) WriteHeldDisplacement(floor, scale, forecast);
  forecast.quality = Quality::kFallback;
}

}  // namespace aerocast
