// SPDX-License-Identifier: BSD-3-Clause
//
// Are the modes real? Two small networks of the plus family are trained on forks, whose history
// says nothing about the side they will turn to, and on circles, which have one future. At the
// branch the weights must be the probabilities, and a mode must lie on either side.
#include "src/sim/fork.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aerocast/load.h"
#include "aerocast/recording.h"
#include "src/data/motion.h"
#include "src/data/windows.h"
#include "src/eval/metrics.h"
#include "tests/program_test.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

constexpr double kLeft = 0.7;  // probability

constexpr char kConfig[] = R"(name = "forks"
[model]
family = "plus"
architecture = "transformer"
history_steps = 100
patch = 10
width = 32
layers = 2
heads = 2
feed_forward = 64
components = 4
[train]
batch = 32
lr = 4e-3
beta2 = 0.98
ema = 0.99
lr_warmup = 0.05
dropout = 0.0
validations = 2
validation_windows = 64
[sampler]
generated = 0.0
warped = 0.0
clean = 1.0
drop = 0.0
outliers = 0.0
)";

struct Scores {
  double left = 0;     // mean weight of the modes on the left at the branch
  double matched = 0;  // share of flights whose future lies in the spread of a mode on its side
  double nll = 0;      // of position, mean over steps
  double entropy = 0;  // of the modes, mean
  int flights = 0;
};

class Forks : public ProgramTest {
 protected:
  void Make(const std::string& what) {
    const Outcome made = Aerocast("generate --noise 0.001 --duration 20 " + what);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  std::unique_ptr<Forecaster> Train(const std::string& name, const std::string& more) {
    const Outcome done =
        Aerocast("train --config forks.toml --corpus corpus --threads 1 --windows 80000 --out " +
                 name + " " + more);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    Result<std::unique_ptr<Forecaster>> loaded =
        LoadForecaster(dir_ / name / "model.safetensors", {});
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded.ok() ? std::move(*loaded) : nullptr;
  }
  // Of every flight in a corpus, at the time of the branch.
  Scores Score(const Forecaster& forecaster, const std::string& corpus);
};

// Whether a target lies within three standard deviations of the mode at three times ahead.
bool Within(const Forecast& f, int k, std::span<const Vec3> target) {
  for (const int i : {19, 34, 49}) {
    const Vec3 z =
        Cholesky3(f.cov(k, i)).Whiten(target[static_cast<std::size_t>(i)] - f.mean(k, i));
    if (SquaredNorm(z) > 14.2) return false;  // 99.7 % of a Gaussian in three dimensions
  }
  return true;
}

// Mean over the steps.
double PositionNll(const Forecast& f, std::span<const Vec3> target) {
  const auto modes = static_cast<std::size_t>(f.modes());
  std::vector<Vec3> mean(modes);
  std::vector<Cov3> cov(modes);
  double sum = 0;
  for (int i = 0; i < f.steps(); ++i) {
    for (std::size_t k = 0; k < modes; ++k) {
      mean[k] = f.mean(static_cast<int>(k), i), cov[k] = f.cov(static_cast<int>(k), i);
    }
    sum += MixtureNll(f.weights(), mean, cov, target[static_cast<std::size_t>(i)]);
  }
  return sum / f.steps();
}

Scores Forks::Score(const Forecaster& forecaster, const std::string& corpus) {
  const auto workspace = forecaster.MakeWorkspace();
  Forecast f(forecaster.info().shape);
  WindowSpec spec;
  std::vector<Vec3> target(static_cast<std::size_t>(spec.horizon_steps()));
  Scores scores;
  for (const auto& entry : fs::recursive_directory_iterator(dir_ / corpus)) {
    if (entry.path().extension() != ".csv") continue;
    const Result<Recording> flight = ReadRecording(entry.path());
    EXPECT_TRUE(flight.ok());
    std::size_t t0 = 0;
    while (DurationS(flight->samples[t0 + 1].t_ns - flight->samples[0].t_ns) <= kForkTimeS) ++t0;
    if (!TargetsAt(*flight, t0, spec, target)) continue;
    const History history = HistoryAt(*flight, t0, forecaster.info().history_s);
    forecaster.Predict(history, *workspace, f);
    const HeadingFrame frame = FitHeading(history.samples);
    const bool turned_left = frame.ToFrame(target.back()).y > 0;
    bool matched = false;
    for (int k = 0; k < f.modes(); ++k) {
      const bool left = frame.ToFrame(f.mean(k, f.steps() - 1)).y > 0;
      if (left) scores.left += f.weight(k);
      matched = matched || (left == turned_left && Within(f, k, target));
    }
    scores.matched += matched;
    scores.entropy += f.mode_entropy();
    scores.nll += PositionNll(f, target);
    ++scores.flights;
  }
  const double n = std::max(1, scores.flights);
  scores.left /= n, scores.matched /= n, scores.nll /= n, scores.entropy /= n;
  return scores;
}

TEST_F(Forks, BothWaysAreForeseenWithTheirProbabilities) {
  Write("forks.toml", kConfig);
  Make("--category fork,circle --fork-probability 0.7 --flights 300 --seed 2 --out corpus");
  Make("--category fork --fork-probability 0.7 --flights 60 --seed 3 --out forks");
  Make("--category circle --flights 60 --seed 3 --out circles");
  const auto many = Train("many", ""), one = Train("one", "--set model.components=1");
  ASSERT_TRUE(many && one);
  const Scores at_fork = Score(*many, "forks"), single = Score(*one, "forks"),
               on_circle = Score(*many, "circles");
  ASSERT_EQ(at_fork.flights, 60);
  EXPECT_NEAR(at_fork.left, kLeft, 0.1);
  EXPECT_GT(at_fork.matched, 0.9);
  EXPECT_LT(at_fork.nll, single.nll);
  EXPECT_GT(at_fork.entropy, 0.3);
  EXPECT_LT(on_circle.entropy, 0.5 * at_fork.entropy);
  std::printf("left %.3f, matched %.3f, nll %.2f (one mode %.2f), entropy %.2f (circles %.2f)\n",
              at_fork.left, at_fork.matched, at_fork.nll, single.nll, at_fork.entropy,
              on_circle.entropy);
}

}  // namespace
}  // namespace aerocast
