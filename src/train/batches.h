// SPDX-License-Identifier: BSD-3-Clause
//
// Windows made into what a network is trained on, a batch at a time, on a thread of their own.
//
// Order. A run is one endless row of samples 0, 1, 2, ...: epoch e is a permutation of the windows
// drawn from (seed, e), and batches run across the ends of epochs. Sample n is the same window with
// the same disturbance whichever process makes it, whatever came before: a run resumes from the
// number of samples seen, and several processes share a batch by taking a slice each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aerocast/result.h"
#include "src/data/windows.h"
#include "src/model/config.h"
#include "src/train/config.h"

namespace aerocast {

// The windows of one side that the network can see whole: every grid point of the history and every
// target known.
class ExampleSet {
 public:
  // The flights outlive it. Errors: no window is left.
  static Result<ExampleSet> Make(std::span<const FlightWindows> flights, const ModelConfig& config);

  std::size_t size() const { return windows_.size(); }
  std::size_t left_out() const { return left_out_; }  // windows with a hole
  const ModelConfig& config() const { return config_; }

  // Every n-th, n the least that keeps within `most`.
  ExampleSet Thinned(std::size_t most) const;

  // tokens (T, inputs), targets (S, 3): displacements in lambda units.
  void Write(std::size_t n, std::span<float> tokens, std::span<float> targets) const;
  // The same, disturbed: the whole window is scaled by U[1 - scale_spread, 1 + scale_spread], and
  // noise of standard deviation noise_m is added to every observed position. Targets count from the
  // last position without that noise, so they stay displacements of the flight. The draws depend on
  // seed and sample alone.
  void WriteDisturbed(std::size_t n, double noise_m, double scale_spread, std::uint64_t seed,
                      std::uint64_t sample, std::span<float> tokens,
                      std::span<float> targets) const;

 private:
  struct Window {
    const Recording* flight;
    std::uint32_t t0;
  };
  ModelConfig config_;
  std::vector<Window> windows_;
  std::size_t left_out_ = 0;
};

struct BatchRequest {
  std::uint64_t first_sample = 0;  // of this process's slice
  int size = 0;
  bool disturbed = false;  // the paper's family: with its augmentation
  int history = 0;         // plus: tokens the network will see

  friend bool operator==(const BatchRequest&, const BatchRequest&) = default;
};

struct Batch {
  BatchRequest request;
  std::vector<float> tokens;   // (size, T, inputs)
  std::vector<float> targets;  // (size, Samples::targets())
};

// The endless row of samples that a run is trained on: sample n is the same whoever asks for it,
// whatever came before. One thread at a time.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual const ModelConfig& config() const = 0;
  virtual std::size_t epoch() const = 0;    // samples that make an epoch
  virtual std::size_t targets() const = 0;  // numbers of a sample's targets
  virtual void Write(std::uint64_t sample, const BatchRequest& request, std::span<float> tokens,
                     std::span<float> targets) = 0;
};

// What a network is validated on: windows that see `history` tokens each.
struct ValidationSet {
  int history = 0;
  std::size_t windows = 0;
  std::vector<float> tokens, targets;  // as in a batch
};

// Everything a training needs of its flights.
struct Lesson {
  std::unique_ptr<Samples> train;
  std::vector<ValidationSet> validation;  // the longest history first
};

// The order in which windows are seen.
class SampleOrder {
 public:
  SampleOrder(std::size_t windows, std::uint64_t seed) : windows_(windows), seed_(seed) {}
  std::size_t WindowOf(std::uint64_t sample);  // remembers the last epochs' permutations

 private:
  std::size_t windows_;
  std::uint64_t seed_;
  std::uint64_t epoch_[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
  std::vector<std::uint32_t> order_[2];
};

// The windows of a set in random order, of the paper's family: targets are (S, 3) displacements.
// The set outlives it.
class PaperSamples final : public Samples {
 public:
  PaperSamples(const ExampleSet& examples, const TrainConfig& config, std::uint64_t seed)
      : examples_(examples), train_(config), seed_(seed), order_(examples.size(), seed) {}

  const ModelConfig& config() const override { return examples_.config(); }
  std::size_t epoch() const override { return examples_.size(); }
  std::size_t targets() const override {
    return static_cast<std::size_t>(config().horizon_steps) * 3;
  }
  void Write(std::uint64_t sample, const BatchRequest& request, std::span<float> tokens,
             std::span<float> targets) override;

 private:
  const ExampleSet& examples_;
  const TrainConfig train_;
  const std::uint64_t seed_;
  SampleOrder order_;
};

// At most `most` windows, evenly chosen.
ValidationSet PaperValidation(const ExampleSet& examples, std::size_t most);

// Builds one batch ahead: ask for the next before working on this one.
class BatchBuilder {
 public:
  explicit BatchBuilder(Samples& samples);  // which outlives it
  ~BatchBuilder();
  BatchBuilder(const BatchBuilder&) = delete;
  BatchBuilder& operator=(const BatchBuilder&) = delete;

  // Starts building; at most one request is under way.
  void Ask(const BatchRequest& request);
  // Waits for what was asked for. Valid until the next Take(): buffers are reused.
  const Batch& Take();
  // Seconds Take() has waited in all: what building costs the trainer.
  double waited_s() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aerocast
