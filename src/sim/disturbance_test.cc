// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/disturbance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "src/data/test_flight.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;

// 100 Hz for 20 s: a circle that starts on the ground.
Recording Circle(const std::string& id = "circle") {
  Recording flight = MakeFlight(20, 100, [](double t) {
    return CirclePath(t) + Vec3{0, 0, std::min(0.0, t - 2)};
  });
  flight.id = id, flight.noise_m = 0.003;
  return flight;
}

struct Side {
  explicit Side(const Disturbance& disturbance, double min_z = 0.3)
      : recording(Circle()),
        made(*DisturbFlights(std::vector{&std::as_const(recording)}, disturbance, WindowSpec{},
                             min_z)) {}
  const Recording recording;
  DisturbedFlights made;

  const FlightWindows& windows() const { return made.windows.at(0); }
  std::vector<Observation> history(std::size_t window) const {
    std::vector<Observation> buffer;
    const History history = HistoryAt(windows(), windows().t0[window], 2, buffer);
    return {history.samples.begin(), history.samples.end()};
  }
};

std::vector<Vec3> Targets(const Recording& flight, std::uint32_t i) {
  std::vector<Vec3> targets(50);
  EXPECT_TRUE(TargetsAt(flight, i, {}, targets));
  return targets;
}

TEST(Disturb, NothingAskedForChangesNothing) {
  const Recording flight = Circle();
  const DisturbedFlight same = Disturb(flight, {.seed = 7});
  EXPECT_EQ(same.flight.samples, flight.samples);
  EXPECT_FALSE(same.flight.has_truth());
  EXPECT_EQ(same.flight.noise_m, flight.noise_m);
  EXPECT_TRUE(Disturbance{.seed = 7}.none());
  EXPECT_EQ(Side({}).windows().seen, nullptr);
}

// Whatever the sensor does, t0 stamps and targets have the same bits.
TEST(Disturb, FaultsOfTheSensorLeaveWindowsAndTargetsAlone) {
  const Side clean({});
  ASSERT_GT(clean.windows().t0.size(), 90u);
  for (const Disturbance& d :
       {Disturbance{.noise_m = 0.5}, Disturbance{.drop = 0.3}, Disturbance{.outliers = 0.2},
        Disturbance{.noise_m = 0.5, .outliers = 0.2, .drop = 0.9}}) {
    const Side side(d);
    ASSERT_EQ(side.windows().t0, clean.windows().t0) << Describe(d);
    for (const std::uint32_t i : clean.windows().t0) {
      EXPECT_EQ(side.windows().flight->samples[i].t_ns, clean.recording.samples[i].t_ns);
      EXPECT_EQ(Targets(*side.windows().flight, i), Targets(clean.recording, i));
    }
  }
}

TEST(Disturb, NoiseHasTheSigmaItStates) {
  const Recording flight = Circle();
  const Recording noisy = Disturb(flight, {.noise_m = 0.04}).flight;
  const Recording half = Disturb(flight, {.noise_m = 0.02}).flight;
  double square = 0;
  for (std::size_t i = 0; i < flight.samples.size(); ++i) {
    const Vec3 error = noisy.samples[i].p_world - noisy.truth[i];
    square += SquaredNorm(error);
    EXPECT_LT(Norm(error - 2 * (half.samples[i].p_world - half.truth[i])), 1e-12);
  }
  EXPECT_NEAR(std::sqrt(square / (3.0 * static_cast<double>(flight.samples.size()))), 0.04, 0.001);
  EXPECT_DOUBLE_EQ(noisy.noise_m, std::hypot(0.003, 0.04));
  EXPECT_EQ(Disturb(flight, {.noise_m = 0.04, .noise_stated = false}).flight.noise_m, 0);
}

TEST(Disturb, TruthThatIsRecordedStays) {
  Recording flight = Circle();
  for (const Observation& o : flight.samples) flight.truth.push_back(o.p_world + Vec3{0, 0, 0.01});
  EXPECT_EQ(Disturb(flight, {.noise_m = 1}).flight.truth, flight.truth);
}

TEST(Disturb, DropsItsShareOfTenHertzAndKeepsTheNewest) {
  const Side thin({.drop = 1e-9}), tenth({.drop = 0.1}), third({.drop = 0.3}), all({.drop = 1});
  const double samples = static_cast<double>(thin.windows().seen->size());
  EXPECT_EQ(samples, 201);
  EXPECT_NEAR(static_cast<double>(tenth.windows().seen->size()), 0.9 * samples, 15);
  EXPECT_NEAR(static_cast<double>(third.windows().seen->size()), 0.7 * samples, 20);
  std::set<TimeNs> kept;
  for (const Observation& o : *tenth.windows().seen) kept.insert(o.t_ns);
  for (const Observation& o : *third.windows().seen) EXPECT_TRUE(kept.contains(o.t_ns));
  for (std::size_t n = 0; n < third.windows().t0.size(); ++n) {
    const Observation newest = third.recording.samples[third.windows().t0[n]];
    EXPECT_EQ(third.history(n).back(), newest);
    EXPECT_EQ(all.history(n), std::vector{newest});
    const std::vector<Observation> history = thin.history(n);
    ASSERT_EQ(history.size(), 21u);
    for (std::size_t k = 1; k < history.size(); ++k) {
      EXPECT_EQ(history[k].t_ns - history[k - 1].t_ns, 100'000'000);
    }
  }
}

TEST(Disturb, OutliersAreHalfAMetreToThreeAwayAndNeverTheNewest) {
  const Side side({.outliers = 0.2});
  const std::vector<Observation>& clean = side.recording.samples;
  int displaced = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const double away = Norm((*side.windows().seen)[i].p_world - clean[i].p_world);
    if (away == 0) continue;
    ++displaced;
    EXPECT_GE(away, 0.5 - 1e-9);
    EXPECT_LE(away, 3 + 1e-9);
  }
  EXPECT_NEAR(displaced / static_cast<double>(clean.size()), 0.2, 0.03);
  for (std::size_t n = 0; n < side.windows().t0.size(); ++n) {
    EXPECT_EQ(side.history(n).back(), clean[side.windows().t0[n]]);
  }
}

TEST(Disturb, TurnsAndScalesAboutTheOriginAndKeepsTheWindows) {
  const Side clean({}), side({.scale = 10, .yaw_deg = 90});
  EXPECT_EQ(side.windows().t0, clean.windows().t0);  // min_z is of the flight as it was flown
  EXPECT_EQ(side.windows().t0, Side({.scale = 0.1}).windows().t0);
  const Recording& turned = *side.windows().flight;
  for (std::size_t i = 0; i < turned.samples.size(); i += 50) {
    const Vec3& p = clean.recording.samples[i].p_world;
    EXPECT_LT(Norm(turned.samples[i].p_world - Vec3{-10 * p.y, 10 * p.x, 10 * p.z}), 1e-9);
  }
  EXPECT_DOUBLE_EQ(turned.noise_m, 0.03);
}

TEST(Disturb, TwiceAsFastIsTheSamePathInHalfTheTime) {
  const Side clean({}), side({.time_scale = 2});
  const Recording& fast = *side.windows().flight;
  EXPECT_NEAR(fast.duration_s(), 10, 1e-9);
  EXPECT_EQ(fast.samples[300].p_world, clean.recording.samples[300].p_world);
  EXPECT_EQ(fast.samples[300].t_ns, clean.recording.samples[300].t_ns / 2);
  EXPECT_LT(side.windows().t0.size(), clean.windows().t0.size() / 2);
  EXPECT_EQ(fast.samples.front().t_ns, clean.recording.samples.front().t_ns);
}

TEST(Disturb, StampsThatFallTogetherBecomeOne) {
  Recording flight = Circle();
  flight.samples = {{0, {}}, {1, {1, 0, 0}}, {10, {2, 0, 0}}};
  const Recording fast = Disturb(flight, {.time_scale = 10}).flight;
  ASSERT_EQ(fast.samples.size(), 2u);
  EXPECT_EQ(fast.samples[1], (Observation{1, {2, 0, 0}}));
}

TEST(Disturb, DependsOnSeedAndIdAlone) {
  const Disturbance d{.noise_m = 0.1, .outliers = 0.1, .drop = 0.2};
  Disturbance reseeded = d;
  reseeded.seed = 2;
  const DisturbedFlight a = Disturb(Circle(), d), b = Disturb(Circle(), d);
  EXPECT_EQ(a.flight.samples, b.flight.samples);
  EXPECT_EQ(a.seen, b.seen);
  EXPECT_NE(a.flight.samples, Disturb(Circle(), reseeded).flight.samples);
  EXPECT_NE(a.flight.samples, Disturb(Circle("other"), d).flight.samples);
  // One fault does not stir another.
  EXPECT_EQ(a.flight.samples, Disturb(Circle(), {.noise_m = 0.1}).flight.samples);
}

TEST(Disturb, RefusesNonsense) {
  const auto message = [](const Disturbance& d) {
    const Status valid = Validate(d);
    return valid.ok() ? "" : valid.error().message;
  };
  const double nan = std::nan("");
  EXPECT_EQ(message({}), "");
  EXPECT_THAT(message({.time_scale = 0}), HasSubstr("time scale"));
  EXPECT_THAT(message({.scale = -1}), HasSubstr("scale must be 0.01 to 100"));
  EXPECT_THAT(message({.yaw_deg = nan}), HasSubstr("yaw"));
  EXPECT_THAT(message({.noise_m = -0.1}), HasSubstr("noise must be"));
  EXPECT_THAT(message({.noise_m = nan}), HasSubstr("noise must be"));
  EXPECT_THAT(message({.noise_stated = false}), HasSubstr("unstated"));
  EXPECT_THAT(message({.outliers = 1.1}), HasSubstr("outliers"));
  EXPECT_THAT(message({.drop = -0.1}), HasSubstr("dropped"));
  Recording far = Circle();
  for (Observation& o : far.samples) o.p_world.x += 9e6;
  const auto made = DisturbFlights(std::vector{&std::as_const(far)}, {.scale = 10}, {});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("flight circle: disturbed (scaled by 10) it leaves"));
}

TEST(Disturb, SaysWhatItDid) {
  EXPECT_EQ(Describe({}), "none");
  EXPECT_EQ(Describe({.yaw_deg = 90, .seed = 3}), "turned by 90 degrees");
  EXPECT_EQ(Describe({.noise_m = 1, .seed = 3}), "noise 1 m (stated), seed 3");
  EXPECT_EQ(Describe({.time_scale = 2,
                      .scale = 3,
                      .yaw_deg = 30,
                      .noise_m = 0.02,
                      .noise_stated = false,
                      .outliers = 0.05,
                      .drop = 0.3}),
            "flown 2 times as fast, scaled by 3, turned by 30 degrees, noise 0.02 m (not stated), "
            "5 % outliers, 30 % of 10 Hz dropped");
}

}  // namespace
}  // namespace aerocast
