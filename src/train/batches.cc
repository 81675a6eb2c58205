// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/data/paper_features.h"
#include "src/data/resample.h"
#include "src/forecast/network_forecaster.h"

namespace aerocast {
namespace {

constexpr std::uint64_t kDisturbance = 0x6469737475726221;  // keeps these draws from the order's

WindowSpec SpecOf(const ModelConfig& config) {
  WindowSpec spec;
  spec.dt_s = config.dt_s;
  spec.history_s = spec.min_history_s = config.history_steps * config.dt_s;
  spec.horizon_s = config.horizon_steps * config.dt_s;
  return spec;
}

// A window on the grid.
struct Positions {
  explicit Positions(const ModelConfig& config)
      : spec(SpecOf(config)),
        observed(static_cast<std::size_t>(config.history_steps) + 1),
        present(observed.size()),
        targets(static_cast<std::size_t>(config.horizon_steps)) {}

  // False when a point of the history or a target is not known.
  bool Read(const Recording& flight, std::size_t t0) {
    last = flight.target(t0);
    const History history = HistoryAt(flight, t0, spec.history_s);
    const int known = ResampleHistory(history, spec.dt_s, spec.max_gap_s, observed, present);
    return known == static_cast<int>(observed.size()) && TargetsAt(flight, t0, spec, targets);
  }

  // About the last position, so that nothing moves but differences.
  void Scale(double scale) {
    for (Vec3& p : observed) p = last + scale * (p - last);
    for (Vec3& p : targets) p = last + scale * (p - last);
  }

  void AddNoise(double noise_m, Rng& rng) {
    for (Vec3& p : observed) {
      const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
      p += noise_m * Vec3{x, y, z};
    }
  }

  void Write(const ModelConfig& config, std::span<float> tokens,
             std::span<float> displacements) const {
    PaperTokens(observed, config, tokens);
    PaperTargets(last, targets, config.lambda_m, displacements);
  }

  WindowSpec spec;
  Vec3 last;                          // at t0: where the first target starts from
  std::vector<Vec3> observed;         // (T + 1)
  std::vector<std::uint8_t> present;  // (T + 1)
  std::vector<Vec3> targets;          // (S)
};

}  // namespace

Result<ExampleSet> ExampleSet::Make(std::span<const FlightWindows> flights,
                                    const ModelConfig& config) {
  ExampleSet set;
  set.config_ = config;
  Positions positions(config);
  for (const FlightWindows& f : flights) {
    for (const std::uint32_t t0 : f.t0) {
      if (positions.Read(*f.flight, t0)) {
        set.windows_.push_back({f.flight, t0});
      } else {
        ++set.left_out_;
      }
    }
  }
  if (set.windows_.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("none of {} windows has {} steps of history and {} of targets without "
                             "a hole, expected at least one",
                             set.left_out_, config.history_steps, config.horizon_steps)};
  }
  return set;
}

ExampleSet ExampleSet::Thinned(std::size_t most) const {
  most = std::max<std::size_t>(most, 1);
  const std::size_t n = (windows_.size() + most - 1) / most;
  ExampleSet some;
  some.config_ = config_;
  for (std::size_t i = 0; i < windows_.size(); i += n) some.windows_.push_back(windows_[i]);
  return some;
}

void ExampleSet::Write(std::size_t n, std::span<float> tokens, std::span<float> targets) const {
  Positions positions(config_);
  AEROCAST_CHECK(positions.Read(*windows_[n].flight, windows_[n].t0));
  positions.Write(config_, tokens, targets);
}

void ExampleSet::WriteDisturbed(std::size_t n, double noise_m, double scale_spread,
                                std::uint64_t seed, std::uint64_t sample, std::span<float> tokens,
                                std::span<float> targets) const {
  Positions positions(config_);
  AEROCAST_CHECK(positions.Read(*windows_[n].flight, windows_[n].t0));
  Rng rng(seed ^ kDisturbance, sample);
  positions.Scale(rng.Uniform(1 - scale_spread, 1 + scale_spread));
  positions.AddNoise(noise_m, rng);
  positions.Write(config_, tokens, targets);
}

std::size_t SampleOrder::WindowOf(std::uint64_t sample) {
  const std::uint64_t epoch = sample / windows_;
  std::vector<std::uint32_t>& order = order_[epoch % 2];
  if (epoch_[epoch % 2] != epoch) {
    epoch_[epoch % 2] = epoch;
    order.resize(windows_);
    std::iota(order.begin(), order.end(), 0u);
    Rng rng(seed_, epoch);
    for (std::size_t i = windows_ - 1; i > 0; --i) std::swap(order[i], order[rng.Below(i + 1)]);
  }
  return order[sample % windows_];
}

void PaperSamples::Write(std::uint64_t sample, const BatchRequest& request, std::span<float> tokens,
                         std::span<float> targets) {
  const std::size_t window = order_.WindowOf(sample);
  if (request.disturbed) {
    examples_.WriteDisturbed(window, train_.augment_noise_m, train_.augment_scale, seed_, sample,
                             tokens, targets);
  } else {
    examples_.Write(window, tokens, targets);
  }
}

ValidationSet PaperValidation(const ExampleSet& examples, std::size_t most) {
  const ExampleSet thinned = examples.Thinned(most);
  const ModelConfig& config = thinned.config();
  const auto token_count = static_cast<std::size_t>(config.tokens() * config.inputs());
  const auto target_count = static_cast<std::size_t>(config.horizon_steps) * 3;
  ValidationSet set;
  set.history = config.tokens();
  set.windows = thinned.size();
  set.tokens.resize(set.windows * token_count);
  set.targets.resize(set.windows * target_count);
  for (std::size_t i = 0; i < set.windows; ++i) {
    thinned.Write(i, std::span(set.tokens).subspan(i * token_count, token_count),
                  std::span(set.targets).subspan(i * target_count, target_count));
  }
  return set;
}

// The caller's thread and the worker share what `mutex` guards. A buffer belongs to the worker from
// Ask() to Take(), then to the caller until the next Take().
struct BatchBuilder::State {
  explicit State(Samples& samples_in) : samples(samples_in), worker([this] { Work(); }) {}

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    worker.join();
  }

  void Work() {
    while (true) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stop || (asked && !built); });
      }
      if (stop) return;
      Build(buffers[filling]);
      {
        const std::lock_guard lock(mutex);
        built = true;
      }
      changed.notify_all();
    }
  }

  void Build(Batch& batch) {
    const ModelConfig& model = samples.config();
    const auto token_count = static_cast<std::size_t>(model.tokens() * model.inputs());
    const std::size_t target_count = samples.targets();
    const auto size = static_cast<std::size_t>(batch.request.size);
    batch.tokens.resize(size * token_count);
    batch.targets.resize(size * target_count);
    for (std::size_t i = 0; i < size && !stop; ++i) {
      samples.Write(batch.request.first_sample + i, batch.request,
                    std::span(batch.tokens).subspan(i * token_count, token_count),
                    std::span(batch.targets).subspan(i * target_count, target_count));
    }
  }

  Samples& samples;  // the worker's

  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false, built = false;  // guarded by mutex
  std::atomic<bool> stop = false;     // set under mutex, also looked at while building

  Batch buffers[2];
  int filling = 0;  // changed only while nothing is asked for
  double waited_s = 0;
  std::thread worker;  // last: it starts when everything else is there
};

BatchBuilder::BatchBuilder(Samples& samples) : state_(std::make_unique<State>(samples)) {}

BatchBuilder::~BatchBuilder() = default;

void BatchBuilder::Ask(const BatchRequest& request) {
  {
    const std::lock_guard lock(state_->mutex);
    AEROCAST_CHECK(!state_->asked && request.size >= 0);
    state_->buffers[state_->filling].request = request;
    state_->asked = true;
  }
  state_->changed.notify_all();
}

const Batch& BatchBuilder::Take() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(state_->mutex);
  AEROCAST_CHECK(state_->asked);
  state_->changed.wait(lock, [this] { return state_->built; });
  state_->asked = state_->built = false;
  const Batch& batch = state_->buffers[state_->filling];
  state_->filling = 1 - state_->filling;
  state_->waited_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return batch;
}

double BatchBuilder::waited_s() const { return state_->waited_s; }

}  // namespace aerocast
