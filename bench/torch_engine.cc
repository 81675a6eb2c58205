// SPDX-License-Identifier: BSD-3-Clause
//
// The trainer's own network as an engine, through libtorch.
#include <torch/torch.h>

#include <algorithm>

#include "bench/engine.h"
#include "src/train/network.h"
#include "src/train/trainer.h"

namespace aerocast {
namespace {

class TorchEngine : public LocalEngine {
 public:
  TorchEngine(const Model& model, int threads, bool pruned)
      : LocalEngine(pruned ? "libtorch, pruned" : "libtorch", pruned, model.config),
        threads_(threads),
        network_(model.config, 0) {
    network_.Load(model.tensors);
    options_.pruned = pruned;
  }

 private:
  void Run(const float* tokens, int windows, float* heads) override {
    if (at::get_num_threads() != threads_) PrepareMath(threads_);  // one setting for the process
    const torch::InferenceMode inference;
    const torch::Tensor input = torch::from_blob(
        const_cast<float*>(tokens),
        {windows, network_.config().tokens(), network_.config().inputs()}, torch::kFloat32);
    const torch::Tensor rows = network_.Forward(input, options_).Flat();
    std::copy_n(rows.data_ptr<float>(), rows.numel(), heads);
  }

  int threads_;
  Network network_;
  ForwardOptions options_;
};

}  // namespace

std::unique_ptr<Engine> MakeTorchEngine(const Model& model, int threads, bool pruned) {
  return std::make_unique<TorchEngine>(model, threads, pruned);
}

}  // namespace aerocast
