// SPDX-License-Identifier: BSD-3-Clause
//
// The command line only dispatches: one verb, one file.
#include "apps/cli/program.h"
#include "apps/cli/trainer.h"

namespace aerocast::cli {
namespace {

Run AddClassicalEvaluate(CLI::App& verb) { return AddEvaluate(verb, {}); }

constexpr Verb kVerbs[] = {
    {"generate", "Make a corpus of flights: nine categories, seeded, noise and truth apart",
     AddGenerate},
    {"import", "Bring real recordings into a corpus, deduplicated", AddImport},
    {"stats", "Show what is in a corpus: windows, speeds, real and synthetic share", AddStats},
    {"windows", "Write a corpus's inputs and targets for other tools", AddWindows},
    {"train", "Train a network: a config and a corpus give a model file", AddTrainElsewhere},
    {"evaluate", "Score forecasters on a corpus: table, JSON, report page", AddClassicalEvaluate},
    {"compare", "Paired differences between models, with intervals over flights", AddCompare},
    {"export", "Write a network as ONNX, compared with ONNX Runtime on request", AddExport},
};

}  // namespace
}  // namespace aerocast::cli

int main(int argc, char** argv) {
  if (aerocast::cli::IsForTrainer(argc, argv)) return aerocast::cli::BecomeTrainer(argv);
  return aerocast::cli::RunProgram(argc, argv, aerocast::cli::kVerbs);
}
