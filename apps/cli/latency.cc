// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/latency.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>

#include "src/base/parallel.h"
#include "src/base/sha256.h"

namespace aerocast::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRateHz = 100;
constexpr double kMarginS = 1;  // of a track, beyond what the forecaster looks at
constexpr std::size_t kBeyondCaches = std::size_t{128} << 20;  // bytes

double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// A polynomial, so that no library's sine is in it.
Vec3 PathOf(int object, double t) {
  const double a = 1 + 0.01 * (object % 97), b = 0.3 - 0.005 * (object % 41);
  return {a * t, b * t * t - 0.02 * t * t * t, 10 + 0.2 * t - 0.01 * object};
}

std::vector<Observation> Track(int object, double until_s, double history_s) {
  std::vector<Observation> samples;
  const int n = static_cast<int>((history_s + kMarginS) * kRateHz);
  for (int i = -n; i <= 0; ++i) {
    const double t = until_s + i / kRateHz;
    samples.push_back({DurationNs(t), PathOf(object, t)});
  }
  return samples;
}

// Fills the caches with something else.
class CacheFiller {
 public:
  CacheFiller() : bytes_(kBeyondCaches, 1) {}
  void Fill() {
    for (std::size_t i = 0; i < bytes_.size(); i += 64) ++bytes_[i];
  }

 private:
  std::vector<unsigned char> bytes_;
};

// One thread per core that streams through memory while it lives.
class BusyNeighbours {
 public:
  BusyNeighbours() {
    for (int i = 0; i < ThreadCount(0); ++i) {
      threads_.emplace_back([this] {
        CacheFiller filler;
        while (!stop_) filler.Fill();
      });
    }
  }
  ~BusyNeighbours() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

Latency Summarise(std::vector<double> seconds) {
  Latency latency;
  latency.calls = seconds.size();
  if (seconds.empty()) return latency;
  std::sort(seconds.begin(), seconds.end());
  const double n = static_cast<double>(seconds.size());
  const auto quantile = [&](double p) {
    return seconds[static_cast<std::size_t>(std::max(std::ceil(p * n) - 1, 0.0))];
  };
  latency.mean_s = std::accumulate(seconds.begin(), seconds.end(), 0.0) / n;
  double square = 0;
  for (const double s : seconds) square += (s - latency.mean_s) * (s - latency.mean_s);
  latency.sd_s = std::sqrt(square / std::max(n - 1, 1.0));
  latency.p50_s = quantile(0.5), latency.p99_s = quantile(0.99), latency.p999_s = quantile(0.999);
  latency.max_s = seconds.back();
  return latency;
}

std::string ConditionName(Condition condition) {
  switch (condition) {
    case Condition::kWarm:
      return "warm";
    case Condition::kCold:
      return "cold cache";
    case Condition::kBusy:
      break;
  }
  return "busy neighbours";
}

MadeUpTracks::MadeUpTracks(int objects, double history_s) {
  for (int i = 0; i < objects; ++i) {
    samples_.push_back(Track(i, 3, history_s));
    ids_.push_back(std::to_string(i));
  }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    histories_.push_back({ids_[i], samples_[i], 0});
  }
}

Latency MeasureLatency(const Forecaster& forecaster, const LatencyOptions& options) {
  const MadeUpTracks tracks(options.batch, forecaster.info().history_s);
  const auto workspace = forecaster.MakeWorkspace(options.threads);
  std::vector<Forecast> forecasts(static_cast<std::size_t>(options.batch),
                                  Forecast(forecaster.info().shape));
  std::optional<CacheFiller> filler;
  if (options.condition == Condition::kCold) filler.emplace();
  std::optional<BusyNeighbours> neighbours;
  if (options.condition == Condition::kBusy) neighbours.emplace();

  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(options.calls));
  for (int i = -options.warm_up; i < options.calls; ++i) {
    if (filler) filler->Fill();
    const Clock::time_point start = Clock::now();
    forecaster.PredictBatch(tracks.histories(), *workspace, forecasts);
    const double taken = Seconds(Clock::now() - start);
    if (i >= 0) seconds.push_back(taken);
  }
  return Summarise(std::move(seconds));
}

Latency MeasureMachine(double seconds, int calls) {
  const auto count = [](std::uint64_t steps) {
    const Clock::time_point start = Clock::now();
    for (std::uint64_t i = 0; i < steps; ++i) asm volatile("" : : "r"(i));
    return Seconds(Clock::now() - start);
  };
  constexpr std::uint64_t kProbe = 1'000'000;
  const double probe = std::min({count(kProbe), count(kProbe), count(kProbe)});
  const auto steps = static_cast<std::uint64_t>(seconds / probe * kProbe);
  std::vector<double> taken;
  for (int i = 0; i < calls; ++i) taken.push_back(count(steps));
  return Summarise(std::move(taken));
}

LoopResult RunLoop(const Forecaster& forecaster, double rate_hz, double seconds) {
  const MadeUpTracks tracks(1, forecaster.info().history_s);
  const auto workspace = forecaster.MakeWorkspace();
  Forecast forecast(forecaster.info().shape);
  LoopResult result;
  result.periods = static_cast<std::size_t>(std::max(rate_hz * seconds, 1.0));
  std::vector<double> compute;
  compute.reserve(result.periods);
  for (int i = 0; i < 20; ++i) forecaster.Predict(tracks.histories()[0], *workspace, forecast);

  const Clock::time_point begin = Clock::now();
  const auto at = [&](std::size_t period) {
    return begin + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(static_cast<double>(period) / rate_hz));
  };
  for (std::size_t period = 0; period < result.periods; ++period) {
    std::this_thread::sleep_until(at(period));
    const Clock::time_point start = Clock::now();
    forecaster.Predict(tracks.histories()[0], *workspace, forecast);
    const Clock::time_point end = Clock::now();
    compute.push_back(Seconds(end - start));
    result.worst_wake_s = std::max(result.worst_wake_s, Seconds(start - at(period)));
    const double lateness = Seconds(end - at(period + 1));
    result.missed += lateness > 0;
    result.worst_lateness_s = std::max(result.worst_lateness_s, lateness);
  }
  result.compute = Summarise(std::move(compute));
  return result;
}

bool Answers(const Forecaster& forecaster) {
  const MadeUpTracks tracks(1, forecaster.info().history_s);
  Forecast forecast(forecaster.info().shape);
  forecaster.Predict(tracks.histories()[0], *forecaster.MakeWorkspace(), forecast);
  return forecast.quality == Quality::kOk;
}

std::string BehaviourSignature(const Forecaster& forecaster) {
  constexpr int kFlights = 5;
  const auto workspace = forecaster.MakeWorkspace();
  Forecast forecast(forecaster.info().shape);
  std::vector<std::int64_t> rounded;
  const auto add = [&](double metres) { rounded.push_back(std::llround(metres * 1e3)); };
  const auto add_position = [&](const Vec3& p) { add(p.x), add(p.y), add(p.z); };
  for (int flight = 0; flight < kFlights; ++flight) {
    for (const double until_s : {3.0, 4.5, 6.0}) {
      const std::vector<Observation> samples = Track(flight, until_s, forecaster.info().history_s);
      forecaster.Predict({"signature", samples, 0}, *workspace, forecast);
      rounded.push_back(static_cast<std::int64_t>(forecast.quality));
      for (int i = 0; i < forecast.steps(); ++i) {
        add_position(forecast.point(i));
        const Cov3 cov = forecast.mixture_cov(i);
        add_position({std::sqrt(cov.xx), std::sqrt(cov.yy), std::sqrt(cov.zz)});
      }
    }
  }
  Sha256 hash;
  hash.Update(std::span<const std::int64_t>(rounded));
  return hash.Hex().substr(0, 16);
}

}  // namespace aerocast::cli
