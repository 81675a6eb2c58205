// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/formats.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/base/file.h"
#include "src/import/columns.h"
#include "src/import/flat_yaml.h"
#include "src/import/nanobench.h"
#include "src/import/test_data.h"

namespace aerocast {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Reads a text as a foreign file and keeps what was said about it.
struct Import {
  explicit Import(const std::string& text, Format format = Format::kCsv, FormatOptions options = {},
                  const std::string& file = "dir/flight.csv")
      : result([&] {
          options.format = format;
          return ParseForeign(text, file, options, notes);
        }()) {}

  const Recording& flight() const { return result.value().at(0); }
  std::string refusal() const { return result.ok() ? "accepted" : result.error().message; }
  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const ImportNote& note : notes) all.push_back(Sentence(note));
    return all;
  }
  std::vector<ImportNote> notes;
  Result<std::vector<Recording>> result;
};

std::vector<TimeNs> Stamps(const Recording& r) {
  std::vector<TimeNs> stamps;
  for (const Observation& o : r.samples) stamps.push_back(o.t_ns);
  return stamps;
}

// n good rows, 10 Hz from t = 0 on.
std::string Rows(int n, int from = 0) {
  std::string rows;
  for (int i = from; i < from + n; ++i) rows += fmt::format("{:.1f},{},2.5,3\n", 0.1 * i, i);
  return rows;
}

TEST(ParseStamp, IsExactInEveryUnit) {
  EXPECT_EQ(ParseStamp("1772421798.750959635", 0), 1772421798750959635);
  EXPECT_EQ(ParseStamp("1403636579763555584", 9), 1403636579763555584);
  EXPECT_EQ(ParseStamp("1403636579763555.584", 6), 1403636579763555584);
  EXPECT_EQ(ParseStamp("-1.5", 3), -1500000);
  EXPECT_EQ(ParseStamp("7", 3), 7000000);
  EXPECT_EQ(ParseStamp("1e3", 3), kNsPerSecond);
  for (const char* bad : {"", "-", ".", "1.2.3", "1-2", "--5", "nan", "abc", "9e99"}) {
    for (const int places : {0, 3, 9}) EXPECT_FALSE(ParseStamp(bad, places)) << bad;
  }
  EXPECT_FALSE(ParseStamp("9000000000", 0)) << "differences of stamps must fit";
}

RC_GTEST_PROP(ParseStamp, ReadsNanosecondsBack, ()) {
  const auto t_ns =
      *rc::gen::inRange<std::int64_t>(-4'000'000'000'000'000'000, 4'000'000'000'000'000'000);
  RC_ASSERT(ParseStamp(std::to_string(t_ns), 9) == t_ns);
}

TEST(Csv, FindsTheColumnsUnderTheirUsualNames) {
  for (const char* header :
       {"t,x,y,z", "time,px,py,pz", "Timestamp,pos_x,pos_y,pos_z", "t_s, x , y , z",
        "\"t\",\"x\",\"y\",\"z\"", "time [s],x [m],y [m],z [m]",
        "stamp,position.x,position.y,position.z", "#t,x,y,z", "t;x;y;z", "t\tx\ty\tz", "t x y z",
        "t   x  y z", "t,x,y,z,"}) {
    std::string rows = "1,2,3,4\n1.5,2,3,5\n";
    for (char& c : rows) {
      if (c == ',' && std::string(header).find(';') != std::string::npos) c = ';';
      if (c == ',' && std::string(header).find(',') == std::string::npos) {
        c = std::string(header).find('\t') != std::string::npos ? '\t' : ' ';
      }
    }
    const Import import(std::string(header) + "\n" + rows);
    ASSERT_TRUE(import.result.ok()) << header << ": " << import.refusal();
    EXPECT_THAT(Stamps(import.flight()), ElementsAre(kNsPerSecond, 3 * kNsPerSecond / 2)) << header;
    EXPECT_EQ(import.flight().samples[1].p_world, (Vec3{2, 3, 5})) << header;
    EXPECT_THAT(import.notes, IsEmpty()) << header;
  }
}

TEST(Csv, TakesTheTimeUnitFromTheName) {
  for (const auto& [name, second] : std::vector<std::pair<std::string, TimeNs>>{
           {"t_ms", 1000}, {"time_us", 1'000'000}, {"timestamp [ns]", kNsPerSecond}, {"t_s", 1}}) {
    const Import import(
        fmt::format("{},x,y,z\n{},0,0,0\n{},0,0,1\n", name, 5 * second, 6 * second));
    ASSERT_TRUE(import.result.ok()) << name << ": " << import.refusal();
    EXPECT_THAT(Stamps(import.flight()), ElementsAre(5 * kNsPerSecond, 6 * kNsPerSecond)) << name;
  }
}

TEST(Csv, NeverGuessesTheTimeUnitButSaysHowToStateIt) {
  EXPECT_THAT(Import("t,x,y,z\n1403636579763555584,0,0,0\n1403636579768555520,0,0,0\n").refusal(),
              AllOf(HasSubstr("flight.csv:2:"), HasSubstr("t_ns")));
  EXPECT_THAT(Import("t,x,y,z\n0,0,0,0\n10000000,0,0,0\n20000000,0,0,0\n").refusal(),
              AllOf(HasSubstr("flight.csv:2:"), HasSubstr("t_ns")));
  EXPECT_THAT(Import("t,x,y,z\n0,0,0,0\n10,0,0,0\n20,0,0,0\n").refusal(), HasSubstr("t_ms"));
}

TEST(Csv, ReadsOurOwnRecordingsBackUnchanged) {
  Recording written = MakeFlight("gull 17", 12.5);
  written.category = "figure-8";
  written.configuration = "slow";
  written.object = "M\xC3\xB6we";
  written.frame = "enu";
  written.source = Source::kSynthetic;
  written.noise_m = 0.02;
  for (const Observation& o : written.samples) written.truth.push_back(o.p_world + Vec3{1, 0, 0});
  const Import import(FormatRecording(written));
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  EXPECT_EQ(import.flight().id, "gull_17") << "safe as a file's name";
  EXPECT_EQ(import.flight().category, written.category);
  EXPECT_EQ(import.flight().configuration, written.configuration);
  EXPECT_EQ(import.flight().object, written.object);
  EXPECT_EQ(import.flight().frame, written.frame);
  EXPECT_EQ(import.flight().source, written.source);
  EXPECT_EQ(import.flight().noise_m, written.noise_m);
  EXPECT_EQ(import.flight().samples, written.samples);
  EXPECT_EQ(import.flight().truth, written.truth);
}

TEST(Csv, UsesTheOptionsForWhatTheFileDoesNotSay) {
  FormatOptions options;
  options.category = "random";
  options.object = "Crazyflie 2.0";
  options.noise_m = 0.01;
  const Import import("# object: gull\nt,x,y,z\n0,0,0,0\n1,0,0,0\n", Format::kCsv, options);
  EXPECT_EQ(import.flight().id, "flight");
  EXPECT_EQ(import.flight().category, "random");
  EXPECT_EQ(import.flight().object, "gull");
  EXPECT_EQ(import.flight().noise_m, 0.01);
}

TEST(Csv, RefusesMetadataThatMakeNoSense) {
  EXPECT_THAT(Import("# source: maybe\nt,x,y,z\n0,0,0,0\n1,0,0,0\n").refusal(),
              AllOf(HasSubstr("flight.csv:1:"), HasSubstr("'maybe'"), HasSubstr("synthetic")));
  EXPECT_THAT(Import("#\n# noise_m: -1\nt,x,y,z\n0,0,0,0\n1,0,0,0\n").refusal(),
              AllOf(HasSubstr("flight.csv:2:"), HasSubstr("noise_m")));
}

TEST(Csv, ToleratesLineEndsBomBlanksAndTrailingDelimiters) {
  const std::vector<std::string> texts = {"t,x,y,z\r\n0,1,2,3\r\n1,1,2,4\r\n",
                                          "\xEF\xBB\xBFt,x,y,z\n0,1,2,3\n1,1,2,4\n",
                                          "t,x,y,z\r0,1,2,3\r1,1,2,4\r",
                                          "\n\nt,x,y,z\n\n0,1,2,3\n  \n1,1,2,4\n\n",
                                          "t,x,y,z,\n0,1,2,3,\n1,1,2,4,\n",
                                          "t,x,y,z\n0,1,2,3,\n1,1,2,4,\n",
                                          "t,x,y,z\n0,1,2,3\n1,1,2,4",
                                          "t,x,y,z,label\n0,1,2,3,\n1,1,2,4,a\n",
                                          "# t,x,y,z\nt,x,y,z\n0,1,2,3\n# a comment\n1,1,2,4\n"};
  for (const std::string& text : texts) {
    const Import import(text);
    ASSERT_TRUE(import.result.ok()) << text << import.refusal();
    EXPECT_EQ(import.flight().samples,
              (std::vector<Observation>{{0, {1, 2, 3}}, {kNsPerSecond, {1, 2, 4}}}))
        << text;
    EXPECT_THAT(import.notes, IsEmpty()) << text;
  }
}

TEST(Csv, RefusesWhatIsNoTableOfPositions) {
  EXPECT_THAT(Import("").refusal(), AllOf(HasSubstr("flight.csv"), HasSubstr("empty")));
  EXPECT_THAT(Import("\n\n").refusal(), HasSubstr("empty"));
  EXPECT_THAT(Import("t,x,y,z\n").refusal(), HasSubstr("no samples"));
  EXPECT_THAT(Import("t,x,y\n0,1,2\n").refusal(),
              AllOf(HasSubstr("flight.csv:1:"), HasSubstr("no position columns")));
  EXPECT_THAT(Import("x,y,z\n0,1,2\n").refusal(), HasSubstr("no time column"));
  EXPECT_THAT(Import("t|x|y|z\n0|1|2|3\n").refusal(), HasSubstr("'t|x|y|z'"));
  EXPECT_THAT(Import("0,1,2,3\n").refusal(), HasSubstr("no header line"));
  EXPECT_THAT(Import("t,x,y,z,x\n0,1,2,3,4\n").refusal(), HasSubstr("'x' is there twice"));
  EXPECT_THAT(Import("t,x,y,z\n0,1,2,3\n").refusal(), HasSubstr("only one sample"));
  EXPECT_THAT(Import("t,x [mm],y [mm],z [mm]\n0,1,2,3\n").refusal(), HasSubstr("no position"));
  EXPECT_THAT(Import("\xFF\xFEt\0,\0").refusal(), HasSubstr("UTF-16"));
  EXPECT_THAT(Import(std::string("\0\1\2\xFF", 4)).refusal(), HasSubstr("found '?"));
}

TEST(Csv, RefusesDecimalCommas) {
  EXPECT_THAT(Import("t;x;y;z\n0,0;1,5;2,5;3\n").refusal(),
              AllOf(HasSubstr("flight.csv:2:"), HasSubstr("decimal comma")));
  EXPECT_THAT(Import("t,x,y,z\n0,0,1,5,2,5,3,0\n").refusal(), HasSubstr("decimal comma"));
}

TEST(Csv, DropsUnusableRowsAndCountsThem) {
  const Import import("t,x,y,z\n" + Rows(30) + "3.0,nan,0,0\n3.1,0,inf,0\nx,0,0,0\n" +
                      Rows(30, 32));
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  EXPECT_EQ(import.flight().samples.size(), 60u);
  EXPECT_THAT(
      import.sentences(),
      ElementsAre(AllOf(HasSubstr("flight.csv:32: dropped 3 of 63 rows"), HasSubstr("'nan'"))));
  EXPECT_EQ(import.notes[0].count, 3u);
}

TEST(Csv, RefusesAFileWithTooManyUnusableRows) {
  const std::string text = "t,x,y,z\n" + Rows(8) + "0.8,,,\n0.9,,,\n";
  EXPECT_THAT(Import(text).refusal(),
              AllOf(HasSubstr("flight.csv:10:"), HasSubstr("2 of 10 rows"), HasSubstr("10 %")));
  FormatOptions options;
  options.max_bad_share = 0.3;
  EXPECT_TRUE(Import(text, Format::kCsv, options).result.ok());
}

TEST(Csv, DropsALastLineThatWasCutOff) {
  for (const char* end : {"1.0,1", "1.0,10,2.5", "1.0,10,2.5,-", "1.0,10,2.5,3e", "1."}) {
    const Import import("t,x,y,z\n" + Rows(10) + end);
    ASSERT_TRUE(import.result.ok()) << end << import.refusal();
    EXPECT_EQ(import.flight().samples.size(), 10u) << end;
    EXPECT_THAT(import.sentences(),
                ElementsAre(AllOf(HasSubstr("flight.csv:12:"), HasSubstr("in the middle"))));
  }
  const Import digits("t,x,y,z\n0,1,2,3.25\n0.1,1,2,3.25\n0.2,1,2,3.2");
  EXPECT_EQ(digits.flight().samples.size(), 2u) << "3.2 may have been 3.25";
}

TEST(Repair, SortsWhatIsOutOfOrder) {
  const Import import("t,x,y,z\n0.0,0,0,0\n0.2,2,0,0\n0.1,1,0,0\n0.3,3,0,0\n");
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(import.flight().samples[i].p_world.x, i);
  EXPECT_THAT(import.sentences(), ElementsAre(HasSubstr("flight.csv:4: sorted 1 late row by")));
}

TEST(Repair, DropsRepeatedRowsAndKeepsTheFirstOfContradictingOnes) {
  const Import import("t,x,y,z\n" + Rows(20) + "1.9,19,2.5,3\n1.9,77,2.5,3\n" + Rows(10, 20));
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  EXPECT_EQ(import.flight().samples.size(), 30u);
  EXPECT_EQ(import.flight().samples[19].p_world.x, 19);
  EXPECT_THAT(import.sentences(),
              ElementsAre(HasSubstr("flight.csv:22: dropped 1 row that repeated"),
                          AllOf(HasSubstr("flight.csv:23: dropped 1 row with"),
                                HasSubstr("another position"))));
}

TEST(Repair, RefusesTwoObjectsInOneFile) {
  std::string rows;
  for (int i = 0; i < 10; ++i) rows += fmt::format("{0},{0},0,0\n{0},{0},9,9\n", 0.1 * i);
  EXPECT_THAT(Import("t,x,y,z\n" + rows).refusal(),
              AllOf(HasSubstr("flight.csv:3:"), HasSubstr("one object")));
}

TEST(Repair, RefusesAClockThatRestarts) {
  std::string second;
  for (int i = 0; i < 30; ++i) second += fmt::format("{:.2f},9,9,9\n", 0.1 * i + 0.03);
  EXPECT_THAT(Import("t,x,y,z\n" + Rows(30) + second).refusal(),
              AllOf(HasSubstr("flight.csv:32:"), HasSubstr("clock restarts")));
  EXPECT_TRUE(Import("t,x,y,z\n" + Rows(30) + Rows(30)).result.ok()) << "logged twice";
  EXPECT_TRUE(Import("t,x,y,z\n" + Rows(30, 30) + Rows(30)).result.ok()) << "a moved block";
}

TEST(Repair, CutsAFlightAtLongGaps) {
  const Import import("t,x,y,z\n" + Rows(10) + Rows(10, 30) + Rows(1, 60) + Rows(10, 90));
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  ASSERT_EQ(import.result->size(), 3u);
  EXPECT_EQ((*import.result)[0].id, "flight-part1");
  EXPECT_EQ((*import.result)[2].id, "flight-part3");
  EXPECT_EQ((*import.result)[1].samples.front().t_ns, 3 * kNsPerSecond);
  EXPECT_THAT(import.sentences(), ElementsAre(HasSubstr("flight.csv:12: cut the flight at 3 gaps"),
                                              HasSubstr("flight.csv:22: dropped 1 stretch ")));

  FormatOptions options;
  options.repair.max_gap_s = 5;
  const Import whole("t,x,y,z\n" + Rows(10) + Rows(10, 30), Format::kCsv, options);
  ASSERT_EQ(whole.result->size(), 1u);
  EXPECT_EQ(whole.flight().id, "flight");
}

TEST(Repair, DropsPartsThatAreTooShort) {
  FormatOptions options;
  options.repair.min_duration_s = 1.5;
  const Import import("t,x,y,z\n" + Rows(10) + Rows(20, 30), Format::kCsv, options);
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  ASSERT_EQ(import.result->size(), 1u);
  EXPECT_EQ(import.flight().id, "flight") << "one part is no part";
  EXPECT_THAT(Import("t,x,y,z\n" + Rows(10), Format::kCsv, options).refusal(), HasSubstr("1.5 s"));
}

TEST(Repair, KnowsTheFlightOfAPart) {
  EXPECT_EQ(FlightOf("gull-part12"), "gull");
  EXPECT_EQ(FlightOf("gull"), "gull");
  EXPECT_EQ(FlightOf("gull12"), "gull12");
  EXPECT_EQ(FlightOf("gull-part"), "gull-part");
  EXPECT_EQ(FlightOf("-part1"), "-part1");
  EXPECT_EQ(FlightOf("12"), "12");
  EXPECT_EQ(FlightOf(""), "");
}

// Whatever a file holds, the answer is recordings that keep the contract, or one sentence.
RC_GTEST_PROP(Csv, GivesWellFormedRecordingsOrARefusal, ()) {
  const auto rows = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 200), rc::gen::inRange(0, 4)));
  std::string text = "t,x,y,z\n";
  for (const auto& [t, x] : rows) text += fmt::format("{}.{},{},0,0\n", t / 10, t % 10, x);
  FormatOptions options;
  options.max_bad_share = 1;
  const Import import(text, Format::kCsv, options);
  if (!import.result.ok()) RC_ASSERT(import.refusal().find("flight.csv") == 4u);
  if (!import.result.ok()) return;
  for (const Recording& r : *import.result) {
    RC_ASSERT(r.samples.size() >= 2u);
    for (std::size_t i = 1; i < r.samples.size(); ++i) {
      RC_ASSERT(r.samples[i].t_ns > r.samples[i - 1].t_ns);
      RC_ASSERT(r.samples[i].t_ns - r.samples[i - 1].t_ns <= kNsPerSecond);
    }
  }
}

RC_GTEST_PROP(Csv, SurvivesAnyBytes, (const std::string& text)) {
  for (const Format format : {Format::kCsv, Format::kNanobench, Format::kTum, Format::kEuroc}) {
    RC_ASSERT(!Import("t,x,y,z\n" + text, format).refusal().empty());
    RC_ASSERT(!Import(text, format).refusal().empty());
  }
}

TEST(Tum, ReadsCommentsAndBlanks) {
  const Import import(
      "# ground truth trajectory\n# file: 'rgbd.bag'\n# timestamp tx ty tz qx qy qz qw\n"
      "1305031098.6659 1.3563 0.6305 1.6380 0.6132 0.5962 -0.3311 -0.3986\n"
      "1305031098.6758  1.3543 0.6306 1.6360 0.6129 0.5966 -0.3316 -0.3980\n",
      Format::kTum, {}, "seq/rgbd_desk/groundtruth.txt");
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  EXPECT_EQ(import.flight().id, "rgbd_desk");
  EXPECT_EQ(import.flight().samples[0],
            (Observation{1305031098665900000, {1.3563, 0.6305, 1.6380}}));
}

TEST(Tum, RefusesAnotherFormat) {
  EXPECT_THAT(Import("t,x,y,z\n0,1,2,3\n1,1,2,3\n", Format::kTum).refusal(),
              AllOf(HasSubstr("flight.csv:2:"), HasSubstr("expected 8 fields, found 1")));
}

TEST(Euroc, ReadsNanosecondsExactlyAndTakesTheIdFromTheSequence) {
  const Import import(
      "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w []\n"
      "1403636580838555648,4.688319,-1.786938,0.783338,0.534108\n"
      "1403636580843555328,4.688177,-1.786770,0.787350,0.534640\n",
      Format::kEuroc, {}, "data/MH_01_easy/mav0/state_groundtruth_estimate0/data.csv");
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  EXPECT_EQ(import.flight().id, "MH_01_easy");
  EXPECT_EQ(import.flight().samples[0],
            (Observation{1403636580838555648, {4.688319, -1.786938, 0.783338}}));
}

TEST(Nanobench, MapsItsTypesToTheBenchmarksCategories) {
  EXPECT_EQ(NanobenchCategory("figure_eight"), "figure-8");
  EXPECT_EQ(NanobenchCategory("random_waypoints"), "random");
  EXPECT_EQ(NanobenchCategory("staircase_climb"), "staircase");
  EXPECT_EQ(NanobenchCategory("linear_ramp"), "linear ramp");
  EXPECT_EQ(NanobenchCategory("barrel_roll"), "barrel roll");
}

TEST(Nanobench, TakesTheConfigurationFromTheMetadataAndNotFromTheName) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir.path() / "B5_helix_fast_mell_rep1_metadata.yaml",
                                  "category: tracking\nparams:\n  radius_m: 1.0\n"
                                  "trajectory_id: B5_helix_fast\ntrajectory_type: helix\n")
                  .ok());
  const Import import("t,px,py,pz,sp_ctrltarget_x\n0,1,2,3,0\n0.01,1,2,3,0\n", Format::kNanobench,
                      {}, (dir.path() / "B5_helix_fast_mell_rep1.csv").string());
  ASSERT_TRUE(import.result.ok()) << import.refusal();
  EXPECT_EQ(import.flight().id, "B5_helix_fast_mell_rep1");
  EXPECT_EQ(import.flight().configuration, "helix radius_m=1.0");
  EXPECT_EQ(import.flight().category, "helix");
  EXPECT_EQ(import.flight().object, "Crazyflie 2.1");
  EXPECT_EQ(import.flight().noise_m, 0.00005);
  EXPECT_THAT(import.notes, IsEmpty());
}

TEST(Nanobench, GuessesFromTheNameWithoutMetadataAndSaysSo) {
  const TemporaryDirectory dir;
  const auto read = [&] {
    return Import("t,px,py,pz\n0,1,2,3\n0.01,1,2,3\n", Format::kNanobench, {},
                  (dir.path() / "B3_figure8_fast_rep12.csv").string());
  };
  const Import missing = read();
  EXPECT_EQ(missing.flight().category, "figure-8");
  EXPECT_EQ(missing.flight().configuration, "B3_figure8_fast");
  EXPECT_THAT(missing.sentences(), ElementsAre(HasSubstr("guessed")));
  ASSERT_TRUE(
      WriteFileAtomically(dir.path() / "B3_figure8_fast_rep12_metadata.yaml", "a: 1\n\n!!!\n")
          .ok());
  EXPECT_THAT(read().sentences(), ElementsAre(AllOf(HasSubstr("yaml:3:"), HasSubstr("guessed"))));
}

TEST(FlatYaml, ReadsScalarsAndOneLevel) {
  const auto values = ParseFlatYaml(
      "---\r\n# comment\nname: 'a b'  # why\nurl: http://x:1/\nparams:\n  r: 1.0\n\n  s: "
      "\"q\"\nend: 2\n",
      "m.yaml");
  ASSERT_TRUE(values.ok()) << values.error().message;
  EXPECT_THAT(*values, ElementsAre(testing::Pair("end", "2"), testing::Pair("name", "a b"),
                                   testing::Pair("params.r", "1.0"), testing::Pair("params.s", "q"),
                                   testing::Pair("url", "http://x:1/")));
}

TEST(FlatYaml, PassesOverListsAndDeeperLevels) {
  const auto values = ParseFlatYaml(
      "params:\n  speeds:\n  - 0.25\n  - 0.5\n  deep:\n    er: 1\n    still: 2\n  r: 1\nlist:\n- "
      "a\n"
      "end: 2\n",
      "m.yaml");
  ASSERT_TRUE(values.ok()) << values.error().message;
  EXPECT_THAT(*values, ElementsAre(testing::Pair("end", "2"), testing::Pair("params.r", "1")));
}

TEST(FlatYaml, RefusesWhatItDoesNotUnderstandWithTheLine) {
  for (const char* bad : {"a: 1\n- b\n", "a: 1\njust text\n", "a: 1\n  b: 2\n", "a:\n\tb: 2\n"}) {
    EXPECT_THAT(ParseFlatYaml(bad, "m.yaml").error().message, HasSubstr("m.yaml:2:")) << bad;
  }
}

TEST(Formats, AreKnownByName) {
  for (const std::string_view name : FormatNames())
    EXPECT_EQ(FormatName(*FormatFromName(name)), name);
  EXPECT_THAT(FormatFromName("xml").error().message, HasSubstr("csv, nanobench, tum, euroc"));
}

TEST(Formats, RefuseADirectoryAndAMissingFile) {
  const TemporaryDirectory dir;
  std::vector<ImportNote> notes;
  EXPECT_THAT(ReadForeign(dir.path(), {}, notes).error().message, HasSubstr("expected a file"));
  EXPECT_THAT(ReadForeign(dir.path() / "no.csv", {}, notes).error().message, HasSubstr("no.csv"));
}

TEST(SafeName, IsSafe) {
  EXPECT_EQ(SafeName("../a b/c"), "_.._a_b_c");
  EXPECT_EQ(SafeName(""), "_");
  EXPECT_EQ(SafeName("rep1.2-x_Y"), "rep1.2-x_Y");
}

}  // namespace
}  // namespace aerocast
