// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/fliers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "src/data/category.h"
#include "src/sim/course.h"
#include "src/sim/generate.h"
#include "src/sim/kinds.h"
#include "src/sim/racing.h"
#include "src/sim/tracking.h"

namespace aerocast {
namespace {

using testing::HasSubstr;

constexpr double kPi = std::numbers::pi;

std::vector<Recording> Generate(const GenerateOptions& options) {
  Result<std::vector<Recording>> flights = GenerateFlights(options);
  EXPECT_TRUE(flights.ok()) << flights.error().message;
  return std::move(*flights);
}

Vec3 Velocity(const std::vector<Vec3>& p, std::size_t i) {
  return (p[i + 1] - p[i - 1]) * (0.5 / kSimStepS);
}
Vec3 Acceleration(const std::vector<Vec3>& p, std::size_t i) {
  return (p[i + 1] + p[i - 1] - 2 * p[i]) * (1 / (kSimStepS * kSimStepS));
}
// rad/s, positive to the left.
double TurnRate(const std::vector<Vec3>& p, std::size_t i) {
  const Vec3 v = Velocity(p, i), a = Acceleration(p, i);
  return (v.x * a.y - v.y * a.x) / (v.x * v.x + v.y * v.y);
}

struct Extremes {
  double least_speed = 1e9, speed = 0, accel = 0, jerk = 0;
};
Extremes ExtremesOf(const std::vector<Vec3>& p) {
  Extremes e;
  for (std::size_t i = 1; i + 2 < p.size(); ++i) {
    const double speed = Norm(Velocity(p, i));
    e.least_speed = std::min(e.least_speed, speed), e.speed = std::max(e.speed, speed);
    e.accel = std::max(e.accel, Norm(Acceleration(p, i)));
    e.jerk = std::max(e.jerk, Norm(Acceleration(p, i + 1) - Acceleration(p, i)) / kSimStepS);
  }
  return e;
}

// --- kinds -------------------------------------------------------------------------------------

TEST(KindsFromNames, BeginWithTheNineInOrder) {
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    EXPECT_EQ(kFlightKinds[i].name, kCategories[i].name);
    EXPECT_TRUE(kFlightKinds[i].is_shape());
  }
  for (std::size_t i = kCategories.size(); i < kFlightKinds.size(); ++i) {
    EXPECT_LT(CategoryIndex(kFlightKinds[i].name), 0);  // averages over the nine stay theirs
    EXPECT_FALSE(kFlightKinds[i].is_shape());
  }
}

TEST(KindsFromNames, KnowsGroupsAndKeepsTheOrder) {
  EXPECT_THAT(*KindsFromNames({}), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(*KindsFromNames({"nine"}), *KindsFromNames({}));
  EXPECT_THAT(*KindsFromNames({"fork", "fliers"}), testing::ElementsAre(13, 9, 10, 11, 12));
}

TEST(KindsFromNames, RefusesUnknownAndRepeatedKinds) {
  EXPECT_THAT(KindsFromNames({"kite"}).error().message, HasSubstr("\"kite\""));
  EXPECT_THAT(
      KindsFromNames({"kite"}).error().message,
      HasSubstr("random, bird, soaring, racing, fixed_wing, fork, stop_and_go, nine, fliers"));
  EXPECT_THAT(KindsFromNames({""}).error().message, HasSubstr("no category \"\""));
  EXPECT_THAT(KindsFromNames({"bird", "fliers"}).error().message, HasSubstr("\"bird\" is asked"));
}

TEST(Fliers, TakeNoRegimeUnlessShapesAreAskedForToo) {
  const auto refused = GenerateFlights({.categories = {"bird"}, .regime = Regime::kFast});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("nine shapes"));
  const GenerateOptions small{.flights_per_category = 1, .duration_s = 2};
  GenerateOptions both = small, alone = small;
  both.categories = {"circle", "bird"}, both.regime = Regime::kFast;
  alone.categories = {"bird"};
  EXPECT_EQ(FormatRecording(Generate(both)[1]), FormatRecording(Generate(alone)[0]));
}

TEST(Fliers, GiveTheSameBytesForAnyNumberOfThreadsAndFlights) {
  const auto bytes = [](const std::vector<Recording>& flights) {
    std::map<std::string, std::string> all;
    for (const Recording& flight : flights) all[flight.id] = FormatRecording(flight);
    return all;
  };
  GenerateOptions options{.categories = {"fliers", "fork", "stop_and_go"},
                          .flights_per_category = 3,
                          .duration_s = 14,
                          .seed = 42,
                          .threads = 1};
  const auto one = bytes(Generate(options));
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_TRUE(bytes(Generate(options)) == one) << threads << " threads";
  }
  options.categories = {"racing"}, options.flights_per_category = 5;
  for (const auto& [id, text] : bytes(Generate(options))) {
    const auto known = one.find(id);
    EXPECT_TRUE(known == one.end() || known->second == text) << id;
  }
}

// What flights of a kind never exceed, well inside the limits of the open country.
struct Bounds {
  double least_speed, speed, accel, jerk;
};
const std::map<std::string, Bounds> kBounds = {
    {"bird", {3, 19, 2 * kGravity, 200}},     {"soaring", {3, 19, 1.3 * kGravity, 200}},
    {"racing", {0.8, 22, 3 * kGravity, 450}}, {"fixed_wing", {5, 22, 1.5 * kGravity, 200}},
    {"fork", {4, 16, 1.3 * kGravity, 100}},   {"stop_and_go", {0, 22, 1.5 * kGravity, 150}}};

RC_GTEST_PROP(Fliers, StayWithinTheirLimits, ()) {
  const auto kind = *rc::gen::elementOf(std::vector<FlightKind>(
      kFlightKinds.begin() + static_cast<long>(kCategories.size()), kFlightKinds.end()));
  const auto flights = GenerateFlights({.categories = {std::string(kind.name)},
                                        .flights_per_category = 2,
                                        .duration_s = *rc::gen::element(13.0, 40.0),
                                        .seed = *rc::gen::arbitrary<std::uint64_t>(),
                                        .threads = 1});
  RC_ASSERT(flights.ok());
  const FlightLimits limits = LimitsOf(kind, Regime::kArena);
  const Bounds& bounds = kBounds.at(std::string(kind.name));
  RC_ASSERT(bounds.speed <= limits.speed && bounds.accel <= limits.accel);
  for (const Recording& flight : *flights) {
    const Box box = BoundsOf(flight.truth);
    const Vec3 below = box.low - limits.space.low, above = limits.space.high - box.high;
    RC_ASSERT(std::min({below.x, below.y, below.z, above.x, above.y, above.z}) >= 0);
    const Extremes e = ExtremesOf(flight.truth);
    RC_ASSERT(e.least_speed >= bounds.least_speed);
    RC_ASSERT(e.speed <= bounds.speed);
    RC_ASSERT(e.accel <= bounds.accel);
    RC_ASSERT(e.jerk <= bounds.jerk);
  }
}

TEST(Fliers, ComeHomeInLongFlights) {
  for (const Recording& flight : Generate({.categories = {"fliers"},
                                 .flights_per_category = 2,
                                 .duration_s = 1800,
                                 .noise_m = 0.0})) {
    const Vec3 size = BoundsOf(flight.truth).size();
    EXPECT_LT(std::max(size.x, size.y), 1900) << flight.id;
    EXPECT_LT(size.z, 147) << flight.id;
  }
}

// --- stop and go ---------------------------------------------------------------------------------

// Every flight dashes and hovers; where it goes next is drawn anew.
TEST(StopAndGo, HoversBetweenDashes) {
  int slow = 0, all = 0;
  for (const Recording& flight : Generate({.categories = {"stop_and_go"},
                                 .flights_per_category = 30,
                                 .duration_s = 60,
                                 .seed = 3,
                                 .noise_m = 0.0})) {
    const std::vector<Vec3>& p = flight.truth;
    std::vector<double> way(p.size() / 50);  // of half seconds
    for (std::size_t i = 0; i + 1 < way.size(); ++i) way[i] = Norm(p[50 * i + 50] - p[50 * i]);
    const double dash = *std::max_element(way.begin(), way.end());
    int departures = 0;
    bool still = false;
    for (const double w : way) {
      slow += w < 0.3 * dash, ++all;
      if (still && w > 0.5 * dash) ++departures;
      still = w < 0.3 * dash || (still && w <= 0.5 * dash);
    }
    EXPECT_GE(departures, 3) << flight.id;
  }
  EXPECT_GT(slow, 0.3 * all);
  EXPECT_LT(slow, 0.7 * all);
}

// --- wings -------------------------------------------------------------------------------------

TEST(StepAir, HeldBankFliesTheCircleOfACoordinatedTurn) {
  const double bank = 0.5, speed = 14;
  AirModel model;
  AirState state{{}, 0, speed, 0, bank};
  std::vector<Vec3> p;
  for (int i = 0; i < 3000; ++i) {
    p.push_back(state.p);
    StepAir(model, {bank, speed, 0}, state);
  }
  const double radius = speed * speed / (kGravity * std::tan(bank));
  EXPECT_NEAR(BoundsOf(p).size().x, 2 * radius, 1e-3 * radius);
  EXPECT_NEAR(BoundsOf(p).size().y, 2 * radius, 1e-3 * radius);
}

RC_GTEST_PROP(FlyAir, TurnsAsBankAndAirspeedSay, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  AirPlan plan = (*rc::gen::element(DrawBird, DrawSoaring, DrawFixedWing))(rng);
  plan.model.wind = {};
  const std::vector<AirState> states = FlyAir(plan, rng, 4000);
  const std::vector<Vec3> p = CourseOf(states);
  for (std::size_t i = 1; i + 1 < p.size(); ++i) {
    RC_ASSERT(std::abs(states[i].bank_rad) < 60 * kPi / 180);
    const double rate = kGravity * std::tan(states[i].bank_rad) / states[i].speed;
    // Over two steps the bank changes by what the roll rate allows.
    const double slack = 2 * plan.model.roll_rate * kSimStepS * 4 * kGravity / states[i].speed;
    RC_ASSERT(std::abs(TurnRate(p, i) - rate) <= 0.01 * std::abs(rate) + slack);
  }
}

TEST(FlyAir, DriftsWithTheWind) {
  const auto end = [](const Vec3& wind) {
    Rng rng(3);
    AirPlan plan = DrawFixedWing(rng);
    plan.model.wind = wind, plan.home_m = 1e9;
    return FlyAir(plan, rng, 2001).back().p;
  };
  EXPECT_LT(Norm(end({2, -1, 0}) - end({}) - 20 * Vec3{2, -1, 0}), 1e-6);
}

TEST(Bird, GoesUpAndDownWhereItsRhythmSaysSo) {
  Rng rng(5);
  AirPlan plan = DrawBird(rng);
  plan.model.wind = {};
  plan.rhythm = {.flap_s = 0.5, .glide_s = 0.5, .swing = 1.5, .steady_share = 0};
  plan.next = [](Rng&) { return std::vector<Manoeuvre>{{0, 0.5, 10, 8, 0}}; };
  const std::vector<Vec3> p = CourseOf(FlyAir(plan, rng, 4000));
  int tops = 0;
  for (std::size_t i = 1; i + 1 < p.size(); ++i) {
    tops += p[i].z > p[i - 1].z && p[i].z >= p[i + 1].z ? 1 : 0;
  }
  EXPECT_NEAR(tops, 40, 4);  // one per cycle of about a second
  EXPECT_LT(BoundsOf(p).size().z, 3);
  EXPECT_GT(BoundsOf(p).size().z, 0.15);
}

TEST(Bird, MeandersAndSometimesTurnsSharply) {
  double meander = 0, sharp = 0;
  for (const Recording& flight :
       Generate({.categories = {"bird"}, .flights_per_category = 40, .noise_m = 0.0})) {
    std::vector<double> rates;
    for (std::size_t i = 1; i + 1 < flight.truth.size(); i += 10) {
      rates.push_back(std::abs(TurnRate(flight.truth, i)));
    }
    std::sort(rates.begin(), rates.end());
    meander += rates[rates.size() / 2] / 40, sharp += rates[rates.size() * 98 / 100] / 40;
  }
  EXPECT_LT(meander, 0.3);
  EXPECT_GT(sharp, 0.5);
}

TEST(Soaring, ClimbsWhileItCirclesAndSinksWhileItGlides) {
  double circling = 0, gliding = 0;
  int circled = 0, glided = 0;
  for (const Recording& flight : Generate({.categories = {"soaring"},
                                 .flights_per_category = 30,
                                 .duration_s = 90,
                                 .noise_m = 0.0})) {
    const std::vector<Vec3>& p = flight.truth;
    for (std::size_t i = 250; i + 250 < p.size(); i += 50) {
      const double climb = (p[i + 200].z - p[i - 200].z) / 4;
      const double before = TurnRate(p, i - 200), here = TurnRate(p, i),
                   after = TurnRate(p, i + 200);
      if (std::min({before, here, after}) > 0.3 || std::max({before, here, after}) < -0.3) {
        circling += climb, ++circled;
      } else if (std::max({std::abs(before), std::abs(here), std::abs(after)}) < 0.1) {
        gliding += climb, ++glided;
      }
    }
  }
  ASSERT_GT(circled, 300);
  ASSERT_GT(glided, 300);
  EXPECT_GT(circling / circled, 0.4);
  EXPECT_LT(gliding / glided, -0.2);
}

TEST(FixedWing, FliesLegsAndTurnsOfItsBank) {
  int straight = 0, turning = 0, all = 0;
  for (const Recording& flight :
       Generate({.categories = {"fixed_wing"}, .flights_per_category = 40, .noise_m = 0.0})) {
    for (std::size_t i = 1; i + 1 < flight.truth.size(); i += 10, ++all) {
      const double accel = std::abs(TurnRate(flight.truth, i)) * Norm(Velocity(flight.truth, i));
      straight += accel < 0.8 ? 1 : 0;
      turning += accel > kGravity * std::tan(12 * kPi / 180) ? 1 : 0;
    }
  }
  EXPECT_GT(straight, all / 5);
  EXPECT_GT(turning, all / 3);
}

// --- racing ------------------------------------------------------------------------------------

TEST(RacingLine, HasTheDerivativesItStates) {
  Rng rng(11);
  const RacingLine line(DrawRacing(rng, 20).control);
  const double h = 1e-4;
  // Between the joints, where the third derivative jumps.
  for (double u = 0.3; u < static_cast<double>(line.segments()); u += 0.4) {
    const RacingLine::Point at = line.At(u), before = line.At(u - h), after = line.At(u + h);
    EXPECT_LT(Norm((after.p - before.p) * (0.5 / h) - at.d1), 1e-5);
    EXPECT_LT(Norm((after.d1 - before.d1) * (0.5 / h) - at.d2), 1e-5);
  }
}

RC_GTEST_PROP(FlyLine, KeepsToTopSpeedAndAcceleration, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const RacingPlan plan = DrawRacing(rng, 40);
  const Extremes e = ExtremesOf(FlyLine(plan, 4000));
  RC_ASSERT(e.speed <= 1.001 * plan.top_speed);
  RC_ASSERT(e.accel <= 1.1 * plan.accel);  // the profile is a table: a little is lost between cells
}

TEST(Racing, SlowsForCornersAndSpeedsUpOnStraights) {
  double in_corners = 0, on_straights = 0;
  int corners = 0, straights = 0;
  for (const Recording& flight :
       Generate({.categories = {"racing"}, .flights_per_category = 40, .noise_m = 0.0})) {
    const Extremes e = ExtremesOf(flight.truth);
    for (std::size_t i = 1; i + 1 < flight.truth.size(); i += 10) {
      const double speed = Norm(Velocity(flight.truth, i)) / e.speed;
      const double curvature =
          std::abs(TurnRate(flight.truth, i)) / Norm(Velocity(flight.truth, i));
      if (curvature > 0.15) in_corners += speed, ++corners;
      if (curvature < 0.02) on_straights += speed, ++straights;
    }
  }
  ASSERT_GT(corners, 1000);
  ASSERT_GT(straights, 1000);
  EXPECT_GT(on_straights / straights, 1.25 * in_corners / corners);
}

TEST(Racing, MostlyRepeatsItsLapButNeverExactly) {
  int repeated = 0;
  const auto flights = Generate(
      {.categories = {"racing"}, .flights_per_category = 40, .duration_s = 60, .noise_m = 0.0});
  for (const Recording& flight : flights) {
    const std::vector<Vec3>& p = flight.truth;
    // Nearest later pass by the place of the first second.
    double nearest = 1e9;
    for (std::size_t i = 300; i < p.size(); ++i) nearest = std::min(nearest, Norm(p[i] - p[100]));
    repeated += nearest < 2 ? 1 : 0;
    EXPECT_GT(nearest, 1e-4) << flight.id;
  }
  EXPECT_GE(repeated, 24);
}

// --- course ------------------------------------------------------------------------------------

TEST(FlyCourse, GustsMoveItByTheStatedResidualAndNotMore) {
  const std::vector<Vec3> still(CourseSteps(600));
  double square = 0;
  const std::vector<Vec3> truth = FlyCourse({.seed = 1, .category = 9}, still, 0.1);
  ASSERT_EQ(truth.size(), SamplesFor(600));
  for (const Vec3& p : truth) square += SquaredNorm(p) / 3 / static_cast<double>(truth.size());
  EXPECT_NEAR(std::sqrt(square), 0.1, 0.02);
}

}  // namespace
}  // namespace aerocast
