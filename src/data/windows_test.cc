// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/data/test_flight.h"

namespace aerocast {
namespace {

Vec3 Line(double t) { return {t, 2 * t, 10}; }

TEST(CutWindows, CountsAsThePaperDoes) {
  // 7 s hold one window, every further 0.1 s one more.
  EXPECT_EQ(CutWindows(MakeFlight(7, 100, Line), {}).size(), 1u);
  EXPECT_EQ(CutWindows(MakeFlight(6.99, 100, Line), {}).size(), 0u);
  EXPECT_EQ(CutWindows(MakeFlight(30, 100, Line), {}).size(), 231u);
  EXPECT_EQ(CutWindows(MakeFlight(30, 10, Line), {}).size(), 231u);
  EXPECT_EQ(CutWindows(MakeFlight(30, 100, Line), {.stride = 10}).size(), 24u);
  EXPECT_EQ(CutWindows(MakeFlight(30, 100, Line), {.history_s = 10, .min_history_s = 10}).size(),
            151u);
  EXPECT_TRUE(CutWindows(Recording{}, {}).empty());
}

TEST(CutWindows, CutsNoWindowTwiceAtALowRate) {
  const Recording flight = MakeFlight(30, 4, Line);  // 0.25 s between samples
  const auto windows = CutWindows(flight, {});
  EXPECT_TRUE(std::adjacent_find(windows.begin(), windows.end()) == windows.end());
  EXPECT_EQ(windows.size(), 93u);
}

TEST(CutWindows, SkipsGapsLongerThanSpec) {
  Recording flight = MakeFlight(30, 100, Line);
  flight.samples.erase(flight.samples.begin() + 1501, flight.samples.begin() + 1530);  // 0.30 s
  for (const std::uint32_t i : CutWindows(flight, {})) {
    const double t0 = DurationS(flight.samples[i].t_ns);
    EXPECT_TRUE(t0 + 5 <= 15.001 || t0 - 2 >= 15.299) << t0;
  }
  EXPECT_EQ(CutWindows(flight, {.max_gap_s = 0.31}).size(), 229u);
}

TEST(CutWindows, LeapsOverAGapOfDecades) {
  Recording flight = MakeFlight(10, 100, Line);
  const Recording later = MakeFlight(10, 100, Line, 1.7e9);
  flight.samples.insert(flight.samples.end(), later.samples.begin(), later.samples.end());
  EXPECT_EQ(CutWindows(flight, {}).size(), 62u);
}

TEST(CutWindows, CutsNothingThatHasNoTargets) {
  const WindowSpec spec{.dt_s = 0.33333334};
  const Recording flight = MakeFlight(7, 100, Line);
  std::vector<Vec3> targets(static_cast<std::size_t>(spec.horizon_steps()));
  for (const std::uint32_t i : CutWindows(flight, spec)) {
    EXPECT_TRUE(TargetsAt(flight, i, spec, targets));
  }
}

TEST(CutWindows, KeepsOnlyAirborneOnesAndJudgesByTruth) {
  Recording flight = MakeFlight(40, 100, [](double t) { return Vec3{t, 0, t < 10 ? 0.1 : 1.0}; });
  const auto airborne = CutWindows(flight, {}, 0.3);
  ASSERT_FALSE(airborne.empty());
  EXPECT_EQ(flight.samples[airborne.front()].t_ns, 12 * kNsPerSecond);
  for (const Observation& o : flight.samples) flight.truth.push_back(o.p_world + Vec3{0, 0, 1});
  EXPECT_EQ(CutWindows(flight, {}, 0.3).size(), CutWindows(flight, {}).size());
}

TEST(HistoryAt, EndsAtT0AndBracketsTheOldestGridPoint) {
  const Recording flight = MakeFlight(10, 30, Line);
  const History history = HistoryAt(flight, 200, 2.0);
  EXPECT_EQ(history.samples.back(), flight.samples[200]);
  const TimeNs oldest = flight.samples[200].t_ns - 2 * kNsPerSecond;
  EXPECT_LE(history.samples.front().t_ns, oldest);
  EXPECT_GT(history.samples[1].t_ns, oldest);
  EXPECT_EQ(HistoryAt(flight, 3, 2.0).samples.size(), 4u);
}

TEST(TargetsAt, AreTruthInterpolatedBetweenSamples) {
  Recording flight = MakeFlight(20, 33, Line);
  for (const Observation& o : flight.samples) flight.truth.push_back(o.p_world + Vec3{0, 0, 5});
  std::vector<Vec3> targets(50);
  ASSERT_TRUE(TargetsAt(flight, 100, {}, targets));
  const double t0 = DurationS(flight.samples[100].t_ns);
  for (int i = 0; i < 50; ++i) {
    const Vec3 expected = Line(t0 + 0.1 * (i + 1)) + Vec3{0, 0, 5};
    EXPECT_LT(Norm(targets[static_cast<std::size_t>(i)] - expected), 1e-6);
  }
  EXPECT_FALSE(TargetsAt(flight, flight.samples.size() - 5, {}, targets));
}

RC_GTEST_PROP(CutWindows, EveryWindowHasItsHistoryAndTargets, ()) {
  // Uneven stamps with gaps: whatever is cut must be answerable.
  Recording flight;
  TimeNs t = *rc::gen::inRange<TimeNs>(-1'000'000'000, 2'000'000'000'000);
  const int n = *rc::gen::inRange(1, 600);
  for (int i = 0; i < n; ++i) {
    const bool gap = *rc::gen::inRange(0, 100) == 0;
    t += gap ? 400'000'000 : *rc::gen::inRange<TimeNs>(1'000'000, 120'000'000);
    flight.samples.push_back({t, {DurationS(t), 0, 1}});
  }
  const WindowSpec spec{.stride = *rc::gen::inRange(1, 5)};
  std::vector<Vec3> targets(50);
  for (const std::uint32_t i : CutWindows(flight, spec, 0)) {
    RC_ASSERT(TargetsAt(flight, i, spec, targets));
    const History history = HistoryAt(flight, i, spec.history_s);
    RC_ASSERT(history.samples.front().t_ns <= flight.samples[i].t_ns - 2 * kNsPerSecond);
    for (std::size_t k = 1; k < history.samples.size(); ++k) {
      RC_ASSERT(history.samples[k].t_ns - history.samples[k - 1].t_ns <= 250'000'000);
    }
  }
}

TEST(Validate, NamesTheFieldThatIsWrong) {
  EXPECT_TRUE(Validate(PaperWindows()).ok());
  const auto message = [](const WindowSpec& spec) { return Validate(spec).error().message; };
  EXPECT_THAT(message({.dt_s = 0}), testing::HasSubstr("dt"));
  EXPECT_THAT(message({.dt_s = std::nan("")}), testing::HasSubstr("dt"));
  EXPECT_THAT(message({.horizon_s = 5.05}), testing::HasSubstr("multiples"));
  EXPECT_THAT(message({.min_history_s = -1}), testing::HasSubstr("least history"));
  EXPECT_THAT(message({.min_history_s = 1e9}), testing::HasSubstr("least history"));
  EXPECT_THAT(message({.horizon_s = 1e9}), testing::HasSubstr("1000 steps"));
  EXPECT_THAT(message({.stride = 0}), testing::HasSubstr("stride"));
  EXPECT_THAT(message({.max_gap_s = 0}), testing::HasSubstr("gap"));
}

}  // namespace
}  // namespace aerocast
