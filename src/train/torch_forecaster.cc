// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/torch_forecaster.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "src/forecast/network_forecaster.h"
#include "src/train/network.h"

namespace aerocast {
namespace {

class TorchForecaster : public NetworkForecaster {
 public:
  TorchForecaster(const Model& model, const std::string& name)
      : NetworkForecaster(
            name.empty() ? model.name : name,
            fmt::format("{} network, {} parameters, libtorch",
                        ArchitectureName(model.config.architecture), ParameterCount(model.config)),
            model.sha256, model.config, 1),
        network_(model.config, 0) {
    network_.Load(model.tensors);
  }

 private:
  void Forward(std::span<const float> tokens, int windows, int seen, Workspace&,
               std::span<float> heads) const noexcept override {
    try {
      const torch::NoGradGuard no_grad;
      const torch::Tensor input =
          torch::from_blob(const_cast<float*>(tokens.data()),
                           {windows, config().tokens(), config().inputs()}, torch::kFloat32);
      ForwardOptions options;
      options.history = seen;
      const torch::Tensor rows = network_.Forward(input, options).Flat();
      std::copy_n(rows.data_ptr<float>(), heads.size(), heads.data());
    } catch (const std::exception&) {  // out of memory: an answer that the guard will replace
      std::fill(heads.begin(), heads.end(), std::numeric_limits<float>::quiet_NaN());
    }
  }

  Network network_;
};

}  // namespace

std::unique_ptr<Forecaster> MakeTorchForecaster(const Model& model, const std::string& name) {
  return std::make_unique<TorchForecaster>(model, name);
}

}  // namespace aerocast
