// SPDX-License-Identifier: BSD-3-Clause
//
// `aerocast predict` and `aerocast describe` as a user meets them: recordings, live streams that
// are out of order or nonsense, interruptions.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "aerocast/recording.h"
#include "src/base/rng.h"
#include "src/model/model_file.h"
#include "src/report/forecast_lines.h"
#include "tests/process.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// {"id":"a","t":1.2,"p":[1.2,2,3]}: flies along x at 1 m/s.
std::string Line(const std::string& id, double t) {
  return R"({"id":")" + id + R"(","t":)" + std::to_string(t) + R"(,"p":[)" + std::to_string(t) +
         ",2,3]}\n";
}

std::vector<Forecast> Forecasts(const std::string& lines) {
  std::vector<Forecast> forecasts;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const Status read = ParseForecast(line, forecasts.emplace_back());
    EXPECT_TRUE(read.ok()) << line << "\n" << read.error().message;
  }
  return forecasts;
}

std::vector<std::string> Names(const std::vector<Forecast>& forecasts) {  // "a 1.2"
  std::vector<std::string> names;
  for (const Forecast& f : forecasts) {
    names.push_back(f.id + " " + std::to_string(f.t0_ns / 100'000'000));
  }
  return names;
}

class Predict : public testing::Test {
 protected:
  Predict() {
    dir_ = fs::path(testing::TempDir()) /
           (std::string("aerocast_predict_") +
            testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~Predict() override { fs::remove_all(dir_); }

  Outcome Aerocast(const std::string& arguments, const std::string& before = "") {
    return RunCommand(
        "(cd '" + dir_.string() + "' && " + before + " '" AEROCAST_PROGRAM "' " + arguments + ")",
        dir_);
  }
  // With this on standard input.
  Outcome Pipe(const std::string& arguments, const std::string& input) {
    Write("input", input);
    return Aerocast(arguments, "cat input |");
  }
  void Write(const std::string& name, const std::string& content) {
    std::ofstream(dir_ / name, std::ios::binary) << content;
  }
  void WriteFlight() {
    Recording flight;
    flight.id = "gull";
    for (int i = 0; i <= 50; ++i) {
      flight.samples.push_back({(100 + i) * 100'000'000LL, {0.1 * i, 2, 3}});
    }
    ASSERT_TRUE(WriteRecording(flight, dir_ / "flight.csv").ok());
  }

  fs::path dir_;
};

// The program with both ends of its pipes in our hands.
class Live {
 public:
  Live(const std::string& model, const fs::path& err) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0), dup2(out[1], 1);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
      execl(AEROCAST_PROGRAM, "aerocast", "predict", "--model", model.c_str(), nullptr);
      _exit(127);
    }
    close(in[0]), close(out[1]);
    to_ = in[1], from_ = out[0];
  }
  ~Live() {
    CloseInput(), CloseOutput();
    if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
  }
  void Send(const std::string& text) const {
    EXPECT_EQ(write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // One line, or what there is when none comes within ten seconds.
  std::string Receive() const {
    std::string line;
    char c = 0;
    for (pollfd ready{from_, POLLIN, 0}; poll(&ready, 1, 10'000) == 1 && read(from_, &c, 1) == 1;) {
      if (c == '\n') return line;
      line += c;
    }
    return line;
  }
  void CloseInput() {
    if (to_ >= 0) close(to_);
    to_ = -1;
  }
  void CloseOutput() {
    if (from_ >= 0) close(from_);
    from_ = -1;
  }
  void Signal(int signal) const { kill(pid_, signal); }
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

TEST_F(Predict, ForecastsAlongARecording) {
  WriteFlight();
  const Outcome all = Aerocast("predict --model cv flight.csv");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  const std::vector<Forecast> forecasts = Forecasts(all.out);
  EXPECT_THAT(Names(forecasts), testing::ElementsAre("gull 100", "gull 110", "gull 120", "gull 130",
                                                     "gull 140", "gull 150"));
  EXPECT_EQ(forecasts[0].quality, Quality::kShortHistory);
  EXPECT_EQ(forecasts[5].quality, Quality::kOk);
  EXPECT_NEAR(forecasts[5].point(49).x, 10, 1e-6);
  EXPECT_EQ(Forecasts(Aerocast("predict --model cv flight.csv --every 0").out).size(), 51u);
}

TEST_F(Predict, ForecastsAtOneInstantOfARecording) {
  WriteFlight();
  const auto last = Forecasts(Aerocast("predict --model cv flight.csv --last").out);
  EXPECT_THAT(Names(last), testing::ElementsAre("gull 150"));
  const auto at = Forecasts(Aerocast("predict --model cv flight.csv --at 12.34").out);
  ASSERT_EQ(at.size(), 1u);
  EXPECT_EQ(at[0].t0_ns, 12'300'000'000);
  EXPECT_NEAR(at[0].age_s, 0.04, 1e-9);
  EXPECT_EQ(at[0].quality, Quality::kOk);
  const auto after = Forecasts(Aerocast("predict --model cv flight.csv --at 17").out);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].quality, Quality::kStale);
  EXPECT_EQ(Aerocast("predict --model cv flight.csv --at 9").exit_code, 2);
  EXPECT_EQ(Aerocast("predict --model cv flight.csv --at noon").exit_code, 2);
  EXPECT_EQ(Aerocast("predict --model cv --at 9").exit_code, 2);
  EXPECT_EQ(Aerocast("predict --model cv flight.csv --at 11 --last").exit_code, 2);
}

TEST_F(Predict, AnswersInterleavedObjectsEachFromItsOwnHistory) {
  std::string input, alone;
  for (int i = 0; i < 25; ++i) {
    input += Line("a", 0.1 * i) + Line("b", 1000 + 0.1 * i);
    alone += Line("b", 1000 + 0.1 * i);
  }
  const Outcome both = Pipe("predict --model imm", input);
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(Forecasts(both.out).size(), 50u);
  std::string of_b;
  std::istringstream lines(both.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(R"({"id":"b")")) of_b += line + "\n";
  }
  EXPECT_EQ(of_b, Pipe("predict --model imm -", alone).out);
  EXPECT_EQ(Forecasts(Pipe("predict --model imm --every 1", input).out).size(), 6u);
  EXPECT_THAT(Names(Forecasts(Pipe("predict --model imm --last", input).out)),
              testing::ElementsAre("a 24", "b 10024"));
}

TEST_F(Predict, PutsLateAndDoubledSamplesRight) {
  std::string sorted, shuffled;
  for (int i = 0; i < 30; ++i) sorted += Line("a", 0.1 * i);
  for (int i = 0; i < 28; i += 2) {
    shuffled += Line("a", 0.1 * i + 0.1) + Line("a", 0.1 * i) + Line("a", 0.1 * i);
  }
  shuffled += Line("a", 2.8) + Line("a", 2.9);
  const std::string expected = Pipe("predict --model imm --last", sorted).out;
  const Outcome outcome = Pipe("predict --model imm --last", shuffled + Line("a", 1.05));
  EXPECT_EQ(outcome.out, expected);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("received 45 = used 30 + rejected 15 (bad lines 0,"),
                    HasSubstr("too late 1, duplicate 14) + dropped 0"), HasSubstr("1 forecast")));
  // Only what is newer than everything before is answered.
  EXPECT_EQ(Forecasts(Pipe("predict --model imm", shuffled).out).size(), 16u);
}

TEST_F(Predict, NotesNonsenseAndGoesOn) {
  std::string input = "\n" + Line("a", 1) + "hello\n{\"id\":\"a\"}\n\x01\x1b[2J\xff\n";
  input += R"({"id":"a","t":1.1,"p":[1e9,0,0]})"
           "\n";
  input += std::string(5'000'000, '[') + "\n" + std::string("\0\0\n", 3);
  input += R"({"id":"a","t":1.2,"p":[1.2,2,3],"sigma":0.1})";  // no line end
  const Outcome outcome = Pipe("predict --model cv", input);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(Names(Forecasts(outcome.out)), testing::ElementsAre("a 10", "a 12"));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("line 3: "), HasSubstr("line 4: observation: \"t\" is missing"),
                    HasSubstr("line 7: longer than 4096 bytes"),
                    HasSubstr("received 8 = used 2 + rejected 6 (bad lines 5, not finite 0, out "
                              "of range 1")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));
}

TEST_F(Predict, LimitsItsNotes) {
  std::string input;
  for (int i = 0; i < 1000; ++i) input += "nonsense\n";
  const Outcome outcome = Pipe("predict --model cv", input);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 11);
  EXPECT_THAT(outcome.err, HasSubstr("received 1000 = used 0 + rejected 1000"));
}

TEST_F(Predict, ReplacesTheObjectNotHeardOfForLongest) {
  const std::string input =
      Line("a", 1) + Line("b", 1) + Line("a", 1.1) + Line("c", 1) + Line("a", 1.2) + Line("b", 1.1);
  const Outcome outcome = Pipe("predict --model cv --max-tracks 2 --last", input);
  EXPECT_THAT(Names(Forecasts(outcome.out)), testing::UnorderedElementsAre("a 12", "b 11"));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("more than 2 objects: 'c' takes the place of 'b'"),
                    HasSubstr("'b' takes the place of 'c'"), HasSubstr("received 6 = used 6")));
}

TEST_F(Predict, AnswersEmptyInputWithNothing) {
  const Outcome outcome = Pipe("predict --model cv", "");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("received 0 = used 0 + rejected 0"));
}

TEST_F(Predict, WritesTables) {
  WriteFlight();
  const Outcome outcome = Aerocast("predict --model cv flight.csv --last --format csv");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 51);
  EXPECT_THAT(outcome.out, HasSubstr("id,t0,age,quality,step,t,x,y,z,sigma_x,sigma_y,sigma_z\n"
                                     "gull,15,0,ok,1,15.1,5.1,2,3,"));
  EXPECT_EQ(Aerocast("predict --model cv flight.csv --format xml").exit_code, 2);
}

TEST_F(Predict, WritesAFileWholeOrNotAtAll) {
  WriteFlight();
  const Outcome outcome = Aerocast("predict --model cv flight.csv --out f.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(Forecasts(Slurp(dir_ / "f.jsonl")).size(), 6u);
  EXPECT_EQ(Aerocast("predict --model cv none.csv --out g.jsonl").exit_code, 1);
  EXPECT_EQ(Aerocast("predict --model cv flight.csv --out no/g.jsonl").exit_code, 1);
  EXPECT_EQ(Aerocast("predict --model cv flight.csv >/dev/full").exit_code, 1);
  for (const auto& entry : fs::directory_iterator(dir_)) {
    EXPECT_THAT(entry.path().filename().string(),
                AllOf(Not(HasSubstr("partial")), Not(HasSubstr("g.jsonl"))));
  }
}

TEST_F(Predict, SaysWhatIsWrongWithTheModel) {
  WriteFlight();
  const Outcome unknown = Aerocast("predict --model oracle flight.csv");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("oracle"), HasSubstr("hold, cv, ca, ctrv, imm"),
                                 HasSubstr(".safetensors")));
  const Outcome missing = Aerocast("predict --model none.safetensors flight.csv");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.safetensors"));
  const Outcome none = Aerocast("predict --model cv none.csv");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("none.csv"));
  EXPECT_EQ(Aerocast("predict flight.csv").exit_code, 0) << "by the bundled network";
  EXPECT_EQ(Aerocast("predict --model cv --half flight.csv").exit_code, 2);
}

TEST_F(Predict, AnswersBeforeTheNextLineComes) {
  Live live("imm", dir_ / "err");
  for (int i = 0; i < 5; ++i) {
    live.Send(Line("a", 0.1 * i));
    Forecast forecast;
    ASSERT_TRUE(ParseForecast(live.Receive(), forecast).ok()) << i;
    EXPECT_EQ(forecast.t0_ns, i * 100'000'000LL);
  }
  live.CloseInput();
  EXPECT_EQ(live.Wait(), 0);
}

TEST_F(Predict, EndsCleanlyWhenInterruptedWhileItWaits) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Live live("cv", dir_ / "err");
    live.Send(Line("a", 1));
    EXPECT_THAT(live.Receive(), HasSubstr("\"t0\":1,"));
    live.Signal(signal);
    EXPECT_EQ(live.Wait(), 128 + signal);
    EXPECT_THAT(Slurp(dir_ / "err"), HasSubstr("received 1 = used 1"));
  }
}

TEST_F(Predict, EndsWhenToldWhileItsReaderSleeps) {
  Live live("cv", dir_ / "err");
  for (int i = 0; i < 100; ++i) live.Send(Line("a", 0.1 * i));  // more answers than a pipe holds
  EXPECT_THAT(live.Receive(), HasSubstr("\"t0\":0,"));
  live.Signal(SIGTERM);
  EXPECT_EQ(live.Wait(), 128 + SIGTERM);
}

TEST_F(Predict, EndsCleanlyWhenNobodyReadsItsAnswers) {
  Live live("cv", dir_ / "err");
  live.CloseOutput();
  live.Send(Line("a", 1) + Line("a", 2));
  EXPECT_EQ(live.Wait(), 0);
  EXPECT_THAT(Slurp(dir_ / "err"), HasSubstr("received 1 = used 1"));
}

TEST_F(Predict, DescribesAModelFile) {
  Model model;
  model.name = "small";
  model.config = {
      .architecture = Architecture::kMlp, .layers = ModelConfig{}.layers, .hidden = {8}};
  Rng rng(1);
  for (const TensorSpec& spec : TensorsOf(model.config)) {
    Tensor& tensor = model.tensors.emplace_back(Tensor{spec.name, spec.shape, {}});
    for (std::size_t i = 0; i < spec.size(); ++i) {
      tensor.data.push_back(static_cast<float>(rng.Normal()));
    }
  }
  model.provenance.corpus_name = "meadow", model.provenance.seed = 42;
  model.provenance.metrics["validation_ade_m"] = 0.25;
  model.provenance.version = "9.9.9";
  const Status written = WriteModel(dir_ / "small.safetensors", model);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const Outcome table = Aerocast("describe small.safetensors");
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("mlp: hidden layers of 8"), HasSubstr("meadow"),
                               HasSubstr("seed 42"), HasSubstr("0.25"), HasSubstr("9.9.9"),
                               HasSubstr("50 steps, 0.1 s apart (5 s)")));
  const Outcome json = Aerocast("describe small.safetensors --json -");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["config"]["architecture"], "mlp");
  EXPECT_EQ(parsed["parameters"], ParameterCount(model.config));
  EXPECT_EQ(parsed["provenance"]["seed"], 42);
  EXPECT_EQ(parsed["bytes"], fs::file_size(dir_ / "small.safetensors"));

  const Outcome missing = Aerocast("describe none.safetensors");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.safetensors"));
  Write("broken.safetensors", Slurp(dir_ / "small.safetensors").substr(0, 1000));
  EXPECT_EQ(Aerocast("describe broken.safetensors").exit_code, 1);
}

TEST_F(Predict, ExplainsItself) {
  for (const char* verb : {"predict", "describe"}) {
    const Outcome help = Aerocast(std::string(verb) + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr("Example")) << verb;
    EXPECT_THAT(Aerocast("--help").out, HasSubstr(verb));
  }
}

}  // namespace
}  // namespace aerocast
