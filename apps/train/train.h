// SPDX-License-Identifier: BSD-3-Clause
//
// The trainer's own verbs.
#pragma once

#include <atomic>

#include "apps/cli/command.h"

namespace aerocast::cli {

Run AddTrain(CLI::App& verb);
Run AddGolden(CLI::App& verb);
Run AddAttention(CLI::App& verb);

// Starts this program `processes` times with the same arguments, as ranks 0, 1, ... of one training
// on this machine, and waits for them. Fails when one of them does.
Status LaunchRanks(int processes, const std::atomic<bool>& stop);

}  // namespace aerocast::cli
