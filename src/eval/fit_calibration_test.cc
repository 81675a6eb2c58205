// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "src/base/rng.h"
#include "src/eval/redraw.h"
#include "src/forecast/calibrate.h"

namespace aerocast {
namespace {

constexpr int kSteps = 20;
constexpr double kStay = 0.9;  // of an error from step to step

struct FakeFlights {
  int flights = 40, windows = 12;
  double stated = 1;         // sigma that forecasts state, in units of the true one
  double flight_spread = 0;  // log sigma by which flights differ
  double sureness = 0;       // log sigma by which forecasts differ in how sure they are,
  double deserved = 1;       // and the power of that by which their errors differ
  double briefly = 1;        // errors are this much larger for objects seen for 2 s, not for 10
};

double TrueSigma(int i) { return 0.1 + 0.03 * i; }

// Straight paths; errors of known sigma that wander.
CalibrationWindows MakeWindows(const FakeFlights& fake, std::uint64_t seed) {
  CalibrationWindows all;
  all.histories_s = {10, 2};
  Rng rng(seed);
  for (int f = 0; f < fake.flights; ++f) {
    all.flights.push_back(std::to_string(f));
    const double size = std::exp(fake.flight_spread * rng.Normal());
    for (int n = 0; n < fake.windows; ++n) {
      CalibrationWindow w;
      w.raw.Reset({.steps = kSteps, .modes = 2}, "x", 0, 0.1);
      w.raw.quality = Quality::kOk;
      w.flight = static_cast<std::size_t>(f), w.key = rng.Next();
      w.history = n < fake.windows / 2 ? 0 : 1;
      w.log_seen = std::log(all.histories_s[w.history]);
      const double larger = w.history == 1 ? fake.briefly : 1;
      const Vec3 v = Yaw::FromAngle(rng.Uniform(0, 6)) * Vec3{1, 0, 0};
      const int truth = rng.Chance(0.3) ? 1 : 0;
      const double unsure = fake.sureness > 0 ? std::exp(fake.sureness * rng.Normal()) : 1;
      Vec3 z = {rng.Normal(), rng.Normal(), rng.Normal()};
      for (int i = 0; i < kSteps; ++i) {
        const double s = TrueSigma(i);
        for (int k = 0; k < 2; ++k) {
          w.raw.weight(k) = k == 0 ? 0.7 : 0.3;
          w.raw.mean(k, i) = v * (0.1 * (i + 1) * (k == 0 ? 1 : -1));
          w.raw.cov(k, i) = Cov3::Isotropic(s * fake.stated * unsure);
        }
        w.raw.point(i) = w.raw.mean(0, i);
        w.targets.push_back(w.raw.mean(truth, i) +
                            z * (s * size * larger * std::pow(unsure, fake.deserved)));
        const Vec3 next = {rng.Normal(), rng.Normal(), rng.Normal()};
        z = kStay * z + std::sqrt(1 - kStay * kStay) * next;
      }
      all.windows.push_back(std::move(w));
    }
  }
  return all;
}

double ValueOf(const RedrawResult& result, const std::string& key) {
  double sum = 0;
  for (const RedrawSeries& s : result.series) {
    if (s.key == key && s.t_s == 0) sum += s.Mean() / 2;  // of both histories
  }
  if (sum > 0) return sum;
  return std::numeric_limits<double>::quiet_NaN();
}

TEST(FitCalibration, LeavesAPerfectForecasterNearlyAlone) {
  const Calibration c = *FitCalibration(MakeWindows({}, 1), {});
  EXPECT_NEAR(std::log(c.temperature), 0, 0.15);
  const double tail = 1 + c.tail_share * (c.tail_factor * c.tail_factor - 1);
  for (const auto& scale : c.scale) {
    for (const double s : scale) EXPECT_NEAR(std::log(s * std::sqrt(tail)), 0, 0.15);
  }
  EXPECT_EQ(CalibrationComplaint(c, kSteps, 2), "");
  EXPECT_EQ(c.origin.flight_count, 40u);
}

// Sure forecasts that ought to be surer, and vague ones that ought to be vaguer.
TEST(FitCalibration, LearnsHowMuchSurenessIsWorth) {
  const auto slope = [](double deserved) {
    const FakeFlights fake = {.sureness = 0.8, .deserved = deserved};
    return FitCalibration(MakeWindows(fake, 11), {})->vague.slope;
  };
  EXPECT_GT(slope(2), 0.3);
  EXPECT_NEAR(slope(1), 0, 0.15) << "as it says";
  EXPECT_LT(slope(0), -0.3);
}

TEST(FitCalibration, LearnsWhatHavingSeenLongerIsWorth) {
  for (const double briefly : {1.0, 1.5}) {
    FakeFlights fake;
    fake.briefly = briefly;
    const SpreadSlope seen = FitCalibration(MakeWindows(fake, 3), {})->seen;
    EXPECT_NEAR(seen.low, std::log(2), 1e-4);
    EXPECT_NEAR(seen.high, std::log(10), 1e-4);
    const double factor = std::exp(seen.LogFactor(std::log(2)) - seen.LogFactor(std::log(10)));
    EXPECT_NEAR(std::log(factor), std::log(briefly), 0.1) << briefly;
  }
}

// Few flights that differ: what fits them best is too sure of the next one.
TEST(FitCalibration, AllowsForFlightsThatItHasNotSeen) {
  FakeFlights fake;
  fake.flights = 30, fake.flight_spread = 0.6;
  const auto region = [&](std::size_t flights) {
    return ValueOf(
        RunRedraws(MakeWindows(fake, 5), {.redraws = 12, .calibration_flights = flights}),
        "region_coverage");
  };
  EXPECT_GT(region(10), 0.87) << "0.86 without widening";
  EXPECT_NEAR(region(20), 0.9, 0.03);
}

TEST(RunRedraws, JudgesEachHistoryApart) {
  FakeFlights fake;
  fake.briefly = 6;
  const RedrawResult result =
      RunRedraws(MakeWindows(fake, 2), {.redraws = 3, .calibration_flights = 20});
  std::map<double, double> radius;
  for (const RedrawSeries& s : result.series) {
    if (s.key == "ball_radius" && s.t_s == 0) radius[s.history_s] = s.Mean();
  }
  ASSERT_EQ(radius.size(), 2u);
  EXPECT_GT(radius[2], 1.3 * radius[10]);
}

TEST(FitCalibration, MendsSigmasThatAreThreeTimesTooSmall) {
  const FakeFlights small = {.flights = 60, .windows = 12, .stated = 1.0 / 3};
  const RedrawResult result =
      RunRedraws(MakeWindows(small, 2), {.redraws = 4, .calibration_flights = 30});
  EXPECT_NEAR(ValueOf(result, "region_coverage"), 0.9, 0.025);
  EXPECT_NEAR(ValueOf(result, "ball_coverage"), 0.91, 0.03);
  EXPECT_NEAR(ValueOf(result, "tube_coverage"), 0.91, 0.04);
  EXPECT_LT(ValueOf(result, "ece_position"), 0.04);
  // Taken together, redraws are off by less than each of them is.
  EXPECT_LT(ValueOf(result, "ece_of_mean_coverage"), ValueOf(result, "ece_position"));
}

TEST(FitCalibration, IsTheSameForAnyThreads) {
  const CalibrationWindows windows = MakeWindows({.flights = 6, .windows = 8, .stated = 2}, 3);
  CalibrationFitOptions one, two;
  one.threads = 1, two.threads = 3;
  EXPECT_EQ(*FitCalibration(windows, one), *FitCalibration(windows, two));
}

TEST(FitCalibration, LeavesOutLevelsThatTooFewFlightsStandBehind) {
  CalibrationFitOptions options;
  options.levels = {0.5, 0.8, 0.9, 0.95};
  const auto levels = [&](int flights) {
    const Calibration c =
        *FitCalibration(MakeWindows({.flights = flights, .windows = 3}, 4), options);
    EXPECT_EQ(CalibrationComplaint(c, kSteps, 2), "");
    return c.level;
  };
  EXPECT_EQ(levels(1), (std::vector<double>{0.5}));
  EXPECT_EQ(levels(4), (std::vector<double>{0.5, 0.8}));
  EXPECT_EQ(levels(9), (std::vector<double>{0.5, 0.8, 0.9}));
  EXPECT_EQ(FlightsNeeded(0.9), 9u);
  EXPECT_EQ(FlightsNeeded(0.95), 19u);
  EXPECT_EQ(FlightsNeeded(0.99), 99u);
  EXPECT_FALSE(FitCalibration(CalibrationWindows(), options).ok());
}

TEST(FitCalibration, ResidualsAreOfUnitSizeAndWanderAsTheErrorsDo) {
  const Calibration c = *FitCalibration(MakeWindows({.stated = 0.5}, 5), {});
  ASSERT_GT(c.residual_paths, 200);
  const auto at = [&](int n, int i, int d) {
    return static_cast<double>(c.residuals[static_cast<std::size_t>((n * kSteps + i) * 3 + d)]);
  };
  for (int d = 0; d < 3; ++d) {
    double square = 0, lag = 0;
    for (int n = 0; n < c.residual_paths; ++n) {
      square += at(n, 10, d) * at(n, 10, d), lag += at(n, 10, d) * at(n, 15, d);
    }
    EXPECT_NEAR(square / c.residual_paths, 1, 1e-4);
    EXPECT_NEAR(lag / c.residual_paths, std::pow(kStay, 5), 0.2);
  }
  EXPECT_NEAR(c.residual_correlation, kStay, 0.05);
}

TEST(FlightQuantile, WeighsFlightsAndNotWindows) {
  // A thousand windows of one flight say no more than one window of it.
  std::vector<FlightScore> scores = {{1, 0}, {2, 1}, {3, 2}, {4, 3}};
  const double quantile = FlightQuantile(scores, 0.5);
  scores.insert(scores.end(), 999, {1, 0});
  EXPECT_EQ(FlightQuantile(scores, 0.5), quantile);
  EXPECT_EQ(quantile, 2) << "half of the flights";
}

TEST(FlightQuantile, EndsAtTheLargestScoreAndTakesASingleFlightAsItIs) {
  EXPECT_EQ(FlightQuantile({{1, 0}, {2, 1}}, 0.9), 2);
  EXPECT_EQ(FlightQuantile({{1, 0}, {2, 0}, {3, 0}, {4, 0}}, 0.5), 2);
}

// A random window of a new flight is inside as often as the level says, however flights differ.
TEST(FlightQuantile, HoldsItsLevelOnExchangeableFlights) {
  constexpr int kTrials = 4000, kFlights = 9;
  for (const double level : {0.5, 0.8, 0.9}) {
    int inside = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Rng rng(6, static_cast<std::uint64_t>(trial));
      const auto window = [&](double size) { return size * std::abs(rng.Normal()); };
      std::vector<FlightScore> scores;
      for (std::size_t f = 0; f < kFlights; ++f) {
        const double size = std::exp(rng.Normal());
        const auto windows = 1 + rng.Below(10);
        for (std::uint64_t n = 0; n < windows; ++n) scores.push_back({window(size), f});
      }
      inside += window(std::exp(rng.Normal())) <= FlightQuantile(scores, level);
    }
    EXPECT_NEAR(inside / static_cast<double>(kTrials), level, 0.03) << level;
  }
}

// The same through the whole fit, on flights that differ among each other.
TEST(RunRedraws, BallsHoldTheirLevelOnFlightsThatDiffer) {
  const FakeFlights fake = {.flights = 40, .windows = 6, .stated = 0.5, .flight_spread = 0.5};
  const RedrawResult result =
      RunRedraws(MakeWindows(fake, 7), {.redraws = 20, .calibration_flights = 12});
  EXPECT_GT(ValueOf(result, "ball_coverage"), 0.87);
  EXPECT_GT(ValueOf(result, "tube_coverage"), 0.86);
  EXPECT_EQ(result.series[0].values.size(), 20u);
  EXPECT_GT(result.series[0].Deviation(), 0);
}

// Flights count alike, however many windows they have; 97 % of the mass is inside.
TEST(FitDomain, KeepsTheStatedShareOfFlightsWindows) {
  CalibrationWindows windows;
  Rng rng(5);
  for (std::size_t flight = 0; flight < 20; ++flight) {
    windows.flights.push_back("f" + std::to_string(flight));
    for (std::size_t i = 0; i < 20 * (1 + flight % 3); ++i) {
      CalibrationWindow& w = windows.windows.emplace_back();
      w.flight = flight;
      const double own = 0.1 * static_cast<double>(flight % 5);
      w.roughness = Roughness{own - 1.5 + 0.1 * rng.Normal(), own - 1 + 0.1 * rng.Normal(),
                              own - 0.5 + 0.1 * rng.Normal()};
    }
  }
  Calibration c;
  FitDomain(windows, 0.97, c);
  double inside = 0;
  for (const CalibrationWindow& w : windows.windows) {
    const bool in = RougherBy(*w.roughness, c.domain_mean, c.domain_sigma) <= c.domain_limit;
    inside += in ? 1.0 / (20 * static_cast<double>(windows.CountOf(w.flight))) : 0;
  }
  EXPECT_NEAR(inside, 0.97, 0.005);
  EXPECT_NEAR(c.domain_mean[1], -0.8, 0.05);
  for (CalibrationWindow& w : windows.windows) w.roughness.reset();
  FitDomain(windows, 0.97, c);
  EXPECT_EQ(c.domain_limit, 0) << "nothing is known, nothing is strange";
}

}  // namespace
}  // namespace aerocast
