// SPDX-License-Identifier: BSD-3-Clause
//
// Every kinematic forecaster on the motion it was made for, and on its limits.
#include "src/forecast/kinematic.h"

#include <gtest/gtest.h>

#include "src/forecast/forecaster_testing.h"
#include "src/forecast/imm.h"

namespace aerocast {
namespace {

// Largest distance between the point path and the law, over the first `seconds`.
double Worst(std::string_view name, const MotionLaw& law, double rate_hz = 50, double seconds = 5,
             double span_s = 2.5) {
  const Forecast f = PredictOnce(**MakeClassical(name), Observe(law, rate_hz, span_s));
  double worst = 0;
  for (int i = 0; (i + 1) * 0.1 < seconds + 1e-9; ++i) {
    worst = std::max(worst, Norm(f.point(i) - law((i + 1) * 0.1)));
  }
  return worst;
}

const MotionLaw kLine = [](double t) { return Vec3{1 + 2 * t, 3 - 1.5 * t, 10 + 0.5 * t}; };
const MotionLaw kParabola = [](double t) {
  return Vec3{1 + 2 * t - 0.4 * t * t, 3 * t + 0.3 * t * t, 10 - t * t};
};

TEST(Hold, IsExactOnWhatStands) {
  EXPECT_EQ(Worst("hold", [](double) { return Vec3{4, 5, 6}; }), 0);
}

TEST(Cv, IsExactOnALine) {
  for (const double rate : {3.0, 10.0, 100.0}) EXPECT_LT(Worst("cv", kLine, rate), 1e-6) << rate;
}

TEST(Ca, IsExactOnAParabola) {
  for (const double rate : {5.0, 10.0, 100.0}) {
    EXPECT_LT(Worst("ca", kParabola, rate), 1e-5) << rate;
  }
}

TEST(Ctrv, IsExactOnCirclesAndHelices) {
  for (const double turn : {-3.0, -0.7, 0.2, 1.0, 2.5}) {
    EXPECT_LT(Worst("ctrv", Helix(2, turn, 0)), 1e-6) << turn;
    EXPECT_LT(Worst("ctrv", Helix(2, turn, -0.8, {1e4, -1e4, 50}), 10), 1e-5) << turn;
  }
}

TEST(Ctrv, TurnsTheRightWayHoweverFast) {
  for (const double rate_hz : {3.0, 4.0, 5.0, 10.0, 50.0}) {
    for (const double turn : {-4.9, 4.6, 4.9}) {
      EXPECT_LT(Worst("ctrv", Helix(2, turn, 0), rate_hz, 1), 1e-4) << rate_hz << " " << turn;
    }
  }
}

// Wherever a hole lies: the path is right, or it is said that the history was too short for it.
TEST(Ctrv, DoesNotGuessTheTurnAcrossAHole) {
  int refused = 0;
  for (const double turn : {-2.0, 2.0, 4.0}) {
    const MotionLaw law = Helix(1, turn, 0);
    for (const double hole_s : {0.5, 0.8, 1.2, 1.6}) {
      for (double newest_s = 0.02; newest_s < 1.5; newest_s += 0.04) {
        std::vector<Observation> samples = Observe(law, 50, 3.5);
        const TimeNs end = samples.back().t_ns - DurationNs(newest_s);
        std::erase_if(samples, [&](const Observation& o) {
          return o.t_ns < end && o.t_ns > end - DurationNs(hole_s);
        });
        const Forecast f = PredictOnce(**MakeClassical("ctrv"), samples);
        const double error = Norm(f.point(9) - law(1));
        EXPECT_TRUE(f.quality == Quality::kShortHistory || error < 0.2)
            << turn << " rad/s, a hole of " << hole_s << " s " << newest_s << " s ago: " << error;
        refused += f.quality == Quality::kShortHistory;
      }
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Ctrv, IsALineInTheLimit) {
  EXPECT_LT(Worst("ctrv", kLine), 1e-6);
  EXPECT_LT(Worst("ctrv", Helix(1e7, 1e-7, 0, {-1e7, 0, 0})), 1e-4);
  EXPECT_LT(Worst("ctrv", [](double t) { return Vec3{0, 0, 2 * t}; }), 1e-6) << "straight up";
  EXPECT_LT(Worst("ctrv", Helix(0.004, 2, 0)), 0.1) << "too slow for a heading";
}

ImmEstimate Filter(const std::vector<Observation>& samples, double noise_m = 0) {
  return FilterImm(samples, FitHeading(samples), noise_m, {});
}

TEST(Imm, FollowsLinesCirclesAndParabolas) {
  EXPECT_LT(Worst("imm", kLine), 0.02);
  EXPECT_LT(Worst("imm", Helix(2, 1, 0), 50, 2), 0.1);
  EXPECT_LT(Worst("imm", Helix(2, 1, 0)), 0.3);
  EXPECT_LT(Worst("imm", Helix(1, 2, 0), 100, 2), 0.1);
  const MotionLaw tilted = [](double t) {
    return Vec3{2 * std::cos(t), std::sin(t), std::sqrt(3.0) * std::sin(t)};
  };
  EXPECT_LT(Worst("imm", tilted), 0.2) << "its turn may lie in any plane";
  EXPECT_LT(Worst("imm", kParabola, 50, 1), 1.0) << "a speed-up is not continued by a turn";
}

TEST(Imm, BelievesTheModelThatIsTrue) {
  const auto probabilities = [](const MotionLaw& law) { return Filter(Observe(law)).probability; };
  const auto line = probabilities(kLine), circle = probabilities(Helix(2, 1.5, 0));
  EXPECT_GT(line[0], 0.5);
  EXPECT_GT(circle[2], 0.8);
  const auto jerky = probabilities([](double t) { return Vec3{t * t * t * 4, 0, 0}; });
  EXPECT_GT(jerky[1], line[1]);
}

TEST(Imm, KeepsItsProbabilitiesADistribution) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ImmEstimate e = Filter(Observe(Wander(seed), 37), 0.01);
    double sum = 0;
    for (const double p : e.probability) {
      EXPECT_GT(p, 0);
      sum += p;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    for (const ImmState& state : e.model) {
      for (const ImmAxis& axis : state) EXPECT_TRUE(IsPositiveDefinite(axis.P));
    }
  }
}

TEST(Imm, PassesOverCrowdedSamplesButNeverTheNewest) {
  const std::vector<Observation> sparse = Observe(kLine, 25);
  std::vector<Observation> crowded;
  for (const Observation& o : sparse) {
    crowded.push_back(o);
    crowded.push_back({o.t_ns + 1'000'000, o.p_world + Vec3{0, 5, 0}});
  }
  crowded.pop_back();
  const HeadingFrame world;
  const ImmEstimate a = FilterImm(sparse, world, 0, {}), b = FilterImm(crowded, world, 0, {});
  EXPECT_EQ(a.model[0][1].x, b.model[0][1].x);
  crowded.push_back({crowded.back().t_ns + 1'000'000, {100, 0, 0}});
  EXPECT_NE(FilterImm(crowded, world, 0, {}).model[0][1].x, a.model[0][1].x) << "the newest counts";
}

TEST(Imm, TakesGapsAndChangingRates) {
  std::vector<Observation> samples = Observe(kLine, 50);
  samples.erase(samples.begin() + 60, samples.begin() + 95);  // 0.7 s
  for (std::size_t i = samples.size() - 20; i + 1 < samples.size(); ++i) {
    samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const Forecast f = PredictOnce(**MakeClassical("imm"), samples);
  EXPECT_LT(Norm(f.point(49) - kLine(5)), 0.05);
}

TEST(Kinematics, SayWhenTheHistoryIsShort) {
  const auto quality = [](std::string_view name, double span_s) {
    return PredictOnce(**MakeClassical(name), Observe(kLine, 50, span_s)).quality;
  };
  const std::vector<std::pair<std::string_view, double>> wants = {
      {"hold", 0.3}, {"cv", 0.3}, {"ca", 0.5}, {"ctrv", 1.0}, {"imm", 1.0}};
  for (const auto& [name, span_s] : wants) {
    EXPECT_EQ(quality(name, span_s), Quality::kOk) << name;
    EXPECT_EQ(quality(name, span_s - 0.02), Quality::kShortHistory) << name;
  }
}

TEST(Kinematics, DoNotExtrapolateTwoSamplesMicrosecondsApart) {
  std::vector<Observation> samples = Observe(kLine, 2, 2);
  samples.push_back({samples.back().t_ns + 1000, samples.back().p_world + Vec3{0.01, 0, 0}});
  for (const std::string_view name : {"hold", "cv", "ca", "ctrv", "imm"}) {
    const Forecast f = PredictOnce(**MakeClassical(name), samples);
    EXPECT_LT(Norm(f.point(9) - kLine(1)), name == "hold" ? 3 : 0.2) << name;
    EXPECT_LT(f.cov(0, 9).xx, 100) << name;
  }
}

TEST(Kinematics, SayWhenAHoleMakesTheFitLookBackTooFar) {
  std::vector<Observation> samples = Observe(kLine, 50, 2);
  samples.erase(samples.end() - 40, samples.end() - 1);  // 0.8 s before the newest
  const Forecast f = PredictOnce(**MakeClassical("cv"), samples);
  EXPECT_EQ(f.quality, Quality::kShortHistory);
  EXPECT_LT(Norm(f.point(49) - kLine(5)), 1e-6);
}

}  // namespace
}  // namespace aerocast
