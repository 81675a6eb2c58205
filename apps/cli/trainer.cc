// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/trainer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace aerocast::cli {

bool IsForTrainer(int argc, char** argv) {
  const std::string_view verb = argc < 2 ? "" : argv[1];
  if (verb == "train" || verb == "attention") return true;
  if (verb != "evaluate") return false;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--libtorch") return true;
  }
  return false;
}

int BecomeTrainer(char** argv) {
  std::error_code code;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
  const auto trainer = self.parent_path() / "aerocast-train";
  execv(trainer.c_str(), argv);
  const std::string why = errno == ENOENT
                              ? "not built; install libtorch (scripts/setup.sh train) and build "
                                "with -DAEROCAST_TRAIN=ON"
                              : std::strerror(errno);
  Warn("libtorch needs " + trainer.string() + ": " + why);
  return 1;
}

Run AddTrainElsewhere(CLI::App&) {
  return [] { return Status(); };  // never reached: main has become the trainer
}

}  // namespace aerocast::cli
