// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "aerocast/classical.h"

namespace aerocast {
namespace {

using testing::ElementsAre;

constexpr TimeNs kMs = 1'000'000;

Observation At(TimeNs ms) { return {ms * kMs, {1e-3 * static_cast<double>(ms), 2, 3}}; }

std::vector<Observation> Samples(const TrackBuffer& track) {
  const auto samples = track.history().samples;
  return {samples.begin(), samples.end()};
}

std::vector<TimeNs> Stamps(const TrackBuffer& track) {
  std::vector<TimeNs> stamps;
  for (const Observation& o : track.history().samples) stamps.push_back(o.t_ns / kMs);
  return stamps;
}

bool AddsUp(const TrackBuffer& track) {
  const TrackCounts& c = track.counts();
  return c.received == c.used + c.rejected() + c.dropped() && c.used >= track.size();
}

bool IsWellFormed(std::span<const Observation> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!IsUsable(samples[i]) || (i > 0 && samples[i].t_ns <= samples[i - 1].t_ns)) return false;
  }
  return true;
}

TEST(TrackBuffer, KeepsTheNewestInOrder) {
  TrackBuffer track("bird", {.capacity = 8});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(track.Add(At(10 * i)), Added::kNewest);
  EXPECT_THAT(Stamps(track), ElementsAre(920, 930, 940, 950, 960, 970, 980, 990));
  EXPECT_EQ(track.history().id, "bird");
  EXPECT_EQ(track.counts().used, 100u);
  EXPECT_EQ(track.counts().dropped(), 0u);
}

TEST(TrackBuffer, PutsLateSamplesInTheirPlace) {
  TrackBuffer track("bird", {.capacity = 8, .reorder_s = 0.1});
  track.Add(At(100)), track.Add(At(140));
  EXPECT_EQ(track.Add(At(120)), Added::kLate);
  EXPECT_EQ(track.Add(At(40)), Added::kLate);  // exactly as late as it may be
  EXPECT_EQ(track.Add(At(39)), Added::kTooLate);
  EXPECT_THAT(Stamps(track), ElementsAre(40, 100, 120, 140));
  EXPECT_EQ(track.counts().too_late, 1u);
}

TEST(TrackBuffer, DropsALateSampleWhenThereIsNoRoomForIt) {
  TrackBuffer track("bird", {.capacity = 8});
  for (int i = 0; i < 8; ++i) track.Add(At(100 + 10 * i));
  EXPECT_EQ(track.Add(At(95)), Added::kNoRoom);
  EXPECT_EQ(track.Add(At(105)), Added::kLate);  // the oldest goes
  EXPECT_THAT(Stamps(track), ElementsAre(105, 110, 120, 130, 140, 150, 160, 170));
  EXPECT_EQ(track.counts().no_room, 1u);
  EXPECT_TRUE(AddsUp(track));
}

TEST(TrackBuffer, TakesTheLastOfEqualStamps) {
  TrackBuffer track;
  track.Add(At(10)), track.Add(At(20));
  EXPECT_EQ(track.Add({20 * kMs, {7, 7, 7}}), Added::kDuplicate);
  EXPECT_EQ(track.Add({10 * kMs, {8, 8, 8}}), Added::kDuplicate);
  EXPECT_THAT(Samples(track),
              ElementsAre(Observation{10 * kMs, {8, 8, 8}}, Observation{20 * kMs, {7, 7, 7}}));
  EXPECT_EQ(track.counts().duplicate, 2u);
  EXPECT_EQ(track.counts().used, 2u);
}

TEST(TrackBuffer, RefusesWhatIsNoObservation) {
  constexpr TimeNs kMax = std::numeric_limits<TimeNs>::max(),
                   kMin = std::numeric_limits<TimeNs>::min();
  TrackBuffer track;
  EXPECT_EQ(track.Add({0, {NAN, 0, 0}}), Added::kNotFinite);
  EXPECT_EQ(track.Add({0, {0, 0, -INFINITY}}), Added::kNotFinite);
  EXPECT_EQ(track.Add({0, {0, 1e7, 0}}), Added::kOutOfRange);
  EXPECT_EQ(track.Add({kMax, {}}), Added::kOutOfRange);
  EXPECT_EQ(track.Add({kMin, {}}), Added::kOutOfRange);
  EXPECT_TRUE(track.empty() && AddsUp(track));
  EXPECT_EQ(track.Add({-kLatestStampNs + 1, {}}), Added::kNewest);
  EXPECT_EQ(track.Add({kLatestStampNs - 1, {}}), Added::kNewest);
  EXPECT_EQ(track.Add({-kLatestStampNs + 2, {}}), Added::kTooLate);
}

TEST(TrackBuffer, StartsAnewWhenTheClockWasSetBack) {
  TrackBuffer track("bird", {.capacity = 50});
  for (int i = 0; i < 20; ++i) track.Add(At(100'000 + 10 * i));
  for (int i = 0; i < 7; ++i) EXPECT_EQ(track.Add(At(10 * i)), Added::kTooLate);
  EXPECT_EQ(track.newest(), At(100'190));
  EXPECT_EQ(track.Add(At(70)), Added::kRestart);
  EXPECT_THAT(Stamps(track), ElementsAre(0, 10, 20, 30, 40, 50, 60, 70));
  EXPECT_EQ(track.Add(At(80)), Added::kNewest);
  EXPECT_EQ(track.counts().restarts, 1u);
  EXPECT_EQ(track.counts().clock, 20u);
  EXPECT_EQ(track.counts().used, 9u);
  EXPECT_TRUE(AddsUp(track));
}

TEST(TrackBuffer, MixesNoTimesWhenTheClockIsSetBackALittle) {
  TrackBuffer track;
  for (int i = 0; i < 500; ++i) track.Add(At(10 * i));
  for (int i = 0; i < 8; ++i) track.Add(At(4000 + 10 * i));  // a second back
  EXPECT_EQ(track.size(), 8u);
}

TEST(TrackBuffer, OutvotesALoneStampFromTheFuture) {
  TrackBuffer track;
  std::vector<Observation> expected;
  for (int i = 0; i < 100; ++i) {
    if (i == 50) track.Add(At(3'600'000));
    track.Add(At(10 * i));
    expected.push_back(At(10 * i));
  }
  EXPECT_EQ(Samples(track), expected);  // nothing is missing
  EXPECT_EQ(track.counts().clock, 1u);
  EXPECT_EQ(track.counts().too_late, 0u);
}

TEST(TrackBuffer, RestartsOnReorderedAndDoubledSamplesToo) {
  TrackBuffer track;
  for (int i = 0; i < 20; ++i) track.Add(At(100'000 + 10 * i));
  for (const int i : {1, 0, 3, 2, 5, 4, 7, 6}) track.Add(At(10 * i)), track.Add(At(10 * i));
  EXPECT_THAT(Stamps(track), ElementsAre(0, 10, 20, 30, 40, 50, 60, 70));
  EXPECT_EQ(track.counts().duplicate, 8u);
  EXPECT_TRUE(AddsUp(track));
}

TEST(TrackBuffer, IsNotMisledByLateSamplesAmongGoodOnes) {
  TrackBuffer track;
  for (int i = 200; i < 400; ++i) {
    track.Add(At(10 * i));
    EXPECT_EQ(track.Add(At(10 * i - 1000)), Added::kTooLate);
  }
  EXPECT_EQ(track.counts().restarts, 0u);
  EXPECT_EQ(track.size(), 200u);
}

TEST(TrackBuffer, SaysHowOldItIs) {
  TrackBuffer track;
  EXPECT_TRUE(std::isinf(track.AgeS(0)));
  EXPECT_TRUE(track.IsStale(0));
  track.Add(At(1000));
  EXPECT_EQ(track.AgeS(900 * kMs), 0);
  EXPECT_DOUBLE_EQ(track.AgeS(1400 * kMs), 0.4);
  EXPECT_FALSE(track.IsStale(1400 * kMs));
  EXPECT_TRUE(track.IsStale(1600 * kMs));
}

TEST(TrackBuffer, ForgetsEverythingOnReset) {
  TrackBuffer track("bird");
  track.set_noise_m(0.1);
  for (int i = 0; i < 5; ++i) track.Add(At(i));
  EXPECT_EQ(track.history().noise_m, 0.1);
  track.Reset(std::string(100, 'x'));
  EXPECT_TRUE(track.empty());
  EXPECT_EQ(track.history().noise_m, 0);
  EXPECT_EQ(track.counts(), TrackCounts{});
  EXPECT_EQ(track.id(), std::string(kMaxIdLength, 'x'));
  EXPECT_EQ(track.Add(At(-1'000'000)), Added::kNewest);
}

TEST(TrackBuffer, GivesAForecasterWhatSortedInputWould) {
  TrackBuffer track("bird");
  for (int i = 0; i < 200; i += 2) track.Add(At(10 * i + 10)), track.Add(At(10 * i));
  const auto forecaster = MakeClassical("imm").value();
  const auto workspace = forecaster->MakeWorkspace();
  Forecast a(forecaster->info().shape), b(forecaster->info().shape);
  std::vector<Observation> sorted;
  for (int i = 0; i < 200; ++i) sorted.push_back(At(10 * i));
  forecaster->Predict(track.history(), *workspace, a);
  forecaster->Predict({"bird", sorted}, *workspace, b);
  EXPECT_EQ(a.t0_ns, 1990 * kMs);
  EXPECT_EQ(a.quality, Quality::kOk);
  for (int i = 0; i < a.steps(); ++i) EXPECT_EQ(a.point(i), b.point(i));
}

RC_GTEST_PROP(TrackBufferProperty, AnyOrderWithinTheSpanGivesTheSortedHistory, ()) {
  const TrackOptions options{.capacity = *rc::gen::inRange<std::size_t>(8, 40), .reorder_s = 0.2};
  const auto stamps = *rc::gen::container<std::set<int>>(rc::gen::inRange(0, 3000));
  std::vector<std::pair<int, int>> arrivals;  // when, stamp
  TrackBuffer sorted("bird", options), shuffled("bird", options);
  for (const int t : stamps) {
    sorted.Add(At(t));
    arrivals.emplace_back(t + *rc::gen::inRange(0, 201), t);
  }
  std::sort(arrivals.begin(), arrivals.end());
  for (const auto& [when, t] : arrivals) shuffled.Add(At(t));
  RC_ASSERT(Samples(sorted) == Samples(shuffled));
  RC_ASSERT(shuffled.counts().rejected() == 0u);
  RC_ASSERT(AddsUp(shuffled));
}

RC_GTEST_PROP(TrackBufferProperty, WhateverComesItIsWellFormedAndAddsUp, ()) {
  TrackBuffer track("bird", {.capacity = *rc::gen::inRange<std::size_t>(0, 20),
                             .reorder_s = *rc::gen::element(0.0, 0.05, 1.0, 1e300, -1.0, NAN)});
  const auto coordinate = rc::gen::element(0.0, 1.0, -5.0, NAN, INFINITY, 1e7, -1e300, 9.9e6);
  const auto stamp = rc::gen::oneOf(
      rc::gen::inRange<TimeNs>(0, 200 * kMs), rc::gen::arbitrary<TimeNs>(),
      rc::gen::map(rc::gen::inRange(0, 60), [](int i) { return TimeNs{i} * 10 * kMs; }));
  const int count = *rc::gen::inRange(0, 200);
  for (int i = 0; i < count; ++i) {
    const Observation o{*stamp, {*coordinate, *rc::gen::element(0.0, 2.0), 1}};
    const TimeNs before = track.empty() ? o.t_ns : track.newest().t_ns;
    const Added added = track.Add(o);
    RC_ASSERT(IsWellFormed(track.history().samples));
    RC_ASSERT(AddsUp(track));
    RC_ASSERT(track.counts().received == static_cast<std::uint64_t>(i) + 1);
    if (added == Added::kNewest) RC_ASSERT(track.newest() == o);
    if (!IsNewest(added) && !track.empty()) RC_ASSERT(track.newest().t_ns == before);
  }
}

}  // namespace
}  // namespace aerocast
