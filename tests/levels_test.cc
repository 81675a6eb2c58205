// SPDX-License-Identifier: BSD-3-Clause
//
// Includes point down the list of levels, never sideways or up (docs/design.md, section 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace aerocast {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, int>& Levels() {
  static const std::map<std::string, int> levels = {
      {"include/aerocast", 0}, {"src/base", 0},   {"src/kernels", 1},
      {"src/data", 2},         {"src/model", 2},  {"src/query", 2},
      {"src/forecast", 3},     {"src/sim", 3},    {"src/import", 3},
      {"src/eval", 4},         {"src/track", 4},  {"src/report", 5},
      {"src/serve", 5},        {"src/export", 5}, {"src/train", 5},
      {"src/reproduce", 6},    {"apps", 7}};
  return levels;
}

// The folder of the list that a path of the repository lies in, or "".
std::string FolderOf(const std::string& path) {
  for (const auto& [folder, level] : Levels()) {
    if (path.starts_with(folder + "/")) return folder;
  }
  return "";
}

// What is wrong with `file` including `included`, or "".
std::string Violation(const std::string& file, const std::string& included) {
  const std::string target = included.starts_with("aerocast/") ? "include/" + included : included;
  const std::string from = FolderOf(file), to = FolderOf(target);
  if (from.empty()) return file + " is in no folder of the list";
  if (to.empty()) return file + " includes " + included + ", which is in no folder of the list";
  if (from == to) return "";
  if (from == "include/aerocast") return file + " is public and includes " + included;
  const bool vocabulary = to == "include/aerocast" || to == "src/base";  // both are level 0
  if (vocabulary || Levels().at(to) < Levels().at(from)) return "";
  return file + " (level " + std::to_string(Levels().at(from)) + ") includes " + included +
         " (level " + std::to_string(Levels().at(to)) + ")";
}

std::vector<std::string> Violations(const fs::path& root) {
  std::vector<std::string> found;
  for (const char* top : {"include", "src", "apps"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string ext = entry.path().extension().string();
      if (ext != ".h" && ext != ".cc") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("#include \"")) continue;
        const std::string included = line.substr(10, line.find('"', 10) - 10);
        const std::string file = fs::relative(entry.path(), root).string();
        if (std::string what = Violation(file, included); !what.empty()) found.push_back(what);
      }
    }
  }
  return found;
}

TEST(IncludeLevels, PointDownOnly) {
  EXPECT_THAT(Violations(AEROCAST_SOURCE_DIR), testing::IsEmpty());
}

TEST(IncludeLevels, CatchWhatIsForbidden) {
  EXPECT_EQ(Violation("src/eval/a.cc", "src/forecast/b.h"), "");
  EXPECT_EQ(Violation("src/sim/a.cc", "aerocast/recording.h"), "");
  EXPECT_NE(Violation("src/forecast/a.cc", "src/eval/b.h"), "");     // up
  EXPECT_NE(Violation("src/sim/a.cc", "src/import/b.h"), "");        // sideways
  EXPECT_NE(Violation("include/aerocast/a.h", "src/base/b.h"), "");  // public to private
  EXPECT_NE(Violation("src/base/a.cc", "src/data/b.h"), "");
  EXPECT_NE(Violation("src/nowhere/a.cc", "src/base/b.h"), "");
}

}  // namespace
}  // namespace aerocast
