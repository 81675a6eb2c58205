// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "src/base/file.h"
#include "src/import/corpus.h"
#include "src/import/natural.h"
#include "src/import/test_data.h"

namespace aerocast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> Ids(const std::vector<Recording>& recordings) {
  std::vector<std::string> ids;
  for (const Recording& r : recordings) ids.push_back(r.id);
  return ids;
}

constexpr double kToday = 1.77e9;

TEST(NaturalLess, CountsDigitsAsNumbers) {
  std::vector<std::string> names = {"rep10", "rep2", "B10", "B9_x", "rep02", "rep", "a"};
  std::sort(names.begin(), names.end(), NaturalLess);
  EXPECT_THAT(names, ElementsAre("B9_x", "B10", "a", "rep", "rep02", "rep2", "rep10"));
}

RC_GTEST_PROP(NaturalLess, IsAStrictTotalOrder, ()) {
  const auto name = rc::gen::container<std::string>(rc::gen::element('a', '0', '1', '9', '_'));
  const std::string a = *name, b = *name, c = *name;
  RC_ASSERT(!NaturalLess(a, a));
  RC_ASSERT((a == b) == (!NaturalLess(a, b) && !NaturalLess(b, a)));
  if (NaturalLess(a, b) && NaturalLess(b, c)) RC_ASSERT(NaturalLess(a, c));
}

TEST(Dedupe, FindsTheSameSamplesWhateverTheClock) {
  const DedupeResult result = Dedupe(
      {MakeFlight("rep10", 0), MakeFlight("rep2", 77.25), MakeFlight("other", 0, 20, /*lane=*/5)});
  EXPECT_THAT(Ids(result.kept), ElementsAre("other", "rep2"));
  ASSERT_THAT(result.dropped, SizeIs(1));
  EXPECT_EQ(result.dropped[0], (DroppedRecording{"rep10", "rep2", "same samples"}));
  EXPECT_THAT(Sentence(result.dropped[0]), HasSubstr("rep10 is rep2 again"));
}

TEST(Dedupe, DoesNotTakeTheSamePathAtAnotherSpeedForACopy) {
  Recording slow = MakeFlight("slow");
  for (Observation& o : slow.samples) o.t_ns *= 2;
  EXPECT_THAT(Dedupe({MakeFlight("fast"), slow}).kept, SizeIs(2));
}

TEST(Dedupe, KeepsTheLongerOfTwoThatOverlapOnAnAbsoluteClock) {
  Recording noisy = MakeFlight("a", kToday, 20);
  for (Observation& o : noisy.samples) o.p_world.z += 0.01;
  const DedupeResult result = Dedupe({noisy, MakeFlight("b", kToday, 30)});
  EXPECT_THAT(Ids(result.kept), ElementsAre("b"));
  EXPECT_EQ(result.dropped[0].id, "a");
  EXPECT_THAT(result.dropped[0].reason, HasSubstr("1.900 s in common"));
}

TEST(Dedupe, NeverComparesRelativeClocks) {
  EXPECT_THAT(Dedupe({MakeFlight("a", 0, 20), MakeFlight("b", 0, 30)}).kept, SizeIs(2));
}

TEST(Dedupe, KeepsOneFlightAfterTheOther) {
  EXPECT_THAT(Dedupe({MakeFlight("a", kToday, 20), MakeFlight("b", kToday + 1.9, 30)}).kept,
              SizeIs(2))
      << "they touch, but do not overlap";
}

TEST(Dedupe, KeepsObjectsThatFlyAtTheSameTimeInOtherPlaces) {
  const std::vector<Recording> flock = {MakeFlight("a", kToday, 20),
                                        MakeFlight("b", kToday, 30, /*lane=*/5)};
  EXPECT_THAT(Dedupe(flock).kept, SizeIs(2));
  EXPECT_THAT(Dedupe(flock, {.same_place_m = std::numeric_limits<double>::infinity()}).kept,
              SizeIs(1));
  std::vector<Recording> named = {MakeFlight("a", kToday, 20), MakeFlight("b", kToday, 30)};
  named[0].object = "gull", named[1].object = "crow";
  EXPECT_THAT(Dedupe(named).kept, SizeIs(2));
}

RC_GTEST_PROP(Dedupe, DoesNotDependOnTheOrderOfItsInput, ()) {
  std::vector<Recording> flights;
  const int n = *rc::gen::inRange(1, 12);
  for (int i = 0; i < n; ++i) {
    flights.push_back(MakeFlight("rep" + std::to_string(i), kToday + *rc::gen::inRange(0, 6),
                                 *rc::gen::inRange(2, 30), *rc::gen::inRange(0, 3)));
  }
  const DedupeResult once = Dedupe(flights);
  std::vector<Recording> shuffled = flights;
  std::rotate(shuffled.begin(), shuffled.begin() + *rc::gen::inRange(0, n), shuffled.end());
  std::swap(shuffled.front(), shuffled.back());
  const DedupeResult again = Dedupe(shuffled);
  RC_ASSERT(Ids(once.kept) == Ids(again.kept));
  RC_ASSERT(once.dropped == again.dropped);
  RC_ASSERT(once.kept.size() + once.dropped.size() == flights.size());
  RC_ASSERT(Dedupe(once.kept).dropped.empty());
}

TEST(Import, GivesFilesOfOneNameInTwoDirectoriesTheirDirectorysName) {
  const TemporaryDirectory dir;
  for (const char* run : {"run1", "run2"}) {
    std::filesystem::create_directories(dir.path() / run);
    Recording flight = MakeFlight("ignored", 0, 20, run[3]);
    flight.id.clear();
    ASSERT_TRUE(WriteRecording(flight, dir.path() / run / "data.csv").ok());
  }
  const auto result = Import({dir.path()}, {});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_THAT(Ids(result->recordings), ElementsAre("run1_data", "run2_data"));
  EXPECT_THAT(result->notes, SizeIs(2));
}

TEST(Import, GoesOnAfterARefusedFileAndNamesIt) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteRecording(MakeFlight("a"), dir.path() / "a.csv").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.path() / "b.csv", "nothing\n").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.path() / ".hidden.csv", "nothing\n").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.path() / "README.txt", "nothing\n").ok());
  const auto result = Import({dir.path()}, {});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->files, 2u);
  EXPECT_THAT(Ids(result->recordings), ElementsAre("a"));
  ASSERT_THAT(result->refused, SizeIs(1));
  EXPECT_THAT(result->refused[0].message, HasSubstr("b.csv:1:"));
}

TEST(Import, RefusesWhatHoldsNoFlightAtAll) {
  const TemporaryDirectory dir;
  EXPECT_THAT(Import({dir.path()}, {}).error().message, HasSubstr("no .csv files"));
  EXPECT_THAT(Import({dir.path() / "none"}, {}).error().message, HasSubstr("no such file"));
  EXPECT_THAT(Import({}, {}).error().message, HasSubstr("no files"));
  ASSERT_TRUE(WriteFileAtomically(dir.path() / "b.csv", "nothing\n").ok());
  EXPECT_THAT(Import({dir.path()}, {}).error().message, HasSubstr("b.csv:1:"));
}

TEST(Import, DoesNotLookIntoACorpusThatLiesBesideItsFlights) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteRecording(MakeFlight("a"), dir.path() / "a.csv").ok());
  ASSERT_TRUE(WriteCorpus(dir.path() / "corpus", {MakeFlight("b", 0, 30)}, {}).ok());
  EXPECT_THAT(*FindFiles(dir.path(), Format::kCsv), ElementsAre(dir.path() / "a.csv"));
  EXPECT_THAT(*FindFiles(dir.path() / "corpus", Format::kCsv), SizeIs(1)) << "when named itself";
}

TEST(Import, TakesAFileNamedTwiceOnce) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteRecording(MakeFlight("a"), dir.path() / "a.csv").ok());
  const auto result = Import({dir.path(), dir.path() / "a.csv"}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->recordings, SizeIs(1));
  EXPECT_THAT(result->dropped, IsEmpty());
}

TEST(Import, FindsOnlyGroundTruthInAEurocSequence) {
  const TemporaryDirectory dir;
  const auto mav = dir.path() / "V1_01" / "mav0";
  for (const char* sensor : {"imu0", "state_groundtruth_estimate0"}) {
    std::filesystem::create_directories(mav / sensor);
    ASSERT_TRUE(WriteFileAtomically(mav / sensor / "data.csv", "x\n").ok());
  }
  const auto files = FindFiles(dir.path(), Format::kEuroc);
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(*files, ElementsAre(mav / "state_groundtruth_estimate0" / "data.csv"));
}

TEST(RealNanobench, Has71DistinctFlightsAmong90Files) {
  const RealFlights data("nanobench");
  if (!data.found()) GTEST_SKIP() << data.where();
  ImportOptions options;
  options.format.format = Format::kNanobench;
  const auto result = Import({data.path()}, options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->files, 90u);
  EXPECT_THAT(result->recordings, SizeIs(71));
  EXPECT_THAT(result->dropped, SizeIs(19));
  EXPECT_THAT(result->refused, IsEmpty());
  EXPECT_THAT(result->notes, IsEmpty()) << "nothing had to be repaired";
  std::map<std::string, int> categories;
  std::set<std::string> configurations;
  for (const Recording& r : result->recordings) {
    ++categories[r.category];
    configurations.insert(r.configuration);
  }
  EXPECT_EQ(categories, (std::map<std::string, int>{{"circle", 8},
                                                    {"figure-8", 7},
                                                    {"helix", 9},
                                                    {"linear ramp", 3},
                                                    {"lissajous", 2},
                                                    {"oval", 8},
                                                    {"star", 8},
                                                    {"trefoil", 26}}));
  EXPECT_THAT(configurations, SizeIs(22));
}

TEST(RealNanobench, IsTheSameFlightRawAndReduced) {
  const RealFlights reduced("nanobench"), raw("nanobench_raw_sample");
  if (!reduced.found()) GTEST_SKIP() << reduced.where();
  if (!raw.found()) GTEST_SKIP() << raw.where();
  FormatOptions options;
  options.format = Format::kNanobench;
  std::vector<ImportNote> notes;
  const auto a = ReadForeign(reduced.path() / "B2_circle_fast_rep1.csv", options, notes);
  const auto b = ReadForeign(raw.path() / "B2_circle_fast_rep1.csv", options, notes);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_THAT(notes, IsEmpty());
  const std::vector<Observation>&p = a->at(0).samples, &q = b->at(0).samples;
  ASSERT_EQ(p.size(), q.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(p[i].t_ns - q[i].t_ns), 0, 5.1e4) << "0.1 ms, rounded";
    ASSERT_LT(Norm(p[i].p_world - q[i].p_world), 1.8e-5) << "10 micrometres, rounded";
  }
  const DedupeResult one = Dedupe({a->at(0), b->at(0)});
  EXPECT_THAT(one.kept, SizeIs(1));
}

TEST(RealCfBattery, HasOneFlightTwiceAndNoOtherMerged) {
  const RealFlights data("cf_battery");
  if (!data.found()) GTEST_SKIP() << data.where();
  const auto result = Import({data.path()}, {});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->files, 36u);
  EXPECT_THAT(result->recordings, SizeIs(35));
  ASSERT_THAT(result->dropped, SizeIs(1));
  EXPECT_EQ(result->dropped[0],
            (DroppedRecording{"Trajectories_140", "Trajectories_136", "same samples"}));
}

}  // namespace
}  // namespace aerocast
