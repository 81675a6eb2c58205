// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "src/base/file.h"
#include "src/data/windows.h"
#include "src/forecast/forecaster_testing.h"
#include "src/train/checkpoint.h"
#include "src/train/test_network.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A training on made-up flights, in this process.
class TrainerTest : public testing::Test {
 protected:
  TrainerTest() {
    dir_ = fs::path(testing::TempDir()) /
           (std::string("aerocast_trainer_") +
            testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(dir_);
    PrepareMath(1);
    for (std::uint64_t n = 0; n < 4; ++n) {
      Recording& flight = flights_.emplace_back();
      flight.id = "flight" + std::to_string(n);
      flight.samples = Observe(Wander(n), 20, 8);
    }
    options_.config.name = "tested";
    options_.config.model = TinyConfig(Architecture::kMlp);
    options_.config.train.batch = 16;
    options_.config.train.lr = 1e-3;
    options_.config.train.validations = 8;
    options_.facts.length.windows = 640;
    options_.checkpoint_every_s = 0;
    options_.warn = [this](const std::string& sentence) { warnings_ += sentence + "\n"; };
  }
  ~TrainerTest() override { fs::remove_all(dir_); }

  ExampleSet Examples(std::size_t begin, std::size_t end) {
    WindowSpec spec;
    spec.history_s = spec.min_history_s = 0.6, spec.horizon_s = 0.4;
    std::vector<const Recording*> some;
    for (std::size_t n = begin; n < end; ++n) some.push_back(&flights_[n]);
    return ExampleSet::Make(CutFlights(some, spec), options_.config.model).value();
  }
  Result<TrainSummary> Run(const std::string& name) {
    const fs::path path = dir_ / name;
    Result<RunDirectory> run = fs::exists(path)
                                   ? RunDirectory::Open(path)
                                   : RunDirectory::Create(path, options_.config, options_.facts);
    if (!run.ok()) return run.error();
    auto peers = Peers::Join({}).value();
    const ExampleSet train = Examples(0, 3), validation = Examples(3, 4);
    Lesson lesson;
    lesson.train =
        std::make_unique<PaperSamples>(train, options_.config.train, options_.facts.seed);
    lesson.validation = {PaperValidation(
        validation, static_cast<std::size_t>(options_.config.train.validation_windows))};
    return Train(options_, lesson, &*run, *peers);
  }
  std::string Bytes(const std::string& name) {
    return ReadFile(dir_ / name / "model.safetensors").value();
  }

  fs::path dir_;
  std::vector<Recording> flights_;
  TrainOptions options_;
  std::string warnings_;
};

TEST_F(TrainerTest, ALossThatIsNotFiniteReplacesNothing) {
  options_.config.train.lr = 1e30;  // no config file may say so
  options_.config.train.clip_norm = 0;
  const Result<TrainSummary> summary = Run("run");
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().message, HasSubstr("not finite"));
  EXPECT_FALSE(fs::exists(dir_ / "run" / "model.safetensors"));
  for (const auto& entry : fs::directory_iterator(dir_ / "run" / "checkpoints")) {
    TensorFileLimits limits;
    limits.dimension = 1 << 30, limits.header_bytes = 1 << 24;
    const Result<TensorFile> file = ReadTensorFile(entry.path(), limits);  // finite, or refused
    EXPECT_TRUE(file.ok()) << file.error().message;
  }
}

TEST_F(TrainerTest, ARunThatEndedEarlyStaysEnded) {
  options_.config.train.lr = 1;  // up and down
  options_.config.train.clip_norm = 0;
  options_.config.train.schedule = ScheduleKind::kConstant;
  options_.config.train.patience = 0.05;  // one validation that is not better ends it
  const Result<TrainSummary> first = Run("run");
  ASSERT_TRUE(first.ok()) << first.error().message;
  ASSERT_EQ(first->end, TrainEnd::kEarly);
  EXPECT_LT(first->windows, 640u);
  const std::string model = Bytes("run");
  fs::remove(dir_ / "run" / "model.safetensors");
  const Result<TrainSummary> again = Run("run");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->end, TrainEnd::kEarly);
  EXPECT_EQ(again->windows, first->windows);
  EXPECT_EQ(Bytes("run"), model);
}

TEST_F(TrainerTest, ALongerRunIsValidatedOn) {
  int validated = 0;
  options_.progress = [&](const TrainProgress& p) { validated += p.validated != nullptr; };
  ASSERT_TRUE(Run("run").ok());
  EXPECT_EQ(validated, 8);
  options_.facts.length.windows = 1280;
  const Result<TrainSummary> longer = Run("run");
  ASSERT_TRUE(longer.ok()) << longer.error().message;
  EXPECT_EQ(longer->windows, 1280u);
  EXPECT_EQ(validated, 12);  // the second half of the longer run's eight
}

TEST_F(TrainerTest, AShorterRunEndsWhereItIs) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.progress = [&](const TrainProgress&) { stop = true; };
  options_.config.train.validations = 1;
  const TrainSummary interrupted = Run("run").value();
  ASSERT_EQ(interrupted.end, TrainEnd::kInterrupted);
  stop = false;
  options_.facts.length.windows = 4;
  const Result<TrainSummary> ended = Run("run");  // not validated so far, and nothing left to do
  ASSERT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_EQ(ended->windows, interrupted.windows);
  EXPECT_TRUE(fs::exists(dir_ / "run" / "model.safetensors"));
}

TEST_F(TrainerTest, EveryArchitectureLearnsAndResumesToTheBit) {
  for (const Architecture architecture :
       {Architecture::kTransformer, Architecture::kGru, Architecture::kLstm, Architecture::kBiGru,
        Architecture::kMlp}) {
    const std::string name(ArchitectureName(architecture));
    options_.config.model = TinyConfig(architecture);
    options_.config.train.ema = architecture == Architecture::kGru ? 0.9 : 0;
    std::vector<double> losses;
    options_.progress = [&](const TrainProgress& p) { losses.push_back(p.loss); };
    options_.stop = nullptr;
    ASSERT_TRUE(Run(name + "-whole").ok());
    EXPECT_LT(losses.back(), losses.front()) << name;

    std::atomic<bool> stop = false;
    options_.stop = &stop;
    int steps = 0;
    options_.progress = [&](const TrainProgress&) { stop = ++steps % 7 == 0; };
    for (int part = 0; part < 10; ++part) {
      stop = false;
      if (Run(name + "-parts").value().end == TrainEnd::kFinished) break;
    }
    EXPECT_EQ(Bytes(name + "-parts"), Bytes(name + "-whole")) << name;
  }
}

TEST_F(TrainerTest, BeginsWithTheWeightsOfAnother) {
  options_.train_flights = {"bbb", "ddd"};
  const TrainSummary first = Run("first").value();
  options_.start = ReadModel(dir_ / "first" / "model.safetensors").value();
  options_.facts.start_hash = options_.start->sha256;
  options_.train_flights = {"aaa", "ddd"};
  options_.config.train.lr = 1e-8;  // as good as none: it stays what it was
  options_.config.train.lr_min = 1e-9;
  options_.facts.length.windows = 32;
  const TrainSummary second = Run("second").value();
  EXPECT_NEAR(second.best.validation_nll, first.best.validation_nll, 1e-4);

  const Provenance after = ReadModel(dir_ / "second" / "model.safetensors")->provenance;
  EXPECT_EQ(after.train_flights, (std::vector<std::string>{"aaa", "bbb", "ddd"}));
  EXPECT_GT(after.windows_seen, options_.start->provenance.windows_seen);
  EXPECT_THAT(after.training,
              HasSubstr("# began with 'tested', weights " + options_.start->sha256));

  options_.facts.start_hash = "another";
  EXPECT_FALSE(Run("second").ok()) << "a checkpoint of a run that began elsewhere was taken";
}

TEST_F(TrainerTest, ADirectoryHasOneTrainer) {
  const Result<RunDirectory> first =
      RunDirectory::Create(dir_ / "run", options_.config, options_.facts);
  ASSERT_TRUE(first.ok());
  const Result<RunDirectory> second = RunDirectory::Open(dir_ / "run");
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("another process is training"));
}

TEST_F(TrainerTest, ARunThatHasNotWhatItBeginsWithIsNone) {
  ASSERT_TRUE(Run("first").ok());
  Model start = ReadModel(dir_ / "first" / "model.safetensors").value();
  ASSERT_TRUE(RunDirectory::Create(dir_ / "good", options_.config, options_.facts, &start).ok());
  EXPECT_TRUE(fs::exists(dir_ / "good" / "start.safetensors"));
  start.name = "no name";  // cannot be written
  EXPECT_FALSE(RunDirectory::Create(dir_ / "bad", options_.config, options_.facts, &start).ok());
  EXPECT_FALSE(fs::exists(dir_ / "bad" / "run.json"));
}

TEST_F(TrainerTest, LeftoversOfTheDeadAreRemoved) {
  ASSERT_TRUE(RunDirectory::Create(dir_ / "run", options_.config, options_.facts).ok());
  const fs::path left = dir_ / "run" / "checkpoints" / "000000000016.safetensors.partial-4194303";
  std::ofstream(left) << "half";
  ASSERT_TRUE(RunDirectory::Open(dir_ / "run").ok());
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(TrainerTest, ACheckpointBelongsToItsRun) {
  ASSERT_TRUE(Run("run").ok());
  options_.facts.seed = 2;
  const Result<TrainSummary> other = Run("run");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("no checkpoint of this run can be read"));
  EXPECT_THAT(warnings_, HasSubstr("belongs to another run"));
}

}  // namespace
}  // namespace aerocast
