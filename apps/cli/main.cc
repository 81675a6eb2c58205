// SPDX-License-Identifier: BSD-3-Clause
//
// The command line only dispatches: one verb, one file.
#include "apps/cli/program.h"
#include "apps/cli/trainer.h"

namespace aerocast::cli {
namespace {

Result<LoadedModel> LoadNetwork(const std::filesystem::path& file, const LoadOptions& options) {
  ModelOrigin origin;
  Result<std::unique_ptr<Forecaster>> forecaster = LoadForecaster(file, options, origin);
  if (!forecaster.ok()) return forecaster.error();
  return LoadedModel{std::move(*forecaster), std::move(origin)};
}

Run AddPackedEvaluate(CLI::App& verb) { return AddEvaluate(verb, LoadNetwork); }

constexpr Verb kVerbs[] = {
    {"generate",
     "Make a corpus of flights: nine categories, fast fliers, forks, stop and go; seeded, noise "
     "and truth apart",
     AddGenerate},
    {"import", "Bring real recordings into a corpus, deduplicated", AddImport},
    {"stats", "Show what is in a corpus: windows, speeds, real and synthetic share", AddStats},
    {"windows", "Write a corpus's inputs and targets for other tools", AddWindows},
    {"train", "Train a network: a config and a corpus give a model file", AddTrainElsewhere},
    {"calibrate", "Fit a network's uncertainty on calibration flights, into its model file",
     AddCalibrate},
    {"evaluate", "Score forecasters on a corpus: table, JSON, report page", AddPackedEvaluate},
    {"compare", "Paired differences between models, with intervals over flights", AddCompare},
    {"bench", "Measure latency, throughput and memory of a forecaster on this machine", AddBench},
    {"check", "Compare every instruction set of this CPU with the plain loops", AddCheck},
    {"predict", "Forecast along a recording, or answer a live stream of observations", AddPredict},
    {"describe", "Say what is in a model file", AddDescribe},
    {"attention", "Show which part of its history a Transformer attends to", AddTrainElsewhere},
    {"reproduce", "Make every table and figure of the paper, ours beside it", AddReproduce},
    {"export", "Write a network as ONNX, compared with ONNX Runtime on request", AddExport},
};

}  // namespace
}  // namespace aerocast::cli

int main(int argc, char** argv) {
  if (aerocast::cli::IsForTrainer(argc, argv)) return aerocast::cli::BecomeTrainer(argv);
  return aerocast::cli::RunProgram(argc, argv, aerocast::cli::kVerbs);
}
