// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/plus_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "src/forecast/forecaster_testing.h"
#include "src/forecast/plus.h"

namespace aerocast {
namespace {

using testing::HasSubstr;

RunConfig Config() {
  RunConfig run;
  run.model = OddConfig(Architecture::kMlp, Family::kPlus);
  run.model.history_steps = 40, run.model.patch = 5, run.model.horizon_steps = 20;
  run.sampler.generated_flights = 18;
  return run;
}

class PlusSamplesTest : public testing::Test {
 protected:
  PlusSamplesTest() {
    for (std::uint64_t n = 0; n < 3; ++n) {
      Recording& flight = flights_.emplace_back();
      flight.category = n == 0 ? "circle" : "star";
      flight.samples = Observe(Wander(n), 50, 15);
      pointers_.push_back(nullptr);
    }
    for (std::size_t n = 0; n < 3; ++n) pointers_[n] = &flights_[n];
  }
  std::unique_ptr<PlusSamples> Make(const RunConfig& run, std::uint64_t seed = 1) {
    return *PlusSamples::Make(pointers_, kNoMinZ, run, seed, 1);
  }
  struct Sample {
    std::vector<float> tokens, targets;
    bool operator==(const Sample&) const = default;
  };
  static Sample Draw(PlusSamples& samples, std::uint64_t n, int history) {
    const ModelConfig& c = samples.config();
    Sample sample;
    sample.tokens.resize(static_cast<std::size_t>(c.tokens() * c.inputs()));
    sample.targets.resize(samples.targets());
    BatchRequest request;
    request.history = history;
    samples.Write(n, request, sample.tokens, sample.targets);
    return sample;
  }

  std::vector<Recording> flights_;
  std::vector<const Recording*> pointers_;
};

TEST_F(PlusSamplesTest, ASampleIsTheSameWhoeverAsksWhenever) {
  const auto one = Make(Config()), two = Make(Config());
  for (const std::uint64_t n : {5u, 1u, 900u, 5u}) EXPECT_EQ(Draw(*one, n, 8), Draw(*two, n, 8));
  EXPECT_NE(Draw(*one, 1, 8), Draw(*one, 2, 8));
  EXPECT_NE(Draw(*one, 1, 8), Draw(*Make(Config(), 2), 1, 8));
}

TEST_F(PlusSamplesTest, SeesAsMuchHistoryAsTheBatchDoes) {
  const auto samples = Make(Config());
  const auto inputs = static_cast<std::size_t>(samples->config().inputs());
  for (const int history : {1, 4, 8}) {
    for (std::uint64_t n = 0; n < 50; ++n) {
      const Sample sample = Draw(*samples, n, history);
      const std::size_t first = (8 - static_cast<std::size_t>(history)) * inputs;
      for (std::size_t i = 0; i < first; ++i) ASSERT_EQ(sample.tokens[i], 0);
      // The oldest seen token has a known point: the known flags are every eighth number from 6 on.
      float known = 0;
      for (std::size_t j = 0; j < 5; ++j) known += sample.tokens[first + 8 * j + 6];
      EXPECT_GT(known, 0) << history;
      for (const float x : sample.targets) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

// Without any disturbance a sample is a window of a flight: its targets go on from its tokens.
TEST_F(PlusSamplesTest, TargetsGoOnFromTheHistory) {
  RunConfig run = Config();
  run.sampler = {.generated = 0, .time_scale = 0, .clean = 1, .drop = 0, .outliers = 0};
  const auto samples = Make(run);
  for (std::uint64_t n = 0; n < 50; ++n) {
    const Sample sample = Draw(*samples, n, 8);
    const float* last_step = &sample.tokens[sample.tokens.size() - 5 - 8];
    for (int axis = 0; axis < 3; ++axis) {
      // A tenth of a second on, the object has hardly changed its mind.
      EXPECT_NEAR(sample.targets[static_cast<std::size_t>(axis)], last_step[axis], 0.6) << n;
    }
  }
}

// The corpus has one speed; flown again it has many.
TEST_F(PlusSamplesTest, ReflownFlightsHaveOtherSpeeds) {
  RunConfig run = Config();
  run.sampler = {.generated = 0, .warped = 0, .clean = 1, .drop = 0, .outliers = 0};
  for (Recording& flight : flights_) {
    for (Observation& sample : flight.samples) sample.p_world = 0.2 * sample.p_world;
  }
  const auto spread = [&](double reflown) {
    run.sampler.reflown = reflown;
    const auto samples = Make(run);
    double sum = 0, square = 0;
    for (std::uint64_t n = 0; n < 200; ++n) {
      const double log_step = std::log(Draw(*samples, n, 8).targets.back());
      sum += log_step, square += log_step * log_step;
    }
    return std::sqrt(square / 200 - sum * sum / 4e4);
  };
  const double as_flown = spread(0), again = spread(1);
  EXPECT_GT(again, as_flown + 0.1);
}

// Of windows of two seconds, those of flights that stop at waypoints leave the place they hover at:
// the way ahead is long in units of the steps behind.
TEST_F(PlusSamplesTest, StopAndGoComesInItsShare) {
  RunConfig run = Config();
  run.sampler = {.generated = 1, .fliers = 0, .warped = 0, .clean = 1, .drop = 0, .outliers = 0};
  run.sampler.generated_flights = 60;
  const auto departures = [&](double share) {
    run.sampler.stop_and_go = share;
    const auto samples = Make(run);
    int count = 0;
    for (std::uint64_t n = 0; n < 400; ++n) {
      const std::vector<float> p = Draw(*samples, n, 4).targets;
      const std::size_t last = p.size() - 4;
      const Vec3 end{p[last], p[last + 1], p[last + 2]};
      count += Norm(end) > 1.5 * static_cast<double>(samples->config().horizon_steps);
    }
    return count;
  };
  const int none = departures(0), half = departures(0.5), all = departures(1);
  EXPECT_LT(none + 20, half);
  EXPECT_LT(half + 20, all);
}

TEST_F(PlusSamplesTest, NoiseIsNeverInTheTargets) {
  RunConfig clean = Config(), noisy = Config();
  clean.sampler = {.generated = 0, .clean = 1, .noise_unstated = 0, .drop = 0, .outliers = 0};
  noisy.sampler = clean.sampler;
  noisy.sampler.clean = 0, noisy.sampler.noise_least = noisy.sampler.noise_most = 0.05;
  const auto a = Make(clean), b = Make(noisy);
  for (std::uint64_t n = 0; n < 30; ++n) {
    const Sample x = Draw(*a, n, 8), y = Draw(*b, n, 8);
    const std::size_t last = x.targets.size() - 1;
    // The frames differ by the noise of the newest point and of the heading; steps between targets
    // do not know the first, and their lengths not the second.
    const auto length = [&](const Sample& s, std::size_t i) {
      return double{s.targets[last]} * std::hypot(s.targets[3 * i + 3] - s.targets[3 * i],
                                                  s.targets[3 * i + 4] - s.targets[3 * i + 1],
                                                  s.targets[3 * i + 5] - s.targets[3 * i + 2]);
    };
    for (std::size_t i = 0; i < 19; ++i) EXPECT_NEAR(length(x, i), length(y, i), 1e-5) << n;
  }
}

TEST(PlusHistory, IsDrawnPerBatchInTheStatedShares) {
  RunConfig run = Config();
  run.sampler.whole_history = 0.4, run.sampler.short_history = 0.25;
  std::map<int, int> counts;
  for (std::uint64_t n = 0; n < 4000; ++n) ++counts[PlusHistory(run, 1, 128 * n)];
  EXPECT_EQ(counts.begin()->first, 1);
  EXPECT_EQ(counts.rbegin()->first, 8);
  EXPECT_NEAR(counts[8] / 4000.0, 0.4 + 0.35 / 8, 0.03);
  EXPECT_NEAR(counts[4] / 4000.0, 0.25 + 0.35 / 8, 0.03) << "two seconds";
  EXPECT_EQ(PlusHistory(run, 1, 7), PlusHistory(run, 1, 7));
}

TEST_F(PlusSamplesTest, ShortFlightsAreRefusedInOneSentence) {
  flights_.resize(1);
  flights_[0].samples = Observe(Wander(1), 50, 1);
  const auto made =
      PlusSamples::Make(std::vector<const Recording*>{flights_.data()}, kNoMinZ, Config(), 1, 1);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("none of 1 flights is in the air for 2.5 s"));
}

// What validation sees is what the runtime sees: the same tokens for the same window.
TEST_F(PlusSamplesTest, ValidationIsTheRuntimesView) {
  const ModelConfig model = Config().model;
  WindowSpec spec;
  spec.history_s = spec.min_history_s = 4, spec.horizon_s = 2;
  const auto windows = CutFlights(pointers_, spec);
  const auto sets = PlusValidation(windows, model, 7);
  ASSERT_TRUE(sets.ok()) << sets.error().message;
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[0].history, 8);
  EXPECT_EQ((*sets)[1].history, 4);
  for (const ValidationSet& set : *sets) {
    EXPECT_LE(set.windows, 7u);
    std::vector<float> seen;
    const TestNetwork network(model, [&](std::span<const float> tokens, std::span<float> heads) {
      seen.assign(tokens.begin(), tokens.end());
      std::fill(heads.begin(), heads.end(), 0.f);
    });
    Forecast forecast(network.info().shape);
    History history = HistoryAt(*windows[0].flight, windows[0].t0[0], set.history * 0.5);
    history.samples = history.samples.subspan(history.samples.size() -
                                              static_cast<std::size_t>(set.history * 25 + 1));
    network.Predict(history, *network.MakeWorkspace(), forecast);
    const std::vector<float> first(set.tokens.begin(),
                                   set.tokens.begin() + static_cast<std::ptrdiff_t>(seen.size()));
    EXPECT_EQ(first, seen) << set.history;
  }
}

}  // namespace
}  // namespace aerocast
