// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include "src/base/rng.h"
#include "src/data/resample.h"
#include "src/data/test_flight.h"
#include "src/forecast/network_forecaster.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 7;

ModelConfig OddModel() {
  ModelConfig config;
  config.history_steps = 7;
  config.horizon_steps = 5;
  return config;
}

// A circle with uneven stamps.
Recording UnevenFlight(double seconds = 8) {
  Recording flight = MakeFlight(seconds, 30, [](double t) { return CirclePath(t); });
  Rng rng(1);
  for (Observation& o : flight.samples) o.t_ns += DurationNs(rng.Uniform(0, 0.02));
  return flight;
}

// Observed with noise, truth beside it.
Recording FlightWithTruth() {
  Recording flight = UnevenFlight();
  Rng rng(2);
  for (Observation& o : flight.samples) {
    flight.truth.push_back(o.p_world);
    o.p_world += 0.01 * Vec3{rng.Normal(), rng.Normal(), rng.Normal()};
  }
  return flight;
}

struct Example {
  std::vector<float> tokens, targets;

  friend bool operator==(const Example&, const Example&) = default;
};

Example Empty(const ModelConfig& config) {
  return {std::vector<float>(static_cast<std::size_t>(config.history_steps * config.inputs())),
          std::vector<float>(static_cast<std::size_t>(config.horizon_steps * 3))};
}

Example Written(const ExampleSet& set, std::size_t n) {
  Example e = Empty(set.config());
  set.Write(n, e.tokens, e.targets);
  return e;
}

Example Disturbed(const ExampleSet& set, std::size_t n, double noise_m, double scale,
                  std::uint64_t sample, std::uint64_t seed = kSeed) {
  Example e = Empty(set.config());
  set.WriteDisturbed(n, noise_m, scale, seed, sample, e.tokens, e.targets);
  return e;
}

ExampleSet MakeSet(const Recording& flight, std::vector<std::uint32_t> t0,
                   const ModelConfig& config = OddModel()) {
  const FlightWindows windows{&flight, std::move(t0)};
  Result<ExampleSet> set = ExampleSet::Make({&windows, 1}, config);
  EXPECT_TRUE(set.ok()) << set.error().message;
  return *set;
}

std::vector<std::uint32_t> Range(std::uint32_t from, std::uint32_t count) {
  std::vector<std::uint32_t> t0(count);
  std::iota(t0.begin(), t0.end(), from);
  return t0;
}

TEST(ExampleSet, TokensAreThoseOfTheForecaster) {
  const Recording flight = FlightWithTruth();
  for (const bool velocity : {true, false}) {
    ModelConfig config = OddModel();
    config.velocity = velocity;
    const ExampleSet set = MakeSet(flight, {40, 77}, config);
    for (std::size_t n = 0; n < 2; ++n) {
      std::vector<Vec3> grid(8);
      std::vector<std::uint8_t> present(8);
      const History history = HistoryAt(flight, n == 0 ? 40 : 77, 0.7);
      ASSERT_EQ(ResampleHistory(history, 0.1, 0.25, grid, present), 8);
      std::vector<float> tokens(7 * (velocity ? 6 : 3));
      PaperTokens(grid, config, tokens);
      EXPECT_EQ(Written(set, n).tokens, tokens);
    }
  }
}

TEST(ExampleSet, TargetsAreTrueDisplacementsFromTheTrueLastPosition) {
  const Recording flight = FlightWithTruth();
  const ExampleSet set = MakeSet(flight, {50});
  std::vector<Vec3> targets(5);
  ASSERT_TRUE(TargetsAt(flight, 50, PaperWindows(), targets));
  Vec3 last = flight.truth[50];
  const Example e = Written(set, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    const Vec3 d = (targets[i] - last) * (1 / 2.5);
    EXPECT_NEAR(e.targets[3 * i], d.x, 1e-7);
    EXPECT_NEAR(e.targets[3 * i + 1], d.y, 1e-7);
    EXPECT_NEAR(e.targets[3 * i + 2], d.z, 1e-7);
    last = targets[i];
  }
}

TEST(ExampleSet, NothingAfterT0ReachesTheTokens) {
  for (const bool with_truth : {false, true}) {
    const Recording flight = with_truth ? FlightWithTruth() : UnevenFlight();
    Recording changed = flight;
    for (std::size_t i = 51; i < changed.samples.size(); ++i) {
      changed.samples[i].p_world += Vec3{1, -2, 3};
      if (with_truth) changed.truth[i] += Vec3{1, -2, 3};
    }
    if (with_truth) {  // what is true is not observed, not even before t0
      for (std::size_t i = 0; i <= 50; ++i) changed.truth[i] += Vec3{5, 5, 5};
    }
    const ExampleSet set = MakeSet(flight, {50}), after = MakeSet(changed, {50});
    EXPECT_EQ(Written(set, 0).tokens, Written(after, 0).tokens);
    EXPECT_NE(Written(set, 0).targets, Written(after, 0).targets);
    EXPECT_EQ(Disturbed(set, 0, 0.02, 0, 3).tokens, Disturbed(after, 0, 0.02, 0, 3).tokens);
  }
}

TEST(ExampleSet, LeavesOutWindowsWithAHole) {
  Recording flight = MakeFlight(8, 20, [](double t) { return CirclePath(t); });
  // 0.35 s are missing around 3 s.
  flight.samples.erase(flight.samples.begin() + 58, flight.samples.begin() + 64);
  // Too early, good, hole in the targets, hole in the history, good, too late.
  const ExampleSet set = MakeSet(flight, {10, 40, 57, 60, 80, 153});
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(set.left_out(), 4u);
  const ExampleSet good = MakeSet(flight, {40, 80});
  EXPECT_EQ(good.left_out(), 0u);
  for (std::size_t n = 0; n < 2; ++n) EXPECT_EQ(Written(set, n), Written(good, n));
}

TEST(ExampleSet, SaysThatNoneIsLeft) {
  const Recording flight = UnevenFlight();
  const FlightWindows windows{&flight, {0, 3}};
  const Result<ExampleSet> set = ExampleSet::Make({&windows, 1}, OddModel());
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().message,
            "none of 2 windows has 7 steps of history and 5 of targets without a hole, expected at "
            "least one");
  EXPECT_THAT(ExampleSet::Make({}, OddModel()).error().message, HasSubstr("none of 0 windows"));
}

TEST(ExampleSet, ThinsEvenly) {
  const Recording flight = UnevenFlight();
  const ExampleSet set = MakeSet(flight, Range(40, 10));
  const ExampleSet thin = set.Thinned(4);
  ASSERT_EQ(thin.size(), 4u);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(Written(thin, n), Written(set, 3 * n));
  EXPECT_EQ(set.Thinned(3).size(), 3u);
  EXPECT_EQ(set.Thinned(9).size(), 5u);
  EXPECT_EQ(set.Thinned(10).size(), 10u);
  EXPECT_EQ(set.Thinned(99).size(), 10u);
  EXPECT_EQ(set.Thinned(1).size(), 1u);
}

TEST(Disturbance, IsWhiteNoiseOnEveryObservedPosition) {
  const Recording flight = UnevenFlight();
  const ExampleSet set = MakeSet(flight, {60});
  const Example clean = Written(set, 0);
  constexpr int kDraws = 4000;
  constexpr double kNoise = 0.02;
  // A displacement is the difference of two positions: variance 2, and -1 with its neighbour.
  std::vector<double> variance(7), covariance(6);
  for (int sample = 0; sample < kDraws; ++sample) {
    const Example e = Disturbed(set, 0, kNoise, 0, static_cast<std::uint64_t>(sample));
    EXPECT_EQ(e.targets, clean.targets);
    const auto moved = [&](std::size_t t, std::size_t axis) {
      return (e.tokens[6 * t + axis] - clean.tokens[6 * t + axis]) * 2.5 / kNoise;
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t t = 0; t < 7; ++t) variance[t] += moved(t, axis) * moved(t, axis);
      for (std::size_t t = 0; t < 6; ++t) covariance[t] += moved(t, axis) * moved(t + 1, axis);
    }
  }
  // Three standard errors of 12,000 draws: 2 * sqrt(2 / 12000) * 3 and sqrt(5 / 12000) * 3.
  for (const double v : variance) EXPECT_NEAR(v / (3 * kDraws), 2, 0.08);
  for (const double c : covariance) EXPECT_NEAR(c / (3 * kDraws), -1, 0.07);
}

TEST(Disturbance, ScalesHistoryAndTargetsAlike) {
  const Recording flight = FlightWithTruth();
  const ExampleSet set = MakeSet(flight, {60});
  const Example clean = Written(set, 0);
  double least = 2, most = 0, sum = 0;
  constexpr int kDraws = 1000;
  for (int sample = 0; sample < kDraws; ++sample) {
    const Example e = Disturbed(set, 0, 0, 0.05, static_cast<std::uint64_t>(sample));
    const double scale = e.targets[0] / clean.targets[0];
    for (std::size_t i = 0; i < e.targets.size(); ++i) {
      EXPECT_NEAR(e.targets[i], scale * clean.targets[i], 1e-6);
    }
    for (std::size_t i = 0; i < e.tokens.size(); ++i) {
      EXPECT_NEAR(e.tokens[i], scale * clean.tokens[i], 2e-6);
    }
    least = std::min(least, scale), most = std::max(most, scale), sum += scale;
  }
  EXPECT_GE(least, 0.95 - 1e-6);
  EXPECT_LE(most, 1.05 + 1e-6);
  EXPECT_LT(least, 0.951);
  EXPECT_GT(most, 1.049);
  EXPECT_NEAR(sum / kDraws, 1, 0.003);
}

TEST(Disturbance, DependsOnSeedAndSampleAlone) {
  const Recording flight = UnevenFlight();
  const ExampleSet set = MakeSet(flight, {60, 61});
  const Example e = Disturbed(set, 0, 0.02, 0.05, 5);
  EXPECT_NE(Disturbed(set, 0, 0.02, 0.05, 6), e);
  EXPECT_NE(Disturbed(set, 0, 0.02, 0.05, 5, kSeed + 1), e);
  Disturbed(set, 1, 0.02, 0.05, 9);
  EXPECT_EQ(Disturbed(set, 0, 0.02, 0.05, 5), e);
}

std::vector<std::size_t> Epoch(SampleOrder& order, std::size_t windows, std::uint64_t epoch) {
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < windows; ++i) seen.push_back(order.WindowOf(epoch * windows + i));
  return seen;
}

TEST(SampleOrder, EveryEpochIsAPermutationOfItsOwn) {
  for (const std::size_t windows : {1, 2, 13, 1000}) {
    SampleOrder order(windows, kSeed);
    std::set<std::vector<std::size_t>> different;
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      const std::vector<std::size_t> seen = Epoch(order, windows, epoch);
      EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), windows);
      EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), windows - 1);
      different.insert(seen);
    }
    EXPECT_GE(different.size(), windows > 10 ? 5u : 1u);
  }
  SampleOrder a(1000, 1), b(1000, 2);
  EXPECT_NE(Epoch(a, 1000, 0), Epoch(b, 1000, 0));
}

TEST(SampleOrder, DoesNotDependOnWhatWasAskedBefore) {
  SampleOrder straight(13, kSeed), jumping(13, kSeed);
  std::vector<std::size_t> expected;
  for (std::uint64_t n = 0; n < 100; ++n) expected.push_back(straight.WindowOf(n));
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t n = rng.Below(100);
    EXPECT_EQ(jumping.WindowOf(n), expected[n]);
  }
}

// Every window comes to every place equally often.
TEST(SampleOrder, IsFair) {
  constexpr std::size_t kWindows = 5, kEpochs = 20'000;
  SampleOrder order(kWindows, kSeed);
  std::vector<int> count(kWindows * kWindows);
  for (std::uint64_t n = 0; n < kWindows * kEpochs; ++n) {
    ++count[order.WindowOf(n) * kWindows + n % kWindows];
  }
  for (const int c : count) EXPECT_NEAR(c, kEpochs / 5.0, 4 * std::sqrt(kEpochs * 0.16));
}

class Builder : public testing::Test {
 protected:
  static constexpr std::size_t kWindows = 11;

  // The samples of the requests, one after the other. As the trainer does, the next is asked for
  // before this one is looked at.
  static std::vector<Example> Build(BatchBuilder& builder,
                                    const std::vector<BatchRequest>& requests) {
    std::vector<Example> examples;
    for (std::size_t r = 0; r < requests.size(); ++r) {
      if (r == 0) builder.Ask(requests[0]);
      const Batch& batch = builder.Take();
      EXPECT_EQ(batch.request, requests[r]);
      if (r + 1 < requests.size()) builder.Ask(requests[r + 1]);
      const auto size = static_cast<std::size_t>(requests[r].size);
      EXPECT_EQ(batch.tokens.size(), size * 7 * 6);
      EXPECT_EQ(batch.targets.size(), size * 5 * 3);
      for (std::size_t i = 0; i < size; ++i) {
        const auto tokens = batch.tokens.begin() + static_cast<std::ptrdiff_t>(i * 42);
        const auto targets = batch.targets.begin() + static_cast<std::ptrdiff_t>(i * 15);
        examples.push_back({{tokens, tokens + 42}, {targets, targets + 15}});
      }
    }
    return examples;
  }

  Recording flight_ = UnevenFlight();
  ExampleSet set_ = MakeSet(flight_, Range(40, kWindows));
  TrainConfig config_;
};

TEST_F(Builder, BatchesHoldTheSamplesAskedForAcrossEpochs) {
  PaperSamples builder_samples(set_, config_, kSeed);
  BatchBuilder builder(builder_samples);
  // 25 samples of 11 windows: the second request runs over an epoch's end, the third over another.
  const std::vector<Example> built =
      Build(builder, {{0, 4, false}, {4, 10, true}, {14, 11, false}});
  SampleOrder order(kWindows, kSeed);
  ASSERT_EQ(built.size(), 25u);
  for (std::uint64_t n = 0; n < 25; ++n) {
    const std::size_t window = order.WindowOf(n);
    const bool disturbed = n >= 4 && n < 14;
    EXPECT_EQ(built[n],
              disturbed ? Disturbed(set_, window, config_.augment_noise_m, config_.augment_scale, n)
                        : Written(set_, window))
        << n;
  }
}

TEST_F(Builder, AnySlicingGivesTheSameBits) {
  for (const bool disturbed : {false, true}) {
    PaperSamples of_whole(set_, config_, kSeed), of_sliced(set_, config_, kSeed);
    BatchBuilder whole(of_whole), sliced(of_sliced);
    const std::vector<Example> expected = Build(whole, {{0, 24, disturbed}, {24, 24, disturbed}});
    EXPECT_EQ(Build(sliced, {{0, 1, disturbed},
                             {1, 0, disturbed},
                             {1, 22, disturbed},
                             {23, 8, disturbed},
                             {31, 17, disturbed}}),
              expected);
    // Resumed in the middle.
    PaperSamples resumed_samples(set_, config_, kSeed);
    BatchBuilder resumed(resumed_samples);
    EXPECT_EQ(Build(resumed, {{24, 24, disturbed}}),
              std::vector<Example>(expected.begin() + 24, expected.end()));
  }
}

TEST_F(Builder, ABatchStaysUntilTheNextIsTaken) {
  PaperSamples builder_samples(set_, config_, kSeed);
  BatchBuilder builder(builder_samples);
  builder.Ask({0, 5, true});
  const Batch& first = builder.Take();
  const Batch kept = first;
  builder.Ask({5, 7, true});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the worker has written meanwhile
  EXPECT_EQ(first.tokens, kept.tokens);
  EXPECT_EQ(first.targets, kept.targets);
  EXPECT_EQ(builder.Take().request.first_sample, 5u);
  EXPECT_GE(builder.waited_s(), 0);
}

TEST_F(Builder, CountsTheTimeItIsWaitedFor) {
  PaperSamples builder_samples(set_, config_, kSeed);
  BatchBuilder builder(builder_samples);
  builder.Ask({0, 20'000, true});
  builder.Take();
  EXPECT_GT(builder.waited_s(), 0);
}

TEST_F(Builder, EndsAtAnyMoment) {
  for (int i = 0; i < 50; ++i) {
    PaperSamples idle_samples(set_, config_, kSeed);
    BatchBuilder idle(idle_samples);
    PaperSamples busy_samples(set_, config_, kSeed);
    BatchBuilder busy(busy_samples);
    busy.Ask({0, 20'000, true});
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
    PaperSamples done_samples(set_, config_, kSeed);
    BatchBuilder done(done_samples);
    done.Ask({0, 1, false});
    if (i % 3 == 0) done.Take();
  }
}

}  // namespace
}  // namespace aerocast
