// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/replay.h"

#include <gtest/gtest.h>

#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

constexpr double kLapS = 6;

// A closed curve that never looks alike twice in a lap; every lap is climb_m higher and yawed.
MotionLaw Laps(double climb_m = 0, double yaw = 0) {
  return [=](double t) {
    const double lap = std::floor(t / kLapS), phase = 2 * std::numbers::pi * (t / kLapS - lap);
    // It begins and ends in the origin, so that a yawed lap joins the one before.
    const Vec3 p = {std::sin(phase) + 0.4 * std::sin(2 * phase), 1 - std::cos(phase),
                    0.2 * std::sin(3 * phase) + climb_m * (t / kLapS)};
    return Yaw::FromAngle(yaw * lap) * p;
  };
}

double WorstError(std::string_view name, const MotionLaw& law, double span_s, double from = 0) {
  const auto at = [&](double t) { return law(from + t); };
  const auto forecaster = *MakeClassical(name);
  const Forecast f = PredictOnce(*forecaster, Observe(at, 50, span_s));
  double worst = 0;
  for (int i = 0; i < f.steps(); ++i) {
    worst = std::max(worst, Norm(f.point(i) - at(0.1 * (i + 1))));
  }
  return worst;
}

TEST(Replay, FliesTheSecondLapAsTheFirst) {
  for (const double from : {0.0, 1.3, 4.1}) {
    EXPECT_LT(WorstError("replay", Laps(), 10, from), 1e-6) << from;
    EXPECT_LT(WorstError("replay", Laps(0.5), 10, from), 1e-6) << "climbing, " << from;
    EXPECT_GT(WorstError("ctrv", Laps(), 10, from), 0.5) << from;
  }
}

TEST(Replay, FollowsALapThatIsYawed) {
  // The past two seconds lie in one lap, and so does the horizon.
  EXPECT_LT(WorstError("replay", Laps(0, 0.7), 9, 2.0), 0.05);
  EXPECT_GT(WorstError("ctrv", Laps(0, 0.7), 9, 2.0), 0.5);
}

TEST(Replay, GoesOnBeyondWhatItHasSeen) {
  // A circle is alike at every lag, which is shorter than the horizon: it repeats its own forecast.
  EXPECT_LT(WorstError("replay", Helix(2, 0.8, 0.3), 4), 1e-6);
}

TEST(Replay, IsCtrvWhereNothingIsAlike) {
  const MotionLaw twist = [](double t) { return Vec3{0.2 * t * t * t, 0.5 * t, 0.2 * t}; };
  for (const double span_s : {1.5, 2.2, 6.0}) {
    const auto samples = Observe(twist, 50, span_s);
    const Forecast replay = PredictOnce(**MakeClassical("replay"), samples);
    const Forecast ctrv = PredictOnce(**MakeClassical("ctrv"), samples);
    EXPECT_TRUE(SameBits(replay, ctrv)) << span_s;
  }
}

TEST(Replay, DoesNotRepeatAcrossAHole) {
  auto samples = Observe(Laps(), 50, 10);
  std::erase_if(samples, [&](const Observation& o) {
    const double age = DurationS(samples.back().t_ns - o.t_ns);
    return age > 2.5 && age < 3.2;
  });
  const Forecast replay = PredictOnce(**MakeClassical("replay"), samples);
  EXPECT_TRUE(SameBits(replay, PredictOnce(**MakeClassical("ctrv"), samples)));
}

TEST(Replay, BearsStatedNoise) {
  Rng rng(4);
  auto samples = Observe(Laps(), 50, 10);
  for (Observation& o : samples) {
    o.p_world += 0.03 * Vec3{rng.Normal(), rng.Normal(), rng.Normal()};
  }
  const Forecast f = PredictOnce(**MakeClassical("replay"), samples, 0.03);
  double sum = 0;
  for (int i = 0; i < f.steps(); ++i) sum += Norm(f.point(i) - Laps()(0.1 * (i + 1)));
  EXPECT_LT(sum / f.steps(), 0.3);
}

}  // namespace
}  // namespace aerocast
