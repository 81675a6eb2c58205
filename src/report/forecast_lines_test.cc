// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/forecast_lines.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/base/file.h"
#include "src/eval/evaluator.h"
#include "src/eval/test_source.h"
#include "src/report/window_lines.h"

namespace aerocast {
namespace {

using testing::CutAll;
using testing::FunctionSource;
using testing::MixtureSource;
using testing::TwoHills;
using testing::WhiteFlight;

// A directory of this test's own, removed with it.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "aerocast-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Forecast RandomForecast(std::uint64_t seed) {
  Rng rng(seed);
  const ForecastShape shape{.steps = 1 + static_cast<int>(rng.Below(6)),
                            .modes = static_cast<int>(rng.Below(4)),
                            .displacement_components = 0,
                            .conformal_levels = static_cast<int>(rng.Below(3))};
  Forecast f;
  ForecastShape with = shape;
  if (shape.modes > 0) with.displacement_components = static_cast<int>(rng.Below(3));
  f.Reset(with, "bird \"7\" ü", static_cast<TimeNs>(rng.Next() >> 2), 0.1);
  f.quality = static_cast<Quality>(rng.Below(5));
  f.residual_correlation = rng.Uniform();
  const auto vec = [&] { return Vec3{rng.Normal(), rng.Normal(), rng.Normal()}; };
  for (int i = 0; i < f.steps(); ++i) f.point(i) = vec();
  for (int k = 0; k < f.modes(); ++k) {
    f.weight(k) = 1.0 / f.modes();
    for (int i = 0; i < f.steps(); ++i) {
      f.mean(k, i) = vec();
      f.cov(k, i) = Cov3::Outer(vec()) + Cov3::Isotropic(0.1);
    }
  }
  for (double& w : f.displacement.weight) w = 1.0 / f.displacement.components;
  for (Vec3& m : f.displacement.mean) m = vec();
  if (f.displacement.present()) f.displacement.anchor = vec();
  for (Vec3& s : f.displacement.sigma) s = {0.1, 0.2, rng.Uniform(0.1, 1)};
  for (double& l : f.conformal.level) l = rng.Uniform(0.1, 0.9);
  for (double& r : f.conformal.radius) r = rng.Uniform();
  for (double& r : f.conformal.tube) r = rng.Uniform();
  for (double& r : f.conformal.shape) r = rng.Uniform();
  return f;
}

RC_GTEST_PROP(ForecastLines, WhatIsWrittenReadsBackTheSame, (std::uint64_t seed)) {
  const Forecast forecast = RandomForecast(seed);
  const std::string line = FormatForecast(forecast);
  Forecast back;
  const Status status = ParseForecast(line, back);
  RC_ASSERT(status.ok());
  RC_ASSERT(back.t0_ns == forecast.t0_ns);  // to the nanosecond
  RC_ASSERT(back.id == forecast.id);
  for (int k = 0; k < back.modes(); ++k) {
    RC_ASSERT(std::abs(back.weight(k) - forecast.weight(k)) < 1e-15);
    RC_ASSERT(back.cov(k, 0) == forecast.cov(k, 0));
  }
  RC_ASSERT(back.displacement.mean == forecast.displacement.mean);
  RC_ASSERT(back.displacement.anchor == forecast.displacement.anchor);
  RC_ASSERT(back.IsValid());
  RC_ASSERT(back.conformal.radius == forecast.conformal.radius);
  RC_ASSERT(back.quality == forecast.quality);
}

TEST(ForecastLines, NoneHasNoPoint) {
  Forecast none;
  none.MakeNone("7", 1'500'000'000);
  const std::string line = FormatForecast(none);
  EXPECT_EQ(line, R"({"id":"7","t0":1.5,"dt":0.1,"quality":"none","age":0.0})");
  Forecast back;
  ASSERT_TRUE(ParseForecast(line, back).ok());
  EXPECT_EQ(back.quality, Quality::kNone);
  none.MakeNone("7", 1'500'000'000, 0.2);
  ASSERT_TRUE(ParseForecast(FormatForecast(none), back).ok());
  EXPECT_EQ(back.dt_s, 0.2);
}

TEST(ForecastLines, APointPathAloneIsAForecast) {
  Forecast f;
  const std::string line = R"({"id":"7","t0":1,"point":[[1,2,3],[4,5,6]],"conformal":)"
                           R"({"level":[0.5],"radius":[[1,2]]}})";
  ASSERT_TRUE(ParseForecast(line, f).ok());
  EXPECT_EQ(f.modes(), 0);
  EXPECT_TRUE(f.IsValid()) << "without a tube as well";
  std::vector<Vec3> paths(4);
  f.SamplePaths(1, 2, paths);
  EXPECT_EQ(paths[3], (Vec3{4, 5, 6}));
}

TEST(ForecastLines, StampsDoNotPassThroughADouble) {
  Forecast f;
  ASSERT_TRUE(ParseForecast(R"({"a":{"t0":5},"b":"t0", "id" : "7" , "t0" : 1772682400.399300007,)"
                            R"("point":[[0,0,0]]})",
                            f)
                  .ok());
  EXPECT_EQ(f.t0_ns, 1772682400399300007);
}

// Every way a line can be wrong has a sentence that says so.
TEST(ForecastLines, BadLinesAreRefusedWithTheField) {
  const auto message = [](const std::string& line) {
    Forecast f;
    const Status s = ParseForecast(line, f);
    return s.ok() ? "" : s.error().message;
  };
  const auto modes = [&](const std::string& m) {
    return message(R"({"id":"7","t0":1,"point":[[0,0,0]],"modes":)" + m + "}");
  };
  EXPECT_EQ(message("{\"id\":"), "not valid JSON");
  EXPECT_EQ(message("[1]"), "forecast: expected an object");
  EXPECT_EQ(message(R"({"t0":1})"), "forecast: \"id\" is missing");
  EXPECT_EQ(message(R"({"id":7,"t0":1})"), "forecast.id: expected a string");
  EXPECT_EQ(message(R"({"id":"7"})"), "forecast: \"t0\" is missing");
  EXPECT_EQ(message(R"({"id":"7","t0":"1"})"), "forecast.t0: expected a number");
  EXPECT_EQ(message(R"({"id":"7","t0":1e30})"),
            "forecast.t0: expected seconds within 285 years of the origin");
  EXPECT_EQ(message(R"({"id":"7","t0":1})"), "forecast: \"point\" is missing");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[]})"),
            "forecast.point: expected at least one step");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0]]})"),
            "forecast.point[0]: expected [x, y, z]");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,NaN]]})"), "not valid JSON");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,null]]})"),
            "forecast.point[0]: expected finite numbers only");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,1e12]]})"),
            "forecast.point[0]: expected metres, at most 1e9 from the origin");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,0]],"quality":"fine"})"),
            "forecast.quality: unknown quality \"fine\"");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,0]],"quality":"\u001b[2J"})"),
            "forecast.quality: unknown quality \"?[2J\"");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,0]],"dt":0})"),
            "forecast.dt: expected a positive number");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,0]],"age":-1})"),
            "forecast.age: expected seconds, not negative");
  EXPECT_EQ(modes(R"([{"w":1,"mean":[],"cov":[]}])"),
            "forecast.modes[0].mean: expected 1 steps, there are 0");
  EXPECT_EQ(modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1,0,0]]}])"),
            "forecast.modes[0].cov[0]: expected [xx, xy, xz, yy, yz, zz]");
  EXPECT_EQ(modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1,2,0,1,0,1]]}])"),
            "forecast.modes[0].cov[0]: the covariance is not positive definite");
  EXPECT_EQ(modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1e-30,0,0,1,0,1]]}])"),
            "forecast.modes[0].cov[0]: expected sigmas of 1e-9 to 1e9 m");
  EXPECT_EQ(
      modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1e-4,0,0,1e12,0,1]]}])"),
      "forecast.modes[0].cov[0]: the covariance is too elongated: its narrowest axis is below "
      "1e-7 of the widest");
  EXPECT_EQ(
      modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1,1,0,1.000000000000002,0,1]]}])"),
      "forecast.modes[0].cov[0]: the covariance is too elongated: its narrowest axis is below "
      "1e-7 of the widest");
  EXPECT_EQ(modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1e-4,0,0,1e8,0,1]]}])"), "");
  EXPECT_EQ(modes(R"([{"w":1,"mean":[[0,0,0]],"cov":[[1,0,0,1,0,1]]}],"displacement":{"scale":1,)"
                  R"("sigma_floor":0,"w":[[1]],"mean":[[[0,0,0]]],"sigma":[[[1,1,1]]]})"),
            "forecast.displacement: \"anchor\" is missing");
  EXPECT_EQ(modes(R"([{"w":0.9,"mean":[[0,0,0]],"cov":[[1,0,0,1,0,1]]}])"),
            "forecast.modes: weights sum to 0.9, not to 1");
  EXPECT_EQ(modes(R"([{"w":-1,"mean":[[0,0,0]],"cov":[[1,0,0,1,0,1]]}])"),
            "forecast.modes: weights must not be negative");
  EXPECT_EQ(modes(R"([{"w":0.9999995,"mean":[[0,0,0]],"cov":[[1,0,0,1,0,1]]}])"), "");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,0]],"conformal":{"level":[2],)"
                    R"("radius":[[1]]}})"),
            "forecast.conformal.level: levels must be between 0 and 1");
  EXPECT_EQ(message(R"({"id":"7","t0":1,"point":[[0,0,0]],"conformal":{"level":[0.5],)"
                    R"("radius":[[-1]]}})"),
            "forecast.conformal.radius[0]: radii must not be negative");
}

TEST(RecordedForecasts, ScoreAsTheForecasterThatWroteThem) {
  const TempDir dir;
  const std::vector<Recording> recordings = {WhiteFlight("a", "circle", TwoHills(), 30, 1),
                                             WhiteFlight("b", "star", TwoHills(), 30, 2)};
  const auto flights = CutAll(recordings);
  const FunctionSource source = MixtureSource(TwoHills());
  {
    std::ofstream out(dir / "theirs.jsonl");
    const auto reader = source.MakeReader();
    Forecast forecast;
    for (std::size_t f = flights.size(); f-- > 0;) {  // in an order of their own
      for (const std::uint32_t i : flights[f].t0) {
        reader->Read(recordings[f], i, {}, forecast);
        out << FormatForecast(forecast) << "\n\n";
      }
    }
  }
  const auto recorded = RecordedForecasts::Open(dir / "theirs.jsonl", flights, {});
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_EQ((*recorded)->forecasts(), 60u);
  EXPECT_EQ((*recorded)->info().name, "theirs");
  const auto ours = Evaluate(source, flights, {}), theirs = Evaluate(**recorded, flights, {});
  ASSERT_TRUE(ours.ok() && theirs.ok());
  for (std::size_t n = 0; n < 2; ++n) {
    const auto &a = ours->flights[n].tally.metric, &b = theirs->flights[n].tally.metric;
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9);
  }
}

TEST(RecordedForecasts, BadFilesAreRefusedWithFileAndLine) {
  const TempDir dir;
  const std::vector<Recording> recordings = {WhiteFlight("7", "circle", {}, 3, 1)};
  const auto flights = CutAll(recordings);
  WindowSpec window;
  const std::string path = (dir / "f.jsonl").string();
  const auto message = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto r = RecordedForecasts::Open(path, flights, window);
    if (r.ok()) return std::string();
    EXPECT_EQ(r.error().message.rfind(path, 0), 0u);
    return r.error().message.substr(path.size());
  };
  std::string points = "[0,0,0]";
  for (int i = 1; i < 50; ++i) points += ",[0,0,0]";
  const std::string rest = ",\"point\":[" + points + "]}\n";
  const std::string good = "{\"id\":\"7\",\"t0\":2" + rest;
  EXPECT_EQ(message(good), "");
  EXPECT_EQ(message("{\"id\":\"7\",\"t0\":2.0000009" + rest), "");  // within a microsecond
  EXPECT_EQ(message(good + "{"), ":2: not valid JSON");
  EXPECT_EQ(message(good + good), ":2: a second forecast of flight \"7\" at t0 = 2 s");
  EXPECT_EQ(message("{\"id\":\"8\",\"t0\":2" + rest), ":1: there is no flight \"8\" here");
  EXPECT_EQ(message("{\"id\":\"7\",\"t0\":2.05" + rest),
            ":1: flight \"7\" has no window at t0 = 2.05 s");
  EXPECT_EQ(message("{\"id\":\"7\",\"t0\":2,\"point\":[[0,0,0]]}"),
            ":1: 1 steps, the windows have 50");
  EXPECT_EQ(message("{\"id\":\"7\",\"t0\":2,\"dt\":0.2" + rest),
            ":1: steps of 0.2 s, the windows have 0.1 s");
  EXPECT_EQ(message("\n"), ": holds no forecast");
  const auto absent = RecordedForecasts::Open(dir / "none.jsonl", flights, window);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  // One line of three: the evaluator says what is missing, or counts it.
  std::ofstream(path) << good;
  const auto source = RecordedForecasts::Open(path, flights, window);
  EvaluationOptions options;
  const auto refused = Evaluate(**source, flights, options);
  EXPECT_NE(refused.error().message.find("2 windows have no forecast"), std::string::npos);
  options.allow_missing = true;
  EXPECT_EQ(Evaluate(**source, flights, options)->flights[0].tally.missing, 2);
}

// Leaving out the distribution on some windows would leave them out of its score.
TEST(RecordedForecasts, AllLinesHaveADistributionOrNone) {
  const TempDir dir;
  const std::vector<Recording> recordings = {WhiteFlight("7", "circle", {}, 3, 1)};
  const auto flights = CutAll(recordings);
  const std::string path = (dir / "f.jsonl").string();
  const auto line = [&](std::size_t n, int modes, int components) {
    Forecast f;
    const TimeNs t0 = recordings[0].samples[flights[0].t0[n]].t_ns;
    f.Reset({.steps = 50, .modes = modes, .displacement_components = components}, "7", t0, 0.1);
    for (int i = 0; i < 50 * modes; ++i) f.weight(0) = 1, f.cov(0, i) = Cov3::Isotropic(1);
    for (double& w : f.displacement.weight) w = 1;
    for (Vec3& s : f.displacement.sigma) s = {1, 1, 1};
    return FormatForecast(f) + "\n";
  };
  const auto message = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto r = RecordedForecasts::Open(path, flights, {});
    return r.ok() ? std::string() : r.error().message.substr(path.size());
  };
  Forecast none;
  none.MakeNone("7", recordings[0].samples[flights[0].t0[0]].t_ns);
  const std::string nothing = FormatForecast(none) + "\n";
  EXPECT_EQ(message(line(0, 0, 0) + line(1, 0, 0)), "");
  EXPECT_EQ(message(line(0, 1, 1) + line(1, 1, 1)), "");
  EXPECT_EQ(message(nothing + line(1, 1, 0) + line(2, 1, 0)), "");
  EXPECT_EQ(message(line(0, 1, 0) + line(1, 0, 0)), ":2: has no \"modes\", the lines before do");
  EXPECT_EQ(message(line(0, 0, 0) + line(1, 1, 0)), ":2: has \"modes\", the lines before do not");
  EXPECT_EQ(message(line(0, 1, 1) + line(1, 1, 0)),
            ":2: has no \"displacement\", the lines before do");
  EXPECT_EQ(message(line(0, 1, 0) + line(1, 1, 1)),
            ":2: has \"displacement\", the lines before do not");
}

TEST(RecordedForecasts, FindFlightsWhoseIdsAreCutInACharacter) {
  const TempDir dir;
  const std::vector<Recording> recordings = {
      WhiteFlight(std::string(63, 'x') + "\u00fc" + "tail", "circle", {}, 1, 1)};
  const auto flights = CutAll(recordings);
  Forecast f;
  const TimeNs t0 = recordings[0].samples[flights[0].t0[0]].t_ns;
  f.Reset({.steps = 50, .modes = 0}, recordings[0].id, t0, 0.1);
  EXPECT_EQ(f.id, std::string(63, 'x'));
  std::ofstream(dir / "f.jsonl") << FormatForecast(f) << "\n";
  const auto source = RecordedForecasts::Open(dir / "f.jsonl", flights, {});
  ASSERT_TRUE(source.ok()) << source.error().message;
  EXPECT_TRUE(Evaluate(**source, flights, {}).ok());
}

TEST(WriteWindows, InputsHoldNothingAfterT0AndTargetsNothingBefore) {
  const TempDir dir;
  std::vector<Recording> recordings = {WhiteFlight("7", "circle", {}, 3, 1)};
  recordings[0].noise_m = 0.02;
  const auto flights = CutAll(recordings);
  ASSERT_TRUE(WriteWindows(flights, {}, dir / "out").ok());
  std::ifstream inputs(dir / "out/inputs.jsonl"), targets(dir / "out/targets.jsonl");
  std::string line;
  int lines = 0;
  while (std::getline(inputs, line)) {
    const auto j = nlohmann::json::parse(line);
    EXPECT_EQ(j["noise_m"], 0.02);
    EXPECT_EQ(j["history"].size(), 21u);
    EXPECT_EQ(j["history"].back()[0], j["t0"]);
    ASSERT_TRUE(std::getline(targets, line));
    const auto t = nlohmann::json::parse(line);
    EXPECT_EQ(t["t0"], j["t0"]);
    EXPECT_EQ(t["target"].size(), 50u);
    ++lines;
  }
  EXPECT_EQ(lines, 3);
  EXPECT_FALSE(WriteWindows(flights, {}, dir / "out").ok());  // never overwritten
}

}  // namespace
}  // namespace aerocast
