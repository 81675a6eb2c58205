// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/forecast/forecaster_testing.h"
#include "src/model/calibration_testing.h"

namespace aerocast {
namespace {

constexpr int kSteps = 40;

// Modes that wander and spread, none like another.
Forecast MadeUpForecast(int modes, std::uint64_t seed = 1) {
  Forecast f;
  f.Reset({.steps = kSteps, .modes = modes}, "x", 0, 0.1);
  Rng rng(seed);
  double sum = 0;
  for (int k = 0; k < modes; ++k) {
    const MotionLaw law = Wander(seed + static_cast<std::uint64_t>(k));
    sum += f.weight(k) = rng.Uniform(0.1, 1);
    for (int i = 0; i < kSteps; ++i) {
      f.mean(k, i) = law(0.1 * (i + 1));
      const double s = 0.1 + 0.02 * i;
      f.cov(k, i) = Cov3{s * s, 0.3 * s * s, 0.1 * s * s, 2 * s * s, -0.2 * s * s, 0.5 * s * s};
    }
  }
  for (int k = 0; k < modes; ++k) f.weight(k) /= sum;
  for (int i = 0; i < kSteps; ++i) f.point(i) = f.mean(0, i) + Vec3{0.1, 0, 0};
  return f;
}

Forecast Calibrated(Forecast f, const Calibration& c, double log_seen = 0) {
  Calibrator(c, kSteps, 0.1).Apply(f, log_seen);
  return f;
}

double Distance(const Cov3& a, const Cov3& b) {
  const Cov3 d = a + b * -1;
  return std::sqrt(d.xx * d.xx + d.yy * d.yy + d.zz * d.zz + d.xy * d.xy + d.xz * d.xz +
                   d.yz * d.yz);
}

// Moved, turned and stretched.
struct Similarity {
  Yaw yaw = Yaw::FromAngle(2.1);
  Vec3 shift = {100, -50, 7};
  double size = 3.5;

  Vec3 operator()(const Vec3& p) const { return yaw * p * size + shift; }
  Cov3 operator()(const Cov3& c) const { return yaw.Rotate(c) * (size * size); }
  Forecast operator()(Forecast f) const {
    for (int i = 0; i < f.steps(); ++i) {
      f.point(i) = (*this)(f.point(i));
      for (int k = 0; k < f.modes(); ++k) {
        f.mean(k, i) = (*this)(f.mean(k, i)), f.cov(k, i) = (*this)(f.cov(k, i));
      }
    }
    return f;
  }
};

TEST(Calibrator, StretchesAlongThePathAcrossItAndVertically) {
  Forecast f;
  f.Reset({.steps = kSteps, .modes = 1}, "x", 0, 0.1);
  f.weight(0) = 1;
  for (int i = 0; i < kSteps; ++i) {
    f.mean(0, i) = f.point(i) = {0, 2.0 * i, 0};  // along y
    f.cov(0, i) = Cov3::Diagonal(1, 4, 9);
  }
  const Forecast g = Calibrated(f, MadeUpCalibration(kSteps, false));
  EXPECT_NEAR(g.cov(0, 0).yy, 4 * 4, 0.02);
  EXPECT_NEAR(g.cov(0, 0).xx, 0.25, 0.01);
  EXPECT_NEAR(g.cov(0, 0).zz, 81, 1e-9);
  EXPECT_NEAR(g.cov(0, 9).yy, 4 * 2.25, 0.02);  // at a knot
  EXPECT_NEAR(g.cov(0, 19).yy, 4 * std::sqrt(1.5 * 1.5 * 1.2 * 1.2 * 1.5 * 1.2 / 1.8), 0.3);
  EXPECT_NEAR(g.cov(0, 39).zz, 9 * 2.25, 1e-9);  // beyond the last
}

TEST(Calibrator, KeepsMeansPointPathAndDisplacements) {
  const Forecast f = MadeUpForecast(3), g = Calibrated(f, MadeUpCalibration(kSteps));
  ASSERT_TRUE(g.IsValid());
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_EQ(g.point(i), f.point(i));
    for (int k = 0; k < 6; ++k) EXPECT_EQ(g.mean(k, i), f.mean(k % 3, i));
  }
  const Forecast raw = PredictOnce(*MakeTestNetwork(), Observe(Wander(3)));
  Forecast network = raw;
  Calibrator(MadeUpCalibration(50), 50, 0.1).Apply(network, 0);
  ASSERT_TRUE(network.IsValid());
  EXPECT_EQ(network.displacement.sigma, raw.displacement.sigma);
  EXPECT_EQ(network.displacement.weight, raw.displacement.weight);
}

TEST(Calibrator, WithFactorsOfOneChangesNoBit) {
  Calibration c = MadeUpCalibration(kSteps, false);
  c.temperature = 1;
  for (auto& scale : c.scale) scale = {1, 1, 1};
  const Forecast f = MadeUpForecast(4);
  Forecast g = Calibrated(f, c);
  g.residual_correlation = f.residual_correlation;
  EXPECT_FALSE(SameBits(f, g)) << "else regions were not compared";
  g.conformal = f.conformal;
  EXPECT_TRUE(SameBits(f, g));
}

TEST(Calibrator, MovesTurnsAndGrowsWithTheForecast) {
  const Similarity by;
  for (const int modes : {1, 3, 8}) {
    const Forecast f = MadeUpForecast(modes, 7);
    const Calibration c = MadeUpCalibration(kSteps);
    const Forecast a = by(Calibrated(f, c)), b = Calibrated(by(f), c);
    for (int i = 0; i < kSteps; ++i) {
      for (int k = 0; k < a.modes(); ++k) {
        EXPECT_LT(Distance(a.cov(k, i), b.cov(k, i)), 1e-9 * a.cov(k, i).zz + 1e-9);
      }
      EXPECT_NEAR(a.conformal.shape[static_cast<std::size_t>(i)] * by.size,
                  b.conformal.shape[static_cast<std::size_t>(i)], 1e-9);
    }
    std::vector<Vec3> here(5 * kSteps), there(5 * kSteps);
    Calibrated(f, c).SamplePaths(3, 5, here), b.SamplePaths(3, 5, there);
    for (std::size_t i = 0; i < here.size(); ++i) EXPECT_LT(Norm(by(here[i]) - there[i]), 1e-6);
  }
}

TEST(Calibrator, IsContinuousWhereAPathStandsStill) {
  const auto stand = [](const Vec3& v) {
    Forecast f;
    f.Reset({.steps = kSteps, .modes = 1}, "x", 0, 0.1);
    f.weight(0) = 1;
    for (int i = 0; i < kSteps; ++i) f.mean(0, i) = v * i, f.cov(0, i) = Cov3::Isotropic(1);
    return Calibrated(f, MadeUpCalibration(kSteps, false)).cov(0, 5);
  };
  const Cov3 still = stand({});
  EXPECT_NEAR(still.xx, still.yy, 1e-12);
  EXPECT_LT(Distance(stand({1e-5, 0, 0}), still), 1e-3);
  EXPECT_LT(Distance(stand({0, -1e-5, 0}), still), 1e-3);
  EXPECT_GT(stand({1, 0, 0}).xx / stand({1, 0, 0}).yy, 4) << "else it never had a direction";
}

TEST(Calibrator, WidensVagueForecastsAndNarrowsSharpOnes) {
  Calibration c = MadeUpCalibration(kSteps, false);
  const Forecast f = MadeUpForecast(3);
  const double z = Vagueness(f);
  EXPECT_NEAR(Vagueness(Similarity()(f)), z, 1e-9);
  const auto ratio = [&](double low, double high) {
    const double plain = Calibrated(f, c).cov(1, 5).xx;
    Calibration d = c;
    d.vague = {0.5, low, high};
    return std::sqrt(Calibrated(f, d).cov(1, 5).xx / plain);
  };
  EXPECT_NEAR(ratio(z - 1, z + 1), 1, 1e-9) << "in the middle";
  EXPECT_NEAR(ratio(z - 3, z + 1), std::exp(0.5), 1e-9);
  EXPECT_NEAR(ratio(z + 1, z + 3), std::exp(-0.5), 1e-9) << "no further than the range goes";
}

TEST(Calibrator, WidensByHowLongAnObjectWasSeen) {
  const Forecast f = MadeUpForecast(3);
  Calibration c = MadeUpCalibration(kSteps, false);
  c.seen = {-0.3, std::log(2), std::log(10)};
  const auto spread = [&](double seconds) {
    return std::sqrt(Calibrated(f, c, std::log(seconds)).cov(1, 5).xx);
  };
  EXPECT_NEAR(spread(2) / spread(10), std::pow(5, 0.3), 1e-9);
  EXPECT_NEAR(spread(0.5), spread(2), 1e-12) << "no further than the range goes";
  EXPECT_NEAR(spread(60), spread(10), 1e-12);
}

TEST(LogSeen, CountsFromTheOldestSampleThatIsLookedAt) {
  const std::vector<Observation> samples = Observe(Wander(8), 4);
  const double whole = DurationS(samples.back().t_ns - samples.front().t_ns);
  EXPECT_NEAR(std::exp(LogSeen({"x", samples}, 10)), whole, 1e-9);
  EXPECT_NEAR(std::exp(LogSeen({"x", samples}, 2)), 2, 0.11);
  EXPECT_NEAR(std::exp(LogSeen({"x", std::span(samples).last(1)}, 10)), 0.1, 1e-9);
  EXPECT_NEAR(std::exp(LogSeen({"x", {}}, 10)), 0.1, 1e-9);
  // A lone sample from long ago tells nothing.
  std::vector<Observation> returned = {samples.front()};
  for (std::size_t i = samples.size() - 3; i < samples.size(); ++i) returned.push_back(samples[i]);
  const double since = DurationS(returned.back().t_ns - returned[1].t_ns);
  EXPECT_NEAR(std::exp(LogSeen({"x", returned}, 10)), std::max(since, 0.1), 1e-9);
}

// Of the ways' weights, however near they lie to each other.
double WeightEntropy(const Forecast& f) {
  double entropy = 0;
  for (int k = 0; k < (f.paired_modes ? f.modes() / 2 : f.modes()); ++k) {
    if (const double w = f.way_weight(k); w > 0) entropy -= w * std::log(w);
  }
  return entropy;
}

TEST(Calibrator, TailsDoubleTheModesAndNotTheWays) {
  Calibration c = MadeUpCalibration(kSteps);
  c.temperature = 1;
  const Forecast f = MadeUpForecast(3), g = Calibrated(f, c);
  ASSERT_EQ(g.modes(), 6);
  EXPECT_TRUE(g.paired_modes);
  EXPECT_NEAR(WeightEntropy(g), WeightEntropy(f), 1e-12);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(g.way_weight(k), f.weight(k), 1e-12);
    EXPECT_NEAR(g.weight(k + 3), 0.2 * f.weight(k), 1e-12);
    EXPECT_NEAR(g.cov(k + 3, 7).xx, 9 * g.cov(k, 7).xx, 1e-9);
  }
  EXPECT_EQ(Calibrated(MadeUpForecast(9), c).modes(), 9) << "eighteen are too many";
  EXPECT_EQ(Calibrator(c, kSteps, 0.1).Shape({.steps = kSteps, .modes = 3}).modes, 6);
}

TEST(Calibrator, TemperatureEvensTheWeightsOut) {
  const Forecast f = MadeUpForecast(4), g = Calibrated(f, MadeUpCalibration(kSteps, false));
  EXPECT_GT(WeightEntropy(g), WeightEntropy(f));
  EXPECT_NEAR(std::log(g.weight(0) / g.weight(1)), std::log(f.weight(0) / f.weight(1)) / 1.5, 1e-9);
}

TEST(Calibrator, RegionsAreMultiplesOfTheSpread) {
  const Calibration c = MadeUpCalibration(kSteps);
  const Forecast g = Calibrated(MadeUpForecast(2), c);
  for (int i = 0; i < kSteps; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const Cov3 cov = g.mixture_cov(i);
    const double u =
        std::sqrt((cov.xx + cov.yy + cov.zz + SquaredNorm(g.mixture_mean(i) - g.point(i))) / 3);
    EXPECT_NEAR(g.conformal.radius[n], c.radius[n] * u, 1e-9);
    EXPECT_NEAR(g.conformal.shape[n], c.shape[n] * u, 1e-9);
  }
}

// The samples of every way together are as wide as the mixture, and each wanders as the library.
TEST(ResidualLibrary, SamplesHaveTheSpreadOfTheMixtureAndItsOwnCorrelation) {
  const Forecast g = Calibrated(MadeUpForecast(2), MadeUpCalibration(kSteps, true, 1024));
  constexpr int kPaths = 20000;
  std::vector<Vec3> paths(kPaths * kSteps);
  g.SamplePaths(5, kPaths, paths);
  for (const int i : {0, 10, 39}) {
    Vec3 square;
    const Vec3 mean = g.mixture_mean(i);
    for (int n = 0; n < kPaths; ++n) {
      const Vec3 d = paths[static_cast<std::size_t>(n * kSteps + i)] - mean;
      square += Vec3{d.x * d.x, d.y * d.y, d.z * d.z} * (1.0 / kPaths);
    }
    const Cov3 cov = g.mixture_cov(i);
    EXPECT_NEAR(square.x / cov.xx, 1, 0.12) << i;
    EXPECT_NEAR(square.y / cov.yy, 1, 0.12) << i;
    EXPECT_NEAR(square.z / cov.zz, 1, 0.12) << i;
  }
  // One way alone: no mean differences to mistake for residuals.
  const Forecast single = Calibrated(MadeUpForecast(1), MadeUpCalibration(kSteps, true, 1024));
  single.SamplePaths(5, kPaths, paths);
  double near = 0, far = 0;
  for (std::size_t n = 0; n < paths.size(); n += kSteps) {
    const auto up = [&](int i) {
      return (paths[n + static_cast<std::size_t>(i)].z - single.mean(0, i).z) /
             std::sqrt(WayCov(single, 0, i).zz);
    };
    near += up(20) * up(21) / kPaths, far += up(20) * up(30) / kPaths;
  }
  EXPECT_NEAR(near, 0.9, 0.1);
  EXPECT_NEAR(far, std::pow(0.9, 10), 0.1);
}

TEST(ResidualLibrary, WhiteningIsLayingBackwards) {
  const Forecast g = Calibrated(MadeUpForecast(3), MadeUpCalibration(kSteps));
  std::vector<Vec3> path(kSteps), residual(kSteps);
  LayResidual(g, 1, *g.residuals, 7, path);
  WhitenResidual(g, 1, path, residual);
  for (std::size_t i = 0; i < kSteps; ++i) {
    const float* z = &g.residuals->residual[(7 * kSteps + i) * 3];
    EXPECT_LT(Norm(residual[i] - Vec3{z[0], z[1], z[2]}), 1e-6);
  }
}

// A path that turns back keeps its left and right.
TEST(PathFrames, DoNotJumpWhereAPathTurnsBack) {
  Forecast f = MadeUpForecast(1);
  for (int i = 0; i < kSteps; ++i) f.mean(0, i) = {i < 20 ? i * 1.0 : 40.0 - i, 0, 0};
  PathFrames frames(f, 0);
  for (int i = 0; i < kSteps; ++i) EXPECT_GT(frames.Next().cos, 0.99) << i;
}

TEST(MakeCalibrated, CalibratesWhatIsAnsweredAndNothingElse) {
  const auto forecaster = MakeCalibrated(MakeTestNetwork(), MadeUpCalibration(50));
  EXPECT_EQ(forecaster->info().shape,
            (ForecastShape{
                .steps = 50, .modes = 2, .displacement_components = 5, .conformal_levels = 2}));
  EXPECT_NE(forecaster->info().fingerprint, MakeTestNetwork()->info().fingerprint);
  const std::vector<Observation> samples = Observe(Wander(8));
  const Forecast f = PredictOnce(*forecaster, samples);
  EXPECT_EQ(f.quality, Quality::kOk);
  EXPECT_TRUE(f.IsValid() && f.paired_modes && f.residuals && f.conformal.present());
  Forecast by_hand = PredictOnce(*MakeTestNetwork(), samples);
  Calibrator(MadeUpCalibration(50), 50, 0.1).Apply(by_hand, LogSeen({"x", samples}, 2));
  EXPECT_TRUE(SameBits(f, by_hand));
  const Forecast held = PredictOnce(*forecaster, {{5, {1, 2, 3}}});
  EXPECT_EQ(held.quality, Quality::kFallback);
  EXPECT_TRUE(held.IsValid() && held.modes() == 1 && !held.residuals && !held.conformal.present());
}

TEST(MakeCalibrated, RoughMotionIsOutOfDomainAndItsRegionsAreWider) {
  Calibration calibration = MadeUpCalibration(50);
  const auto forecaster = MakeCalibrated(MakeTestNetwork(), calibration);
  calibration.domain_limit = 0;
  const auto unlimited = MakeCalibrated(MakeTestNetwork(), calibration);
  Rng rng(4);
  Vec3 p;
  std::vector<Observation> walk = Observe(Wander(8), 10);
  for (Observation& o : walk) {
    const double x = rng.Normal(), y = rng.Normal(), z = rng.Normal();
    o.p_world = p += 0.1 * Vec3{x, y, z};
  }
  const Forecast beyond = PredictOnce(*forecaster, walk), plain = PredictOnce(*unlimited, walk);
  EXPECT_EQ(beyond.quality, Quality::kOutOfDomain);
  EXPECT_EQ(plain.quality, Quality::kOk);
  for (int i = 0; i < 50; i += 7) {
    EXPECT_EQ(beyond.point(i), plain.point(i));
    const double wider = std::sqrt(beyond.cov(0, i).xx / plain.cov(0, i).xx);
    EXPECT_GT(wider, 1.2);
    EXPECT_LT(wider, 3 + 1e-9) << "threefold, at most";
    const std::size_t j = static_cast<std::size_t>(i);
    EXPECT_GT(beyond.conformal.radius[j], plain.conformal.radius[j]);
  }
  // Whatever is smoother than usual is not strange.
  const auto straight = Observe([](double t) { return Vec3{t, 2 * t, 0}; }, 10);
  EXPECT_EQ(PredictOnce(*forecaster, straight).quality, Quality::kOk);
}

}  // namespace
}  // namespace aerocast
