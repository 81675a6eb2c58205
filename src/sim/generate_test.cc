// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/data/category.h"
#include "src/sim/noise.h"

namespace aerocast {
namespace {

using testing::HasSubstr;

std::vector<Recording> Generate(const GenerateOptions& options) {
  Result<std::vector<Recording>> flights = GenerateFlights(options);
  EXPECT_TRUE(flights.ok()) << flights.error().message;
  return std::move(*flights);
}

std::string Bytes(const std::vector<Recording>& flights) {
  std::string all;
  for (const Recording& flight : flights) all += FormatRecording(flight);
  return all;
}

double MeanSquare(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v / static_cast<double>(values.size());
  return sum;
}

TEST(GenerateFlights, GivesTheSameBytesForAnyNumberOfThreads) {
  GenerateOptions options{.flights_per_category = 2, .duration_s = 5, .seed = 42, .threads = 1};
  const std::string one = Bytes(Generate(options));
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_TRUE(Bytes(Generate(options)) == one) << threads << " threads";
  }
  options.seed = 43;
  EXPECT_FALSE(Bytes(Generate(options)) == one);
}

TEST(GenerateFlights, FlightDoesNotDependOnWhatElseIsAskedFor) {
  const auto many = Generate({.flights_per_category = 4, .duration_s = 3});
  const auto few = Generate({.categories = {"star"}, .flights_per_category = 2, .duration_s = 3});
  const std::size_t star = static_cast<std::size_t>(CategoryIndex("star"));
  EXPECT_EQ(FormatRecording(few[1]), FormatRecording(many[4 * star + 1]));
}

TEST(GenerateFlights, DrawsEveryFlightAnew) {
  const auto flights = Generate({.flights_per_category = 3, .duration_s = 2});
  for (std::size_t i = 0; i < flights.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_FALSE(flights[i].truth[0] == flights[k].truth[0]);
      EXPECT_NE(flights[i].noise_m, flights[k].noise_m);
    }
  }
}

TEST(GenerateFlights, LabelsItsRecordings) {
  const auto flights = Generate({.categories = {"figure-8"}, .flights_per_category = 8});
  const Recording& flight = flights[7];
  EXPECT_EQ(flight.id, "gen-figure-8-0007");
  EXPECT_EQ(flight.category, "figure-8");
  EXPECT_EQ(flight.configuration, flight.id);
  EXPECT_EQ(flight.object, "simulated quadrotor");
  EXPECT_EQ(flight.source, Source::kSynthetic);
  EXPECT_EQ(flight.samples.size(), 3001u);
  EXPECT_EQ(flight.truth.size(), 3001u);
  EXPECT_EQ(flight.samples[1].t_ns, 10'000'000);
  EXPECT_DOUBLE_EQ(flight.duration_s(), 30);
}

TEST(GenerateFlights, RefusesWhatItCannotMake) {
  const auto message = [](const GenerateOptions& options) {
    const auto flights = GenerateFlights(options);
    return flights.ok() ? std::string() : flights.error().message;
  };
  EXPECT_THAT(message({.categories = {"loop"}}), HasSubstr("\"loop\""));
  EXPECT_THAT(message({.categories = {"loop"}}),
              HasSubstr("circle, oval, figure-8, helix, trefoil, lissajous, staircase, star, "
                        "random"));
  EXPECT_THAT(message({.categories = {"star", "star"}}), HasSubstr("twice"));
  EXPECT_THAT(message({.flights_per_category = 0}), HasSubstr("1 to 100000"));
  EXPECT_THAT(message({.duration_s = std::nan("")}), HasSubstr("duration"));
  EXPECT_THAT(message({.noise_m = -1.0}), HasSubstr("noise"));
  EXPECT_THAT(message({.flights_per_category = 100'000, .duration_s = 3600}),
              HasSubstr("million samples"));
}

RC_GTEST_PROP(GenerateFlights, StaysWithinItsRegimesLimits, ()) {
  const auto regime = *rc::gen::element(Regime::kArena, Regime::kFast);
  const auto& category =
      *rc::gen::elementOf(std::vector<Category>(kCategories.begin(), kCategories.end()));
  GenerateOptions options{.categories = {std::string(category.name)},
                          .flights_per_category = 1,
                          .duration_s = 20,
                          .seed = *rc::gen::arbitrary<std::uint64_t>(),
                          .regime = regime,
                          .threads = 1};
  const auto flights = GenerateFlights(options);
  RC_ASSERT(flights.ok());
  const FlightLimits limits = LimitsOf(regime);
  const std::vector<Vec3>& p = flights->front().truth;
  const Box box = BoundsOf(p);
  RC_ASSERT(box.low.z > 0.35);
  const Vec3 below = box.low - limits.space.low, above = limits.space.high - box.high;
  RC_ASSERT(std::min({below.x, below.y, below.z, above.x, above.y, above.z}) >= 0);
  for (std::size_t i = 1; i + 1 < p.size(); ++i) {
    RC_ASSERT(IsFinite(flights->front().samples[i].p_world));
    RC_ASSERT(Norm(p[i] - p[i - 1]) / kSimStepS <= limits.speed);
    const double accel = Norm(p[i + 1] + p[i - 1] - 2 * p[i]) / (kSimStepS * kSimStepS);
    RC_ASSERT(accel <= limits.accel * (1 + 1e-6));
  }
}

TEST(GenerateFlights, FastRegimeIsFasterLargerAndHigher) {
  double speed = 0, width = 0, height = 0;
  for (const Recording& flight :
       Generate({.flights_per_category = 20, .duration_s = 15, .regime = Regime::kFast})) {
    const Box box = BoundsOf(flight.truth);
    width = std::max({width, box.size().x, box.size().y});
    height = std::max(height, box.high.z);
    for (std::size_t i = 1; i < flight.truth.size(); ++i) {
      speed = std::max(speed, Norm(flight.truth[i] - flight.truth[i - 1]) / kSimStepS);
    }
  }
  EXPECT_GT(speed, 14);
  EXPECT_GT(width, 40);
  EXPECT_GT(height, 60);
}

// --- the motion looks like its category, after the tracking loop -----------------------------

// Mean horizontal distance from the middle of the box, and its relative spread. (The mean position
// would lean to where an unfinished lap is.)
struct Roundness {
  double radius = 0, spread = 0;
};
Roundness RoundnessOf(const std::vector<Vec3>& truth) {
  const Box box = BoundsOf(truth);
  const Vec3 centre = 0.5 * (box.low + box.high);
  Roundness round;
  std::vector<double> radii;
  for (const Vec3& p : truth) {
    radii.push_back(std::hypot(p.x - centre.x, p.y - centre.y));
    round.radius += radii.back() / static_cast<double>(truth.size());
  }
  for (double& r : radii) r = r / round.radius - 1;
  round.spread = std::sqrt(MeanSquare(radii));
  return round;
}

TEST(Fly, CalmLevelCircleHasTheRadiusTheLoopPredicts) {
  int flown = 0;
  for (std::uint64_t n = 0; n < 200; ++n) {
    FlightPlan plan = DrawPlan({.seed = 1, .category = 0, .number = n}, Regime::kArena, 60);
    const AxisGains& loop = plan.tracking.horizontal;
    // Below the speed limit the loop is linear, with the gain |H(jw)| at the circle's rate.
    if (plan.tilt_rad > 0 || plan.speed > 0.8) continue;
    plan.profile.count = 0;
    const double radius = 0.5 * BoundsOf(plan.path).size().x, w = plan.speed / radius;
    const double gain = loop.kp * loop.kv / std::hypot(loop.kp * loop.kv - w * w, loop.kv * w);
    const std::vector<Vec3> calm(10'000);
    const Roundness round = RoundnessOf(Fly(plan, Regime::kArena, calm, 6001));
    EXPECT_NEAR(round.radius / (gain * radius), 1, 0.02) << n;
    EXPECT_LT(round.spread, 0.01) << n;
    ++flown;
  }
  EXPECT_GT(flown, 20);
}

TEST(GenerateFlights, CirclesStayRoundInWindAtVaryingSpeedAndOvalsAreNot) {
  std::map<std::string, std::vector<double>> spread;
  for (const Recording& flight : Generate({.categories = {"circle", "oval"},
                                 .flights_per_category = 60,
                                 .duration_s = 60,
                                 .noise_m = 0.0})) {
    spread[flight.category].push_back(RoundnessOf(flight.truth).spread);
  }
  for (auto& [category, values] : spread) std::sort(values.begin(), values.end());
  EXPECT_LT(spread["circle"][30], 0.07);  // half of them; tilt, wind and haste explain the rest
  EXPECT_LT(spread["circle"][54], 0.13);
  // An ellipse of the roundest allowed aspect, 0.75, has (1 - 0.75) / (1 + 0.75) / sqrt(2) = 0.10.
  EXPECT_GT(spread["oval"][6], 0.10);
}

TEST(GenerateFlights, HelixClimbsWhileItTurns) {
  const auto flights = Generate({.categories = {"helix"}, .duration_s = 120, .noise_m = 0.0});
  for (const Recording& flight : flights) EXPECT_GT(BoundsOf(flight.truth).size().z, 0.5);
}

// Radians per second at every tenth of a second.
std::vector<double> TurnRates(const Recording& flight) {
  std::vector<double> rates;
  for (std::size_t i = 10; i + 10 < flight.truth.size(); i += 10) {
    const Vec3 a = flight.truth[i] - flight.truth[i - 10],
               b = flight.truth[i + 10] - flight.truth[i];
    rates.push_back(std::abs(std::atan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y)) / 0.1);
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

TEST(GenerateFlights, StarTurnsSharplyBetweenStraights) {
  std::map<std::string, double> sharpness;
  for (const Recording& flight :
       Generate({.categories = {"star", "circle"}, .flights_per_category = 20, .noise_m = 0.0})) {
    const auto rates = TurnRates(flight);
    sharpness[flight.category] += rates[rates.size() * 95 / 100] / rates[rates.size() / 2] / 20;
  }
  EXPECT_GT(sharpness["star"], 3);
  EXPECT_LT(sharpness["circle"], 2);
}

TEST(GenerateFlights, StaircaseDwellsAtItsSteps) {
  int stepped = 0;
  const auto flights = Generate(
      {.categories = {"staircase"}, .flights_per_category = 20, .duration_s = 60, .noise_m = 0.0});
  for (const Recording& flight : flights) {
    const Box box = BoundsOf(flight.truth);
    EXPECT_GT(box.size().z, 0.4) << flight.id;
    // Much of the time z hardly changes while there is much climbing in between.
    int level = 0, steep = 0, n = 0;
    for (std::size_t i = 50; i < flight.truth.size(); i += 10, ++n) {
      const double climb = std::abs(flight.truth[i].z - flight.truth[i - 50].z) / 0.5;
      level += climb < 0.05 ? 1 : 0, steep += climb > 0.15 ? 1 : 0;
    }
    stepped += level > n / 8 && steep > n / 8 ? 1 : 0;
  }
  EXPECT_GE(stepped, 10);  // the others climb slanted without waiting, or wait briefly
}

// How near the flight comes to repeating itself: the least RMS distance between it and itself a
// lag later, relative to its spread; near 0 for periodic motion, about 1.4 for unrelated.
double SelfDistance(const Recording& flight) {
  const std::vector<Vec3>& p = flight.truth;
  Vec3 mean;
  for (const Vec3& q : p) mean += q * (1.0 / static_cast<double>(p.size()));
  double spread = 0;
  for (const Vec3& q : p) spread += SquaredNorm(q - mean) / static_cast<double>(p.size());
  double least = 1e9;
  for (std::size_t lag = 300; lag < p.size() / 2; lag += 10) {
    double sum = 0;
    std::size_t n = 0;
    for (std::size_t i = lag; i < p.size(); i += 10, ++n) sum += SquaredNorm(p[i] - p[i - lag]);
    least = std::min(least, std::sqrt(sum / static_cast<double>(n) / spread));
  }
  return least;
}

TEST(GenerateFlights, RandomDoesNotRepeatItselfButCircleDoes) {
  std::map<std::string, double> least;
  for (const Recording& flight : Generate({.categories = {"random", "circle"},
                                 .flights_per_category = 10,
                                 .duration_s = 60,
                                 .noise_m = 0.0})) {
    least[flight.category] += SelfDistance(flight) / 10;
  }
  EXPECT_GT(least["random"], 0.9);
  EXPECT_LT(least["circle"], 0.4);
}

// --- randomisation ----------------------------------------------------------------------------

TEST(DrawPlan, VariesDirectionTiltYawSizeSpeedAndProfile) {
  const int n = 400;
  int clockwise = 0, level = 0, constant = 0;
  std::array<int, 4> quadrant{};
  double least_size = 1e9, most_size = 0, most_tilt = 0, least_speed = 1e9, most_speed = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const FlightPlan plan = DrawPlan({.seed = 3, .category = 0, .number = i}, Regime::kArena, 10);
    clockwise += plan.clockwise ? 1 : 0;
    level += plan.tilt_rad == 0 ? 1 : 0;
    constant += plan.profile.count == 0 ? 1 : 0;
    ++quadrant[static_cast<std::size_t>(plan.yaw_rad / (0.5 * M_PI))];
    const Vec3 size = BoundsOf(plan.path).size();
    least_size = std::min(least_size, size.x), most_size = std::max(most_size, size.x);
    most_tilt = std::max(most_tilt, plan.tilt_rad);
    least_speed = std::min(least_speed, plan.speed), most_speed = std::max(most_speed, plan.speed);
  }
  EXPECT_NEAR(clockwise, n / 2, 50);
  EXPECT_NEAR(level, 0.4 * n, 50);
  EXPECT_NEAR(constant, n / 4, 45);
  for (const int count : quadrant) EXPECT_NEAR(count, n / 4, 45);
  EXPECT_LT(least_size, 1.2);
  EXPECT_GT(most_size, 2.7);
  EXPECT_GT(most_tilt, 0.4);
  EXPECT_LT(least_speed, 0.4);
  EXPECT_GT(most_speed, 1.1);
}

TEST(SpeedProfile, StaysPositiveAndBelowItsPeak) {
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    const SpeedProfile profile = DrawSpeedProfile(rng);
    for (double t = 0; t < 60; t += 0.5) {
      EXPECT_GT(profile.At(t), 0.5);
      EXPECT_LE(profile.At(t), profile.peak() + 1e-12);
    }
  }
}

// --- sensor noise -----------------------------------------------------------------------------

std::vector<double> Errors(const Recording& flight) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < flight.samples.size(); ++i) {
    const Vec3 e = flight.samples[i].p_world - flight.truth[i];
    errors.insert(errors.end(), {e.x, e.y, e.z});
  }
  return errors;
}

TEST(Noise, HasTheStatedLevelInEveryFlight) {
  for (const Recording& flight : Generate({.flights_per_category = 3})) {
    EXPECT_NEAR(std::sqrt(MeanSquare(Errors(flight))) / flight.noise_m, 1, 0.05) << flight.id;
  }
}

TEST(Noise, RangesEvenlyFromMotionCaptureToFiveCentimetres) {
  std::array<int, 3> third{};
  const auto flights = Generate({.flights_per_category = 40, .duration_s = 0.1});
  for (const Recording& flight : flights) {
    const double place =
        std::log(flight.noise_m / kLeastNoiseM) / std::log(kMostNoiseM / kLeastNoiseM);
    ASSERT_GE(place, 0);
    ASSERT_LE(place, 1);
    ++third[std::min<std::size_t>(2, static_cast<std::size_t>(3 * place))];
  }
  for (const int count : third) EXPECT_NEAR(count, 120, 35);
}

TEST(Noise, ChangesSlowlyInSizeDuringAFlight) {
  int varying = 0;
  const auto flights = Generate({.duration_s = 60, .noise_m = 0.01});
  for (const Recording& flight : flights) {
    const std::vector<double> errors = Errors(flight);
    double least = 1e9, most = 0;
    constexpr std::size_t kBlock = 600;  // two seconds of three axes: +-3 % by chance
    for (std::size_t i = 0; i + kBlock <= errors.size(); i += kBlock) {
      const double level = std::sqrt(MeanSquare(
          {errors.begin() + static_cast<long>(i), errors.begin() + static_cast<long>(i + kBlock)}));
      least = std::min(least, level), most = std::max(most, level);
    }
    varying += most > 1.5 * least ? 1 : 0;
  }
  EXPECT_GT(varying, static_cast<int>(flights.size() * 9 / 10));
}

TEST(Noise, LeavesTheTruthAlone) {
  const auto quiet = Generate({.flights_per_category = 1, .duration_s = 5, .noise_m = 0.0});
  const auto loud = Generate({.flights_per_category = 1, .duration_s = 5, .noise_m = 0.05});
  for (std::size_t i = 0; i < quiet.size(); ++i) {
    EXPECT_TRUE(quiet[i].truth == loud[i].truth);
    EXPECT_TRUE(quiet[i].samples[7].p_world == quiet[i].truth[7]);
    EXPECT_FALSE(loud[i].samples[7].p_world == loud[i].truth[7]);
  }
}

}  // namespace
}  // namespace aerocast
