// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/knn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

struct Plain {
  std::vector<std::vector<float>> x;
  WindowLibrary library{6, 3};
};

Plain MakePlain(std::size_t n, std::uint64_t seed) {
  Plain plain;
  Rng rng(seed);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<float> x(6);
    for (float& v : x) v = static_cast<float>(rng.Below(4));  // coarse, so that there are ties
    plain.x.push_back(x);
    plain.library.Add(x, std::vector<float>(3, static_cast<float>(i)));
  }
  return plain;
}

// The scalar twin: sort all, keep order among equals.
std::vector<std::uint32_t> Nearest(const Plain& plain, const std::vector<float>& q,
                                   std::size_t skip_begin, std::size_t skip_end) {
  std::vector<std::pair<float, std::uint32_t>> all;
  for (std::size_t i = 0; i < plain.x.size(); ++i) {
    if (i >= skip_begin && i < skip_end) continue;
    float sum = 0;
    for (std::size_t f = 0; f < q.size(); ++f) {
      sum += (plain.x[i][f] - q[f]) * (plain.x[i][f] - q[f]);
    }
    all.emplace_back(sum, static_cast<std::uint32_t>(i));
  }
  std::sort(all.begin(), all.end());
  std::vector<std::uint32_t> best;
  for (int k = 0; k < kNeighbours; ++k) best.push_back(all[static_cast<std::size_t>(k)].second);
  return best;
}

RC_GTEST_PROP(WindowLibrary, FindsWhatSortingFinds, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(8, 100);
  const auto begin = *rc::gen::inRange<std::size_t>(0, n);
  const auto end = begin + *rc::gen::inRange<std::size_t>(0, std::min(n - begin, n - 4) + 1);
  const Plain plain = MakePlain(n, *rc::gen::arbitrary<std::uint64_t>());
  RC_PRE(n - (end - begin) >= 4);
  const std::vector<float> q = {0.5f, 1, 2, 3, 0, 1.5f};
  const Neighbours found = plain.library.Search(q, begin, end);
  const auto want = Nearest(plain, q, begin, end);
  for (std::size_t k = 0; k < found.size(); ++k) RC_ASSERT(found[k].window == want[k]);
}

TEST(WindowLibrary, KeepsFuturesInOrder) {
  const Plain plain = MakePlain(40, 1);
  EXPECT_EQ(plain.library.size(), 40u);
  EXPECT_EQ(plain.library.future(33)[0], 33);
}

// A library whose only near window is the very window asked for.
TEST(Knn, RepeatsWhatItHasSeen) {
  const MotionLaw law = Wander(3);
  const auto samples = Observe(law);
  KnnParams params;
  params.library = WindowLibrary(60, 150);
  GridWorkspace scratch(params.grid, 0);
  GridFrame grid;
  ASSERT_TRUE(ReadHeadingGrid({"x", samples, 0}, {.per_speed = false}, scratch, grid));
  params.grid.per_speed = false;
  std::vector<float> y;
  for (int i = 1; i <= 50; ++i) {
    const Vec3 q = grid.frame.ToFrame(law(i * 0.1));
    for (const double c : {q.x, q.y, q.z}) y.push_back(static_cast<float>(c));
  }
  params.library.Add(scratch.features, y);
  const std::vector<float> elsewhere(60, 5.0f), nothing(150, 0.0f);
  for (int n = 0; n < 10; ++n) params.library.Add(elsewhere, nothing);
  params.far2 = 0.01;
  ForecasterInfo info;
  info.shape.modes = kNeighbours;
  const KnnForecaster knn(info, std::move(params));
  const Forecast f = PredictOnce(knn, samples);
  EXPECT_EQ(f.quality, Quality::kOk);
  EXPECT_GT(f.weight(0), 0.999);
  EXPECT_LT(Norm(f.point(49) - law(5)), 1e-4);
  EXPECT_EQ(PredictOnce(knn, Observe(Helix(30, 0.5, 0))).quality, Quality::kOutOfDomain);
}

TEST(RidgeAndKnn, FallBackToATurnWhenTheGridHasHoles) {
  std::vector<Observation> samples = Observe(Helix(2, 1, 0.2));
  const Forecast ctrv = PredictOnce(**MakeClassical("ctrv"), samples);
  samples.erase(samples.begin() + 30, samples.begin() + 50);
  for (const auto& forecaster : {MakeTestRidge(), MakeTestKnn()}) {
    const Forecast f = PredictOnce(*forecaster, samples);
    EXPECT_EQ(f.quality, Quality::kFallback);
    EXPECT_EQ(f.modes(), 1);
    EXPECT_LT(Norm(f.point(49) - ctrv.point(49)), 1e-6);
    EXPECT_EQ(PredictOnce(*forecaster, Observe(Helix(2, 1, 0.2), 50, 1.5)).quality,
              Quality::kFallback);
  }
}

TEST(Ridge, IsTheMatrixProductItSays) {
  // Two inputs and the constant, three outputs.
  const std::vector<double> w = {1, 2, 3, 10, 20, 30, 0.5, 0.25, 0.125};
  const std::vector<float> x = {2, -1};
  std::vector<double> y(3);
  ApplyRidge(w, x, y);
  EXPECT_EQ(y, (std::vector<double>{-7.5, -15.75, -23.875}));
}

TEST(HeadingGrid, LooksAlongTheMotionWhateverItsSpeed) {
  GridSpec spec;
  GridWorkspace scratch(spec, 0);
  for (const double speed : {0.5, 20.0}) {
    GridFrame grid;
    const auto samples = Observe([&](double t) { return Vec3{5, -speed * t, 1}; });
    ASSERT_TRUE(ReadHeadingGrid({"x", samples, 0}, spec, scratch, grid));
    EXPECT_NEAR(grid.scale, speed * 0.1, 1e-9);
    EXPECT_NEAR(scratch.features[0], 1, 1e-6);
    EXPECT_NEAR(scratch.features[1], 0, 1e-6);
    EXPECT_NEAR(grid.frame.ToWorld({1, 0, 0}).y, -1, 1e-9);
  }
}

}  // namespace
}  // namespace aerocast
