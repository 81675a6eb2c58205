// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/load.h"

#include "src/base/out_of_memory.h"
#include "src/forecast/calibrate.h"
#include "src/forecast/network_forecaster.h"
#include "src/forecast/packed_forecaster.h"
#include "src/kernels/kernels.h"
#include "src/model/model_file.h"
#include "src/model/packed_network.h"

namespace aerocast {
namespace {

constexpr int kBatch = 16;  // more at once gain nothing

std::string Description(const ModelConfig& config, const LoadOptions& options) {
  return std::string(ArchitectureName(config.architecture)) + " network, " +
         std::to_string(ParameterCount(config)) + " parameters" +
         (options.weights == WeightStorage::kHalf ? ", half precision" : "") +
         (options.newest_tokens > 0
              ? ", its newest " + std::to_string(options.newest_tokens) + " tokens"
              : "");
}

std::string Fingerprint(const Model& model, const LoadOptions& options) {
  return model.sha256 + (options.weights == WeightStorage::kHalf ? "-half" : "") +
         (options.newest_tokens > 0 ? "-newest" + std::to_string(options.newest_tokens) : "");
}

class PackedForecaster final : public NetworkForecaster {
 public:
  PackedForecaster(const Model& model, const LoadOptions& options,
                   std::unique_ptr<PackedNetwork> network)
      : NetworkForecaster(options.name.empty() ? model.name : options.name,
                          Description(model.config, options), Fingerprint(model, options),
                          model.config, kBatch),
        network_(std::move(network)),
        most_tokens_(options.newest_tokens > 0 ? options.newest_tokens : model.config.tokens()) {}

 private:
  class PackedWorkspace final : public NetworkWorkspace {
   public:
    PackedWorkspace(const PackedNetwork& network, int threads)
        : NetworkWorkspace(network.config(), kBatch), scratch(network.MakeScratch(threads)) {}
    std::unique_ptr<PackedNetwork::Scratch> scratch;
  };

  std::unique_ptr<Workspace> DoMakeWorkspace(int threads) const override {
    return std::make_unique<PackedWorkspace>(*network_, threads);
  }
  void Forward(std::span<const float> tokens, int windows, int seen, Workspace& workspace,
               std::span<float> heads) const noexcept override {
    network_->Forward(tokens, windows, std::min(seen, most_tokens_),
                      *static_cast<PackedWorkspace&>(workspace).scratch, heads);
  }

  std::unique_ptr<PackedNetwork> network_;
  int most_tokens_;
};

Error UnknownTarget(const std::string& target) {
  std::string known;
  for (const Kernels& kernels : AllKernels()) {
    known += (known.empty() ? "" : ", ") + std::string(kernels.name);
  }
  return {ErrorCode::kInvalidArgument,
          "this CPU cannot run instructions '" + target + "'; expected one of " + known};
}

}  // namespace

Result<std::unique_ptr<Forecaster>> MakePackedForecaster(const Model& model,
                                                         const LoadOptions& options) {
  const Kernels* kernels = FindKernels(options.target);
  if (kernels == nullptr) return UnknownTarget(options.target);
  Result<std::unique_ptr<PackedNetwork>> network =
      PackedNetwork::Make(model, options.weights, *kernels);
  if (!network.ok()) return network.error();
  std::unique_ptr<Forecaster> forecaster =
      std::make_unique<PackedForecaster>(model, options, std::move(*network));
  if (!options.calibrated || !model.calibration) return forecaster;
  return MakeCalibrated(std::move(forecaster), *model.calibration);
}

ModelOrigin OriginOf(const Model& model, const LoadOptions& options) {
  ModelOrigin origin{model.provenance, {}};
  if (options.calibrated && model.calibration) origin.calibration = model.calibration->origin;
  return origin;
}

Result<std::unique_ptr<Forecaster>> LoadForecaster(const std::filesystem::path& file,
                                                   const LoadOptions& options) {
  ModelOrigin ignored;
  return LoadForecaster(file, options, ignored);
}

Result<std::unique_ptr<Forecaster>> LoadForecaster(const std::filesystem::path& file,
                                                   const LoadOptions& options,
                                                   ModelOrigin& origin) {
  return CatchOutOfMemory(file.native(), [&]() -> Result<std::unique_ptr<Forecaster>> {
    const Result<Model> model = ReadModel(file);
    if (!model.ok()) return model.error();
    origin = OriginOf(*model, options);
    auto forecaster = MakePackedForecaster(*model, options);
    if (forecaster.ok()) return forecaster;
    return Error{forecaster.error().code, file.string() + ": " + forecaster.error().message};
  });
}

std::vector<std::string> SimdTargets() {
  std::vector<std::string> names;
  for (const Kernels& kernels : AllKernels()) names.emplace_back(kernels.name);
  return names;
}

}  // namespace aerocast
