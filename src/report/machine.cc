// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace aerocast {

std::string CpuName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string DescribeMachine() {
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return fmt::format("{}, {} cores, {:.0f} GiB", CpuName(), std::thread::hardware_concurrency(),
                     bytes / (1 << 30));
}

}  // namespace aerocast
