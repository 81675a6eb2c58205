// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "src/base/file.h"
#include "src/import/test_data.h"
#include "src/reproduce/document.h"
#include "src/reproduce/plan.h"
#include "src/reproduce/plot.h"
#include "src/reproduce/report.h"
#include "src/reproduce/stages.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Stages whose program is a shell script: "write FILE TEXT", "copy FROM TO", "fail TEXT".
class Stages : public testing::Test {
 protected:
  Stages() {
    const fs::path program = dir_.path() / "program";
    std::ofstream(program) << R"(#!/bin/sh
echo "$1" >> ")" << (dir_.path() / "calls").string()
                           << R"("
case $1 in
  write) echo "$3" > "$2" ;;
  copy) cat "$2" "$2" > "$3" ;;
  begin) mkdir -p "$2"; echo cut short; exit 1 ;;
  finish) echo done > "$2" ;;
  wait) trap 'echo told > "$2"; kill $!; exit 1' TERM; sleep 60 & echo > "$3"; wait ;;
  *) echo "cannot $2"; exit 3 ;;
esac
)";
    fs::permissions(program, fs::perms::owner_all);
    options_.out = dir_.path() / "out";
    options_.program = program;
  }
  static Stage Make(const std::string& name, std::vector<std::string> needs, StageCommand command) {
    Stage stage;
    stage.name = name, stage.needs = std::move(needs), stage.commands = {std::move(command)};
    return stage;
  }
  // What is written first, copied, and copied again; and something beside it.
  std::vector<Stage> Chain(const std::string& text) {
    return {Make("a", {}, {"write", "{}/x", text}), Make("b", {"a"}, {"copy", "{a}/x", "{}/y"}),
            Make("c", {"b"}, {"copy", "{b}/y", "{}/z"}),
            Make("d", {}, {"write", "{}/x", "beside"})};
  }
  // The stages that were made, not found.
  std::vector<std::string> Made(const std::vector<Stage>& stages) {
    const auto done = RunStages(stages, options_);
    EXPECT_TRUE(done.ok()) << done.error().message;
    std::vector<std::string> made;
    if (!done.ok()) return made;
    for (const StageReport& r : *done) {
      if (!r.cached) made.push_back(r.name);
    }
    return made;
  }
  std::string Content(const std::string& name) { return ReadFile(options_.out / name).value(); }

  TemporaryDirectory dir_;
  StageOptions options_;
};

TEST_F(Stages, AreMadeOnce) {
  EXPECT_THAT(Made(Chain("one")), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(Content("c/z"), "one\none\none\none\n");
  EXPECT_THAT(Made(Chain("one")), ElementsAre());
}

TEST_F(Stages, WhatIsDeletedIsMadeAgainAndNothingElse) {
  Made(Chain("one"));
  for (const char* name : {"a", "b", "c", "d"}) {
    fs::remove_all(options_.out / name);
    EXPECT_THAT(Made(Chain("one")), ElementsAre(name)) << "the others came out of the same";
  }
}

TEST_F(Stages, WhatDependsOnAChangeIsMadeAgain) {
  Made(Chain("one"));
  EXPECT_THAT(Made(Chain("two")), ElementsAre("a", "b", "c"));
  EXPECT_EQ(Content("c/z"), "two\ntwo\ntwo\ntwo\n");
}

TEST_F(Stages, AFileOutsideCounts) {
  std::ofstream(dir_.path() / "config") << "1";
  std::vector<Stage> stages = Chain("one");
  stages[3].files = {dir_.path() / "config"};
  Made(stages);
  std::ofstream(dir_.path() / "config") << "2";
  EXPECT_THAT(Made(stages), ElementsAre("d"));
  stages[3].files = {dir_.path() / "missing"};
  const auto lacking = RunStages(stages, options_);
  ASSERT_FALSE(lacking.ok());
  EXPECT_THAT(lacking.error().message, HasSubstr("missing"));
}

TEST_F(Stages, AnOutputThatWasTamperedWithIsMadeAgain) {
  Made(Chain("one"));
  std::ofstream(options_.out / "b/y") << "other";
  EXPECT_THAT(Made(Chain("one")), ElementsAre("b"));
}

TEST_F(Stages, AFailureIsToldAndTriedAgain) {
  std::vector<Stage> stages = Chain("one");
  stages[1].commands = {{"refuse", "today"}};
  const auto done = RunStages(stages, options_);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("b: 'aerocast refuse today' ended with 3"),
                                          HasSubstr("cannot today"), HasSubstr("log.txt")));
  EXPECT_FALSE(fs::exists(options_.out / "b/stage.json"));
  EXPECT_THAT(Made(Chain("one")), ElementsAre("b", "c", "d"));
}

TEST_F(Stages, WhatWasCutShortIsResumed) {
  Stage stage = Make("long", {}, {"begin", "{}/half"});
  stage.resumes = "half", stage.resume_command = {"finish", "{}/whole"};
  stage.scratch = {"half"};
  EXPECT_FALSE(RunStages({{stage}}, options_).ok());
  EXPECT_THAT(Made({stage}), ElementsAre("long"));
  EXPECT_EQ(Content("long/whole"), "done\n");
  EXPECT_FALSE(fs::exists(options_.out / "long/half"));
  EXPECT_THAT(Made({stage}), ElementsAre());
}

TEST_F(Stages, AnAttemptAtSomethingElseIsNotResumed) {
  Stage stage = Make("long", {}, {"begin", "{}/half"});
  stage.resumes = "half", stage.resume_command = {"finish", "{}/whole"};
  EXPECT_FALSE(RunStages({{stage}}, options_).ok());
  EXPECT_TRUE(fs::exists(options_.out / "long/begun"));
  stage.commands = {{"write", "{}/whole", "for longer"}};
  EXPECT_THAT(Made({stage}), ElementsAre("long"));
  EXPECT_EQ(Content("long/whole"), "for longer\n");
  EXPECT_FALSE(fs::exists(options_.out / "long/half"));
  EXPECT_FALSE(fs::exists(options_.out / "long/begun"));
}

TEST_F(Stages, FactsAreInTheKey) {
  Stage stage;
  stage.name = "facts";
  stage.work = [](const fs::path&, const fs::path& own) {
    return WriteFileAtomically(own / "x", "same");
  };
  EXPECT_THAT(Made({stage}), ElementsAre("facts"));
  EXPECT_THAT(Made({stage}), ElementsAre());
  stage.facts = "another machine";
  EXPECT_THAT(Made({stage}), ElementsAre("facts"));
}

TEST_F(Stages, WhatIsThrownIsAnError) {
  Stage stage;
  stage.name = "thrower";
  stage.work = [](const fs::path&, const fs::path&) -> Status {
    throw std::runtime_error("key 'latency' not found");
  };
  const auto done = RunStages({{stage}}, options_);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("thrower: key 'latency' not found"));
}

TEST_F(Stages, AreMadeByOneProcessAtATime) {
  fs::create_directories(options_.out);
  {
    const Descriptor other(open((options_.out / "lock").c_str(), O_RDWR | O_CREAT, 0644));
    ASSERT_EQ(flock(other.fd(), LOCK_EX | LOCK_NB), 0);
    const auto done = RunStages(Chain("one"), options_);
    ASSERT_FALSE(done.ok());
    EXPECT_THAT(done.error().message, HasSubstr("another process"));
    EXPECT_FALSE(fs::exists(options_.out / "a"));
  }
  EXPECT_EQ(Made(Chain("one")).size(), 4u);
}

TEST_F(Stages, ARunningCommandIsToldToStop) {
  const fs::path told = dir_.path() / "told", waits = dir_.path() / "waits";
  const Stage stage = Make("endless", {}, {"wait", told.string(), waits.string()});
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  std::thread impatient([&] {
    while (!fs::exists(waits)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const auto done = RunStages({{stage}}, options_);
  impatient.join();
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("stopped during endless"));
  EXPECT_TRUE(fs::exists(told)) << "SIGTERM came through";
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(Stages, TimeLeftCountsWhatIsBehind) {
  std::vector<Stage> stages = Chain("one");
  for (Stage& stage : stages) stage.expected_s = 1;
  std::vector<double> left;
  options_.begin = [&](const Stage&, std::size_t, std::size_t, double s) { left.push_back(s); };
  Made(stages);
  EXPECT_THAT(left, ElementsAre(4, 3, 2, 1));
  left.clear();
  fs::remove_all(options_.out / "b");
  Made(stages);
  EXPECT_THAT(left, ElementsAre(2)) << "c may have to be made again, a and d are there";
}

TEST_F(Stages, RunBesideEachOtherWhereTheyCan) {
  std::vector<Stage> stages = Chain("one");
  for (int i = 0; i < 12; ++i) {
    stages.push_back(Make("n" + std::to_string(i), {"c"}, {"copy", "{c}/z", "{}/z"}));
    stages.back().alone = i % 3 == 0;
  }
  options_.jobs = 4;
  EXPECT_EQ(Made(stages).size(), stages.size());
  EXPECT_THAT(Made(stages), ElementsAre());
  stages[1].commands = {{"refuse", "today"}};
  const auto done = RunStages(stages, options_);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("cannot today"));
}

// An archive that keeps what c wrote, not what it was made from; a is made the same again.
class ArchivedStages : public Stages {
 protected:
  ArchivedStages() { options_.archive = dir_.path() / "archive"; }
  std::vector<Stage> Kept(const std::string& text) {
    std::vector<Stage> stages = Chain(text);
    stages[0].repeatable = true;
    stages[2].kept = {"z"};
    stages[3].kept = {"x"};
    return stages;
  }
  void OnANewMachine() { fs::remove_all(options_.out); }
};

TEST_F(ArchivedStages, AreNotMadeAgainElsewhere) {
  Made(Kept("one"));
  OnANewMachine();
  EXPECT_THAT(Made(Kept("one")), ElementsAre());
  EXPECT_EQ(Content("c/z"), "one\none\none\none\n");
  EXPECT_FALSE(fs::exists(options_.out / "b/y")) << "nobody needed it";
  EXPECT_THAT(Made(Kept("one")), ElementsAre());
}

TEST_F(ArchivedStages, AreKeptAlsoWhenTheyWereMadeBefore) {
  options_.archive.clear();
  Made(Kept("one"));
  options_.archive = dir_.path() / "archive";
  EXPECT_THAT(Made(Kept("one")), ElementsAre());
  OnANewMachine();
  EXPECT_THAT(Made(Kept("one")), ElementsAre());
}

TEST_F(ArchivedStages, ACorpusThatComesOutOtherwiseIsNotTakenForTheOld) {
  std::vector<Stage> stages = Kept("one");
  Made(stages);
  OnANewMachine();
  // The archive says of a what it is not.
  std::string record = ReadFile(options_.archive / "a/stage.json").value();
  const std::size_t at = record.find("\"x\": \"") + 6;
  record[at] = record[at] == '0' ? '1' : '0';
  std::ofstream(options_.archive / "a/stage.json") << record;
  EXPECT_THAT(Made(stages), ElementsAre("a", "b", "c"));
  EXPECT_EQ(Content("c/z"), "one\none\none\none\n");
}

TEST_F(ArchivedStages, ARecordThatLeadsElsewhereIsNone) {
  Made(Kept("one"));
  OnANewMachine();
  std::string record = ReadFile(options_.archive / "d/stage.json").value();
  record.replace(record.find("\"x\": \""), 3, "\"../../x\"");
  std::ofstream(options_.archive / "d/stage.json") << record;
  EXPECT_THAT(Made(Kept("one")), ElementsAre("d"));
}

TEST_F(ArchivedStages, AnArchiveIsNoPartOfTheWork) {
  for (const fs::path& archive : {options_.out, options_.out / "archive", dir_.path()}) {
    options_.archive = archive;
    const auto done = RunStages(Kept("one"), options_);
    ASSERT_FALSE(done.ok());
    EXPECT_THAT(done.error().message, HasSubstr("lie in each other"));
  }
}

TEST_F(ArchivedStages, ManyAtATimeAsOneAfterTheOther) {
  std::vector<Stage> stages = Kept("one");
  for (int i = 0; i < 8; ++i) {
    stages.push_back(Make("n" + std::to_string(i), {"c"}, {"copy", "{c}/z", "{}/z"}));
    stages.back().kept = {"z"};
  }
  options_.jobs = 4;
  EXPECT_EQ(Made(stages).size(), stages.size());
  OnANewMachine();
  EXPECT_THAT(Made(stages), ElementsAre());
  EXPECT_EQ(Content("n7/z"), Content("n0/z"));
}

// What is archived can be used: the keys of all that it was made from are known.
TEST(Plan, KeepsEveryRecordThatAResultStandsOn) {
  PlanOptions options;
  options.bundled = {"plus.safetensors"};
  for (const Stage& stage : MakePlan(options)) {
    EXPECT_FALSE(stage.reads_kept) << stage.name;
    if (stage.name.starts_with("evaluate/") || stage.name.starts_with("bench/")) {
      EXPECT_FALSE(stage.kept.empty()) << stage.name;
    }
  }
}

TEST_F(ArchivedStages, CountOnlyUnderTheirKey) {
  Made(Kept("one"));
  OnANewMachine();
  EXPECT_THAT(Made(Kept("two")), ElementsAre("a", "b", "c"));
  EXPECT_EQ(Content("c/z"), "two\ntwo\ntwo\ntwo\n");
  std::ofstream(options_.archive / "d/x") << "tampered";
  OnANewMachine();
  EXPECT_THAT(Made(Kept("two")), ElementsAre("d"));
}

TEST_F(ArchivedStages, WhatIsMadeGetsTheFilesItNeeds) {
  std::vector<Stage> stages = Kept("one");
  Made(stages);
  OnANewMachine();
  stages.push_back(Make("e", {"c"}, {"copy", "{c}/z", "{}/z"}));
  EXPECT_THAT(Made(stages), ElementsAre("e")) << "the archive has all of c";
  OnANewMachine();
  stages.push_back(Make("f", {"a"}, {"copy", "{a}/x", "{}/z"}));
  EXPECT_THAT(Made(stages), ElementsAre("a", "f")) << "a comes out the same: c stays";
  OnANewMachine();
  stages.push_back(Make("g", {"b"}, {"copy", "{b}/y", "{}/z"}));
  EXPECT_THAT(Made(stages), ElementsAre("a", "b", "c", "e", "g")) << "b might come out otherwise";
  OnANewMachine();
  stages.resize(4);
  stages.push_back(Make("reader", {"b", "c"}, {"copy", "{c}/z", "{}/z"}));
  stages.back().reads_kept = true;
  EXPECT_THAT(Made(stages), ElementsAre("reader"));
}

TEST_F(Stages, AreChosenWithWhatTheyNeed) {
  const std::vector<Stage> all = Chain("one");
  const auto names = [&](const std::vector<std::string>& only) {
    std::vector<std::string> chosen;
    for (const Stage& s : SelectStages(all, only).value()) chosen.push_back(s.name);
    return chosen;
  };
  EXPECT_THAT(names({"b"}), ElementsAre("a", "b"));
  EXPECT_THAT(names({"d", "a"}), ElementsAre("a", "d"));
  EXPECT_THAT(names({"*"}), ElementsAre("a", "b", "c", "d"));
  const auto none = SelectStages(all, std::vector<std::string>{"e"});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("'e'; there are a, b, c, d"));
  EXPECT_FALSE(CheckStages({{all[1], all[0]}}).ok());
  EXPECT_FALSE(CheckStages({{all[0], all[0]}}).ok());
}

TEST(Plan, IsWhole) {
  PlanOptions options;
  options.real = "flights", options.other = "others",
  options.configs = AEROCAST_SOURCE_DIR "/configs";
  options.bundled = {"plus.safetensors"};
  const std::vector<Stage> stages = MakePlan(options);
  EXPECT_TRUE(CheckStages(stages).ok()) << CheckStages(stages).error().message;
  int trainings = 0;
  for (const Stage& stage : stages) {
    if (stage.name.starts_with("train/")) {
      ++trainings;
      ASSERT_EQ(stage.files.size(), 1u);
      EXPECT_TRUE(fs::exists(stage.files[0])) << stage.files[0];
    }
    for (const StageCommand& command : stage.commands) {
      for (const std::string& word : command) {
        // Every stage that is named is needed.
        for (std::size_t at = 0; (at = word.find('{', at)) != word.npos; ++at) {
          const std::string name = word.substr(at + 1, word.find('}', at) - at - 1);
          const bool file =
              name.starts_with("file") && name < "file" + std::to_string(stage.files.size());
          EXPECT_TRUE(name.empty() || file ||
                      std::count(stage.needs.begin(), stage.needs.end(), name) == 1)
              << stage.name << " names " << name;
        }
      }
    }
  }
  EXPECT_EQ(trainings, 5 + 1 + 9 + 3 * 5 + 4 + 5);
}

TEST(Plan, BundledNetworksCountWhereTheyAreUsed) {
  PlanOptions options;
  options.bundled = {"models/aerocast-plus.safetensors", "models/aerocast-plus-small.safetensors"};
  std::vector<std::string> users;
  for (const Stage& stage : MakePlan(options)) {
    if (stage.name.starts_with("train/") || stage.files.empty()) continue;
    users.push_back(stage.name);
  }
  EXPECT_THAT(users,
              testing::IsSupersetOf({"evaluate/sizes/bundled", "evaluate/long",
                                     "evaluate/shift-yaw-90", "bench/plus", "bench/plus-small"}));
  EXPECT_THAT(users, Not(testing::Contains("evaluate/sizes/gru")));
  EXPECT_THAT(users, testing::Each(Not(HasSubstr("ablations"))));
  EXPECT_THAT(users, testing::Each(Not(HasSubstr("history"))));
}

TEST(Plan, RefusesBudgetsBelowASecond) {
  PlanOptions options;
  options.budget_s = 2;
  EXPECT_FALSE(CheckPlan(options).ok()) << "two fifths of it, for an ablation";
  options.ablation_share = 0.5;
  EXPECT_TRUE(CheckPlan(options).ok());
  options.quarter_share = 0.1;
  ASSERT_FALSE(CheckPlan(options).ok());
  EXPECT_THAT(CheckPlan(options).error().message,
              HasSubstr("--quarter-share of --budget is 0.2 s, expected at least a second"));
}

TEST(Report, IsOfTheOptionsItWasAskedFor) {
  PlanOptions options;
  const Stage one = ReportStage({}, options, {"abc", "a machine", 1});
  options.stride = 7;
  EXPECT_NE(one.facts, ReportStage({}, options, {"abc", "a machine", 1}).facts);
  EXPECT_NE(one.facts, ReportStage({}, {}, {"abd", "a machine", 1}).facts);
  EXPECT_NE(one.facts, ReportStage({}, {}, {"abc", "another", 1}).facts);
  EXPECT_EQ(one.facts, ReportStage({}, {}, {"abc", "a machine", 1}).facts);
  EXPECT_EQ(one.files.size(), 1u) << "the program that writes it";
}

TEST(Report, LeavesOutWhatWasNotPlanned) {
  const TemporaryDirectory dir;
  const fs::path leftover = dir.path() / "evaluate/quarter", own = dir.path() / "report";
  fs::create_directories(leftover), fs::create_directories(own);
  std::ofstream(leftover / "results.json") << "not JSON";
  EXPECT_TRUE(WriteReproduction(dir.path(), own, {}, {}, {}).ok());
  const std::vector<std::string> planned = {"evaluate/quarter"};
  EXPECT_FALSE(WriteReproduction(dir.path(), own, planned, {}, {}).ok());
}

TEST(Document, IsMarkdownAndOnePage) {
  Document document;
  document.title = "A & B";
  document.AddHeading(2, "First");
  document.AddParagraph("**Bold** `x < 1`.");
  document.Add(DocumentTable{{"", "ADE"}, {{"cv", "1.5"}, {"hold"}}, {"A note."}});
  document.Add(Figure{"curve", "Falling", "<svg></svg>"});
  const std::string text = ToMarkdown(document, "figures");
  EXPECT_THAT(text,
              AllOf(HasSubstr("# A & B\n"), HasSubstr("## First\n"), HasSubstr("| cv | 1.5 |\n"),
                    HasSubstr("| hold |  |\n"), HasSubstr("![Falling](figures/curve.svg)")));
  const std::string page = ToHtml(document);
  EXPECT_THAT(page,
              AllOf(HasSubstr("<h1>A &amp; B</h1>"), HasSubstr("<b>Bold</b> <code>x &lt; 1</code>"),
                    HasSubstr("<td>1.5</td>"), HasSubstr("<svg></svg>")));
  EXPECT_THAT(page, Not(HasSubstr("http://"))) << "nothing is fetched";
}

TEST(Plot, DrawsWhatIsFinite) {
  PlotPanel panel{"t", "x", "y", {{"line", {{0, 1}, {1, 2}, {2, NAN}, {3, 1}, {4, 1.5}}}}};
  const std::string svg = PlotSvg({panel, panel});
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr(">line<"), Not(HasSubstr("nan"))));
  EXPECT_EQ(std::count(svg.begin(), svg.end(), 'M'), 4) << "a hole in either line lifts the pen";
  // One point, no point, no panel.
  EXPECT_THAT(PlotSvg({{"", "", "", {{"a", {{1, 1}}}}}}), Not(HasSubstr("nan")));
  EXPECT_THAT(PlotSvg({{"", "", "", {{"a", {}}}}}), Not(HasSubstr("nan")));
  EXPECT_THAT(PlotSvg({}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace aerocast
