// SPDX-License-Identifier: BSD-3-Clause
//
// A network as it flies: weights packed once into one block of memory, forward pass on the kernels.
//
//   auto network = PackedNetwork::Make(model, WeightStorage::kSingle, *FindKernels(""));
//   auto scratch = network->MakeScratch(1);
//   network->Forward(tokens, 1, *scratch, heads);
//
// Work whose result nothing reads is left out: in a Transformer's last layer everything but keys
// and values is computed for the last token alone, a GRU's first step has no product with its zero
// state, and a BiGRU's last layer runs backwards over one token. What is left gives the same bits
// for every batch and number of threads (kernels.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/arena.h"
#include "src/base/team.h"
#include "src/kernels/kernels.h"
#include "src/model/model_file.h"

namespace aerocast {

class Trunk;

// Called with intermediate results by name, as the trainer's golden files have them: values is
// (windows, tokens, columns), tokens being 1 where only the last one is computed.
using Tracer = std::function<void(const std::string& name, int tokens, int columns,
                                  const std::vector<float>& values)>;

class PackedNetwork {
 public:
  // A caller's own memory and threads.
  class Scratch {
   public:
    int threads() const { return team_.size(); }
    std::size_t bytes() const { return arena_.size(); }

   private:
    friend class PackedNetwork;
    Scratch(const std::vector<std::size_t>& buffers, int threads);
    Team team_;
    Arena arena_;
    std::vector<std::vector<float*>> buffers_;  // of each worker, for passes of its own
  };

  // Refuses half precision for a model with weights beyond its range, and a model whose padded
  // weights would take much more memory than its file. Throws std::bad_alloc.
  static Result<std::unique_ptr<PackedNetwork>> Make(const Model& model, WeightStorage storage,
                                                     const Kernels& kernels);
  ~PackedNetwork();

  const ModelConfig& config() const { return config_; }
  const Kernels& kernels() const { return kernels_; }
  std::size_t weight_bytes() const { return arena_.size(); }

  std::unique_ptr<Scratch> MakeScratch(int threads) const;
  // tokens (windows, T, inputs), of which the last `seen` of each window count, -> heads (windows,
  // outputs), for any number of windows. They go through the layers some at a time; when there are
  // many, each thread has windows of its own, else all work on the same. Nothing is allocated
  // without tracer, which sees each pass.
  void Forward(std::span<const float> tokens, int windows, int seen, Scratch& scratch,
               std::span<float> heads, const Tracer* tracer = nullptr) const noexcept;
  // With all tokens seen.
  void Forward(std::span<const float> tokens, int windows, Scratch& scratch, std::span<float> heads,
               const Tracer* tracer = nullptr) const noexcept {
    Forward(tokens, windows, config_.tokens(), scratch, heads, tracer);
  }
  // The same with memory made for this one call.
  std::vector<float> Heads(std::span<const float> tokens, int windows, int threads = 1) const;

 private:
  PackedNetwork(const ModelConfig& config, const Kernels& kernels);
  // One pass, by all workers or by one alone (team nullptr).
  void RunPass(std::span<const float> tokens, int windows, int seen, Team* team, int worker,
               std::span<float* const> buffers, std::span<float> heads,
               const Tracer* tracer) const noexcept;

  ModelConfig config_;
  const Kernels& kernels_;
  Arena arena_;
  std::unique_ptr<Trunk> trunk_;
  PackedMatrix heads_;
};

}  // namespace aerocast
