// SPDX-License-Identifier: BSD-3-Clause
//
// What every forecaster promises, whatever it is given.
#include "aerocast/forecaster.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <limits>

#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr TimeNs kEarliest = std::numeric_limits<TimeNs>::min();
constexpr TimeNs kLatest = std::numeric_limits<TimeNs>::max();

const std::vector<std::unique_ptr<Forecaster>>& Everyone() {
  static const auto all = OneOfEach();
  return all;
}

void ExpectAllValid(const std::vector<Observation>& samples, double noise_m = 0) {
  for (const auto& forecaster : Everyone()) {
    const Forecast f = PredictOnce(*forecaster, samples, noise_m);
    EXPECT_TRUE(f.IsValid()) << forecaster->info().name;
  }
}

RC_GTEST_PROP(Forecaster, AnswersValidlyToAnyBitPattern, ()) {
  using Bits = std::uint64_t;
  const auto words = *rc::gen::container<std::vector<Bits>>(rc::gen::arbitrary<Bits>());
  std::vector<Observation> samples;
  for (std::size_t i = 0; i + 3 < words.size(); i += 4) {
    samples.push_back({std::bit_cast<TimeNs>(words[i]),
                       {std::bit_cast<double>(words[i + 1]), std::bit_cast<double>(words[i + 2]),
                        std::bit_cast<double>(words[i + 3])}});
  }
  const double noise = std::bit_cast<double>(*rc::gen::arbitrary<Bits>());
  for (const auto& forecaster : Everyone()) {
    RC_ASSERT(PredictOnce(*forecaster, samples, noise).IsValid());
  }
}

// Uniform bits are mostly absurd; this one draws from the values where code breaks.
RC_GTEST_PROP(Forecaster, AnswersValidlyToNastyValues, ()) {
  const auto value = rc::gen::element(0.0, -0.0, 1.0, 1e-3, -2.5, 1e-300, 9.9e6, -9.9e6, 1e7, 1e30,
                                      -1e308, kNan, kInf, -kInf);
  const auto step = rc::gen::element<TimeNs>(0, 1, -1, 1000, 10'000'000, 100'000'000, 400'000'000,
                                             3'000'000'000, -100'000'000);
  TimeNs t = *rc::gen::element<TimeNs>(0, -8'999'999'999'000'000'000, 8'999'999'990'000'000'000,
                                       1'700'000'000'000'000'000);
  std::vector<Observation> samples;
  const int n = *rc::gen::inRange(0, 60);
  for (int i = 0; i < n; ++i) {
    samples.push_back({t, {*value, *value, *value}});
    t += *step;
  }
  const double noise = *value;
  for (const auto& forecaster : Everyone()) {
    RC_ASSERT(PredictOnce(*forecaster, samples, noise).IsValid());
  }
}

TEST(Forecaster, HasNoForecastWithoutAUsableSample) {
  for (const auto& forecaster : Everyone()) {
    EXPECT_EQ(PredictOnce(*forecaster, {}).quality, Quality::kNone);
    EXPECT_EQ(PredictOnce(*forecaster, {{0, {kNan, 0, 0}},
                                        {1, {0, kInf, 0}},
                                        {2, {0, 0, 1e30}},
                                        {kLatest, {}},
                                        {kEarliest, {}}})
                  .quality,
              Quality::kNone)
        << forecaster->info().name;
  }
}

TEST(Forecaster, SaysThatOneSampleIsLittle) {
  for (const auto& forecaster : Everyone()) {
    const Forecast f = PredictOnce(*forecaster, {{5, {1, 2, 3}}});
    EXPECT_TRUE(f.IsValid());
    EXPECT_TRUE(f.quality == Quality::kShortHistory || f.quality == Quality::kFallback);
    EXPECT_EQ(f.t0_ns, 5);
    EXPECT_LT(Norm(f.point(0) - Vec3{1, 2, 3}), 1e-9) << forecaster->info().name;
    // The speed is not known to be zero: after a second it may be metres away.
    EXPECT_GT(f.mixture_cov(9).xx, 1.0) << forecaster->info().name;
  }
}

TEST(Forecaster, SkipsFaultySamplesAsIfTheyWereNotThere) {
  const std::vector<Observation> good = Observe(Wander(1));
  std::vector<Observation> bad;
  for (const Observation& o : good) {
    bad.push_back(o);
    bad.push_back({o.t_ns, {kNan, 0, 0}});
    bad.push_back({o.t_ns + 1000, {0, 1e30, 0}});
    bad.push_back({kLatest, o.p_world});
  }
  bad.insert(bad.begin(), {good.back().t_ns + 5, {1, 1, 1}});  // backwards from here
  for (const auto& forecaster : Everyone()) {
    EXPECT_TRUE(SameBits(PredictOnce(*forecaster, good), PredictOnce(*forecaster, bad)))
        << forecaster->info().name;
  }
}

TEST(Forecaster, SkipsLateSamplesAndStaysAtTheNewest) {
  const std::vector<Observation> good = Observe(Wander(12));
  std::vector<Observation> late = good;
  late.push_back(good[good.size() - 36]);                             // 0.7 s old, at the end
  late.insert(late.end() - 30, good[good.size() - 80]);               // and in the middle
  for (std::size_t n = 0; n < 5; ++n) late.push_back(good[100 + n]);  // a whole burst
  for (const auto& forecaster : Everyone()) {
    EXPECT_TRUE(SameBits(PredictOnce(*forecaster, good), PredictOnce(*forecaster, late)))
        << forecaster->info().name;
  }
}

TEST(Forecaster, IsNotHeldUpByAStampFromTheFuture) {
  const std::vector<Observation> good = Observe(Wander(13));
  const auto with = [&](std::size_t before_last, double ahead_s) {
    std::vector<Observation> samples = good;
    const TimeNs t = good.back().t_ns + DurationNs(ahead_s);
    samples.insert(samples.end() - static_cast<std::ptrdiff_t>(before_last), {t, {1, 1, 1}});
    return PredictOnce(**MakeClassical("ctrv"), samples);
  };
  const Forecast want = PredictOnce(**MakeClassical("ctrv"), good);
  EXPECT_TRUE(SameBits(with(1, 3600), want)) << "too far ahead to be true";
  EXPECT_TRUE(SameBits(with(8, 3), want)) << "too many came after it";
  EXPECT_EQ(with(7, 3).quality, Quality::kShortHistory) << "the newest for all that is known";
}

TEST(Forecaster, FollowsAClockThatWasSetBack) {
  std::vector<Observation> samples = Observe(Wander(14), 50, 2);
  const std::vector<Observation> after = Observe(Wander(15), 50, 2, samples.back().t_ns - 1);
  for (Observation o : after) samples.push_back({o.t_ns - DurationNs(100), o.p_world});
  const Forecast f = PredictOnce(**MakeClassical("cv"), samples);
  EXPECT_EQ(f.t0_ns, samples.back().t_ns);
  EXPECT_EQ(f.quality, Quality::kOk);
}

TEST(Forecaster, NoneHasItsOwnStepLength) {
  const auto forecaster = *MakeClassical("cv", 10, 0.5);
  Forecast f(forecaster->info().shape);
  f.dt_s = 0.1;
  forecaster->Predict({"x", {}, 0}, *forecaster->MakeWorkspace(), f);
  EXPECT_EQ(f.dt_s, 0.5);
}

TEST(Forecaster, KeepsTheLastOfDuplicates) {
  std::vector<Observation> samples = Observe(Wander(2));
  Observation copy = samples.back();
  copy.p_world.x += 1;
  samples.push_back(copy);
  const Forecast f = PredictOnce(**MakeClassical("hold"), samples);
  EXPECT_EQ(f.point(0), copy.p_world);
  ExpectAllValid(samples);
}

TEST(Forecaster, WorksAtTheEndsOfTime) {
  for (const TimeNs t0 : {TimeNs{-8'999'999'990'000'000'000}, TimeNs{8'999'999'990'000'000'000}}) {
    ExpectAllValid(Observe(Wander(3), 50, 2.5, t0));
  }
  ExpectAllValid({{kEarliest + 1, {}}, {0, {}}, {kLatest - 1, {}}});
  ExpectAllValid({{-8'999'999'999'999'999'999, {}}, {8'999'999'999'999'999'999, {1, 1, 1}}});
}

TEST(Forecaster, TakesTenThousandSamples) {
  ExpectAllValid(Observe(Wander(4), 5000, 2.0));
  std::vector<Observation> samples = Observe(Wander(4), 5000, 2.0);
  samples[17].p_world.y = kNan;  // now every one of them passes through the repair
  ExpectAllValid(samples);
}

TEST(Forecaster, LooksNoFurtherBackThanItSays) {
  const std::vector<Observation> samples = Observe(Wander(5), 50, 4.0);
  std::vector<Observation> other = samples;
  for (std::size_t i = 0; i < 80; ++i) other[i].p_world += Vec3{100, 0, 0};  // older than 2.4 s
  for (const auto& forecaster : Everyone()) {
    EXPECT_TRUE(SameBits(PredictOnce(*forecaster, samples), PredictOnce(*forecaster, other)))
        << forecaster->info().name;
  }
}

TEST(Forecaster, RemembersNothingOfTheCallBefore) {
  const std::vector<Observation> a = Observe(Wander(6)), b = Observe(Wander(7), 12, 1.0);
  for (const auto& forecaster : Everyone()) {
    const auto workspace = forecaster->MakeWorkspace();
    Forecast f(forecaster->info().shape);
    forecaster->Predict({"b", b, 0.1}, *workspace, f);
    forecaster->Predict({"none", {}, 0}, *workspace, f);
    forecaster->Predict({"a", a, 0}, *workspace, f);
    EXPECT_TRUE(SameBits(f, PredictOnce(*forecaster, a))) << forecaster->info().name;
  }
}

TEST(Forecaster, BatchesGiveTheBitsOfSingleCalls) {
  const std::vector<Observation> a = Observe(Wander(8)), b = Observe(Wander(9), 10);
  const std::vector<History> histories = {{"a", a, 0}, {"none", {}, 0}, {"b", b, 0.01}};
  for (const auto& forecaster : Everyone()) {
    std::vector<Forecast> forecasts(3, Forecast(forecaster->info().shape));
    forecaster->PredictBatch(histories, *forecaster->MakeWorkspace(), forecasts);
    EXPECT_TRUE(SameBits(forecasts[0], PredictOnce(*forecaster, a)));
    EXPECT_EQ(forecasts[1].quality, Quality::kNone);
    EXPECT_TRUE(SameBits(forecasts[2], PredictOnce(*forecaster, b, 0.01)));
  }
}

TEST(Forecaster, IsInvariantInTimeToTheBit) {
  const std::vector<Observation> a = Observe(Wander(10));
  std::vector<Observation> b = a;
  for (Observation& o : b) o.t_ns -= 1'234'567'890'123'456'789;
  for (const auto& forecaster : Everyone()) {
    Forecast shifted = PredictOnce(*forecaster, b);
    EXPECT_EQ(shifted.t0_ns, b.back().t_ns);
    shifted.t0_ns = a.back().t_ns;
    EXPECT_TRUE(SameBits(PredictOnce(*forecaster, a), shifted)) << forecaster->info().name;
  }
}

double Distance(const Cov3& a, const Cov3& b) {
  const Cov3 d = a + b * -1;
  return std::abs(d.xx) + std::abs(d.yy) + std::abs(d.zz) + std::abs(d.xy) + std::abs(d.xz) +
         std::abs(d.yz);
}

// The bound docs/forecasters.md states: 1e-4 of the path's reach, within 10 km of the origin.
RC_GTEST_PROP(Forecaster, MovesAlongWithTheWorld, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  Rng rng(seed);
  const Yaw yaw = Yaw::FromAngle(rng.Uniform(-4, 4));
  const Vec3 shift = {rng.Uniform(-1e4, 1e4), rng.Uniform(-1e4, 1e4), rng.Uniform(-1e3, 1e3)};
  const std::vector<Observation> here = Observe(Wander(seed));
  std::vector<Observation> there = here;
  for (Observation& o : there) o.p_world = yaw * o.p_world + shift;
  for (const auto& forecaster : Everyone()) {
    // The paper's networks know the axes of the world.
    if (dynamic_cast<const NetworkForecaster*>(forecaster.get()) != nullptr) continue;
    const Forecast a = PredictOnce(*forecaster, here, 0.01),
                   b = PredictOnce(*forecaster, there, 0.01);
    RC_ASSERT(a.quality == b.quality && a.modes() == b.modes());
    for (int i = 0; i < a.steps(); ++i) {
      const double reach = 1 + Norm(a.point(i) - here.back().p_world);
      RC_ASSERT(Norm(yaw * a.point(i) + shift - b.point(i)) < 1e-4 * reach);
      const Cov3 want = yaw.Rotate(a.mixture_cov(i)), got = b.mixture_cov(i);
      RC_ASSERT(Distance(want, got) < 1e-3 * (1 + want.xx + want.yy + want.zz));
    }
  }
}

TEST(MakeClassical, ListsTheKnownNamesWhenAskedForAnother) {
  const auto r = MakeClassical("oracle");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message,
            "no forecaster is called 'oracle'; known are hold, cv, ca, ctrv, imm, replay");
  EXPECT_FALSE(MakeClassical("cv", 0).ok());
  EXPECT_FALSE(MakeClassical("cv", 50, kNan).ok());
}

TEST(MakeClassical, ForecastsAnyHorizon) {
  for (const std::string_view name : ClassicalNames()) {
    const auto forecaster = *MakeClassical(name, 7, 0.5);
    const Forecast f = PredictOnce(*forecaster, Observe(Wander(11)));
    EXPECT_EQ(f.steps(), 7);
    EXPECT_EQ(f.time_ns(6), f.t0_ns + DurationNs(3.5));
    EXPECT_EQ(forecaster->info().name, name);
    EXPECT_TRUE(f.IsValid());
  }
}

}  // namespace
}  // namespace aerocast
