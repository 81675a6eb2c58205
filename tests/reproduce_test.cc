// SPDX-License-Identifier: BSD-3-Clause
//
// `aerocast reproduce` from nothing to the report, with a second for every training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/program_test.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Reproduce : public ProgramTest {
 protected:
  // The configs that come with AeroCast, of networks that learn nothing in no time.
  void MakeTinyConfigs() {
    const std::regex width("width = \\d+"), inner("feed_forward = \\d+"), hidden("hidden = .*");
    for (const auto& entry : fs::directory_iterator(AEROCAST_SOURCE_DIR "/configs")) {
      std::string text = std::regex_replace(Slurp(entry.path()), width, "width = 16");
      text = std::regex_replace(text, inner, "feed_forward = 16");
      Write("configs/" + entry.path().filename().string(),
            std::regex_replace(text, hidden, "hidden = [16, 16]"));
    }
  }
  Outcome Run(const std::string& more = "") {
    return Aerocast(
        "reproduce --out r --configs configs --budget 1s --ablation-share 1 --seeds 1 --stride 40 "
        "--train-option=--set=train.validation_windows=32 "
        "--train-option=--set=train.validations=1 " +
        more);
  }
  // Stages made by a run, as it says them.
  static std::vector<std::string> Made(const Outcome& outcome) {
    std::vector<std::string> names;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find("] ");
      if (line.starts_with("[") && at != line.npos) {
        names.push_back(line.substr(at + 2, line.find(' ', at + 2) - at - 2));
      }
    }
    return names;
  }
};

TEST_F(Reproduce, FromNothingToTheReport) {
  MakeTinyConfigs();
  const Outcome first = Run();
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  const std::string tables = Slurp(dir_ / "r/report/tables.md");
  EXPECT_THAT(tables,
              AllOf(HasSubstr("Did the paper's conclusions hold?"), HasSubstr("(Table II)"),
                    HasSubstr("(Table III)"), HasSubstr("(Table IV)"), HasSubstr("(Table V), 1 s"),
                    HasSubstr("(Table VI)"), HasSubstr("figures/horizon.svg"), HasSubstr("(0.055)"),
                    HasSubstr("plus-small"), HasSubstr("full, the ablations' budget"),
                    HasSubstr("Ten seconds of history"), HasSubstr("At equal windows")));
  EXPECT_THAT(tables, Not(HasSubstr("Not made in this run")));
  EXPECT_THAT(tables, Not(HasSubstr("nan")));
  const auto summary = nlohmann::json::parse(Slurp(dir_ / "r/report/summary.json"));
  EXPECT_GE(summary["conclusions"].size(), 10u);
  int undecided = 0;
  for (const auto& c : summary["conclusions"]) {
    EXPECT_NE(c["verdict"], "not testable") << c["claim"];
    undecided += c["verdict"] == "undecided";
  }
  EXPECT_GE(undecided, 8) << "one seed decides nothing";
  EXPECT_GT(summary["numbers"].size(), 100u);
  EXPECT_THAT(Slurp(dir_ / "r/report/report.html"), Not(HasSubstr("src=\"http")));

  EXPECT_TRUE(Made(Run()).empty()) << "everything is there";
  EXPECT_THAT(Made(Run("--commit abc")), testing::ElementsAre("report"));
  fs::remove_all(dir_ / "r/bench/gru");
  EXPECT_THAT(Made(Run()), testing::ElementsAre("bench/gru", "report"));
  fs::remove_all(dir_ / "r/train/quarter-gru-t5");
  const std::vector<std::string> again = Made(Run());
  EXPECT_THAT(
      again, testing::IsSupersetOf({"train/quarter-gru-t5", "calibrate/quarter-gru-t5", "report"}));
  // Where the same network comes out of a second's training, nothing else is made.
  EXPECT_THAT(again, testing::IsSubsetOf({"train/quarter-gru-t5", "calibrate/quarter-gru-t5",
                                          "evaluate/history-before-manoeuvres-20",
                                          "evaluate/history-other-20", "report"}));

  // Another machine that is given the archive has nothing to make but the report.
  ASSERT_EQ(Run("--archive kept").exit_code, 0);
  EXPECT_FALSE(fs::exists(dir_ / "kept/train/gru/run/model.safetensors"));
  EXPECT_TRUE(fs::exists(dir_ / "kept/calibrate/quarter-gru-s1/model.safetensors"));
  const std::string last = Slurp(dir_ / "r/report/tables.md");
  fs::remove_all(dir_ / "r");
  EXPECT_THAT(Made(Run("--archive kept")), testing::ElementsAre("report"));
  EXPECT_EQ(Slurp(dir_ / "r/report/tables.md"), last);
}

TEST_F(Reproduce, RefusesNonsense) {
  ExpectRefusal("reproduce --out out --only train/oracle", 2, "no stage is called 'train/oracle'");
  ExpectRefusal("reproduce --out out --real nowhere", 1, "nowhere");
  ExpectRefusal("reproduce --out out --budget soon", 2, "--budget is 'soon'");
  ExpectRefusal("reproduce --out out --budget 2s", 2, "--ablation-share of --budget is 0.8 s");
  const Outcome several = Aerocast("reproduce --out out --jobs 2", "WORLD_SIZE=2 RANK=0");
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("--jobs is above 1 on several machines"));
}

TEST_F(Reproduce, OtherMachinesHelpWithTheTrainingsThatWereChosen) {
  const auto listed = [&](const std::string& only) {
    return Aerocast("reproduce --out out --list --only " + only, "WORLD_SIZE=2 RANK=1").out;
  };
  EXPECT_THAT(listed("'evaluate/ablations/*'"),
              AllOf(HasSubstr("train/ablation-k1 "), Not(HasSubstr("train/quarter")),
                    Not(HasSubstr("evaluate/"))));
  EXPECT_EQ(listed("corpus/paper"), "");
}

}  // namespace
}  // namespace aerocast
