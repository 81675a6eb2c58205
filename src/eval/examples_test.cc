// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/examples.h"

#include <gtest/gtest.h>

#include "src/eval/normal.h"
#include "src/eval/test_source.h"

namespace aerocast {
namespace {

using testing::CutAll;
using testing::FunctionSource;
using testing::MixtureSource;
using testing::TestMixture;
using testing::WhiteFlight;

std::vector<ExampleWindow> Examples(const FunctionSource& source,
                                    const std::vector<Recording>& recordings, int count = 5) {
  const ForecastSource* const sources[] = {&source};
  return MakeExamples(sources, CutAll(recordings), {}, count);
}

ExampleForecast OnlyForecast(const FunctionSource& source) {
  return Examples(source, {WhiteFlight("a", "circle", {}, 40, 1)}).at(0).forecasts.at(0);
}

TEST(MakeExamples, GivesOneWindowPerCategory) {
  std::vector<Recording> recordings;
  for (const char* category : {"circle", "circle", "oval"}) {
    recordings.push_back(WhiteFlight("white", category, {}, 40, 1));
  }
  const auto examples = Examples(MixtureSource({}), recordings);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[1].category, "oval");
  EXPECT_EQ(examples[0].history.size(), 21u);
  EXPECT_EQ(examples[0].target.size(), 50u);
  EXPECT_EQ(examples[0].forecasts[0].point.size(), 50u);
  EXPECT_EQ(Examples(MixtureSource({}), recordings, 1).size(), 1u);
}

TEST(MakeExamples, RadiiHoldNinetyPercentOfTheMixture) {
  const ExampleForecast forecast = OnlyForecast(MixtureSource({}));
  EXPECT_EQ(forecast.region, RegionKind::kDraws);
  ASSERT_EQ(forecast.radius_90.size(), 50u);
  for (const double r : forecast.radius_90) EXPECT_NEAR(r, RadialQuantile(0.9), 0.2);
}

TEST(MakeExamples, ModesAreHeaviestFirstWithoutTheLightest) {
  const TestMixture mixture{{0.01, 0.29, 0.7},
                            {{9, 9, 9}, {1, 0, 0}, {2, 0, 0}},
                            {Cov3::Isotropic(1), Cov3::Isotropic(1), Cov3::Isotropic(1)}};
  const ExampleForecast forecast = OnlyForecast(MixtureSource(mixture));
  ASSERT_EQ(forecast.modes.size(), 2u);
  EXPECT_EQ(forecast.modes[0].weight, 0.7);
  EXPECT_EQ(forecast.modes[0].mean, std::vector<Vec3>(50, Vec3{2, 0, 0}));
  EXPECT_EQ(forecast.modes[1].weight, 0.29);
}

TEST(MakeExamples, TakesTheConformalRadiiThatTheModelStates) {
  const FunctionSource source = {{.steps = 50, .modes = 0, .conformal_levels = 2},
                                 [](const Recording&, std::size_t, const History&, Forecast& f) {
                                   f.conformal.level = {0.5, 0.9};
                                   for (std::size_t i = 0; i < 100; ++i)
                                     f.conformal.radius[i] = static_cast<double>(i);
                                   return true;
                                 }};
  const ExampleForecast forecast = OnlyForecast(source);
  EXPECT_EQ(forecast.region, RegionKind::kConformal);
  ASSERT_EQ(forecast.radius_90.size(), 50u);
  EXPECT_EQ(forecast.radius_90[0], 50);
  EXPECT_TRUE(forecast.modes.empty());
}

TEST(MakeExamples, APathAloneHasNoRegionAndNoForecastNoPath) {
  const ExampleForecast path =
      OnlyForecast({{.steps = 50, .modes = 0}, [](auto&&...) { return true; }});
  EXPECT_EQ(path.region, RegionKind::kNone);
  EXPECT_EQ(path.point.size(), 50u);
  const ExampleForecast none = OnlyForecast(
      {{.steps = 50, .modes = 1}, [](const Recording&, std::size_t, const History&, Forecast& f) {
         f.quality = Quality::kNone;
         return true;
       }});
  EXPECT_EQ(none.quality, Quality::kNone);
  EXPECT_TRUE(none.point.empty());
}

}  // namespace
}  // namespace aerocast
