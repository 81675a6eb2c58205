// SPDX-License-Identifier: BSD-3-Clause
//
// Model files as forecasters: what can go wrong, and the same bits whatever the circumstances. That
// forecasts are valid, alone or in a batch, is tested for every forecaster in forecaster_test.cc.
#include "aerocast/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Load : public testing::Test {
 protected:
  Load() {
    fs::remove_all(dir_), fs::create_directories(dir_);
    EXPECT_TRUE(WriteModel(file_, RandomModel(OddConfig(Architecture::kTransformer), 1)).ok());
  }
  ~Load() override { fs::remove_all(dir_); }

  fs::path dir_ = fs::path(testing::TempDir()) /
                  (std::string("aerocast_load_") +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
  fs::path file_ = dir_ / "model.safetensors";
};

TEST_F(Load, GivesAForecasterThatSaysWhatItIs) {
  const auto forecaster = LoadForecaster(file_);
  ASSERT_TRUE(forecaster.ok()) << forecaster.error().message;
  const ForecasterInfo& info = (*forecaster)->info();
  EXPECT_EQ(info.name, "random");
  EXPECT_THAT(info.description, HasSubstr("transformer network"));
  EXPECT_EQ(info.fingerprint.size(), 64u);
  EXPECT_GT(info.batch, 1);
  EXPECT_EQ(PredictOnce(**forecaster, Observe(Wander(1))).quality, Quality::kOk);
  LoadOptions half;
  half.weights = WeightStorage::kHalf, half.name = "other";
  const auto other = LoadForecaster(file_, half);
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_EQ((*other)->info().name, "other");
  EXPECT_NE((*other)->info().fingerprint, info.fingerprint) << "it behaves differently";
}

TEST_F(Load, RefusesInOneSentence) {
  const auto missing = LoadForecaster(dir_ / "none.safetensors");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("none.safetensors"));
  LoadOptions options;
  options.target = "MMX";
  const auto target = LoadForecaster(file_, options);
  ASSERT_FALSE(target.ok());
  EXPECT_THAT(target.error().message, HasSubstr("cannot run instructions 'MMX'"));
  EXPECT_THAT(target.error().message, HasSubstr("scalar"));
}

TEST_F(Load, DoesNotNeedTheFileAnyMore) {
  const auto forecaster = *LoadForecaster(file_);
  const Forecast before = PredictOnce(*forecaster, Observe(Wander(1)));
  fs::resize_file(file_, 100);
  EXPECT_TRUE(SameBits(before, PredictOnce(*forecaster, Observe(Wander(1)))));
  EXPECT_FALSE(LoadForecaster(file_).ok());
  fs::remove(file_);
  EXPECT_TRUE(SameBits(before, PredictOnce(*forecaster, Observe(Wander(1)))));
}

// Several forecasts of one call have the bits each has alone, on whatever instructions and threads.
TEST(Determinism, ThreadsBatchPositionAndTargetDoNotMatter) {
  std::vector<std::vector<Observation>> samples;
  std::vector<History> histories;
  for (std::uint64_t i = 0; i < 23; ++i) samples.push_back(Observe(Wander(i)));
  samples[5].erase(samples[5].begin() + 95, samples[5].begin() + 120);  // a hole: fallback
  samples[9].clear();
  for (const auto& s : samples) histories.push_back({"bird", s, 0});
  for (const OddNetwork& network : OddNetworks()) {
    const Model model = RandomModel(network.config, 1);
    LoadOptions scalar;
    scalar.target = "scalar";
    std::vector<Forecast> expected;
    for (const auto& s : samples) {
      expected.push_back(PredictOnce(**MakePackedForecaster(model, scalar), s, 0));
      expected.back().id = "bird";
    }
    EXPECT_EQ(expected[5].quality,
              network.config.plus() ? Quality::kShortHistory : Quality::kFallback);
    EXPECT_EQ(expected[9].quality, Quality::kNone);
    for (const std::string& target : SimdTargets()) {
      if (target == "SSE4") continue;  // no fused multiply-add; packed_network_test has its bound
      LoadOptions options;
      options.target = target;
      const auto forecaster = *MakePackedForecaster(model, options);
      for (const int threads : {1, 2, 3}) {
        const auto workspace = forecaster->MakeWorkspace(threads);
        std::vector<Forecast> made(histories.size(), Forecast(forecaster->info().shape));
        forecaster->PredictBatch(histories, *workspace, made);
        for (std::size_t i = 0; i < made.size(); ++i) {
          EXPECT_TRUE(SameBits(made[i], expected[i])) << target << " " << threads << " " << i;
        }
      }
    }
  }
}

// Whatever the samples are, the answer is valid, and says so when it is not the network's.
TEST(Nonsense, GivesAValidFlaggedForecast) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const OddNetwork& network : OddNetworks()) {
    const auto forecaster = *MakePackedForecaster(RandomModel(network.config, 1));
    for (const double bad : {kNan, kInf, -kInf, 1e30, 1e7, 5e-324, 1e-310}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{20}, std::size_t{1000}}) {
        std::vector<Observation> samples = Observe(Wander(2));
        const std::size_t n = std::min(count, samples.size());
        for (std::size_t i = samples.size() - n; i < samples.size(); ++i) {
          samples[i].p_world.y = bad;
        }
        const Forecast f = PredictOnce(*forecaster, samples);
        EXPECT_TRUE(f.IsValid()) << bad;
        if (n == samples.size() && !(std::abs(bad) < 1)) {
          EXPECT_EQ(f.quality, Quality::kNone);
        }
      }
    }
    EXPECT_EQ(PredictOnce(*forecaster, {}).quality, Quality::kNone);
    EXPECT_EQ(PredictOnce(*forecaster, {{5, {1, 2, 3}}}).quality, Quality::kFallback);
    const auto still = Observe([](double) { return Vec3{1, 2, 3}; });
    EXPECT_EQ(PredictOnce(*forecaster, still).quality, Quality::kOk);
    // A jump to the end of the world and back, within the limits of a sample.
    std::vector<Observation> jump = Observe(Wander(3));
    jump[jump.size() - 20].p_world.x = 9e6;
    EXPECT_TRUE(PredictOnce(*forecaster, jump).IsValid());
  }
}

}  // namespace
}  // namespace aerocast
