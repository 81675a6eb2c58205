// SPDX-License-Identifier: BSD-3-Clause
//
// The multilayer perceptron: tokens side by side, those not seen as zeros (which they are already
// when they come here), then linear, norm and ReLU per layer.
#include <algorithm>

#include "src/model/trunk.h"

namespace aerocast {
namespace {

constexpr int kBatch = 16;

class MlpTrunk final : public Trunk {
 public:
  MlpTrunk(const ModelConfig& config, Packer& packer) : config_(config) {
    for (std::size_t i = 0; i < config.hidden.size(); ++i) {
      const std::string name = "layers." + std::to_string(i);
      Layer& layer = layers_.emplace_back();
      layer.linear = packer.Linear(name);
      layer.gain = packer.Vector(name + ".norm.weight");
      layer.shift = packer.Vector(name + ".norm.bias");
      widest_ = std::max(widest_, config.hidden[i]);
    }
  }

  int batch() const override { return kBatch; }

  std::vector<std::size_t> Buffers(int) const override {
    const std::size_t size = kBatch * static_cast<std::size_t>(ActivationStride(widest_));
    return {size, size};
  }

  ConstRows Forward(const Pass& pass) const noexcept override {
    const Rows product = {pass.buffers[0], ActivationStride(widest_)};
    const Rows normed = {pass.buffers[1], ActivationStride(widest_)};
    ConstRows x = {pass.tokens.data(), config_.tokens() * config_.inputs()};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      pass.Multiply(x, pass.windows, layer.linear, Epilogue::kStore, product);
      pass.Barrier();
      pass.Norm(product, pass.windows, layer.linear.outputs, layer.gain, layer.shift, true, normed);
      pass.Barrier();
      if (pass.tracer != nullptr) {
        pass.Trace("layers." + std::to_string(i), normed, {1, layer.linear.outputs, 1, 1});
      }
      x = normed;
    }
    return x;
  }

 private:
  struct Layer {
    PackedMatrix linear;
    const float *gain, *shift;
  };

  ModelConfig config_;
  std::vector<Layer> layers_;
  int widest_ = 0;
};

}  // namespace

std::unique_ptr<Trunk> MakeMlpTrunk(const ModelConfig& config, Packer& packer) {
  return std::make_unique<MlpTrunk>(config, packer);
}

}  // namespace aerocast
