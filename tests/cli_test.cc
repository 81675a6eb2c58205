// SPDX-License-Identifier: BSD-3-Clause
//
// The command line as a user meets it: real processes, real files, every verb, and nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/program_test.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class CommandLine : public ProgramTest {
 protected:
  void MakeSmallCorpus() {
    const Outcome made = Aerocast("generate --flights 6 --duration 14 --out corpus --seed 5");
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
};

TEST_F(CommandLine, ExplainsItselfAndEveryVerbWithAnExample) {
  const Outcome help = Aerocast("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb :
       {"generate", "import", "stats", "windows", "evaluate", "compare", "export"}) {
    EXPECT_THAT(help.out, HasSubstr(verb));
    const Outcome one = Aerocast(std::string(verb) + " --help");
    EXPECT_EQ(one.exit_code, 0);
    EXPECT_THAT(one.out, HasSubstr("Example")) << verb;
  }
  EXPECT_THAT(Aerocast("--version").out, HasSubstr("aerocast 0."));
}

TEST_F(CommandLine, AnswersNonsenseWithTwoAndOneSentence) {
  EXPECT_EQ(Aerocast("").exit_code, 2);
  ExpectRefusal("fly", 2, "unknown verb 'fly', expected one of generate, import");
  ExpectRefusal("generate", 2, "--out is required");
  ExpectRefusal("generate --out out --category hexagon", 2, "hexagon");
  ExpectRefusal("generate --out out --category hexagon", 2, "circle");  // lists what is known
  ExpectRefusal("generate --out out --flights many", 2, "many");
  ExpectRefusal("generate --out out --flights -3", 2, "flights");
  ExpectRefusal("generate --out out --regime warp", 2, "arena or fast");
  ExpectRefusal("generate --out out --category bird --regime fast", 2, "for the nine shapes");
  ExpectRefusal("generate --out out --category fork --fork-probability 2", 2, "0 to 1");
  ExpectRefusal("generate --out out --fork-probability 0.3", 2, "category \"fork\"");
  ExpectRefusal("generate --out out --preset gold", 2, "paper or balanced");
  ExpectRefusal("generate --out out --real somewhere", 2, "--preset");
  ExpectRefusal("generate --out out --speling 1", 2, "--speling");
  ExpectRefusal("import --format xml . --out out", 2, "csv, nanobench, tum, euroc");
  ExpectRefusal("evaluate", 2, "corpus is required");
}

TEST_F(CommandLine, NamesWhatIsMissingOrBroken) {
  ExpectRefusal("stats nowhere", 1, "nowhere");
  fs::create_directories(dir_ / "empty");
  ExpectRefusal("stats empty", 1, "aerocast import");  // says how to make a corpus
  ExpectRefusal("import empty --out out", 1, "empty");
  Write("a/truncated.csv", "t,x,y,z\n0,1,2,3\n0.1,1,2,3\n0.2,1,");
  Write("b/nan.csv", "t,x,y,z\n0,1,2,3\n0.1,nan,2,3\n");
  Write("c/letters.csv", "t,x,y,z\n0,1,2,oops\n0.1,1,x,3\n");
  Write("d/columns.csv", "time_of_day,east,north\n0,1,2\n");
  Write("e/empty.csv", "");
  ExpectRefusal("import b --out out", 1, "nan.csv");
  ExpectRefusal("import c --out out", 1, "letters.csv");
  ExpectRefusal("import d --out out", 1, "columns.csv:1");
  ExpectRefusal("import e --out out", 1, "empty.csv");
  ExpectRefusal("compare nothing.json", 1, "nothing.json");
  Write("broken.json", "{\"format\": \"aerocast-evaluation\"");
  ExpectRefusal("compare broken.json", 1, "broken.json");
}

TEST_F(CommandLine, RepairsWhatCanBeRepairedAndSaysSo) {
  std::string back = "t,x,y,z\n";
  for (int i = 0; i < 100; ++i) {
    const int k = i == 50 ? 51 : i == 51 ? 50 : i;  // one pair of stamps is swapped
    back += std::to_string(k) + "e-1," + std::to_string(k) + ",2,3\n";
  }
  Write("in/back.csv", back);
  const Outcome outcome = Aerocast("import in --out corpus");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("back.csv"), HasSubstr("1 distinct flight,")));
  EXPECT_EQ(Aerocast("stats corpus").exit_code, 0);
}

TEST_F(CommandLine, SameSeedGivesTheSameBytesWhateverTheThreads) {
  ASSERT_EQ(Aerocast("generate --flights 2 --duration 8 --out one --threads 1").exit_code, 0);
  ASSERT_EQ(
      Aerocast("generate --flights 2 --duration 8 --out three --threads 3 --name one").exit_code,
      0);
  ASSERT_EQ(Aerocast("generate --flights 2 --duration 8 --out other --seed 2").exit_code, 0);
  const std::string diff = "diff -r '" + dir_.string() + "/one' '" + dir_.string();
  EXPECT_EQ(RunCommand(diff + "/three'", dir_).exit_code, 0);
  EXPECT_EQ(RunCommand(diff + "/other'", dir_).exit_code, 1);
}

TEST_F(CommandLine, GeneratesFliersAndForksWhichOtherVerbsTakeAsTheyAre) {
  const Outcome made = Aerocast(
      "generate --category fliers,fork --fork-probability 1 --flights 2 --duration 18 "
      "--out fliers");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("10 recordings"));
  EXPECT_THAT(Slurp(dir_ / "fliers" / "gen-fork-0001.csv"), HasSubstr("fork-left"));
  const Outcome stats = Aerocast("stats fliers");
  EXPECT_EQ(stats.exit_code, 0) << stats.err;
  for (const char* kind : {"bird", "soaring", "racing", "fixed_wing", "fork"}) {
    EXPECT_THAT(stats.out, HasSubstr(kind));
  }
}

// Flights of a user's own are of none of the nine categories; there is nothing to average over.
TEST_F(CommandLine, EvaluatesAndComparesFlightsOfOtherKinds) {
  const Outcome made =
      Aerocast("generate --category stop_and_go --flights 3 --duration 20 --out mine");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome scored =
      Aerocast("evaluate mine --side all --fit none --models hold,cv --json mine.json");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_THAT(scored.out, Not(HasSubstr("Average of the categories")));
  const Outcome compared = Aerocast("compare mine.json --base hold --metric ade");
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("cv"));
  EXPECT_THAT(compared.out, Not(HasSubstr("categories")));
}

TEST_F(CommandLine, DoesNotOverwriteUnlessTold) {
  MakeSmallCorpus();
  const std::string before = Slurp(dir_ / "corpus" / "corpus.json");
  EXPECT_EQ(Aerocast("generate --flights 1 --duration 8 --out corpus").exit_code, 1);
  EXPECT_EQ(Slurp(dir_ / "corpus" / "corpus.json"), before);
  EXPECT_EQ(Aerocast("generate --flights 1 --duration 8 --out corpus --force").exit_code, 0);
  EXPECT_NE(Slurp(dir_ / "corpus" / "corpus.json"), before);
}

TEST_F(CommandLine, RefusesACorpusThatWasTamperedWith) {
  MakeSmallCorpus();
  fs::path victim;
  for (const auto& entry : fs::recursive_directory_iterator(dir_ / "corpus")) {
    if (entry.path().extension() == ".csv") victim = entry.path();
  }
  std::ofstream(victim, std::ios::app) << "999,1,1,1,1,1,1\n";
  ExpectRefusal("stats corpus", 1, victim.filename().string());
}

TEST_F(CommandLine, EvaluatesComparesAndReports) {
  MakeSmallCorpus();
  const Outcome run =
      Aerocast("evaluate corpus --stride 5 --json r.json --report r.html --replicates 200");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* model : {"plus", "hold", "cv", "ca", "ctrv", "imm", "ridge", "knn"}) {
    EXPECT_THAT(run.out, HasSubstr(model));
  }
  const auto json = nlohmann::json::parse(Slurp(dir_ / "r.json"));
  EXPECT_EQ(json["models"].size(), 8u) << "by two seconds replay would be ctrv";
  EXPECT_EQ(json["protocol"]["side"], "test");
  for (const auto& model : json["models"]) {
    EXPECT_GT(model["groups"][0]["metrics"]["ade"]["value"].get<double>(), 0);
    EXPECT_GE(model["fingerprint"].get<std::string>().size(), 64u);
  }
  EXPECT_THAT(Slurp(dir_ / "r.html"), HasSubstr("\"aerocast-evaluation\""));

  const Outcome compared = Aerocast("compare r.json --base cv --metric ade --replicates 200");
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("hold"), HasSubstr("cv")));
  ExpectRefusal("compare r.json --base zeus", 2, "zeus");
  ExpectRefusal("compare r.json --metric beauty", 2, "beauty");
}

TEST_F(CommandLine, FitsOnAnotherCorpus) {
  MakeSmallCorpus();
  ASSERT_EQ(Aerocast("generate --category circle --flights 16 --duration 16 --seed 9 --out other")
                .exit_code,
            0);
  const Outcome run = Aerocast(
      "evaluate corpus --side all --fit-corpus other --models knn,cv --stride 3 --json r.json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(Slurp(dir_ / "r.json"));
  for (const auto& model : json["models"]) EXPECT_EQ(model["fitted_on"], "train of other");
  ExpectRefusal("evaluate corpus --side train --fit-corpus corpus --models knn", 2,
                "are on its side 'train'");
  ExpectRefusal("evaluate corpus --fit-corpus nowhere --models knn", 1, "nowhere");
}

TEST_F(CommandLine, ScoresWindowsBeforeManoeuvresApart) {
  MakeSmallCorpus();
  const auto windows = [&](const std::string& subset) {
    const Outcome run =
        Aerocast("evaluate corpus --models cv --json " + subset + ".json --subset " + subset);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(Slurp(dir_ / (subset + ".json")))["protocol"]["windows"]
        .get<double>();
  };
  const double all = windows("all"), before = windows("before-manoeuvres"),
               other = windows("other");
  EXPECT_EQ(before + other, all);
  EXPECT_NEAR(before / all, 0.1, 0.02);
  ExpectRefusal("compare all.json other.json", 2, "different subsets");
  ExpectRefusal("evaluate corpus --subset some", 2, "some");
}

TEST_F(CommandLine, TheBundledNetworkIsThere) {
  MakeSmallCorpus();
  EXPECT_THAT(Aerocast("describe").out, HasSubstr("plus family"));
  EXPECT_THAT(Aerocast("describe plus-small").out,
              AllOf(HasSubstr("plus-small"), HasSubstr("90 %")));
  fs::path flight;
  for (const auto& entry : fs::recursive_directory_iterator(dir_ / "corpus")) {
    if (entry.path().extension() == ".csv") flight = entry.path();
  }
  const Outcome last = Aerocast("predict '" + flight.string() + "' --last");
  EXPECT_EQ(last.exit_code, 0) << last.err;
  const auto forecast = nlohmann::json::parse(last.out);
  EXPECT_EQ(forecast["quality"], "ok");
  EXPECT_EQ(forecast["modes"].size(), 12u) << "six ways, each narrow and wide";
}

TEST_F(CommandLine, EvaluationDoesNotDependOnThreads) {
  MakeSmallCorpus();
  const auto metrics = [&](const std::string& threads) {
    const Outcome run =
        Aerocast("evaluate corpus --stride 5 --models cv,knn --json - --threads " + threads);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    auto json = nlohmann::json::parse(run.out);
    for (auto& model : json["models"]) model.erase("seconds");
    return json;
  };
  EXPECT_EQ(metrics("1"), metrics("3"));
}

TEST_F(CommandLine, WillNotScoreAForecasterOnWhatItWasFittedOn) {
  MakeSmallCorpus();
  ExpectRefusal("evaluate corpus --side train", 2, "fitted on");
  ExpectRefusal("evaluate corpus --side all", 2, "--fit none");
  ExpectRefusal("evaluate corpus --fit all", 2, "--fit is 'all'");
  ExpectRefusal("evaluate corpus --fit test --side calibration", 2, "nothing is fitted on test");
  ExpectRefusal("evaluate corpus --models oracle", 2, "oracle");
  ExpectRefusal("evaluate corpus --side all --fit none --models knn", 2, "knn");
  ExpectRefusal("evaluate corpus --side nowhere", 2, "nowhere");
  ExpectRefusal("evaluate corpus --horizon 5.05", 2, "multiples");
  EXPECT_EQ(Aerocast("evaluate corpus --side all --fit none --models cv --stride 9").exit_code, 0);
}

TEST_F(CommandLine, ScoresDisturbedFlights) {
  MakeSmallCorpus();
  const auto evaluate = [&](const std::string& flags) {
    const Outcome run =
        Aerocast("evaluate corpus --stride 10 --models cv,ridge --replicates 100 " + flags);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  };
  evaluate("--json clean.json");
  EXPECT_THAT(evaluate("--noise 0.05 --drop 0.3 --json noisy.json --report noisy.html"),
              HasSubstr("disturbed: noise 0.05 m (stated), 30 % of 10 Hz dropped"));
  const auto clean = nlohmann::json::parse(Slurp(dir_ / "clean.json"));
  const auto noisy = nlohmann::json::parse(Slurp(dir_ / "noisy.json"));
  EXPECT_EQ(noisy["protocol"]["disturbance"]["noise_m"], 0.05);
  EXPECT_EQ(noisy["protocol"]["windows"], clean["protocol"]["windows"]);
  for (std::size_t m = 0; m < 2; ++m) {  // fitted on the same flights as they were
    EXPECT_EQ(noisy["models"][m]["fingerprint"], clean["models"][m]["fingerprint"]);
    EXPECT_GT(noisy["models"][m]["groups"][0]["metrics"]["ade"]["value"].get<double>(),
              clean["models"][m]["groups"][0]["metrics"]["ade"]["value"].get<double>());
  }
  ExpectRefusal("compare clean.json noisy.json", 2, "disturbed in different ways");
  ASSERT_EQ(Aerocast("windows corpus --stride 10 --drop 1 --out w").exit_code, 0);
  std::string line;
  std::getline(std::ifstream(dir_ / "w" / "inputs.jsonl"), line);
  EXPECT_EQ(nlohmann::json::parse(line)["history"].size(), 1u);

  ExpectRefusal("evaluate corpus --noise -1", 2, "the noise must be 0 to 100 m");
  ExpectRefusal("evaluate corpus --noise nan", 2, "the noise must be 0 to 100 m");
  ExpectRefusal("evaluate corpus --noise-unstated", 2, "no noise");
  ExpectRefusal("evaluate corpus --drop 1.5", 2, "dropped observations must be 0 to 1");
  ExpectRefusal("evaluate corpus --outliers many", 2, "--outliers");
  ExpectRefusal("evaluate corpus --scale 0", 2, "the scale must be 0.01 to 100");
  ExpectRefusal("windows corpus --time-scale 0 --out out", 2, "the time scale must be 0.1 to 10");
  ExpectRefusal("evaluate corpus --yaw 1e9", 2, "the yaw must be");
  ExpectRefusal("evaluate corpus --time-scale 10", 1, "is left of the flights, flown 10 times");
}

// The same windows with more or less history, so that `compare` takes both.
TEST_F(CommandLine, LengthOfHistoryAndChoiceOfWindowsAreApart) {
  MakeSmallCorpus();
  for (const char* history : {"1", "4"}) {
    ASSERT_EQ(Aerocast(std::string("evaluate corpus --stride 10 --models cv,ridge --replicates 100 "
                                   "--min-history 4 --history ") +
                       history + " --json h" + history + ".json")
                  .exit_code,
              0);
  }
  EXPECT_EQ(Aerocast("compare h1.json h4.json --base cv@h1.json --replicates 100").exit_code, 0);
}

// The open benchmark, used as a stranger would: inputs out, forecasts in. The stranger's forecast
// is `hold`, so it must score as ours does.
TEST_F(CommandLine, ChecksItsInstructionSetsAgainstPlainLoops) {
  const Outcome check = Aerocast("check --windows 3 --json -");
  ASSERT_EQ(check.exit_code, 0) << check.err;
  EXPECT_THAT(check.out, AllOf(HasSubstr("\"target\": \"scalar\""), HasSubstr("\"bigru\""),
                               HasSubstr("\"half\""), Not(HasSubstr("\"good\": false"))));
  EXPECT_THAT(Aerocast("check --windows 1").out, HasSubstr("same bits"));
  ExpectRefusal("check none.safetensors", 1, "none.safetensors");
}

TEST_F(CommandLine, MeasuresItself) {
  const std::string few = " --calls 10 --threads 1 --batches 1,3";
  const Outcome bench = Aerocast("bench ctrv" + few + " --json b.json");
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_THAT(bench.out, AllOf(HasSubstr("p99.9"), HasSubstr("cold cache"),
                               HasSubstr("busy neighbours"), HasSubstr("behaviour signature")));
  const auto json = nlohmann::json::parse(std::ifstream(dir_ / "b.json"));
  EXPECT_EQ(json["latency"].size(), 4u);
  EXPECT_EQ(json["batches"].size(), 2u);
  // The same forecaster behaves alike in every run, and unlike another.
  const auto signature = [&](const std::string& model) {
    const Outcome run = Aerocast("bench " + model + few + " --rate 200 --seconds 0.1 --json -");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(run.out)["signature"].get<std::string>();
  };
  EXPECT_EQ(signature("ctrv"), json["signature"]);
  EXPECT_NE(signature("cv"), json["signature"]);
  ExpectRefusal("bench oracle", 2, "oracle");
  ExpectRefusal("bench none.safetensors", 1, "none.safetensors");
}

TEST_F(CommandLine, ScoresAnotherToolsForecasts) {
  MakeSmallCorpus();
  ASSERT_EQ(Aerocast("windows corpus --stride 10 --out w").exit_code, 0);
  std::ifstream inputs(dir_ / "w" / "inputs.jsonl");
  std::ofstream theirs(dir_ / "theirs.jsonl");
  std::string first, line;
  while (std::getline(inputs, line)) {
    const auto input = nlohmann::json::parse(line);
    const auto& last = input["history"].back();
    nlohmann::json point = nlohmann::json::array();
    for (int i = 0; i < 50; ++i) point.push_back({last[1], last[2], last[3]});
    line = nlohmann::json{{"id", input["id"]}, {"t0", input["t0"]}, {"point", point}}.dump();
    if (first.empty()) first = line;
    theirs << line << '\n';
  }
  theirs.close();
  const Outcome run =
      Aerocast("evaluate corpus --stride 10 --models hold --forecasts theirs.jsonl --json -");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  const auto& ours = json["models"][0]["groups"][0]["metrics"];
  const auto& other = json["models"][1]["groups"][0]["metrics"];
  EXPECT_NEAR(ours["ade"]["value"], other["ade"]["value"].get<double>(), 1e-6);
  EXPECT_TRUE(other["nll_position"]["value"].is_null());  // a point claims no distribution

  Write("few.jsonl", first + "\n");
  ExpectRefusal("evaluate corpus --stride 10 --forecasts few.jsonl", 1, "few: ");
  Write("garbage.jsonl", first + "\nnot json\n");
  ExpectRefusal("evaluate corpus --stride 10 --forecasts garbage.jsonl", 1, "garbage.jsonl:2");
  EXPECT_EQ(Aerocast("evaluate corpus --stride 10 --forecasts few.jsonl --allow-missing").exit_code,
            0);
}

}  // namespace
}  // namespace aerocast
