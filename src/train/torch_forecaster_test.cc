// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/torch_forecaster.h"

#include <gtest/gtest.h>

#include "src/data/windows.h"
#include "src/forecast/forecaster_testing.h"
#include "src/train/network.h"
#include "src/train/test_network.h"

namespace aerocast {
namespace {

class TorchForecasterTest : public testing::TestWithParam<Architecture> {
 protected:
  static Model MakeModel(Architecture architecture) {
    Model model;
    model.name = "tested";
    model.config = TinyConfig(architecture);
    const Network network(model.config, 7);
    model.tensors = network.Export(network.flat());
    model.sha256 = "f00d";
    return model;
  }
};

TEST_P(TorchForecasterTest, ForecastsAndSeesNothingAfterT0) {
  const auto forecaster = MakeTorchForecaster(MakeModel(GetParam()));
  EXPECT_EQ(forecaster->info().name, "tested");
  EXPECT_EQ(forecaster->info().fingerprint, "f00d");
  const std::vector<Observation> samples = Observe(Wander(3));
  const Forecast forecast = PredictOnce(*forecaster, samples);
  EXPECT_EQ(forecast.quality, Quality::kOk);
  EXPECT_TRUE(forecast.IsValid());
  EXPECT_TRUE(forecast.displacement.present());
  EXPECT_TRUE(SameBits(forecast, PredictOnce(*forecaster, samples)));

  // Two flights that part after t0 look the same at t0.
  Recording kept, parted;
  kept.samples = parted.samples = Observe(Wander(3));
  const std::size_t t0 = kept.samples.size() - 40;
  for (std::size_t i = t0 + 1; i < parted.samples.size(); ++i) {
    parted.samples[i].p_world = parted.samples[i].p_world * -3 + Vec3{1e3, 2, 1};
  }
  const auto at = [&](const Recording& flight) {
    Forecast made(forecaster->info().shape);
    forecaster->Predict(HistoryAt(flight, t0, forecaster->info().history_s),
                        *forecaster->MakeWorkspace(), made);
    return made;
  };
  EXPECT_EQ(at(kept).quality, Quality::kOk);
  EXPECT_TRUE(SameBits(at(kept), at(parted)));
}

TEST_P(TorchForecasterTest, FallsBackFromAHoleInTheHistory) {
  const auto forecaster = MakeTorchForecaster(MakeModel(GetParam()), "other");
  EXPECT_EQ(forecaster->info().name, "other");
  std::vector<Observation> samples = Observe(Wander(4));
  samples.erase(samples.end() - 25, samples.end() - 5);  // 0.4 of the last 0.6 s
  const Forecast forecast = PredictOnce(*forecaster, samples);
  EXPECT_EQ(forecast.quality, Quality::kFallback);
  EXPECT_TRUE(forecast.IsValid());
}

INSTANTIATE_TEST_SUITE_P(All, TorchForecasterTest,
                         testing::Values(Architecture::kTransformer, Architecture::kGru,
                                         Architecture::kLstm, Architecture::kBiGru,
                                         Architecture::kMlp));

}  // namespace
}  // namespace aerocast
