// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/speeds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/data/windows.h"

namespace aerocast {
namespace {

TEST(MeasureSpeeds, KnowsTheSpeedOfACircle) {
  Recording flight;
  std::vector<Vec3> truth;
  for (int i = 0; i <= 2000; ++i) {  // 0.9 m/s on a radius of 1.5 m, 20 s
    const double a = 0.6 * i * 0.01;
    truth.push_back({1.5 * std::cos(a), 1.5 * std::sin(a), 1});
    flight.samples.push_back({i * 10'000'000LL, truth.back()});
  }
  const FlightSpeeds direct = MeasureSpeeds(truth);
  EXPECT_EQ(direct.windows, 131u);
  EXPECT_NEAR(direct.mean_rms(), 2 * 1.5 * std::sin(0.03) / 0.1, 1e-9);  // chords, not arcs
  EXPECT_NEAR(direct.max, 2 * 1.5 * std::sin(0.06) / 0.2, 1e-9);
  const FlightSpeeds cut = MeasureSpeeds(flight, CutWindows(flight, PaperWindows()));
  EXPECT_EQ(cut.windows, direct.windows);
  EXPECT_NEAR(cut.rms_sum, direct.rms_sum, 1e-9);
  EXPECT_NEAR(cut.max, direct.max, 1e-9);
}

TEST(MeasureSpeeds, TakesTruthWhereItIsKnown) {
  Recording flight;
  for (int i = 0; i <= 1000; ++i) {
    flight.samples.push_back({i * 10'000'000LL, {0.02 * i, 0, 1}});
    flight.truth.push_back({0.03 * i, 0, 1});
  }
  const auto windows = CutWindows(flight, PaperWindows());
  EXPECT_NEAR(MeasureSpeeds(flight, windows).mean_rms(), 3, 1e-9);
  // Longer reach, same windows: the speed is still that of the history every window must have.
  EXPECT_NEAR(MeasureSpeeds(flight, windows, {.history_s = 9}).mean_rms(), 3, 1e-9);
  EXPECT_EQ(MeasureSpeeds(flight, windows, {.history_s = 9}).windows, windows.size());
}

TEST(MeasureSpeeds, MeasuresEveryStretchOfABrokenFlight) {
  Recording flight;
  for (const TimeNs start : {TimeNs{0}, 1'700'000'000 * kNsPerSecond}) {
    for (int i = 0; i <= 1000; ++i) {
      flight.samples.push_back({start + i * 10'000'000LL, {0.02 * i, 0, 1}});
    }
  }
  const auto windows = CutWindows(flight, PaperWindows());
  const FlightSpeeds speeds = MeasureSpeeds(flight, windows);
  EXPECT_EQ(speeds.windows, 62u);
  EXPECT_NEAR(speeds.mean_rms(), 2, 1e-6);
  EXPECT_NEAR(speeds.max, 2, 1e-6);
}

}  // namespace
}  // namespace aerocast
