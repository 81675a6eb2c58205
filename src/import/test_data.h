// SPDX-License-Identifier: BSD-3-Clause
//
// For tests only: flights to test with, made up or real.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "aerocast/recording.h"

namespace aerocast {

// A folder of the real flights, which are not part of the repository:
//
//   const RealFlights data("nanobench");
//   if (!data.found()) GTEST_SKIP() << data.where();
class RealFlights {
 public:
  explicit RealFlights(const std::string& folder) {
    const char* root = std::getenv("AEROCAST_DATA");
    if (root == nullptr || *root == '\0') {
      where_ = "no real flights: AEROCAST_DATA does not name their directory";
      return;
    }
    path_ = std::filesystem::path(root) / folder;
    where_ = "no real flights: looked for " + path_.string() + " (AEROCAST_DATA)";
  }
  bool found() const { return !path_.empty() && std::filesystem::is_directory(path_); }
  const std::filesystem::path& path() const { return path_; }
  const std::string& where() const { return where_; }

 private:
  std::filesystem::path path_;
  std::string where_;
};

// A directory that exists while the test does.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string("aerocast_") + test.test_suite_name() + "_" + test.name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// n samples at 10 Hz from start_s on, along a line that begins at (lane, 0, 1): flights with the
// same lane have the same positions.
inline Recording MakeFlight(const std::string& id, double start_s = 0, int n = 20,
                            double lane = 0) {
  Recording flight;
  flight.id = id;
  flight.category = "circle";
  for (int i = 0; i < n; ++i) {
    flight.samples.push_back({DurationNs(start_s) + i * (kNsPerSecond / 10), {lane, i / 10.0, 1}});
  }
  return flight;
}

}  // namespace aerocast
