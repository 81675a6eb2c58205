// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "apps/train/train.h"

namespace aerocast::cli {
namespace {

constexpr int kGraceSteps = 600;  // of 0.1 s, for ranks to end after the first has

// A directory in which the ranks find each other: no port is opened for it.
class MeetingPlace {
 public:
  MeetingPlace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "aerocast-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~MeetingPlace() {
    std::error_code code;
    if (!path_.empty()) std::filesystem::remove_all(path_, code);
  }
  const std::filesystem::path& path() const { return path_; }  // empty: could not be made

 private:
  std::filesystem::path path_;
};

// This process's own arguments, as the kernel keeps them.
std::vector<std::string> OwnArguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < all.size(); at += arguments.back().size() + 1) {
    arguments.emplace_back(all.c_str() + at);
  }
  return arguments;
}

[[noreturn]] void BecomeRank(int rank, int processes, const std::filesystem::path& place,
                             const std::vector<std::string>& arguments) {
  setpgid(0, 0);  // Ctrl-C goes to the parent, which tells every rank once
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(processes).c_str(), 1);
  setenv("MASTER_ADDR", ("file:" + (place / "store").string()).c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
  _exit(127);
}

void SignalAll(const std::vector<pid_t>& ranks, int signal) {
  for (const pid_t rank : ranks) {
    if (rank > 0) kill(rank, signal);
  }
}

}  // namespace

Status LaunchRanks(int processes, const std::atomic<bool>& stop) {
  const MeetingPlace place;
  if (place.path().empty()) {
    return Error{ErrorCode::kIo,
                 std::string("cannot make a temporary directory: ") + std::strerror(errno)};
  }
  const std::vector<std::string> arguments = OwnArguments();
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < processes; ++rank) {
    const pid_t child = fork();
    if (child == 0) BecomeRank(rank, processes, place.path(), arguments);
    if (child < 0) {
      SignalAll(ranks, SIGTERM);
      return Error{ErrorCode::kIo,
                   fmt::format("cannot start rank {}: {}", rank, std::strerror(errno))};
    }
    ranks.push_back(child);
  }
  bool told = false;
  int running = processes, grace = kGraceSteps;
  std::string failure;
  while (running > 0) {
    if (stop && !told) SignalAll(ranks, SIGTERM), told = true;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      int status = 0;
      if (ranks[rank] <= 0 || waitpid(ranks[rank], &status, WNOHANG) <= 0) continue;
      ranks[rank] = 0;
      --running;
      if (WIFSIGNALED(status)) {  // the cause; that the others then fail is the effect
        failure =
            fmt::format("rank {} of {} was killed by signal {}", rank, processes, WTERMSIG(status));
      } else if (WEXITSTATUS(status) != 0 && failure.empty()) {
        failure = fmt::format("rank {} of {} failed", rank, processes);
      }
    }
    if (running < processes && running > 0 && --grace == 0) SignalAll(ranks, SIGKILL);
    usleep(100'000);
  }
  if (failure.empty()) return {};
  return Error{ErrorCode::kIo, failure};
}

}  // namespace aerocast::cli
