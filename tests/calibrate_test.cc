// SPDX-License-Identifier: BSD-3-Clause
//
// `aerocast calibrate` as a user meets it, and what becomes of its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/base/file.h"
#include "src/model/model_file.h"
#include "src/model/random_model.h"
#include "tests/program_test.h"

namespace aerocast {
namespace {

using testing::HasSubstr;

class CalibrateProgram : public ProgramTest {
 protected:
  void SetUp() override {
    const Outcome made = Aerocast("generate --flights 36 --duration 12 --out corpus --seed 5");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    ModelConfig config;
    config.architecture = Architecture::kMlp;
    config.hidden = {8}, config.components = 2;
    Model model = RandomModel(config, 1);
    model.name = "tiny";
    model.provenance.train_flights = {"0123456789ab"};
    ASSERT_TRUE(WriteModel(dir_ / "raw.safetensors", model).ok());
  }
  std::string Bytes(const std::string& name) { return *ReadFile(dir_ / name); }
};

TEST_F(CalibrateProgram, WritesWhatEvaluateUsesOnOtherFlights) {
  const std::string raw = Bytes("raw.safetensors");
  const std::string calibrate = "calibrate raw.safetensors --corpus corpus --stride 5 ";
  const Outcome done =
      Aerocast(calibrate + "--out cal.safetensors --levels 0.5,0.99 --json j.json");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("in-sample"));
  EXPECT_THAT(done.out, HasSubstr("99 %: left out, it needs 99 flights"));
  EXPECT_EQ(Bytes("raw.safetensors"), raw) << "--out leaves the model alone";
  const auto json = nlohmann::json::parse(Bytes("j.json"));
  EXPECT_LT(json["in_sample"][1]["crps_position"], json["in_sample"][0]["crps_position"]);
  EXPECT_THAT(Aerocast("describe cal.safetensors").out, HasSubstr("99 % needs 99"));

  // On the raw forecasts again, whatever calibration there is: the same file.
  ASSERT_EQ(Aerocast("calibrate cal.safetensors --corpus corpus --stride 5 --levels 0.5,0.99 "
                     "--out again.safetensors --threads 1")
                .exit_code,
            0);
  EXPECT_EQ(Bytes("again.safetensors"), Bytes("cal.safetensors"));

  const std::string evaluate = "evaluate corpus --models cal.safetensors --stride 9 --json ";
  ASSERT_EQ(Aerocast(evaluate + "after.json").exit_code, 0);
  ASSERT_EQ(Aerocast(evaluate + "before.json --uncalibrated").exit_code, 0);
  const auto metric = [&](const char* file, const char* key) {
    const auto results = nlohmann::json::parse(Bytes(file));
    return results["models"][0]["groups"][0]["metrics"][key]["value"].get<double>();
  };
  EXPECT_EQ(metric("after.json", "ade"), metric("before.json", "ade"));
  EXPECT_LT(metric("after.json", "ece_position"), metric("before.json", "ece_position"));
  ExpectRefusal("evaluate corpus --models cal.safetensors --side calibration", 2,
                "was calibrated on");
  EXPECT_EQ(Aerocast("evaluate corpus --models cal.safetensors --side calibration --stride 9 "
                     "--uncalibrated")
                .exit_code,
            0);
}

TEST_F(CalibrateProgram, RefusesWhatWouldFlatter) {
  const std::string raw = Bytes("raw.safetensors");
  ExpectRefusal("calibrate raw.safetensors --corpus corpus --side train", 2, "trained on");
  ExpectRefusal("calibrate raw.safetensors --corpus nowhere", 1, "nowhere");
  ExpectRefusal("calibrate raw.safetensors", 2, "--corpus is required");
  ExpectRefusal("calibrate raw.safetensors --corpus corpus --levels 1.5", 2, "1.5");
  ExpectRefusal("calibrate corpus --corpus corpus", 2, "no model file");
  Result<Model> model = ReadModel(dir_ / "raw.safetensors");
  model->provenance.train_flights.clear();
  ASSERT_TRUE(WriteModel(dir_ / "unsaid.safetensors", *model).ok());
  ExpectRefusal("calibrate unsaid.safetensors --corpus corpus", 2, "does not say which flights");
  EXPECT_EQ(Bytes("raw.safetensors"), raw);
}

TEST_F(CalibrateProgram, RedrawsShowHowMuchIsLuck) {
  const Outcome done = Aerocast(
      "calibrate raw.safetensors --corpus corpus --stride 10 --redraws 3 --json - "
      "--out cal.safetensors");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto redraw = nlohmann::json::parse(done.out)["redraw"];
  EXPECT_EQ(redraw["redraws"], 3);
  EXPECT_EQ(redraw["series"][0]["key"], "region_coverage");
  EXPECT_EQ(redraw["series"][0]["values"].size(), 3u);
}

}  // namespace
}  // namespace aerocast
