// SPDX-License-Identifier: BSD-3-Clause
//
// The command line only dispatches: one verb, one file.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "aerocast/version.h"
#include "apps/cli/command.h"
#include "src/base/file.h"
#include "src/base/text.h"

namespace aerocast::cli {
namespace {

struct Verb {
  const char* name;
  const char* summary;
  Run (*add)(CLI::App&);
};

constexpr Verb kVerbs[] = {
    {"generate", "Make a corpus of flights: nine categories, seeded, noise and truth apart",
     AddGenerate},
    {"import", "Bring real recordings into a corpus, deduplicated", AddImport},
    {"stats", "Show what is in a corpus: windows, speeds, real and synthetic share", AddStats},
    {"windows", "Write a corpus's inputs and targets for other tools", AddWindows},
    {"evaluate", "Score forecasters on a corpus: table, JSON, report page", AddEvaluate},
    {"compare", "Paired differences between models, with intervals over flights", AddCompare},
};

int BadUsage(const std::string& sentence) {
  Warn(sentence);
  return 2;
}

// CLI11's own message for a wrong first word does not say what would have been right.
bool IsUnknownVerb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  for (const Verb& verb : kVerbs) {
    if (std::string_view(argv[1]) == verb.name) return false;
  }
  return true;
}

std::string KnownVerbs() {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  return JoinNames(names);
}

// Ctrl-C and SIGTERM wait for this thread: what is being written disappears, then the program ends
// as the signal would have ended it. Must be called before any other thread exists.
void EndCleanlyOnSignals() {
  static sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([] {
    int signal = 0;
    sigwait(&signals, &signal);
    RemoveStaged();
    Warn("interrupted, nothing was half-written");
    _exit(128 + signal);
  }).detach();
}

// A full disk behind standard output must not look like success.
int FlushOutput(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  Warn("standard output: cannot write");
  return code == 0 ? 1 : code;
}

int Main(int argc, char** argv) {
  CLI::App app{"AeroCast: where a flying obstacle will be, as a calibrated distribution."};
  app.name("aerocast");
  app.require_subcommand(1);
  app.set_version_flag("--version", "aerocast " + std::string(Version()));
  app.footer("'aerocast VERB --help' shows a verb's options and an example.");

  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const Verb& verb : kVerbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    runs.emplace_back(sub, verb.add(*sub));
  }
  if (argc < 2) return fmt::print(stderr, "{}", app.help()), 2;
  if (IsUnknownVerb(argc, argv)) {
    return BadUsage(fmt::format("unknown verb '{}', expected one of {}", argv[1], KnownVerbs()));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string verb = argv[1][0] == '-' ? "" : argv[1] + std::string(" ");
    const std::string what =
        verb.empty() ? fmt::format("'{}' is no option", argv[1]) : error.what();
    return BadUsage(fmt::format("{} ('aerocast {}--help' shows the options)", what, verb));
  }
  for (const auto& [sub, run] : runs) {
    if (!sub->parsed()) continue;
    const Status status = run();
    if (status.ok()) return 0;
    Warn(status.error().message);
    return status.error().code == ErrorCode::kInvalidArgument ? 2 : 1;
  }
  return 2;
}

}  // namespace
}  // namespace aerocast::cli

int main(int argc, char** argv) {
  try {
    aerocast::cli::EndCleanlyOnSignals();
    return aerocast::cli::FlushOutput(aerocast::cli::Main(argc, argv));
  } catch (const std::exception& error) {  // out of memory, threads refused
    std::fprintf(stderr, "aerocast: %s\n", error.what());
    return 1;
  }
}
