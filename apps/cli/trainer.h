// SPDX-License-Identifier: BSD-3-Clause
//
// libtorch lives in a program of its own, aerocast-train, beside this one. `aerocast train` and
// `aerocast evaluate --libtorch` become that program, so users see one tool.
#pragma once

#include "apps/cli/command.h"

namespace aerocast::cli {

// Whether the command line needs libtorch: `train`, or `evaluate --libtorch`.
bool IsForTrainer(int argc, char** argv);

// Does not return, unless there is no trainer: then 1, after a sentence that says what to do.
int BecomeTrainer(char** argv);

// The verb's line in the list of verbs; its options are the trainer's.
Run AddTrainElsewhere(CLI::App& verb);

}  // namespace aerocast::cli
