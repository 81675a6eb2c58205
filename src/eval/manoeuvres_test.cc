// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/manoeuvres.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/data/test_flight.h"

namespace aerocast {
namespace {

// Straight on at 1 m/s, then from 10 s on a turn of 1 rad/s.
Vec3 Bend(double t) {
  const double turned = std::max(0.0, t - 10);
  return {std::min(t, 10.0) + std::sin(turned), 1 - std::cos(turned), 2};
}

TEST(Manoeuvres, ATurnThatBeginsIsAChange) {
  const Recording flight = MakeFlight(20, 50, Bend);
  const auto at = [&](double t) { return TurnChange(flight, static_cast<std::size_t>(50 * t)); };
  EXPECT_NEAR(at(5), 0, 1e-6);
  EXPECT_NEAR(at(10), 1, 0.05);
  EXPECT_NEAR(at(15), 0, 1e-6) << "a steady turn";
  EXPECT_EQ(at(0.4), 0) << "the second before is not recorded";
  EXPECT_EQ(at(19.5), 0) << "nor is the second after";
  const Recording still = MakeFlight(20, 50, [](double t) {
    return Vec3{0.001 * std::sin(9 * t), 0, 2};
  });
  EXPECT_EQ(TurnChange(still, 500), 0);
}

TEST(Manoeuvres, ATenthIsBeforeThem) {
  const Recording bend = MakeFlight(20, 50, Bend);
  const Recording straight = MakeFlight(20, 50, [](double t) { return Vec3{t, 0, 2}; });
  const std::vector<const Recording*> both = {&bend, &straight};
  WindowSpec spec;
  const std::vector<FlightWindows> all = CutFlights(both, spec);
  const auto before = BeforeManoeuvres(all), other = NotBeforeManoeuvres(all);
  EXPECT_EQ(CountWindows(before) + CountWindows(other), CountWindows(all));
  EXPECT_NEAR(static_cast<double>(CountWindows(before)),
              0.1 * static_cast<double>(CountWindows(all)), 3);
  for (const FlightWindows& f : other) {
    for (const std::uint32_t t0 : f.t0) EXPECT_LT(TurnChange(*f.flight, t0), 0.1);
  }
}

TEST(Manoeuvres, WhatDoesNotTurnIsBeforeNone) {
  const Recording still = MakeFlight(20, 50, [](double) { return Vec3{1, 2, 3}; });
  const std::vector<const Recording*> one = {&still};
  const std::vector<FlightWindows> all = CutFlights(one, WindowSpec{});
  ASSERT_GT(CountWindows(all), 0u);
  EXPECT_EQ(CountWindows(BeforeManoeuvres(all)), 0u);
  EXPECT_EQ(CountWindows(NotBeforeManoeuvres(all)), CountWindows(all));
}

}  // namespace
}  // namespace aerocast
