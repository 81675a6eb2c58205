// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/stats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aerocast {
namespace {

// Straight flight at `speed`, 50 Hz, long enough for `windows` windows.
Recording Line(const std::string& category, double speed, int windows, Source source) {
  Recording r;
  r.id = category + std::to_string(speed), r.category = category, r.source = source;
  for (int i = 0; i < 5 * (windows - 1) + 351; ++i) {
    r.samples.push_back({TimeNs{20'000'000} * i, {speed * 0.02 * i, 0, 0}});
  }
  return r;
}

TEST(ComputeStats, CountsPerCategoryAndInTotal) {
  const std::vector<Recording> recordings = {
      Line("star", 1, 30, Source::kReal), Line("circle", 3, 10, Source::kReal),
      Line("circle", 1, 30, Source::kSynthetic), Line("zigzag", 5, 10, Source::kReal)};
  std::vector<FlightWindows> flights;
  for (const Recording& r : recordings) flights.push_back({&r, CutWindows(r, {})});
  const CorpusStats stats = ComputeStats(flights, {}, 2);
  ASSERT_EQ(stats.categories.size(), 3u);
  const StatsRow& circle = stats.categories[0];
  EXPECT_EQ(circle.name, "circle");
  EXPECT_EQ(circle.recordings, 2);
  EXPECT_EQ(circle.windows, 40);
  EXPECT_NEAR(circle.mean_speed, (10 * 3 + 30 * 1) / 40.0, 1e-9);
  EXPECT_NEAR(circle.highest_speed, 3, 1e-9);
  EXPECT_DOUBLE_EQ(circle.real_share(), 0.25);
  EXPECT_EQ(stats.categories[2].name, "zigzag");
  EXPECT_EQ(stats.total.windows, 80);
  EXPECT_NEAR(stats.total.highest_speed, 5, 1e-9);
  // The paper's way: categories count once, and only the nine do.
  EXPECT_NEAR(stats.category_mean_speed, (1.5 + 1) / 2, 1e-9);
  EXPECT_NEAR(stats.category_mean_highest, (3 + 1) / 2.0, 1e-9);
}

}  // namespace
}  // namespace aerocast
