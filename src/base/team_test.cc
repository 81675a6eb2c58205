// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "src/base/rng.h"

namespace aerocast {
namespace {

TEST(Team, EveryWorkerHasItsShare) {
  for (const int threads : {1, 2, 3, 7}) {
    Team team(threads);
    std::vector<int> done(20, 0);
    team.Run([&](int worker) {
      const Share share = ShareOf(20, worker, threads);
      for (int i = share.first; i < share.last; ++i) ++done[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(done, std::vector<int>(20, 1)) << threads;
  }
}

// After a barrier each worker sees what the others wrote before it, round after round; now and then
// somebody sleeps, so that spinning, sleeping and waking all happen.
TEST(Team, BarriersOrderTheSteps) {
  for (const int threads : {2, 3}) {
    Team team(threads);
    std::vector<std::int64_t> value(static_cast<std::size_t>(threads), 0);
    std::atomic<int> wrong = 0;
    Rng rng(1, 0);
    std::int64_t expected = 0;
    for (int call = 0; call < 300; ++call) {
      const int sleeper = rng.Chance(0.05) ? static_cast<int>(rng.Uniform(0, threads)) : -1;
      team.Run([&](int worker) {
        for (int step = 0; step < 20; ++step) {
          if (worker == sleeper && step == 7) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          value[static_cast<std::size_t>(worker)] = expected + step;
          team.Barrier();
          for (const std::int64_t v : value) wrong += v != expected + step;
          team.Barrier();
        }
      });
      expected += 20;
      if (rng.Chance(0.02)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Team, EndsAtAnyMoment) {
  for (int i = 0; i < 200; ++i) {
    Team team(3);
    if (i % 2 == 0) team.Run([](int) {});
  }
}

TEST(Team, FlushesSubnormalNumbers) {
  Team team(2);
  float results[2] = {1, 1};
  volatile float tiny = 1e-40f;
  team.Run([&](int worker) { results[worker] = tiny * 0.5f; });
  EXPECT_EQ(results[0], 0);
  EXPECT_EQ(results[1], 0);
  EXPECT_NE(tiny * 0.5f, 0) << "outside of Run nothing has changed";
}

}  // namespace
}  // namespace aerocast
