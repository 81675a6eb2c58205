// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_classical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "aerocast/classical.h"
#include "src/base/file.h"
#include "src/base/parallel.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/eval/fit_testing.h"
#include "src/forecast/forecaster_testing.h"

namespace aerocast {
namespace {

const FitCorpus& Train() {
  static const FitCorpus corpus = MakeCorpus(100, 12, Options().spec);
  return corpus;
}

const std::map<std::string_view, std::unique_ptr<Forecaster>>& Fitted() {
  static const auto all = [] {
    std::map<std::string_view, std::unique_ptr<Forecaster>> made;
    for (const std::string_view name : AllForecasterNames()) {
      made[name] = *FitClassical(name, Train().windows, Options());
    }
    return made;
  }();
  return all;
}

TEST(FitClassical, KnowsAllNames) {
  EXPECT_THAT(AllForecasterNames(),
              testing::ElementsAre("hold", "cv", "ca", "ctrv", "imm", "replay", "ridge", "knn"));
}

TEST(FitClassical, SaysWhatIsWrong) {
  const auto message = [](auto&&... arguments) {
    return FitClassical(arguments...).error().message;
  };
  EXPECT_THAT(
      message("oracle", Train().windows, Options()),
      testing::HasSubstr("'oracle'; known are hold, cv, ca, ctrv, imm, replay, ridge, knn"));
  FitOptions bad = Options();
  bad.spec.dt_s = 0;
  EXPECT_THAT(message("cv", Train().windows, bad), testing::HasSubstr("dt must be"));
  EXPECT_THAT(message("cv", std::span<const FlightWindows>(), Options()),
              testing::HasSubstr("0 usable windows of 0 flights"));
  EXPECT_THAT(message("knn", std::span(Train().windows).first(1), Options()),
              testing::HasSubstr("two flights"));
}

TEST(FitClassical, ForecastsValidlyAndNamesWhatItFitted) {
  const auto samples = Observe(Wander(1));
  std::set<std::string> fingerprints;
  for (const auto& [name, forecaster] : Fitted()) {
    const Forecast f = PredictOnce(*forecaster, samples, 0.01);
    EXPECT_TRUE(f.IsValid()) << name;
    EXPECT_EQ(f.steps(), 50);
    EXPECT_EQ(forecaster->info().name, name);
    EXPECT_FALSE(forecaster->info().description.empty());
    EXPECT_EQ(forecaster->info().fingerprint.size(), 64u);
    fingerprints.insert(forecaster->info().fingerprint);
    EXPECT_GT(f.residual_correlation, 0.9) << name;
  }
  EXPECT_EQ(fingerprints.size(), Fitted().size());
}

TEST(FitClassical, GivesTheSameNumbersForAnyThreads) {
  for (const auto& [name, forecaster] : Fitted()) {
    const auto again = *FitClassical(name, Train().windows, Options(1));
    EXPECT_EQ(again->info().fingerprint, forecaster->info().fingerprint) << name;
  }
}

TEST(FitClassical, NeverSeesWhatComesAfterT0) {
  const Recording flight = FlyAtRandom(7, 12);
  const std::size_t t0 = 300;
  Recording other = flight;
  for (std::size_t i = t0 + 1; i < other.samples.size(); ++i) {
    other.samples[i].p_world += Vec3{100, -50, 1e3 * static_cast<double>(i)};
  }
  for (const std::string_view name : AllForecasterNames()) {
    std::vector<const Forecaster*> kinds = {Fitted().at(name).get()};
    const auto generic = MakeClassical(name);
    if (generic.ok()) kinds.push_back(generic->get());
    for (const Forecaster* forecaster : kinds) {
      const auto workspace = forecaster->MakeWorkspace();
      Forecast a(forecaster->info().shape), b(forecaster->info().shape);
      forecaster->Predict(HistoryAt(flight, t0, 2.0), *workspace, a);
      forecaster->Predict(HistoryAt(other, t0, 2.0), *workspace, b);
      EXPECT_TRUE(SameBits(a, b)) << name;
      EXPECT_NE(a.quality, Quality::kNone);
    }
  }
}

TEST(FitClassical, RegionsHoldWhatTheySayOnNewFlights) {
  const FitCorpus test = MakeCorpus(900, 12, Options().spec);
  for (const auto& [name, forecaster] : Fitted()) {
    const PathScore score = Evaluate(*forecaster, test.windows, Options().spec);
    // knn and imm are mixtures: the ellipsoid of their moments is only roughly their region. The
    // error of hold is the distance flown, which has no tails: more than said is inside.
    const bool gaussian = name != "knn" && name != "imm" && name != "hold";
    const double tolerance = gaussian ? 0.06 : 0.10;
    EXPECT_NEAR(score.inside, 0.9, tolerance) << name;
  }
}

TEST(FitClassical, LearnsWhatKinematicsCannotKnow) {
  // Circles of one radius at many speeds: ridge and knn should beat a straight line by far.
  std::vector<Recording> flights;
  for (int i = 0; i < 8; ++i) {
    Recording flight;
    flight.id = std::to_string(i);
    const MotionLaw law = Helix(2, 0.5 + 0.1 * i, 0.05);
    flight.samples = Observe(law, 20, 20);
    flights.push_back(std::move(flight));
  }
  const WindowSpec spec = Options().spec;
  std::vector<FlightWindows> train, test;
  for (std::size_t i = 0; i < flights.size(); ++i) {
    (i == 4 ? test : train).push_back({&flights[i], CutWindows(flights[i], spec)});
  }
  const double cv = Evaluate(**FitClassical("cv", train, Options()), test, spec).ade;
  EXPECT_LT(Evaluate(**FitClassical("ridge", train, Options()), test, spec).ade, 0.2 * cv);
  EXPECT_LT(Evaluate(**FitClassical("knn", train, Options()), test, spec).ade, 0.3 * cv);
}

// --- Real flights -------------------------------------------------------------------------------

// The reduced CSV t,px,py,pz,...; nothing but what this test needs.
Recording ReadNanoBench(const std::string& text, const std::string& id) {
  Recording flight;
  flight.id = id;
  std::vector<std::string_view> rows, fields;
  SplitFields(text, '\n', rows);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    SplitFields(rows[i], ',', fields);
    if (fields.size() < 4) continue;
    const Observation o = {
        *ParseSeconds(fields[0]),
        {*ParseDouble(fields[1]), *ParseDouble(fields[2]), *ParseDouble(fields[3])}};
    if (flight.samples.empty() || o.t_ns > flight.samples.back().t_ns) flight.samples.push_back(o);
  }
  return flight;
}

std::vector<Recording> ReadNanoBenchFlights(const std::filesystem::path& directory) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".csv") files.insert(entry.path());
  }
  std::vector<Recording> flights;
  std::set<std::string> seen;
  for (const auto& file : files) {
    const std::string text = *ReadFile(file);
    if (seen.insert(Sha256Hex(text)).second) {
      flights.push_back(ReadNanoBench(text, file.stem().string()));
    }
  }
  return flights;
}

TEST(NanoBench, HasTheErrorsThatAreKnownForIt) {
  const char* root = std::getenv("AEROCAST_DATA");
  if (root == nullptr ||
      !std::filesystem::is_directory(std::filesystem::path(root) / "nanobench")) {
    GTEST_SKIP() << "AEROCAST_DATA does not name a directory with nanobench/ in it";
  }
  const auto flights = ReadNanoBenchFlights(std::filesystem::path(root) / "nanobench");
  ASSERT_EQ(flights.size(), 71u);
  FitOptions options;
  std::vector<FlightWindows> all, train, test;
  for (std::size_t i = 0; i < flights.size(); ++i) {
    all.push_back({&flights[i], CutWindows(flights[i], options.spec, 0.3)});
    (i % 4 == 3 ? test : train).push_back(all.back());
  }
  // Measured ADE, all airborne windows without a fit, every fourth flight with one.
  const std::map<std::string_view, double> generic = {
      {"hold", 1.07}, {"cv", 2.01}, {"ca", 4.00}, {"ctrv", 0.95}, {"imm", 0.92}};
  for (const auto& [name, ade] : generic) {
    const PathScore score = Evaluate(**MakeClassical(name), all, options.spec);
    EXPECT_NEAR(score.ade, ade, 0.05 * ade) << name;
    std::printf("%-5s generic  ADE %.3f FDE %.3f 90%%: %.2f\n", std::string(name).c_str(),
                score.ade, score.fde, score.inside);
  }
  const std::map<std::string_view, double> fitted = {{"hold", 1.05}, {"cv", 1.99},  {"ca", 3.85},
                                                     {"ctrv", 0.95}, {"imm", 0.92}, {"ridge", 0.46},
                                                     {"knn", 0.18}};
  for (const auto& [name, ade] : fitted) {
    const PathScore score = Evaluate(**FitClassical(name, train, options), test, options.spec);
    EXPECT_NEAR(score.ade, ade, 0.1 * ade) << name;
    EXPECT_NEAR(score.inside, 0.9, 0.12) << name;
    std::printf("%-5s fitted   ADE %.3f FDE %.3f 90%%: %.2f\n", std::string(name).c_str(),
                score.ade, score.fde, score.inside);
  }
}

}  // namespace
}  // namespace aerocast
