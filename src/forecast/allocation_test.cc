// SPDX-License-Identifier: BSD-3-Clause
//
// Predict allocates nothing. A program of its own, because it replaces the global operator new.
#include <gtest/gtest.h>

#include <limits>

#include "src/base/allocations_testing.h"
#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

// How many allocations Predict makes of each of these.
std::vector<std::vector<Observation>> Inputs() {
  std::vector<std::vector<Observation>> inputs = {
      {}, {{5, {1, 2, 3}}}, Observe(Wander(1)), Observe(Wander(2), 5000, 2), Observe(Wander(3), 3)};
  inputs.push_back(Observe(Wander(4), 5000, 2));  // malformed, more than the repair keeps
  inputs.back()[7].p_world.x = std::numeric_limits<double>::quiet_NaN();
  inputs.push_back(Observe(Wander(5)));  // a hole: fallback
  inputs.back().erase(inputs.back().begin() + 40, inputs.back().begin() + 70);
  return inputs;
}

TEST(Allocation, TheHookSeesAllocations) {
  const long before = allocations;
  std::vector<double> v(100);
  EXPECT_GT(allocations, before) << v[0];
}

TEST(Allocation, PredictMakesNone) {
  const auto inputs = Inputs();
  const std::string id(200, 'x');
  for (const auto& forecaster : OneOfEach()) {
    const auto workspace = forecaster->MakeWorkspace();
    Forecast forecast(forecaster->info().shape);
    const long before = allocations;
    for (const auto& samples : inputs) {
      forecaster->Predict({id, samples, 0.01}, *workspace, forecast);
    }
    EXPECT_EQ(allocations - before, 0) << forecaster->info().name;
  }
}

TEST(Allocation, NeitherDoesABatchIntoCopies) {
  const auto inputs = Inputs();
  std::vector<History> histories;
  for (const auto& samples : inputs) histories.push_back({"bird", samples, 0.01});
  for (const auto& forecaster : OneOfEach()) {
    const auto workspace = forecaster->MakeWorkspace();
    std::vector<Forecast> forecasts(histories.size(), Forecast(forecaster->info().shape));
    const std::vector<Forecast> assigned = forecasts;
    forecasts = assigned;
    const long before = allocations;
    forecaster->PredictBatch(histories, *workspace, forecasts);
    EXPECT_EQ(allocations - before, 0) << forecaster->info().name;
  }
}

TEST(Allocation, ReadingAForecastMakesNone) {
  const Forecast f = PredictOnce(**MakeClassical("imm"), Observe(Wander(1)));
  std::vector<Vec3> paths(50 * 10);
  Forecast asked = f;
  const long before = allocations;
  asked.AskAt(f.t0_ns + 10);
  asked.SamplePaths(1, 10, paths);
  EXPECT_TRUE(asked.IsValid() && asked.mode_entropy() >= 0 && asked.mixture_cov(3).xx > 0);
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace aerocast
