// SPDX-License-Identifier: BSD-3-Clause
//
// A track allocates nothing after construction. A program of its own, because it replaces the
// global operator new.
#include <gtest/gtest.h>

#include "aerocast/track.h"
#include "src/base/allocations_testing.h"

namespace aerocast {
namespace {

TEST(TrackAllocation, TheHookSeesAllocations) {
  const long before = allocations;
  const TrackBuffer track("bird");
  EXPECT_GT(allocations, before) << track.size();
}

TEST(TrackAllocation, NothingAfterConstruction) {
  TrackBuffer track("bird", {.capacity = 100});
  const std::string long_id(500, 'x');
  const long before = allocations;
  std::size_t seen = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const TimeNs t = 10'000'000 * TimeNs{i % 7 == 3 ? i - 5 : i};  // some late, some doubled
      track.Add({t, {1.0 * i, i % 11 == 0 ? NAN : 0, 0}});
      seen += track.history().samples.size() + (track.IsStale(t) ? 1 : 0);
    }
    track.Reset(long_id);
  }
  EXPECT_EQ(allocations - before, 0) << seen;
}

}  // namespace
}  // namespace aerocast
