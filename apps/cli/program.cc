// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/program.h"

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
#include "src/base/file.h"
#include "src/base/text.h"

namespace aerocast::cli {
namespace {

std::atomic<bool> stop_is_graceful = false, stop_requested = false;
std::atomic<int> stop_signal = 0;  // the first, for the exit code

// Signals wait for this thread. Must be called before any other thread exists.
void EndCleanlyOnSignals() {
  static sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([] {
    int signal = 0;
    sigwait(&signals, &signal);
    // Only a second Ctrl-C is impatience; SIGTERM may come from several sides at once.
    stop_signal = signal;
    while (stop_is_graceful && (!stop_requested.exchange(true) || signal == SIGTERM)) {
      sigwait(&signals, &signal);
    }
    RemoveStaged();
    Warn("interrupted, nothing was half-written");
    _exit(128 + signal);
  }).detach();
}

int BadUsage(const std::string& sentence) {
  Warn(sentence);
  return 2;
}

// CLI11's own message for a wrong first word does not say what would have been right.
bool IsUnknownVerb(int argc, char** argv, std::span<const Verb> verbs) {
  if (argc < 2 || argv[1][0] == '-') return false;
  for (const Verb& verb : verbs) {
    if (std::string_view(argv[1]) == verb.name) return false;
  }
  return true;
}

std::string KnownVerbs(std::span<const Verb> verbs) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return JoinNames(names);
}

// A full disk behind standard output must not look like success.
int FlushOutput(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  Warn("standard output: cannot write");
  return code == 0 ? 1 : code;
}

int Dispatch(int argc, char** argv, std::span<const Verb> verbs) {
  CLI::App app{"AeroCast: where a flying obstacle will be, as a calibrated distribution."};
  app.name("aerocast");
  app.require_subcommand(1);
  app.set_version_flag("--version", "aerocast " + std::string(Version()));
  app.footer("'aerocast VERB --help' shows a verb's options and an example.");

  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    runs.emplace_back(sub, verb.add(*sub));
  }
  if (argc < 2) return fmt::print(stderr, "{}", app.help()), 2;
  if (IsUnknownVerb(argc, argv, verbs)) {
    return BadUsage(
        fmt::format("unknown verb '{}', expected one of {}", argv[1], KnownVerbs(verbs)));
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

int RunProgram(int argc, char** argv, std::span<const Verb> verbs) {
  try {
    EndCleanlyOnSignals();
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error like a full disk
    const int code = FlushOutput(Dispatch(argc, argv, verbs));
    return code == 0 && stop_requested ? 128 + stop_signal : code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "aerocast: %s\n", error.what());
    return 1;
  }
}

const std::atomic<bool>& StopOnSignals() {
  stop_is_graceful = true;
  return stop_requested;
}

}  // namespace aerocast::cli
