// SPDX-License-Identifier: BSD-3-Clause
//
// Runs real programs in tests.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace aerocast {

struct Outcome {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string out, err;
};

inline std::string Slurp(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `command` goes through the shell; both outputs are caught in files below `scratch`.
inline Outcome RunCommand(const std::string& command, const std::filesystem::path& scratch) {
  const auto out = scratch / "stdout", err = scratch / "stderr";
  const int status = std::system(
      (command + " >'" + out.string() + "' 2>'" + err.string() + "' </dev/null").c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = Slurp(out);
  outcome.err = Slurp(err);
  return outcome;
}

}  // namespace aerocast
