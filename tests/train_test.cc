// SPDX-License-Identifier: BSD-3-Clause
//
// Training as a user meets it: real processes that are killed, starved, cut off and misused.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "src/base/rng.h"
#include "src/base/sha256.h"
#include "src/eval/curves.h"
#include "src/model/golden_testing.h"
#include "src/model/model_file.h"
#include "tests/program_test.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kConfig[] = R"(name = "tiny"
[model]
architecture = "transformer"
width = 16
layers = 2
heads = 2
feed_forward = 32
components = 2
[train]
batch = 32
lr = 1e-3
ema = 0.9
validations = 5
validation_windows = 64
)";

class Training : public ProgramTest {
 protected:
  Training() {
    Write("tiny.toml", kConfig);
    EXPECT_EQ(Aerocast("generate --flights 5 --duration 9 --seed 3 --out corpus").exit_code, 0);
  }

  // A run of 40 steps of 32 windows.
  static std::string NewRun(const std::string& out, const std::string& more = "") {
    return "train --config tiny.toml --corpus corpus --threads 1 --windows 1280 --out " + out +
           " --checkpoint-every 0s " + more;
  }
  std::string ModelHash(const std::string& run) {
    const std::string bytes = Slurp(dir_ / run / "model.safetensors");
    return bytes.empty() ? "no model" : Sha256Hex(bytes);
  }
  std::vector<fs::path> Checkpoints(const std::string& run) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(dir_ / run / "checkpoints")) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // Starts the program beside the test; outputs go to NAME.out and NAME.err.
  pid_t Start(const std::string& arguments, const std::string& name,
              const std::vector<std::pair<std::string, std::string>>& environment = {},
              bool own_group = false) {
    const pid_t child = fork();
    if (child != 0) return child;
    if (own_group) setpgid(0, 0);
    for (const auto& [key, value] : environment) setenv(key.c_str(), value.c_str(), 1);
    if (chdir(dir_.c_str()) != 0) _exit(126);
    for (const auto& [fd, suffix] : {std::pair(1, ".out"), std::pair(2, ".err")}) {
      const int file = open((name + suffix).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(file, fd);
    }
    const std::string command = "exec '" AEROCAST_PROGRAM "' " + arguments;
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  static int Wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Waits until the run has a checkpoint, or a minute.
  void AwaitCheckpoint(const std::string& run) {
    for (int i = 0; i < 1200; ++i) {
      std::error_code code;
      if (fs::exists(dir_ / run / "checkpoints", code) && !Checkpoints(run).empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "no checkpoint after a minute: " << Slurp(dir_ / "stderr");
  }
  // The losses that --log-steps has written.
  std::vector<double> StepLosses(const std::string& run) {
    std::istringstream log(Slurp(dir_ / run / "log.txt"));
    std::vector<double> losses;
    for (std::string line; std::getline(log, line);) {
      if (const auto at = line.find(" loss ");
          line.find(" step ") != line.npos && at != line.npos) {
        losses.push_back(std::stod(line.substr(at + 6)));
      }
    }
    return losses;
  }
};

TEST_F(Training, MakesAModelThatCanBeScoredAndKnowsWhatItSaw) {
  const Outcome trained = Aerocast(NewRun("run"));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out,
              AllOf(HasSubstr("windows/s"), HasSubstr("validation nll"),
                    HasSubstr("model: run/model.safetensors"), Not(HasSubstr("left out"))));
  for (const char* file : {"config.toml", "run.json", "log.txt", "curves.json"}) {
    EXPECT_TRUE(fs::exists(dir_ / "run" / file)) << file;
  }
  EXPECT_EQ(Checkpoints("run").size(), 3u);
  const Result<TrainingCurve> curve =
      CurveFromJson(Slurp(dir_ / "run" / "curves.json"), "curves.json");
  ASSERT_TRUE(curve.ok()) << curve.error().message;
  ASSERT_EQ(curve->points.size(), 5u);
  EXPECT_LT(curve->points.back().validation_nll, curve->points.front().validation_nll);
  const Result<Model> model = ReadModel(dir_ / "run" / "model.safetensors");
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->name, "tiny");
  EXPECT_FALSE(model->provenance.train_flights.empty());

  const std::string evaluate = "evaluate corpus --replicates 100 --models ";
  const Outcome scored = Aerocast(evaluate + "cv,run/model.safetensors --report r.html");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("tiny"));
  EXPECT_THAT(Slurp(dir_ / "r.html"), HasSubstr("\"validation_nll\""));
  EXPECT_THAT(Aerocast(evaluate + "again=run/model.safetensors").out, HasSubstr("again"));
  // Without libtorch, with it, and with weights of 16 bits: the same but for rounding.
  const std::string network = evaluate + "net=run/model.safetensors --json ";
  const auto ade = [&](const std::string& flags, const std::string& json) {
    EXPECT_EQ(Aerocast(network + json + flags).exit_code, 0);
    const auto read = nlohmann::json::parse(std::ifstream(dir_ / json));
    return read["models"][0]["groups"][0]["metrics"]["ade"]["value"].get<double>();
  };
  const double ours = ade("", "ours.json");
  EXPECT_NEAR(ade(" --libtorch", "libtorch.json"), ours, 1e-4 * ours);
  EXPECT_NEAR(ade(" --half", "half.json"), ours, 5e-3 * ours);
  ExpectRefusal(network + "x.json --half --libtorch", 2, "exclude each other", "x.json");
  ExpectRefusal(evaluate + "run/model.safetensors --side train", 2, "was trained on");
  ExpectRefusal(evaluate + "run/model.safetensors --split configuration", 2, "was trained on");
  ExpectRefusal(evaluate + "run/model.safetensors,run/model.safetensors", 2, "twice");
  ExpectRefusal(evaluate + "a=run/model.safetensors,a=run/model.safetensors --fit none", 2,
                "twice");
  ExpectRefusal(evaluate + "cv=run/model.safetensors,cv", 2, "two models are named 'cv'");
  ExpectRefusal(evaluate + "run/model.safetensors --fit moon", 2, "--fit is 'moon'");
  ExpectRefusal(evaluate + "run/model.safetensors --horizon 3", 2, "forecasts 5 s");
  ExpectRefusal(evaluate + "gone.safetensors", 1, "gone.safetensors");
}

TEST_F(Training, EndsInTheSameFileHoweverOftenItIsKilled) {
  ASSERT_EQ(Aerocast(NewRun("whole")).exit_code, 0);
  const auto seed = static_cast<std::uint64_t>(getpid());
  SCOPED_TRACE("moments of killing drawn from seed " + std::to_string(seed));
  Rng rng(seed);
  const pid_t first = Start(NewRun("torn"), "torn");
  AwaitCheckpoint("torn");
  kill(first, SIGKILL), Wait(first);
  int kills = 1;
  for (; kills < 4 && ModelHash("torn") == "no model"; ++kills) {
    const pid_t child = Start("train --resume torn --checkpoint-every 0s", "torn");
    // From the moment it starts to well into its steps.
    std::this_thread::sleep_for(std::chrono::milliseconds(rng.Below(1500)));
    kill(child, SIGKILL), Wait(child);
  }
  const Outcome last = Aerocast("train --resume torn --checkpoint-every 0s");
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(ModelHash("torn"), ModelHash("whole"));
}

TEST_F(Training, StopsWithACheckpointWhenAskedTo) {
  ASSERT_EQ(Aerocast(NewRun("whole")).exit_code, 0);
  const pid_t child = Start(NewRun("stopped"), "stopped");
  AwaitCheckpoint("stopped");
  kill(child, SIGTERM);
  ASSERT_EQ(Wait(child), 1);
  EXPECT_THAT(Slurp(dir_ / "stopped.err"), HasSubstr("aerocast train --resume stopped"));
  EXPECT_EQ(ModelHash("stopped"), "no model");
  ASSERT_EQ(Aerocast("train --resume stopped").exit_code, 0);
  EXPECT_EQ(ModelHash("stopped"), ModelHash("whole"));
}

TEST_F(Training, GoesOnFromAModelOnOtherFlights) {
  ASSERT_EQ(Aerocast(NewRun("before")).exit_code, 0);
  ASSERT_EQ(Aerocast("generate --flights 5 --duration 9 --seed 4 --out other").exit_code, 0);
  const std::string adapt =
      "train --config tiny.toml --from before/model.safetensors --corpus other --threads 1 "
      "--windows 320 --checkpoint-every 0s --out ";
  ASSERT_EQ(Aerocast(adapt + "whole").exit_code, 0);
  const Model before = ReadModel(dir_ / "before" / "model.safetensors").value();
  const Model after = ReadModel(dir_ / "whole" / "model.safetensors").value();
  EXPECT_GT(after.provenance.train_flights.size(), before.provenance.train_flights.size());
  ExpectRefusal("evaluate corpus --side train --models whole/model.safetensors", 2,
                "was trained on");

  const pid_t child = Start(adapt + "torn", "torn");
  AwaitCheckpoint("torn");
  kill(child, SIGKILL), Wait(child);
  fs::rename(dir_ / "before", dir_ / "elsewhere");  // the run has its own copy
  ASSERT_EQ(Aerocast("train --resume torn").exit_code, 0);
  EXPECT_EQ(ModelHash("torn"), ModelHash("whole"));

  const std::string wrong = "train --config tiny.toml --corpus other --out no --from ";
  ExpectRefusal(wrong + "gone.safetensors", 1, "gone.safetensors", "no");
  ExpectRefusal(wrong + "whole/model.safetensors --set model.width=32", 2,
                "another network than the config's", "no");
  ExpectRefusal("train --resume torn --from whole/model.safetensors", 2, "leave out");
}

TEST_F(Training, FallsBackFromABrokenCheckpoint) {
  ASSERT_EQ(Aerocast(NewRun("run")).exit_code, 0);
  const std::string whole = ModelHash("run");
  fs::remove(dir_ / "run" / "model.safetensors");
  const std::vector<fs::path> files = Checkpoints("run");
  fs::resize_file(files.back(), fs::file_size(files.back()) / 2);
  const Outcome resumed = Aerocast("train --resume run");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, AllOf(HasSubstr(files.back().filename().string()),
                                 HasSubstr("falling back to the one before it")));
  EXPECT_EQ(ModelHash("run"), whole);
}

TEST_F(Training, SaysWhenNoCheckpointCanBeRead) {
  ASSERT_EQ(Aerocast(NewRun("run")).exit_code, 0);
  for (const fs::path& file : Checkpoints("run")) fs::resize_file(file, 100);
  ExpectRefusal("train --resume run", 1, "no checkpoint of this run can be read");
}

TEST_F(Training, KeepsWhatIsGoodWhenTheDiskIsFull) {
  // A limit on the size of a file stands in for a full disk: checkpoints do not fit.
  const Outcome full = Aerocast(NewRun("run"), "ulimit -f 40;");
  EXPECT_EQ(full.exit_code, 1) << full.err;
  EXPECT_THAT(full.err, AllOf(HasSubstr("run/checkpoints"), HasSubstr("File too large"),
                              HasSubstr("are as they were")));
  EXPECT_TRUE(Checkpoints("run").empty()) << "half a checkpoint was left";
  ASSERT_EQ(Aerocast("train --resume run").exit_code, 0);
  ASSERT_EQ(Aerocast(NewRun("whole")).exit_code, 0);
  EXPECT_EQ(ModelHash("run"), ModelHash("whole"));
}

TEST_F(Training, RefusesWhatItCannotDo) {
  ExpectRefusal("train --corpus corpus", 2, "--config FILE is needed");
  ExpectRefusal("train --config tiny.toml", 2, "--corpus DIRECTORY is needed");
  ExpectRefusal("train --config tiny.toml --corpus nowhere", 1, "nowhere");
  ExpectRefusal("train --config gone.toml --corpus corpus", 1, "gone.toml");
  ExpectRefusal("train --config tiny.toml --corpus corpus --set train.rate=1", 2, "train.rate");
  ExpectRefusal("train --config tiny.toml --corpus corpus --budget soon", 2, "expected a time");
  ExpectRefusal("train --config tiny.toml --corpus corpus --budget 1m --windows 5", 2, "exclude");
  ExpectRefusal("train --config tiny.toml --corpus corpus --split moon", 2, "moon");
  ExpectRefusal("train --config tiny.toml --corpus corpus --epochs nan", 2, "--epochs");
  ExpectRefusal("train --config tiny.toml --corpus corpus --budget ''", 2, "--budget");
  ExpectRefusal("train --config tiny.toml --corpus corpus --clock cpu", 2, "there is no --budget");
  ExpectRefusal("train --config tiny.toml --corpus corpus --budget 1m --clock sun", 2, "sun");
  ExpectRefusal("train --config tiny.toml --corpus corpus --set name=v1.2", 2, "name is");
  ExpectRefusal("train --resume corpus --seed 3", 2, "leave out");
  ExpectRefusal("train --resume corpus", 1, "no run here");
  ExpectRefusal("train --resume corpus --config tiny.toml", 2, "leave out");
  Write("wrong.toml", "name = \"w\"\n[train]\nbatch = \"many\"\n");
  ExpectRefusal("train --config wrong.toml --corpus corpus", 2, "train.batch");
  ExpectRefusal("train --config tiny.toml --corpus corpus --windows 64 --out corpus", 1,
                "not an empty directory");
  ASSERT_EQ(Aerocast("generate --flights 5 --duration 6.5 --out short").exit_code, 0);
  ExpectRefusal("train --config tiny.toml --corpus short", 1,
                "have no window of 2 s history and 5 s horizon");
  EXPECT_FALSE(fs::exists(dir_ / "runs"));

  ASSERT_EQ(Aerocast("train --config tiny.toml --corpus corpus --windows 64 --out run").exit_code,
            0);
  ExpectRefusal("train --config tiny.toml --corpus corpus --windows 64 --out run", 1,
                "--resume run");
}

TEST_F(Training, TellsHowManyWindowsHaveAHole) {
  fs::create_directory(dir_ / "flights");
  for (int flight = 0; flight < 5; ++flight) {
    std::ofstream csv(dir_ / "flights" / (std::to_string(flight) + ".csv"));
    csv << "t,x,y,z\n";
    for (int i = 0; i <= 180; ++i) {  // nine seconds: 21 windows, of which 10 reach into the hole
      const double t = i / 20.0;
      if (t > 8 && t < 8.5) continue;
      csv << t << "," << (flight + 1) * t << "," << std::sin(t) << ",1\n";
    }
  }
  ASSERT_EQ(Aerocast("import flights --out holes").exit_code, 0);
  const Outcome trained =
      Aerocast("train --config tiny.toml --corpus holes --threads 1 --windows 64 --out run");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  // Two flights are for training and one for validation; calibration and test are not looked at.
  EXPECT_THAT(trained.out, HasSubstr("note: 30 of 63 windows are left out"));
  EXPECT_THAT(trained.out, HasSubstr("22 train and 11 validation windows"));
}

TEST_F(Training, SaysThatADirectoryIsReadOnly) {
  fs::create_directory(dir_ / "locked");
  fs::permissions(dir_ / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  // Root may write everywhere, so somebody else tries.
  const std::string other =
      geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  if (!other.empty()) {
    fs::permissions(dir_ / "locked", fs::perms::all & ~fs::perms::owner_write &
                                         ~fs::perms::group_write & ~fs::perms::others_write);
  }
  const Outcome outcome = Aerocast(NewRun("locked/run"), other);
  if (outcome.exit_code == 126 || outcome.exit_code == 127) {
    GTEST_SKIP() << "another user cannot run the program from here: " << outcome.err;
  }
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("locked/run"), HasSubstr("Permission denied")));
}

TEST_F(Training, ABudgetCountsOverResumesAndMayGrow) {
  const std::string run =
      "train --config tiny.toml --corpus corpus --threads 1 --budget 2s --out run";
  ASSERT_EQ(Aerocast(run).exit_code, 0);
  const auto windows = [&] {
    return CurveFromJson(Slurp(dir_ / "run" / "curves.json"), "").value().points.back().windows;
  };
  const auto first = windows();
  ASSERT_EQ(Aerocast("train --resume run").exit_code, 0);
  EXPECT_EQ(windows(), first) << "the budget was spent";
  ASSERT_EQ(Aerocast("train --resume run --budget 4s").exit_code, 0);
  EXPECT_GT(windows(), first);
}

TEST_F(Training, TwoProcessesFollowOne) {
  const std::string run =
      "train --config tiny.toml --corpus corpus --threads 1 --windows 1920 "
      "--log-steps --set train.dropout=0.1 ";
  ASSERT_EQ(Aerocast(run + "--out one").exit_code, 0);
  const Outcome pair = Aerocast(run + "--nproc 2 --out two");
  ASSERT_EQ(pair.exit_code, 0) << pair.err;
  const std::vector<double> one = StepLosses("one"), two = StepLosses("two");
  ASSERT_EQ(one.size(), 60u);
  ASSERT_EQ(two.size(), 60u);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_NEAR(two[i], one[i], 1e-4 * std::abs(one[i])) << "step " << i;
  }
}

TEST_F(Training, ALostPeerLeavesAGoodCheckpoint) {
  ASSERT_EQ(Aerocast(NewRun("whole")).exit_code, 0);
  const std::string port = std::to_string(20000 + getpid() % 20000);
  const auto environment = [&](const char* rank) {
    return std::vector<std::pair<std::string, std::string>>{
        {"RANK", rank}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}};
  };
  std::string arguments = NewRun("pair");
  arguments.replace(arguments.find("1280"), 4, "400000");
  const pid_t zero = Start(arguments, "zero", environment("0"));
  const pid_t one = Start(arguments, "one", environment("1"));
  AwaitCheckpoint("pair");
  kill(one, SIGKILL), Wait(one);
  EXPECT_EQ(Wait(zero), 1);
  EXPECT_THAT(Slurp(dir_ / "zero.err"),
              AllOf(HasSubstr("lost a peer"), HasSubstr("--resume pair")));
  ASSERT_FALSE(Checkpoints("pair").empty());
  const Outcome alone = Aerocast("train --resume pair --windows 200");
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
}

TEST_F(Training, CtrlCReachesEveryRankOnce) {
  std::string arguments = NewRun("pair", "--nproc 2");
  arguments.replace(arguments.find("1280"), 4, "400000");
  const pid_t parent = Start(arguments, "pair", {}, true);
  AwaitCheckpoint("pair");
  kill(-parent, SIGINT);  // as a terminal does: to the whole group
  EXPECT_EQ(Wait(parent), 1);
  EXPECT_THAT(Slurp(dir_ / "pair.err"), AllOf(HasSubstr("aerocast train --resume pair"),
                                              Not(HasSubstr("nothing was half-written"))));
  const Outcome resumed = Aerocast("train --resume pair --nproc 2 --windows 200");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(Training, ExplainsItselfAndShowsItsConfig) {
  const Outcome help = Aerocast("train --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--budget"), HasSubstr("Examples:")));
  EXPECT_THAT(Aerocast("--help").out, HasSubstr("train"));
  const Outcome shown = Aerocast("train --config tiny.toml --show-config --set train.lr=2e-4");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("lr = 0.0002"), HasSubstr("weight_decay = ")));
  Write("shown.toml", shown.out);
  EXPECT_EQ(Aerocast("train --config shown.toml --show-config").out, shown.out);
}

// What engines without libtorch are compared with, at full size.
// At full size, layer by layer: what the runtime computes is what libtorch does.
TEST_F(Training, WritesGoldenFilesOfTheNetworksThatTheRuntimeAgreesWith) {
  for (const char* name : {"paper", "gru", "lstm", "bigru", "mlp", "plus-small"}) {
    const Outcome written =
        RunCommand("'" AEROCAST_TRAINER "' golden --config '" AEROCAST_SOURCE_DIR "/configs/" +
                       std::string(name) + ".toml' --out '" + (dir_ / "golden").string() + "'",
                   dir_);
    ASSERT_EQ(written.exit_code, 0) << written.err;
    const Golden golden = ReadGoldenFile(dir_ / "golden");
    ASSERT_EQ(golden.windows, 2);
    EXPECT_EQ(golden.model.config.horizon_steps, 50);
    for (const Kernels& kernels : AllKernels()) ExpectEveryLayer(golden, kernels, 1e-5);
  }
}

TEST_F(Training, RefusesHalfAnAddress) {
  const Outcome outcome = Aerocast(NewRun("run"), "WORLD_SIZE=2 RANK=5");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("RANK is '5', expected a number from 0 to 1"));
}

}  // namespace
}  // namespace aerocast
