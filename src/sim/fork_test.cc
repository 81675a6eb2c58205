// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/fork.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/sim/generate.h"

namespace aerocast {
namespace {

using testing::HasSubstr;

const std::size_t kBranch = SamplesFor(kForkTimeS) - 1;  // the sample at which the turn begins

std::vector<Recording> Forks(int flights, double probability, double noise_m = 0,
                             double duration_s = 20) {
  auto made = GenerateFlights({.categories = {"fork"},
                               .flights_per_category = flights,
                               .duration_s = duration_s,
                               .seed = 7,
                               .fork_probability = probability,
                               .noise_m = noise_m});
  EXPECT_TRUE(made.ok()) << made.error().message;
  return std::move(*made);
}

// How far p is to the left of the line of flight up to the branch, over the last three seconds.
double ToTheLeft(const Recording& flight, std::size_t i) {
  const Vec3 along = flight.truth[kBranch] - flight.truth[kBranch - 300];
  const Vec3 off = flight.truth[i] - flight.truth[kBranch];
  return (along.x * off.y - along.y * off.x) / std::hypot(along.x, along.y);
}

TEST(Fork, HistoryIsTheSameToTheBitForBothSides) {
  const auto left = Forks(20, 1), right = Forks(20, 0);
  for (std::size_t n = 0; n < left.size(); ++n) {
    for (std::size_t i = 0; i <= kBranch; ++i) {
      ASSERT_TRUE(left[n].truth[i] == right[n].truth[i]) << n << ", sample " << i;
    }
    EXPECT_FALSE(left[n].truth[kBranch + 1] == right[n].truth[kBranch + 1]) << n;
  }
}

TEST(Fork, IsStraightUpToTheForkPointAndThenLeavesIt) {
  for (const Recording& flight : Forks(40, 0.5)) {
    EXPECT_LT(Norm(flight.truth[kBranch] - kForkPoint), 1e-9);
    for (std::size_t i = 0; i < kBranch; i += 10) {
      // Gusts only; the line is laid through two of its points, which amplifies them.
      ASSERT_LT(std::abs(ToTheLeft(flight, i)), 0.6) << flight.id << ", sample " << i;
    }
    EXPECT_GT(std::abs(ToTheLeft(flight, kBranch + 300)), 6) << flight.id;
  }
}

TEST(Fork, ConfigurationSaysWhichSideWasFlown) {
  for (const Recording& flight : Forks(40, 0.5)) {
    const bool left = ToTheLeft(flight, kBranch + 300) > 0;
    EXPECT_EQ(flight.configuration, left ? "fork-left" : "fork-right") << flight.id;
    EXPECT_EQ(flight.category, "fork");
  }
}

TEST(Fork, SidesMirrorOneAnother) {
  const auto left = Forks(10, 1), right = Forks(10, 0);
  for (std::size_t n = 0; n < left.size(); ++n) {
    for (const std::size_t i : {kBranch + 100, kBranch + 300, kBranch + 500}) {
      // Both have the same gusts, which do not mirror; and the line leans by them.
      EXPECT_NEAR(ToTheLeft(left[n], i), -ToTheLeft(right[n], i), 1.0) << n;
    }
  }
}

TEST(Fork, TurnsLeftAsOftenAsAskedFor) {
  for (const double p : {0.0, 0.2, 0.5, 0.7, 1.0}) {
    int left = 0;
    for (const Recording& flight : Forks(1000, p, 0, kForkLeastS)) {
      left += flight.configuration == "fork-left" ? 1 : 0;
    }
    EXPECT_NEAR(left, 1000 * p, 4 * std::sqrt(1000 * p * (1 - p))) << p;
  }
}

TEST(Fork, RefusesDurationsWithoutABranchAndOddProbabilities) {
  const auto message = [](const GenerateOptions& options) {
    const auto flights = GenerateFlights(options);
    return flights.ok() ? std::string() : flights.error().message;
  };
  EXPECT_THAT(message({.categories = {"fork"}, .duration_s = 12}), HasSubstr("13 to 60 s"));
  EXPECT_THAT(message({.categories = {"fork"}, .duration_s = 61}), HasSubstr("13 to 60 s"));
  EXPECT_THAT(message({.categories = {"fork"}, .fork_probability = 1.5}), HasSubstr("0 to 1"));
  EXPECT_THAT(message({.categories = {"fork"}, .fork_probability = std::nan("")}),
              HasSubstr("0 to 1"));
  EXPECT_THAT(message({.categories = {"star"}, .fork_probability = 0.5}), HasSubstr("\"fork\""));
}

}  // namespace
}  // namespace aerocast
