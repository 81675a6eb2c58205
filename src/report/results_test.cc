// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/eval/test_source.h"
#include "src/report/html.h"
#include "src/report/tables.h"

namespace aerocast {
namespace {

using testing::CutAll;
using testing::MixtureSource;
using testing::TwoHills;
using testing::WhiteFlight;

Results Example(bool per_flight = true) {
  std::vector<Recording> recordings;
  for (int n = 0; n < 4; ++n) {
    recordings.push_back(WhiteFlight("white<" + std::to_string(n), n < 2 ? "circle" : "other",
                                     TwoHills(), 40, static_cast<std::uint64_t>(n)));
  }
  const auto flights = CutAll(recordings);
  auto right = MixtureSource(TwoHills()), wide = MixtureSource(TwoHills(), 2);
  wide.info_.name = "wide";
  const EvaluationOptions options;
  const ForecastSource* const sources[] = {&right, &wide};
  BootstrapOptions bootstrap;
  bootstrap.replicates = 50;
  Protocol protocol;
  protocol.corpus_name = "white", protocol.corpus_hash = "abc", protocol.corpus_flights = 4;
  protocol.min_z = 0.3;
  return MakeResults(protocol, options, bootstrap,
                     {*Evaluate(right, flights, options), *Evaluate(wide, flights, options)},
                     MakeExamples(sources, flights, options.window, 3), per_flight);
}

TEST(Results, JsonRoundTripIsExact) {
  const std::string json = ResultsToJson(Example());
  const auto back = ResultsFromJson(json, "r.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(ResultsToJson(*back), json);
}

TEST(Results, SayWhichDisturbanceWasApplied) {
  Results results = Example(false);
  EXPECT_TRUE(nlohmann::json::parse(ResultsToJson(results))["protocol"]["disturbance"].is_null());
  EXPECT_EQ(EvaluationReport(results).find("disturbed"), std::string::npos);
  results.protocol.disturbance = {.noise_m = 0.02, .noise_stated = false, .drop = 0.3, .seed = 9};
  const std::string json = ResultsToJson(results);
  const auto back = ResultsFromJson(json, "r.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->protocol.disturbance, results.protocol.disturbance);
  EXPECT_NE(EvaluationReport(results).find(
                "\ndisturbed: noise 0.02 m (not stated), 30 % of 10 Hz dropped, seed 9\n"),
            std::string::npos);
  auto j = nlohmann::json::parse(json);
  j["protocol"]["disturbance"]["drop"] = 2;
  EXPECT_EQ(ResultsFromJson(j.dump(), "r.json").error().message,
            "r.json.protocol.disturbance: disturbance: the share of dropped observations must be 0 "
            "to 1");
}

TEST(Results, ExamplesCarryModesAndRegions) {
  auto j = nlohmann::json::parse(ResultsToJson(Example(false)));
  const auto& said = j["examples"][0]["forecasts"]["wide"];
  EXPECT_EQ(said["quality"], "ok");
  EXPECT_EQ(said["modes"].size(), 2u);
  EXPECT_EQ(said["modes"][1]["weight"], 0.3);
  EXPECT_EQ(said["modes"][1]["mean"][49], (nlohmann::json{3.0, 1.0, -1.0}));
  EXPECT_EQ(said["region_90"]["from"], "draws");
  EXPECT_EQ(said["region_90"]["radius"].size(), 50u);
  auto old = j;
  old["examples"][0].erase("forecasts");
  const auto back = ResultsFromJson(old.dump(), "r.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->examples[0].forecasts[0].point.size(), 50u);
  EXPECT_TRUE(back->examples[0].forecasts[0].modes.empty());
  j["examples"][0]["forecasts"]["wide"]["region_90"]["radius"] = {1, 2};
  EXPECT_EQ(ResultsFromJson(j.dump(), "r.json").error().message,
            "r.json.examples[0].forecasts.wide.region_90.radius: expected 50 steps");
}

TEST(Results, CurvesAreOptionalAndComeBack) {
  Results results = Example(false);
  EXPECT_FALSE(nlohmann::json::parse(ResultsToJson(results)).contains("curves"));
  results.curves = {{"wide", "patience is over", 5, 1000, {{}, {}}}, {"other", "", 7, 1000, {}}};
  results.curves[0].points[1] = {2000, 2, 61.5, 1e-4, 20, 1.25, -0.5, -0.25, 0.75, true};
  const std::string json = ResultsToJson(results);
  const auto back = ResultsFromJson(json, "r.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->curves, results.curves);
  EXPECT_EQ(ResultsToJson(*back), json);

  auto j = nlohmann::json::parse(json);
  j["curves"][0]["of_a_later_version"] = 1;  // as everywhere in this file
  EXPECT_TRUE(ResultsFromJson(j.dump(), "r.json").ok());
  j["curves"][0]["points"][1]["lr"] = nullptr;
  const auto bad = ResultsFromJson(j.dump(), "r.json");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "r.json.curves[0].points[1].lr: expected a number");
}

TEST(Results, JsonHasWhatTheFormatPromises) {
  const auto j = nlohmann::json::parse(ResultsToJson(Example(false)));
  EXPECT_EQ(j["format"], "aerocast-evaluation");
  EXPECT_EQ(j["protocol"]["windows"], 160);
  EXPECT_EQ(j["protocol"]["interval"]["clusters"], 4);
  EXPECT_EQ(j["metrics"].size(), static_cast<std::size_t>(kMetricCount));
  const auto& model = j["models"][0];
  EXPECT_EQ(model["quality"]["ok"], 160);
  EXPECT_FALSE(model.contains("per_flight"));
  const auto& all = model["groups"][0];
  EXPECT_EQ(all["kind"], "all");
  EXPECT_TRUE(all["metrics"]["ade"]["value"].is_number());
  EXPECT_TRUE(all["metrics"]["nll_displacement"]["value"].is_null());
  EXPECT_EQ(all["error"].size(), 50u);
  EXPECT_EQ(all["horizons"].size(), 5u);
  EXPECT_EQ(all["horizons"][4]["coverage"]["region"].size(), 5u);
  EXPECT_TRUE(all["horizons"][0]["coverage"]["conformal"].is_null());
  EXPECT_EQ(all["horizons"][0]["pit"]["across"].size(), 20u);
  EXPECT_EQ(all["calibration"]["nominal"][1], 0.1);
  EXPECT_EQ(all["mode_use"][0], 1);  // the heavier hill is nearest to every noisy path
  EXPECT_EQ(j["examples"][0]["points"]["wide"].size(), 50u);
  EXPECT_EQ(j["comparisons"].size(), 1u);
}

TEST(Results, BadFilesAreRefusedWithTheField) {
  const auto message = [](const std::string& text) {
    const auto r = ResultsFromJson(text, "r.json");
    return r.ok() ? "" : r.error().message;
  };
  EXPECT_EQ(message("{"), "r.json: not valid JSON");
  EXPECT_EQ(message("{}"), "r.json: \"format\" is missing");
  EXPECT_EQ(message("[]"), "r.json: expected an object");
  EXPECT_EQ(message(R"({"format":"x"})"), "r.json.format: expected \"aerocast-evaluation\"");
  auto j = nlohmann::json::parse(ResultsToJson(Example()));
  j["protocol"]["window"]["dt_s"] = "fast";
  EXPECT_EQ(message(j.dump()), "r.json.protocol.window.dt_s: expected a number");
  j["protocol"]["window"]["dt_s"] = 0;
  EXPECT_EQ(message(j.dump()), "r.json.protocol.window: window: dt must be 0.001 to 10 s");
  j["protocol"]["window"]["dt_s"] = 0.1;
  j["models"][1]["per_flight"][2]["mode_use"] = {1, 2};
  EXPECT_EQ(message(j.dump()), "r.json.models[1].per_flight[2].mode_use: expected 16 numbers");
  j["version"] = 2;
  EXPECT_EQ(message(j.dump()), "r.json.version: this program reads version 1 only");
}

TEST(CompareResults, WorksFromFilesAsInTheSameRun) {
  const Results results = Example();
  const Results file = *ResultsFromJson(ResultsToJson(results), "r");
  for (const Metric m : {Metric::kEnergy, Metric::kEcePosition, Metric::kModeUseEntropy}) {
    const auto a = CompareResults(results, "wide", results, "function", m, GroupKind::kAll, {});
    const auto b = CompareResults(file, "wide", file, "function", m, GroupKind::kAll, {});
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->difference, b->difference);
    EXPECT_EQ(a->low, b->low);
  }
  const auto energy =
      CompareResults(file, "wide", results, "function", Metric::kEnergy, GroupKind::kAll, {});
  EXPECT_GT(energy->low, 0);  // too wide is worse
}

TEST(CompareResults, RefusesWhatIsNotComparable) {
  const Results a = Example();
  const auto message = [&](const Results& b, std::string_view model = "wide") {
    const auto c = CompareResults(a, "function", b, model, Metric::kAde, GroupKind::kAll, {});
    return c.ok() ? "" : c.error().message;
  };
  EXPECT_EQ(message(a), "");
  EXPECT_EQ(message(a, "knn"), "no model knn in the results: function, wide");
  Results b = a;
  b.protocol.corpus_hash = "other";
  EXPECT_EQ(message(b), "the results are of different corpora (white, white)");
  b = a, b.protocol.side = "test";
  EXPECT_EQ(message(b), "the results are of different splits (none all, none test)");
  b = a, b.protocol.window.stride = 2;
  EXPECT_EQ(message(b), "the results have different window specifications");
  b = a, b.protocol.disturbance.noise_m = 0.02;
  EXPECT_EQ(message(b),
            "the results are of flights disturbed in different ways (none; noise 0.02 m "
            "(stated))");
  EXPECT_EQ(message(Example(false)), "the results of wide have no per-flight rows");
}

TEST(EmbedResults, ReplacesTheOneElementAndEscapes) {
  const std::string hole =
      "<script type=\"application/json\" id=\"aerocast-results\">null</script>";
  const auto page = EmbedResults("<html>" + hole + "</html>", "{\"a\":\"</script><b>\"}");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page,
            "<html><script type=\"application/json\" id=\"aerocast-results\">"
            "{\"a\":\"\\u003c/script>\\u003cb>\"}</script></html>");
  EXPECT_FALSE(EmbedResults("<html></html>", "{}").ok());
  EXPECT_FALSE(EmbedResults(hole + hole, "{}").ok());
  EXPECT_FALSE(EmbedResults("", "{}").ok());
}

TEST(Tables, ShowModelsDashesAndIntervals) {
  const Results results = Example();
  const std::string text = EvaluationReport(results);
  EXPECT_NE(text.find("wide"), std::string::npos);
  EXPECT_NE(text.find(" ±"), std::string::npos);
  EXPECT_NE(text.find("category average"), std::string::npos);
  const Metric missing[] = {Metric::kNllDisplacement};
  EXPECT_NE(MetricTable(results, GroupKind::kAll, missing).find("–"), std::string::npos);
  EXPECT_NE(ComparisonTable(results.comparisons).find("ADE m"), std::string::npos);
}

}  // namespace
}  // namespace aerocast
