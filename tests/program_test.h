// SPDX-License-Identifier: BSD-3-Clause
//
// A test that runs the program in a scratch directory of its own, as a user would in a shell.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/process.h"

namespace aerocast {

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::path(testing::TempDir()) /
           (std::string("aerocast_") + test.test_suite_name() + "_" + test.name());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  ~ProgramTest() override { std::filesystem::remove_all(dir_); }

  // `before` stands before the program's name: variables, limits, another user.
  Outcome Aerocast(const std::string& arguments, const std::string& before = "") {
    return RunCommand(
        "cd '" + dir_.string() + "' && " + before + " '" AEROCAST_PROGRAM "' " + arguments, dir_);
  }
  void Write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name) << content;
  }
  // Fails, says one sentence that holds `what`, and leaves nothing named `out` behind.
  void ExpectRefusal(const std::string& arguments, int code, const std::string& what,
                     const std::string& out = "out") {
    const Outcome outcome = Aerocast(arguments);
    EXPECT_EQ(outcome.exit_code, code) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, testing::HasSubstr(what)) << arguments;
    EXPECT_THAT(outcome.err, testing::HasSubstr("aerocast: "));
    EXPECT_FALSE(std::filesystem::exists(dir_ / out)) << arguments;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::HasSubstr("partial")))
          << arguments;
    }
  }

  std::filesystem::path dir_;
};

}  // namespace aerocast
