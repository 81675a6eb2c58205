// SPDX-License-Identifier: BSD-3-Clause
#include "python/shared_forecaster.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace aerocast::python {

SharedForecaster::SharedForecaster(std::unique_ptr<Forecaster> forecaster, int threads)
    : forecaster_(std::move(forecaster)),
      threads_(threads),
      most_idle_(std::max(1u, std::thread::hardware_concurrency())) {}

std::vector<Forecast> SharedForecaster::Predict(std::span<const Track> tracks) const {
  std::vector<Forecast> forecasts(tracks.size(), Forecast(info().shape));
  std::vector<History> histories;
  histories.reserve(tracks.size());
  for (const Track& track : tracks) histories.push_back({track.id, track.samples, track.noise_m});
  std::unique_ptr<Workspace> workspace = Take();
  forecaster_->PredictBatch(histories, *workspace, forecasts);
  GiveBack(std::move(workspace));
  return forecasts;
}

std::unique_ptr<Workspace> SharedForecaster::Take() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return forecaster_->MakeWorkspace(threads_);
}

// More than one for each core are not kept.
void SharedForecaster::GiveBack(std::unique_ptr<Workspace> workspace) const {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < most_idle_) idle_.push_back(std::move(workspace));
}

}  // namespace aerocast::python
