// SPDX-License-Identifier: BSD-3-Clause
//
// The gate of the bundled networks: what their cards say must still be true of the files, on the
// real flights they have never seen, through the program that users run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "src/base/file.h"
#include "src/base/rng.h"
#include "src/data/resample.h"
#include "src/forecast/calibrate.h"
#include "src/import/corpus.h"
#include "src/import/test_data.h"
#include "src/model/model_file.h"
#include "src/sim/disturbance.h"
#include "tests/program_test.h"

namespace aerocast {
namespace {

using Json = nlohmann::json;

// Limits: what was measured for the card (models/), and room for another compiler or CPU, not for
// another network.
struct Limits {
  const char* model;
  double ade_10s, ade_2s;          // metres, windows with ten seconds behind them
  double noisy_10s, noisy_2s;      // 2 cm of noise
  double dropped_10s, dropped_2s;  // 30 % of the observations missing
};
constexpr Limits kLimits[] = {{"plus", 0.084, 0.204, 0.110, 0.291, 0.107, 0.232},
                              {"plus-small", 0.094, 0.220, 0.127, 0.325, 0.127, 0.256}};

class BundledGate : public ProgramTest {
 protected:
  void SetUp() override {
    if (!data_.found()) GTEST_SKIP() << data_.where();
    Run("import --format nanobench '" + data_.path().string() + "' --out nano");
    Run("generate --preset balanced --real nano --out balanced");
  }
  void Run(const std::string& arguments) {
    const Outcome outcome = Aerocast(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << arguments << "\n" << outcome.err;
  }
  // What the real test flights say of the bundled networks, by name.
  std::map<std::string, Json> Real(const std::string& more) {
    Run("evaluate balanced --models plus,plus-small --min-history 10 --stride 3 --json r.json " +
        more);
    std::map<std::string, Json> found;
    const Json results = Json::parse(Slurp(dir_ / "r.json"));
    for (const Json& model : results["models"]) {
      for (const Json& group : model["groups"]) {
        if (group["kind"] == "source" && group["name"] == "real") found[model["name"]] = group;
      }
      const Json& quality = model["quality"];
      out_of_domain_[model["name"]] =
          quality["out_of_domain"].get<double>() / model["groups"][0]["windows"].get<double>();
    }
    return found;
  }
  static double Metric(const Json& group, const char* key) {
    return group["metrics"][key]["value"].get<double>();
  }

  const RealFlights data_{"nanobench"};
  std::map<std::string, double> out_of_domain_;
};

TEST_F(BundledGate, ErrorsAreThoseOfTheCard) {
  auto by_10s = Real("--history 10"), by_2s = Real("--history 2");
  auto noisy_10s = Real("--history 10 --noise 0.02"), noisy_2s = Real("--history 2 --noise 0.02");
  auto dropped_10s = Real("--history 10 --drop 0.3"), dropped_2s = Real("--history 2 --drop 0.3");
  for (const Limits& limits : kLimits) {
    const auto check = [&](std::map<std::string, Json>& of, double limit, const char* what) {
      const double ade = Metric(of[limits.model], "ade");
      EXPECT_LT(ade, limit) << limits.model << ", " << what;
      EXPECT_GT(ade, 0.3 * limit) << limits.model << ", " << what << ": too good to be true";
      std::printf("%-10s %-16s ADE %.3f m\n", limits.model, what, ade);
    };
    check(by_10s, limits.ade_10s, "10 s");
    check(by_2s, limits.ade_2s, "2 s");
    check(noisy_10s, limits.noisy_10s, "10 s, noise");
    check(noisy_2s, limits.noisy_2s, "2 s, noise");
    check(dropped_10s, limits.dropped_10s, "10 s, dropped");
    check(dropped_2s, limits.dropped_2s, "2 s, dropped");
  }
}

TEST_F(BundledGate, RegionsHoldWhatTheyState) {
  for (const char* history : {"10", "2"}) {
    auto real = Real(std::string("--history ") + history);
    for (const Limits& limits : kLimits) {
      const double share = Metric(real[limits.model], "coverage_90");
      EXPECT_GT(share, 0.8) << limits.model << " by " << history << " s";
      EXPECT_LT(share, 0.99) << limits.model << " by " << history << " s";
      EXPECT_LE(out_of_domain_[limits.model], 0.05);
      std::printf("%-10s %2s s: 90 %% region holds %.3f, out of domain %.3f\n", limits.model,
                  history, share, out_of_domain_[limits.model]);
    }
  }
}

// Another vehicle with another sensor, that stops at waypoints: an earlier network lost to a point
// that stays, and its regions held 73 %.
TEST_F(BundledGate, AnotherVehicleIsNoWorseThanStaying) {
  const RealFlights other("cf_battery");
  if (!other.found()) GTEST_SKIP() << other.where();
  Run("import '" + other.path().string() + "' --allow-refused --out other");
  for (const char* history : {"10", "2"}) {
    Run("evaluate other --side all --fit-corpus balanced --models plus,hold --stride 5 --draws 16 "
        "--paths 0 --json other.json --history " +
        std::string(history));
    std::map<std::string, Json> all;
    const Json results = Json::parse(Slurp(dir_ / "other.json"));
    for (const Json& model : results["models"]) all[model["name"]] = model["groups"][0];
    const double plus = Metric(all["plus"], "ade"), hold = Metric(all["hold"], "ade");
    EXPECT_LT(plus, hold) << "by " << history << " s";
    EXPECT_GT(Metric(all["plus"], "coverage_90"), 0.87) << "by " << history << " s";
    std::printf("another vehicle, %2s s: ADE %.3f m (hold %.3f), 90 %% region holds %.3f\n",
                history, plus, hold, Metric(all["plus"], "coverage_90"));
  }
}

// The chance that a strange one is above a usual one.
double Auroc(std::vector<double> usual, const std::vector<double>& strange) {
  std::sort(usual.begin(), usual.end());
  double sum = 0;
  for (const double x : strange) {
    const auto [low, high] = std::equal_range(usual.begin(), usual.end(), x);
    sum += 0.5 * static_cast<double>((low - usual.begin()) + (high - usual.begin()));
  }
  return sum / (static_cast<double>(usual.size()) * static_cast<double>(strange.size()));
}

// How far beyond the domain histories are, as the forecaster sees them.
class DomainScore {
 public:
  explicit DomainScore(const std::filesystem::path& file)
      : model_(*ReadModel(file)),
        calibrator_(*model_.calibration, model_.config.horizon_steps, model_.config.dt_s) {}

  void Add(const History& history, std::vector<double>& scores) const {
    std::array<Vec3, kRoughnessPoints> grid;
    std::array<std::uint8_t, kRoughnessPoints> present;
    ResampleHistory(history, model_.config.dt_s, WindowSpec{}.max_gap_s, grid, present);
    Roughness roughness;
    const bool measured = MeasureRoughness(grid, present, history.noise_m, roughness);
    scores.push_back(measured ? calibrator_.BeyondDomain(roughness) : 0);
  }

 private:
  Model model_;
  Calibrator calibrator_;
};

TEST_F(BundledGate, StrangeMotionIsToldFromTestFlights) {
  const Result<Corpus> corpus = LoadCorpus(dir_ / "balanced");
  ASSERT_TRUE(corpus.ok());
  const auto flights = *Side(*corpus, "flight", "test");
  const double min_z = corpus->manifest.min_z.value_or(kNoMinZ);
  const DomainScore score(AEROCAST_SOURCE_DIR "/models/aerocast-plus.safetensors");
  WindowSpec spec;
  spec.stride = 5;
  const auto scores_of = [&](double time_scale) {
    const auto cut = DisturbFlights(flights, {.time_scale = time_scale}, spec, min_z);
    std::vector<double> scores;
    for (const FlightWindows& f : cut->windows) {
      for (const std::uint32_t t0 : f.t0) score.Add(HistoryAt(*f.flight, t0, 2), scores);
    }
    return scores;
  };
  const std::vector<double> usual = scores_of(1), fast = scores_of(3);
  std::vector<double> walks;
  Rng rng(7);
  for (int n = 0; n < 500; ++n) {
    Vec3 p;
    std::vector<Observation> samples;
    for (int i = 0; i <= 250; ++i) {
      p += 0.01 * Vec3{rng.Normal(), rng.Normal(), rng.Normal()};
      samples.push_back({TimeNs{i} * 10'000'000, p});
    }
    score.Add({"walk", samples}, walks);
  }
  const auto flagged = std::count_if(usual.begin(), usual.end(), [](double x) { return x > 1; });
  const double share = static_cast<double>(flagged) / static_cast<double>(usual.size());
  EXPECT_LE(share, 0.05);
  EXPECT_GE(Auroc(usual, walks), 0.9);
  EXPECT_GE(Auroc(usual, fast), 0.9);
  std::printf("AUROC random walks %.3f, three times as fast %.3f; flagged %.3f of %zu windows\n",
              Auroc(usual, walks), Auroc(usual, fast), share, usual.size());
}

}  // namespace
}  // namespace aerocast
