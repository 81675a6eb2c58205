// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/resample.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "src/data/test_flight.h"
#include "src/data/windows.h"

namespace aerocast {
namespace {

struct Grid {
  std::vector<Vec3> p = std::vector<Vec3>(21);
  std::vector<std::uint8_t> present = std::vector<std::uint8_t>(21);
  int known = 0;
};

Grid Resample(const History& history) {
  Grid grid;
  grid.known = ResampleHistory(history, 0.1, 0.25, grid.p, grid.present);
  return grid;
}

Vec3 Line(double t) { return {3 * t, -t, 5}; }

TEST(ResampleHistory, IsExactOnStraightMotionAtAnyRate) {
  for (const double rate : {7.0, 10.0, 33.0, 100.0}) {
    const Recording flight = MakeFlight(10, rate, Line);
    const std::size_t i = flight.samples.size() - 1;
    const Grid grid = Resample(HistoryAt(flight, i, 2.0));
    ASSERT_EQ(grid.known, 21) << rate;
    const double t0 = DurationS(flight.samples[i].t_ns);
    for (std::size_t k = 0; k < 21; ++k) {
      EXPECT_LT(Norm(grid.p[k] - Line(t0 - 2.0 + 0.1 * static_cast<double>(k))), 1e-7);
    }
    EXPECT_EQ(grid.p[20], flight.samples[i].p_world);  // the newest is taken as it is
  }
}

TEST(ResampleHistory, MasksWhatIsNotThereInsteadOfInventingIt) {
  Recording flight = MakeFlight(10, 100, Line);
  // 0.30 s without samples, from 1.00 s to 0.70 s before the end.
  flight.samples.erase(flight.samples.begin() + 901, flight.samples.begin() + 930);
  const Grid grid = Resample(HistoryAt(flight, flight.samples.size() - 1, 2.0));
  EXPECT_EQ(grid.known, 19);
  EXPECT_EQ(grid.present[11], 0);
  EXPECT_EQ(grid.present[12], 0);
  EXPECT_EQ(grid.p[11], Vec3{});
}

TEST(ResampleHistory, KnowsOnlyAsMuchAsAShortHistoryHolds) {
  const Recording flight = MakeFlight(0.5, 100, Line);
  const Grid grid = Resample(HistoryAt(flight, flight.samples.size() - 1, 2.0));
  EXPECT_EQ(grid.known, 6);
  EXPECT_EQ(std::accumulate(grid.present.begin(), grid.present.end() - 6, 0), 0);
  EXPECT_EQ(Resample(History{}).known, 0);
}

}  // namespace
}  // namespace aerocast
