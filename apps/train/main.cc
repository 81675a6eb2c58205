// SPDX-License-Identifier: BSD-3-Clause
//
// The program that has libtorch. `aerocast` becomes it when a verb needs networks.
#include "apps/cli/program.h"
#include "apps/train/train.h"
#include "src/forecast/calibrate.h"
#include "src/train/torch_forecaster.h"
#include "src/train/trainer.h"

namespace aerocast::cli {
namespace {

Result<LoadedModel> LoadNetwork(const std::filesystem::path& file, const LoadOptions& options) {
  // The evaluator has a thread per core; each forward pass keeps to its own.
  [[maybe_unused]] static const std::string blas = PrepareMath(1);
  if (options.weights == WeightStorage::kHalf) {
    return Error{
        ErrorCode::kInvalidArgument,
        "evaluate: --half and --libtorch exclude each other, libtorch has no such weights"};
  }
  Result<Model> model = ReadModel(file);
  if (!model.ok()) return model.error();
  std::unique_ptr<Forecaster> forecaster = MakeTorchForecaster(*model, options.name);
  if (options.calibrated && model->calibration) {
    forecaster = MakeCalibrated(std::move(forecaster), *model->calibration);
  }
  return LoadedModel{std::move(forecaster), OriginOf(*model, options)};
}

Run AddNetworkEvaluate(CLI::App& verb) { return AddEvaluate(verb, LoadNetwork); }

constexpr Verb kVerbs[] = {
    {"train", "Train a network: a config and a corpus give a model file", AddTrain},
    {"evaluate", "Score forecasters on a corpus: table, JSON, report page", AddNetworkEvaluate},
    {"attention", "Show which part of its history a Transformer attends to", AddAttention},
    {"golden", "Write a network's inputs, activations and outputs, for comparing engines",
     AddGolden},
};

}  // namespace
}  // namespace aerocast::cli

int main(int argc, char** argv) {
  return aerocast::cli::RunProgram(argc, argv, aerocast::cli::kVerbs);
}
