// SPDX-License-Identifier: BSD-3-Clause
//
// What the programs share: a list of verbs, one of which is run. Exit codes: 0 done, 1 failed,
// 2 bad usage.
#pragma once

#include <atomic>
#include <span>

#include "apps/cli/command.h"

namespace aerocast::cli {

struct Verb {
  const char* name;
  const char* summary;
  Run (*add)(CLI::App&);
};

// Parses the arguments and runs the verb they name. Whatever is thrown (out of memory, threads
// refused) ends in one sentence; output that could not be written ends in failure.
int RunProgram(int argc, char** argv, std::span<const Verb> verbs);

// Ctrl-C and SIGTERM: what is being written disappears, then the program ends as the signal would
// have ended it. A verb that can stop at a better moment calls this and looks at the flag: the
// first signal then only sets it, and a second Ctrl-C ends the program. What such a verb has
// finished is finished, but the exit code says that it was stopped: 128 + signal.
const std::atomic<bool>& StopOnSignals();

}  // namespace aerocast::cli
