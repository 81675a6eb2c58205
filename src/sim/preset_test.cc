// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <set>

#include "src/data/category.h"
#include "src/data/windows.h"
#include "src/sim/generate.h"
#include "src/sim/setpoint_log.h"
#include "src/sim/tune.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<const Recording*> Pointers(const std::vector<Recording>& recordings) {
  std::vector<const Recording*> pointers;
  for (const Recording& recording : recordings) pointers.push_back(&recording);
  return pointers;
}

PresetResult Make(Preset preset, const std::vector<const Recording*>& real,
                  const PresetOptions& options = {}) {
  Result<PresetResult> result = GeneratePreset(preset, real, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(*result);
}

// Counts and speeds as anyone would get them from the finished corpus.
std::array<FlightSpeeds, 9> Count(const std::vector<const Recording*>& recordings) {
  std::array<FlightSpeeds, 9> speeds;
  for (const Recording* flight : recordings) {
    const int c = CategoryIndex(flight->category);
    if (c < 0) continue;
    speeds[static_cast<std::size_t>(c)] +=
        MeasureSpeeds(*flight, CutWindows(*flight, PaperWindows(), 0.3));
  }
  return speeds;
}

void ExpectSpeedsOfTheTable(const std::array<FlightSpeeds, 9>& speeds) {
  for (std::size_t c = 0; c < 9; ++c) {
    const PaperCategory& table = kPaperTable[c];
    EXPECT_NEAR(speeds[c].mean_rms() / table.mean_rms, 1, 0.03) << kCategories[c].name;
    EXPECT_NEAR(speeds[c].max, table.max, 0.03) << kCategories[c].name;
  }
}

RC_GTEST_PROP(DurationForWindows, IsCutIntoExactlySoManyWindows, ()) {
  const auto windows = *rc::gen::inRange<std::size_t>(1, 4000);
  Recording flight;
  flight.samples.resize(SamplesFor(DurationForWindows(windows)));
  for (std::size_t i = 0; i < flight.samples.size(); ++i) {
    flight.samples[i] = {static_cast<TimeNs>(i) * 10'000'000, {0, 0, 1}};
  }
  RC_ASSERT(CutWindows(flight, PaperWindows(), 0.3).size() == windows);
}

TEST(TuneFlight, HitsAMeanSpeedAndKeepsTheCap) {
  for (int c = 0; c < 9; ++c) {
    const PaperCategory& table = kPaperTable[static_cast<std::size_t>(c)];
    const TunedFlight flight = TuneFlight({.seed = 1, .category = c, .number = 0, .purpose = 9},
                                          300, {SpeedGoal::Kind::kMean, table.mean_rms, table.max});
    EXPECT_EQ(flight.speeds.windows, 300u);
    EXPECT_NEAR(flight.speeds.mean_rms() / table.mean_rms, 1, 0.005) << kCategories[c].name;
    EXPECT_LE(flight.speeds.max, table.max) << kCategories[c].name;
  }
}

TEST(PaperPreset, WithoutRealFlightsIsTheTable) {
  const PresetResult result = Make(Preset::kPaper, {});
  EXPECT_EQ(result.generated.size(), kPaperRecordings);
  const auto speeds = Count(Pointers(result.generated));
  std::size_t total = 0;
  for (std::size_t c = 0; c < 9; ++c) {
    EXPECT_EQ(speeds[c].windows, kPaperTable[c].windows) << kCategories[c].name;
    EXPECT_EQ(result.summary.rows[c].generated.windows, speeds[c].windows);
    EXPECT_NEAR(result.summary.rows[c].generated.rms_sum, speeds[c].rms_sum, 1e-6);
    total += speeds[c].windows;
  }
  EXPECT_EQ(total, 90'116u);
  ExpectSpeedsOfTheTable(speeds);
}

TEST(PaperPreset, MakesFlightsOfSimilarLengthAndVariedSpeed) {
  const PresetResult result = Make(Preset::kPaper, {}, {.seed = 2});
  std::set<std::string> ids;
  double slowest = 1e9, fastest = 0;
  for (const Recording& flight : result.generated) {
    EXPECT_TRUE(ids.insert(flight.id).second) << flight.id;
    EXPECT_GT(flight.duration_s(), 60);
    EXPECT_LT(flight.duration_s(), 120);
    EXPECT_GT(BoundsOf(flight.truth).low.z, 0.35);
    if (flight.category != "circle") continue;
    const double speed = MeasureSpeeds(flight.truth).mean_rms();
    slowest = std::min(slowest, speed), fastest = std::max(fastest, speed);
  }
  EXPECT_GT(fastest, 1.4 * slowest);
}

TEST(BalancedPreset, GivesTheSameBytesForAnyNumberOfThreads) {
  // Few and short flights stand in for real ones, to be quick.
  const auto real = GenerateFlights({.flights_per_category = 2, .duration_s = 60, .seed = 7});
  ASSERT_TRUE(real.ok());
  std::string first;
  for (const int threads : {1, 2, 5}) {
    const PresetResult result =
        Make(Preset::kBalanced, Pointers(*real), {.seed = 3, .threads = threads});
    std::string bytes;
    for (const Recording& flight : result.generated) bytes += FormatRecording(flight);
    if (first.empty()) first = bytes;
    EXPECT_FALSE(bytes.empty());
    EXPECT_TRUE(bytes == first) << threads << " threads";
  }
}

TEST(PaperPreset, CountsRealWindowsFirst) {
  const auto real = GenerateFlights({.categories = {"circle", "star"},
                                     .flights_per_category = 3,
                                     .duration_s = 400,
                                     .noise_m = 0.0});
  ASSERT_TRUE(real.ok());
  const PresetResult result = Make(Preset::kPaper, Pointers(*real));
  const PresetRow& circle = result.summary.rows[0];
  EXPECT_EQ(circle.real_recordings, 3u);
  EXPECT_EQ(circle.real.windows, 3u * 3931);
  EXPECT_EQ(circle.generated_recordings, 0u);  // more than the table asks for
  EXPECT_EQ(result.generated.size() + 6, kPaperRecordings);
}

TEST(KeptReal, LeavesOutOtherCategoriesAndFlightsOnTheGround) {
  auto flights = *GenerateFlights({.categories = {"circle"}, .flights_per_category = 4});
  flights[1].category = "linear ramp";
  for (Vec3& p : flights[2].truth) p.z = 0.1;
  EXPECT_THAT(KeptReal(Pointers(flights), 0.3), ElementsAre(0, 3));
}

TEST(BalancedPreset, IsFortyThreePerCentGeneratedAndFillsFromBelow) {
  const auto real = GenerateFlights(
      {.categories = {"circle", "oval", "figure-8", "helix", "trefoil", "lissajous", "star"},
       .flights_per_category = 5,
       .duration_s = 40,
       .noise_m = 0.0});
  ASSERT_TRUE(real.ok());
  std::vector<const Recording*> some = Pointers(*real);
  some.erase(some.begin(), some.begin() + 3);  // two circles only
  const PresetResult result = Make(Preset::kBalanced, some);
  const PresetRow total = result.summary.Total();
  const auto all = static_cast<double>(total.all().windows);
  EXPECT_NEAR(static_cast<double>(total.generated.windows) / all, 0.43, 0.002);
  for (const int c : {CategoryIndex("staircase"), CategoryIndex("random")}) {
    const PresetRow& row = result.summary.rows[static_cast<std::size_t>(c)];
    EXPECT_NEAR(static_cast<double>(row.generated.windows) / all, 1.0 / 9, 0.002);
  }
  EXPECT_EQ(result.summary.rows[0].all().windows, result.summary.rows[1].all().windows);
  for (const Recording& flight : result.generated) EXPECT_LE(flight.duration_s(), 45);
}

TEST(GeneratePreset, RefusesWhatItCannotDo) {
  const auto message = [](Preset preset, const PresetOptions& options) {
    const auto result = GeneratePreset(preset, {}, options);
    return result.ok() ? std::string() : result.error().message;
  };
  EXPECT_THAT(message(Preset::kBalanced, {}), HasSubstr("needs some of the nine"));
  EXPECT_THAT(message(Preset::kPaper, {.min_z = 3}), HasSubstr("min_z"));
  EXPECT_THAT(message(Preset::kPaper, {.noise_m = -1.0}), HasSubstr("noise"));
  EXPECT_EQ(PresetFromName("paper"), Preset::kPaper);
  EXPECT_EQ(PresetFromName("balanced"), Preset::kBalanced);
  EXPECT_EQ(PresetFromName("Paper"), std::nullopt);
}

class WithRealFlights : public testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("AEROCAST_DATA");
    const fs::path directory = fs::path(data == nullptr ? "" : data) / "nanobench";
    if (data == nullptr || !fs::exists(directory)) {
      GTEST_SKIP() << "no real flights: set AEROCAST_DATA to the directory that holds nanobench";
    }
    const auto logs = ReadSetpointLogs(directory);
    ASSERT_TRUE(logs.ok()) << logs.error().message;
    for (const SetpointLog& log : *logs) flights_.push_back(ToRecording(log));
    const auto all = Pointers(flights_);
    for (const std::size_t i : KeptReal(all, 0.3)) real_.push_back(all[i]);
  }

  std::vector<const Recording*> With(const PresetResult& result) const {
    std::vector<const Recording*> all = real_;
    for (const Recording& flight : result.generated) all.push_back(&flight);
    return all;
  }

  std::vector<Recording> flights_;
  std::vector<const Recording*> real_;
};

TEST_F(WithRealFlights, PaperPresetIsTheTable) {
  const PresetResult result = Make(Preset::kPaper, real_);
  const auto all = With(result);
  EXPECT_EQ(all.size(), kPaperRecordings);
  const auto speeds = Count(all);
  for (std::size_t c = 0; c < 9; ++c) EXPECT_EQ(speeds[c].windows, kPaperTable[c].windows);
  ExpectSpeedsOfTheTable(speeds);
}

TEST_F(WithRealFlights, BalancedPresetKeepsTheRealShareAndTheSpeeds) {
  const PresetResult result = Make(Preset::kBalanced, real_);
  const PresetRow total = result.summary.Total();
  EXPECT_EQ(total.real_recordings, real_.size());
  EXPECT_NEAR(static_cast<double>(total.real.windows) / static_cast<double>(total.all().windows),
              0.57, 0.002);
  ExpectSpeedsOfTheTable(Count(With(result)));
}

}  // namespace
}  // namespace aerocast
