// SPDX-License-Identifier: BSD-3-Clause
//
// How long forecasts take: measured call by call, with the monotonic clock around Predict alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "aerocast/forecaster.h"

namespace aerocast::cli {

struct Latency {
  std::size_t calls = 0;
  double mean_s = 0, sd_s = 0, p50_s = 0, p99_s = 0, p999_s = 0, max_s = 0;
};
// p-th quantile: the smallest time that at least this share of the calls kept.
Latency Summarise(std::vector<double> seconds);

// What else happens on the machine while a forecast is made.
enum class Condition {
  kWarm,  // nothing; the call before was the same
  kCold,  // nothing, but the caches were filled with other data before each call
  kBusy,  // every core also runs a thread that streams through memory
};
std::string ConditionName(Condition condition);

// Objects on smooth made-up paths at 100 Hz, each its own; the same on every machine.
class MadeUpTracks {
 public:
  MadeUpTracks(int objects, double history_s);
  const std::vector<History>& histories() const { return histories_; }

 private:
  std::vector<std::vector<Observation>> samples_;
  std::vector<std::string> ids_;
  std::vector<History> histories_;
};

struct LatencyOptions {
  Condition condition = Condition::kWarm;
  int threads = 1, batch = 1;
  int calls = 1000, warm_up = 20;
};
// Of one call: Predict, or PredictBatch of `batch` objects.
Latency MeasureLatency(const Forecaster& forecaster, const LatencyOptions& options);

// The machine's own part: calls of about `seconds` that only count in a register. Whatever they
// take longer than their p50 is not the forecaster's doing.
Latency MeasureMachine(double seconds, int calls);

// A forecast every 1 / rate_hz on one thread. A period's forecast is late when it is not there
// before the next period begins.
struct LoopResult {
  Latency compute;
  std::size_t periods = 0, missed = 0;
  double worst_lateness_s = 0;  // after the deadline; 0 when none was missed
  double worst_wake_s = 0;      // how late the system woke us at most
};
LoopResult RunLoop(const Forecaster& forecaster, double rate_hz, double seconds);

// Whether the forecaster answers made-up tracks itself, rather than by its fallback.
bool Answers(const Forecaster& forecaster);

// Hash of the forecasts for made-up flights, rounded to millimetres: two builds or machines with
// the same signature behave alike.
std::string BehaviourSignature(const Forecaster& forecaster);

}  // namespace aerocast::cli
