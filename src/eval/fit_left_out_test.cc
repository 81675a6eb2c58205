// SPDX-License-Identifier: BSD-3-Clause
//
// What ridge and knn are fitted on: which windows count, and which are left out together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "src/eval/fit_testing.h"

namespace aerocast {
namespace {

constexpr std::string_view kLearning[] = {"ridge", "knn"};

// The same flight again, a little beside itself.
Recording Repeat(const Recording& flight, int repetition) {
  Rng rng(static_cast<std::uint64_t>(repetition));
  Recording again = flight;
  again.configuration = flight.id;
  again.id += "-" + std::to_string(repetition);
  const Vec3 beside = {rng.Uniform(-1, 1), rng.Uniform(-1, 1), rng.Uniform(-1, 1)};
  for (Observation& o : again.samples) {
    o.p_world += beside + 1e-3 * Vec3{rng.Normal(), rng.Normal(), rng.Normal()};
  }
  return again;
}

// Four configurations flown three times each. They take turns, so that those of one configuration
// do not stand side by side.
const FitCorpus& Repeated() {
  static const FitCorpus corpus = [] {
    std::vector<Recording> flights;
    for (int repetition = 0; repetition < 3; ++repetition) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        flights.push_back(Repeat(FlyAtRandom(300 + seed), repetition));
      }
    }
    return CutCorpus(std::move(flights), Options().spec);
  }();
  return corpus;
}

std::unique_ptr<Forecaster> FitRepeated(std::string_view name, bool by_configuration,
                                        int threads = 2) {
  FitOptions options = Options(threads);
  options.by_configuration = by_configuration;
  return *FitClassical(name, Repeated().windows, options);
}

// Mean over the windows of the standard deviation at the last step, metres.
double Width(const Forecaster& forecaster, const FitCorpus& corpus) {
  const auto workspace = forecaster.MakeWorkspace();
  Forecast f(forecaster.info().shape);
  double sum = 0, windows = 0;
  for (const FlightWindows& w : corpus.windows) {
    for (const std::uint32_t t0 : w.t0) {
      forecaster.Predict(HistoryAt(*w.flight, t0, 2.0), *workspace, f);
      const Cov3 cov = f.mixture_cov(f.steps() - 1);
      sum += std::sqrt(cov.xx + cov.yy + cov.zz), ++windows;
    }
  }
  return sum / windows;
}

TEST(FitLeftOut, RepetitionsWouldMakeTheSpreadTooNarrow) {
  const FitCorpus fresh = MakeCorpus(900, 6, Options().spec);
  for (const std::string_view name : kLearning) {
    const auto by_flight = FitRepeated(name, false), by_configuration = FitRepeated(name, true);
    const double narrow = Evaluate(*by_flight, fresh.windows, Options().spec).inside;
    const double wide = Evaluate(*by_configuration, fresh.windows, Options().spec).inside;
    EXPECT_GT(Width(*by_configuration, fresh), 1.2 * Width(*by_flight, fresh)) << name;
    EXPECT_GT(wide, narrow + 0.05) << name;
  }
}

TEST(FitLeftOut, ByConfigurationDoesNotDependOnThreads) {
  for (const std::string_view name : kLearning) {
    EXPECT_EQ(FitRepeated(name, true, 1)->info().fingerprint,
              FitRepeated(name, true, 3)->info().fingerprint);
  }
}

TEST(FitLeftOut, FlightsWithoutConfigurationStandForThemselves) {
  const FitCorpus corpus = MakeCorpus(100, 6, Options().spec);
  FitOptions options = Options();
  options.by_configuration = true;
  for (const std::string_view name : kLearning) {
    EXPECT_EQ((*FitClassical(name, corpus.windows, options))->info().fingerprint,
              (*FitClassical(name, corpus.windows, Options()))->info().fingerprint);
  }
}

TEST(FitLeftOut, NeedsASecondConfiguration) {
  std::vector<FlightWindows> one;
  for (std::size_t i = 0; i < Repeated().windows.size(); i += 4) {
    one.push_back(Repeated().windows[i]);
  }
  FitOptions options = Options();
  for (const std::string_view name : kLearning) {
    options.by_configuration = false;
    EXPECT_TRUE(FitClassical(name, one, options).ok()) << name;
    options.by_configuration = true;
    EXPECT_THAT(FitClassical(name, one, options).error().message,
                testing::HasSubstr("of 1 configuration,"));
  }
}

TEST(FitGrid, AnswersForAnyDt) {
  // 0.3 s and 0.7 s do not divide the 2 s that are looked at.
  for (const auto& [dt, history, reach] :
       {std::array{0.2, 2.0, 2.0}, std::array{0.3, 3.0, 1.8}, std::array{0.7, 2.1, 1.4}}) {
    FitOptions options = Options();
    options.spec.dt_s = dt, options.spec.stride = 1, options.spec.horizon_s = 4 * dt;
    options.spec.history_s = options.spec.min_history_s = history;
    const FitCorpus corpus = MakeCorpus(500, 6, options.spec);
    const FlightWindows& some = corpus.windows[2];
    for (const std::string_view name : kLearning) {
      const auto forecaster = *FitClassical(name, corpus.windows, options);
      EXPECT_NEAR(forecaster->info().history_s, reach, 1e-9);
      Forecast f(forecaster->info().shape);
      forecaster->Predict(HistoryAt(*some.flight, some.t0[9], history),
                          *forecaster->MakeWorkspace(), f);
      EXPECT_EQ(f.quality, Quality::kOk) << name << ", dt " << dt;
    }
  }
}

TEST(FitGrid, RefusesADtThatLeavesNoPath) {
  FitOptions options = Options();
  options.spec.dt_s = options.spec.horizon_s = 1.5, options.spec.history_s = 3;
  const FitCorpus corpus = MakeCorpus(500, 12, options.spec);
  for (const std::string_view name : kLearning) {
    EXPECT_EQ(FitClassical(name, corpus.windows, options).error().message,
              "ridge and knn need two steps of history within 2 s, and dt is 1.5 s");
  }
}

TEST(FitGrid, CountsOnlyWindowsThatCanBeAnswered) {
  // Windows from the first two seconds of a flight have no history to fill the grid.
  FitOptions options = Options();
  options.spec.min_history_s = 0.1, options.spec.stride = 1;
  FitCorpus corpus = MakeCorpus(500, 12, options.spec);
  const std::vector<std::uint32_t> all_of_first = corpus.windows[0].t0;
  for (FlightWindows& w : corpus.windows) w.t0.resize(18);
  EXPECT_TRUE(FitClassical("ctrv", corpus.windows, options).ok());
  for (const std::string_view name : kLearning) {
    EXPECT_THAT(FitClassical(name, corpus.windows, options).error().message,
                testing::HasSubstr("0 usable windows of 0 flights"));
  }
  corpus.windows[0].t0 = all_of_first;
  for (const std::string_view name : kLearning) {
    EXPECT_THAT(FitClassical(name, corpus.windows, options).error().message,
                testing::HasSubstr("of 1 flight,"));
  }
}

TEST(FitGrid, CountsOnlyWindowsWithTargets) {
  // Cut for one second ahead at the very end, asked for five.
  FitOptions options = Options();
  options.spec.horizon_s = 1, options.spec.stride = 1;
  FitCorpus corpus = MakeCorpus(500, 12, options.spec);
  for (FlightWindows& w : corpus.windows) w.t0.erase(w.t0.begin(), w.t0.end() - 30);
  EXPECT_TRUE(FitClassical("cv", corpus.windows, options).ok());
  options.spec.horizon_s = 5;
  EXPECT_THAT(FitClassical("cv", corpus.windows, options).error().message,
              testing::HasSubstr("0 usable windows of 0 flights"));
}

}  // namespace
}  // namespace aerocast
