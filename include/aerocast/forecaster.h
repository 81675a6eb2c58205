// SPDX-License-Identifier: BSD-3-Clause
//
// Anything that forecasts: a filter, a regression, a network. Evaluation, reports, viewers and
// planners know this interface and nothing else.
//
//   auto forecaster = MakeClassical("ctrv").value();
//   auto workspace = forecaster->MakeWorkspace();       // one per thread, before the loop
//   Forecast forecast(forecaster->info().shape);
//   while (...) forecaster->Predict(history, *workspace, forecast);
//
// Threads. A Forecaster never changes after it was made and may be shared by any number of
// threads. Each caller brings a Workspace and a Forecast of its own.
//
// Real time. Predict does not allocate, lock, call the system, throw or print, once its Workspace
// and Forecast exist. It cannot fail: faulty samples are skipped (history.h), what is left is
// forecast from and flagged when it is too little, and without one usable sample there is `none`.
//
// Determinism. The same history gives the same bits, whatever came before.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aerocast/forecast.h"
#include "aerocast/history.h"

namespace aerocast {

struct ForecasterInfo {
  std::string name;         // short, unique: "cv", "knn"
  std::string description;  // one line for people
  std::string fingerprint;  // hash of everything fitted or trained; empty when nothing is
  // Samples older than this before t0 are not looked at, but for the first of them, up to 1 s
  // older: the oldest grid point lies between it and the next.
  double history_s = 2.0;
  double dt_s = 0.1;
  ForecastShape shape;
  int batch = 1;  // how many PredictBatch works on at once; more gain nothing
};

class Forecaster;

inline constexpr int kMaxThreads = 64;  // of a Workspace

// Scratch memory of one caller. Forecasters derive from it when they need more.
class Workspace {
 public:
  virtual ~Workspace() = default;

 private:
  friend class Forecaster;
  // Where malformed histories are copied without their faults: one for each of a batch.
  std::vector<std::vector<Observation>> repaired_;
  const Forecaster* owner_ = nullptr;
};

class Forecaster {
 public:
  virtual ~Forecaster() = default;
  Forecaster(const Forecaster&) = delete;
  Forecaster& operator=(const Forecaster&) = delete;

  const ForecasterInfo& info() const { return info_; }

  // A Workspace of this forecaster's own kind; using another forecaster's is a programming error.
  // `threads` work together on one call, the caller's among them, where the forecaster has use for
  // several (a network does), at most kMaxThreads; the others belong to the Workspace and sleep
  // between calls (they do not survive a fork). The bits of a forecast do not depend on it. Throws
  // std::bad_alloc or std::system_error when the system refuses memory or a thread.
  std::unique_ptr<Workspace> MakeWorkspace(int threads = 1) const;

  // Forecasts from the newest usable observation of `history` into `forecast`, which should have
  // been made with info().shape (a smaller one is grown, which allocates).
  void Predict(const History& history, Workspace& workspace, Forecast& forecast) const noexcept;

  // The same for several objects; result n belongs to history n and has the same bits as if it
  // had been asked for alone. Both spans are equally long.
  void PredictBatch(std::span<const History> histories, Workspace& workspace,
                    std::span<Forecast> forecasts) const noexcept;

 protected:
  explicit Forecaster(ForecasterInfo info) : info_(std::move(info)) {}

  // One forecast to be made: history and forecast as DoPredict takes them.
  struct Task {
    History history;
    Forecast* forecast = nullptr;
    Quality quality = Quality::kFallback;  // what DoPredict returns
  };

 private:
  friend class CalibratedForecaster;  // asks another forecaster in the middle of its own Predict
  virtual std::unique_ptr<Workspace> DoMakeWorkspace(int threads) const;

  // Does the work. `history` is well-formed, not empty, and cut as history_s says; `forecast`
  // is reset to info().shape with weights, means and covariances still to be written. Returns the
  // quality. What it leaves invalid is replaced by a flagged fallback, so no check is needed here.
  // A displacement mixture's floor and unit are kept from what it leaves.
  virtual Quality DoPredict(const History& history, Workspace& workspace,
                            Forecast& forecast) const noexcept = 0;
  // At most info().batch of them at once, for forecasters that gain by it; by default one by one.
  virtual void DoPredictTasks(std::span<Task> tasks, Workspace& workspace) const noexcept;

  // What Predict does before and after: false when there is nothing to forecast from.
  bool Begin(const History& history, std::vector<Observation>& repaired, Task& task) const noexcept;
  void End(const Task& task) const noexcept;

  // The fallback: one mode at the newest position, and one component per step when the forecaster
  // has a displacement mixture, since tables need it on all windows or none.
  void Hold(const History& history, Forecast& forecast) const noexcept;

  ForecasterInfo info_;
};

}  // namespace aerocast
