// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aerocast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Two modes that part, with correlated axes.
Forecast MakeTwoModes(int steps = 5) {
  Forecast f;
  f.Reset({.steps = steps, .modes = 2}, "gull", 1000, 0.1);
  f.weight(0) = 0.25, f.weight(1) = 0.75;
  for (int i = 0; i < steps; ++i) {
    const double t = i + 1;
    f.point(i) = {t, 0, 0};
    f.mean(0, i) = {t, t, 0}, f.mean(1, i) = {t, -t, 1};
    f.cov(0, i) = {0.4 * t, 0.1 * t, 0, 0.3 * t, -0.05 * t, 0.2 * t};
    f.cov(1, i) = Cov3::Isotropic(0.3);
  }
  return f;
}

Forecast MakeDisplacement(int steps = 4) {
  Forecast f;
  f.Reset({.steps = steps, .modes = 2, .displacement_components = 2}, "net", 0, 0.1);
  const Vec3 anchor = f.displacement.anchor = {10, 20, 30};
  f.weight(0) = 0.3, f.weight(1) = 0.7;
  for (int i = 0; i < steps; ++i) {
    for (int k = 0; k < 2; ++k) {
      const auto j = static_cast<std::size_t>(2 * i + k);
      f.displacement.weight[j] = f.weight(k);
      f.displacement.mean[j] = {1.0 + k, 0, -1};
      f.displacement.sigma[j] = {0.2, 0.1, 0.05};
      f.mean(k, i) = anchor + static_cast<double>(i + 1) * f.displacement.mean[j];
      f.cov(k, i) = Cov3::Diagonal(0.04, 0.01, 0.0025) * static_cast<double>(i + 1);
    }
    f.point(i) = f.mean(1, i);
  }
  return f;
}

TEST(Forecast, NamesEveryQuality) {
  EXPECT_EQ(QualityName(Quality::kOk), "ok");
  EXPECT_EQ(QualityName(Quality::kShortHistory), "short_history");
  EXPECT_EQ(QualityName(Quality::kOutOfDomain), "out_of_domain");
  EXPECT_EQ(QualityName(Quality::kStale), "stale");
  EXPECT_EQ(QualityName(Quality::kFallback), "fallback");
  EXPECT_EQ(QualityName(Quality::kNone), "none");
}

TEST(Forecast, ForgetsEverythingOnReset) {
  Forecast f = MakeDisplacement();
  f.conformal.level = {0.9};
  f.displacement.scale_m = 2.5, f.displacement.sigma_floor_m = 0.05;
  f.age_s = 3, f.residual_correlation = 0.1, f.quality = Quality::kStale;
  f.Reset({.steps = 3, .modes = 1}, std::string(100, 'x'), 7, 0.2);
  EXPECT_EQ(f.id.size(), kMaxIdLength);
  EXPECT_EQ(f.steps(), 3);
  EXPECT_EQ(f.modes(), 1);
  EXPECT_EQ(f.t0_ns, 7);
  EXPECT_EQ(f.age_s, 0);
  EXPECT_EQ(f.quality, Quality::kOk);
  EXPECT_EQ(f.residual_correlation, 0.98);
  EXPECT_FALSE(f.displacement.present());
  EXPECT_EQ(f.displacement.anchor, Vec3{});
  EXPECT_EQ(f.displacement.scale_m, 1);
  EXPECT_EQ(f.displacement.sigma_floor_m, 0);
  EXPECT_FALSE(f.conformal.present());
  EXPECT_EQ(f.mean(0, 2), Vec3{});
  EXPECT_EQ(f.time_ns(0), 7 + 200'000'000);
}

TEST(Forecast, CutsIdsBetweenCharacters) {
  const auto cut = [](std::size_t ascii, std::string_view rest) {
    return CutId(std::string(ascii, 'x') + std::string(rest)).size();
  };
  EXPECT_EQ(CutId("gull"), "gull");
  EXPECT_EQ(cut(64, "x"), 64u);
  EXPECT_EQ(cut(62, "\u00fc"), 64u);
  EXPECT_EQ(cut(62, "\u00fcx"), 64u);
  EXPECT_EQ(cut(63, "\u00fcx"), 63u);
  EXPECT_EQ(cut(62, "\u20acx"), 62u);
  EXPECT_EQ(cut(61, "\U0001F426x"), 61u);
  EXPECT_EQ(cut(60, "\U0001F426x"), 64u);
  EXPECT_EQ(cut(0, std::string(100, '\x80')), 64u) << "no UTF-8 at all";
}

TEST(Forecast, CopiesKeepContentsAndRoom) {
  const Forecast f = MakeDisplacement();
  const Forecast copy = f;
  EXPECT_TRUE(copy.IsValid());
  EXPECT_EQ(copy.id, f.id);
  EXPECT_EQ(copy.mixture_cov(3), f.mixture_cov(3));
  EXPECT_EQ(copy.displacement.anchor, f.displacement.anchor);
  std::vector<Vec3> a(40), b(40);
  f.SamplePaths(1, 10, a), copy.SamplePaths(1, 10, b);
  EXPECT_EQ(a, b);
  const Forecast roomy({.steps = 50, .modes = 3, .displacement_components = 2});
  const Forecast other = roomy;
  EXPECT_GE(other.displacement.sigma.capacity(), 100u);
}

TEST(Forecast, NoneHasNoStepsAndIsValid) {
  Forecast f = MakeTwoModes();
  f.MakeNone("gull", 12);
  EXPECT_EQ(f.quality, Quality::kNone);
  EXPECT_EQ(f.steps(), 0);
  EXPECT_EQ(f.modes(), 0);
  EXPECT_EQ(f.mode_entropy(), 0);
  EXPECT_TRUE(f.IsValid());
  f.SamplePaths(1, 10, {});
}

TEST(Forecast, SaysHowOldItIs) {
  Forecast f = MakeTwoModes();
  f.AskAt(f.t0_ns + DurationNs(0.4));
  EXPECT_DOUBLE_EQ(f.age_s, 0.4);
  EXPECT_EQ(f.quality, Quality::kOk);
  f.AskAt(f.t0_ns - 5);
  EXPECT_EQ(f.age_s, 0);
  f.AskAt(f.t0_ns + DurationNs(0.6));
  EXPECT_EQ(f.quality, Quality::kStale);
}

TEST(Forecast, StaleDoesNotHideSomethingWorse) {
  Forecast f = MakeTwoModes();
  f.quality = Quality::kFallback;
  f.AskAt(f.t0_ns + DurationNs(60));
  EXPECT_EQ(f.quality, Quality::kFallback);
}

TEST(Forecast, AgesWithoutOverflowBetweenTheEndsOfTime) {
  Forecast f = MakeTwoModes();
  f.t0_ns = std::numeric_limits<TimeNs>::min();
  f.AskAt(std::numeric_limits<TimeNs>::max());
  EXPECT_NEAR(f.age_s, 1.8446744e10, 1e3);
  EXPECT_TRUE(f.IsValid());
}

TEST(Forecast, HasTheEntropyOfItsWays) {
  Forecast f = MakeTwoModes();
  f.mean(1, 4) = f.mean(0, 4) + Vec3{0, 0, 0.1};
  EXPECT_EQ(f.mode_entropy(), 0) << "modes within each other's spread are one way";
  f = MakeTwoModes();
  EXPECT_NEAR(f.mode_entropy(), -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-15);
  EXPECT_EQ(f.most_likely_mode(), 1);
  f.weight(0) = 1, f.weight(1) = 0;
  EXPECT_EQ(f.mode_entropy(), 0);
  EXPECT_EQ(f.most_likely_mode(), 0);
}

TEST(Forecast, MixtureMomentsCountTheSpreadBetweenModes) {
  const Forecast f = MakeTwoModes();
  const Vec3 mean = f.mixture_mean(1);
  EXPECT_NEAR(mean.x, 2, 1e-15);
  EXPECT_NEAR(mean.y, 0.25 * 2 - 0.75 * 2, 1e-15);
  EXPECT_NEAR(mean.z, 0.75, 1e-15);
  const Cov3 cov = f.mixture_cov(1);
  EXPECT_NEAR(cov.yy, 0.25 * 0.6 + 0.75 * 0.09 + 0.25 * 0.75 * 16, 1e-12);
  EXPECT_NEAR(cov.yz, 0.25 * -0.1 - 0.25 * 0.75 * 4, 1e-12);
}

TEST(Forecast, SamplesTheSamePathsFromTheSameSeed) {
  const Forecast f = MakeTwoModes();
  std::vector<Vec3> a(50), b(50), c(50), head(10);
  f.SamplePaths(3, 10, a);
  f.SamplePaths(3, 10, b);
  f.SamplePaths(4, 10, c);
  f.SamplePaths(3, 2, head);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_TRUE(std::equal(head.begin(), head.end(), a.begin()));  // a path has a stream of its own
}

// Mean and covariance of sampled positions at step i against the mixture's own.
void ExpectMoments(const Forecast& f, int i, double tolerance) {
  const int n = 40'000;
  const auto s = static_cast<std::size_t>(f.steps());
  std::vector<Vec3> paths(static_cast<std::size_t>(n) * s);
  f.SamplePaths(11, n, paths);
  Vec3 mean;
  Cov3 cov;
  for (std::size_t p = 0; p < paths.size(); p += s) {
    mean += (1.0 / n) * paths[p + static_cast<std::size_t>(i)];
  }
  for (std::size_t p = 0; p < paths.size(); p += s) {
    cov += Cov3::Outer(paths[p + static_cast<std::size_t>(i)] - mean) * (1.0 / n);
  }
  const Cov3 want = f.mixture_cov(i);
  EXPECT_LT(Norm(mean - f.mixture_mean(i)), tolerance);
  EXPECT_NEAR(cov.xx, want.xx, tolerance);
  EXPECT_NEAR(cov.xy, want.xy, tolerance);
  EXPECT_NEAR(cov.yy, want.yy, 4 * tolerance);  // the widest direction: the modes part in y
  EXPECT_NEAR(cov.yz, want.yz, 2 * tolerance);
  EXPECT_NEAR(cov.zz, want.zz, tolerance);
}

TEST(Forecast, SamplesHaveTheMixturesMoments) {
  ExpectMoments(MakeTwoModes(), 0, 0.02);
  ExpectMoments(MakeTwoModes(), 4, 0.08);
}

TEST(Forecast, SampledResidualsAreAsCorrelatedAsSaid) {
  Forecast f = MakeTwoModes();
  f.weight(0) = 0, f.weight(1) = 1;
  f.residual_correlation = 0.8;
  const int n = 20'000;
  std::vector<Vec3> paths(static_cast<std::size_t>(n) * 5);
  f.SamplePaths(2, n, paths);
  double cross = 0, square = 0;
  for (std::size_t p = 0; p < paths.size(); p += 5) {
    const double a = paths[p + 2].x - f.mean(1, 2).x, b = paths[p + 3].x - f.mean(1, 3).x;
    cross += a * b, square += (a * a + b * b) / 2;
  }
  EXPECT_NEAR(cross / square, 0.8, 0.02);
}

TEST(Forecast, DisplacementSamplesAreRunningSums) {
  const Forecast f = MakeDisplacement();
  const int n = 20'000;
  std::vector<Vec3> paths(static_cast<std::size_t>(n) * 4);
  f.SamplePaths(9, n, paths);
  Vec3 mean;
  double variance = 0, cross = 0;
  for (std::size_t p = 0; p < paths.size(); p += 4) {
    mean += (1.0 / n) * paths[p + 3];
    const double first = paths[p + 1].y - paths[p].y, second = paths[p + 2].y - paths[p + 1].y;
    variance += first * first / n, cross += first * second / n;
  }
  EXPECT_NEAR(mean.x, 10 + 4 * (0.3 * 1 + 0.7 * 2), 0.02);
  EXPECT_NEAR(mean.z, 26, 0.01);
  EXPECT_NEAR(variance, 0.01, 5e-4);  // one step's own sigma
  EXPECT_NEAR(cross, 0, 5e-4);        // steps are independent
}

TEST(Forecast, DisplacementPathsStartAtTheAnchorWhateverTheModes) {
  Forecast f = MakeDisplacement();
  for (int i = 0; i < f.steps(); ++i) f.mean(0, i) += Vec3{100, 0, 0};
  std::vector<Vec3> paths(4);
  f.SamplePaths(9, 1, paths);
  EXPECT_LT(Norm(paths[0] - f.displacement.anchor), 4);
}

TEST(Forecast, WithoutModesThePointPathIsAllItSays) {
  Forecast f;
  f.Reset({.steps = 2, .modes = 0}, "theirs", 0, 0.1);
  f.point(0) = {1, 2, 3}, f.point(1) = {4, 5, 6};
  EXPECT_TRUE(f.IsValid());
  EXPECT_EQ(f.most_likely_mode(), 0);
  EXPECT_EQ(f.mode_entropy(), 0);
  EXPECT_EQ(f.mixture_mean(1), f.point(1));
  EXPECT_EQ(f.mixture_cov(1), Cov3{});
  std::vector<Vec3> paths(6);
  f.SamplePaths(1, 3, paths);
  for (std::size_t n = 0; n < paths.size(); ++n)
    EXPECT_EQ(paths[n], f.point(static_cast<int>(n % 2)));
  f.point(1).x = kNan;
  EXPECT_FALSE(f.IsValid());
}

TEST(Forecast, IsValidCatchesEveryViolation) {
  const auto breaks = [](const char* what, auto&& damage) {
    Forecast f = MakeTwoModes();
    EXPECT_TRUE(f.IsValid());
    damage(f);
    EXPECT_FALSE(f.IsValid()) << what;
  };
  breaks("a negative weight", [](Forecast& f) { f.weight(0) = -0.1, f.weight(1) = 1.1; });
  breaks("a NaN weight", [](Forecast& f) { f.weight(0) = kNan; });
  breaks("weights that do not sum to one", [](Forecast& f) { f.weight(0) = 0.3; });
  breaks("a NaN point", [](Forecast& f) { f.point(4).z = kNan; });
  breaks("an infinite mean", [](Forecast& f) { f.mean(1, 0).x = kInf; });
  breaks("a flat covariance", [](Forecast& f) { f.cov(1, 2).zz = 0; });
  breaks("an indefinite covariance", [](Forecast& f) { f.cov(0, 0).xy = 10; });
  breaks("a NaN covariance", [](Forecast& f) { f.cov(0, 3).yz = kNan; });
  breaks("an infinite covariance", [](Forecast& f) { f.cov(0, 3).xx = kInf; });
  breaks("a correlation above one", [](Forecast& f) { f.residual_correlation = 1.01; });
  breaks("a NaN correlation", [](Forecast& f) { f.residual_correlation = kNan; });
  breaks("no step length", [](Forecast& f) { f.dt_s = 0; });
  breaks("an infinite step length", [](Forecast& f) { f.dt_s = kInf; });
  breaks("a NaN age", [](Forecast& f) { f.age_s = kNan; });
  breaks("steps that say none", [](Forecast& f) { f.quality = Quality::kNone; });
  breaks("radii without levels", [](Forecast& f) { f.conformal.radius = {1}; });
}

TEST(Forecast, IsValidCatchesBrokenOptionalParts) {
  Forecast f = MakeDisplacement();
  EXPECT_TRUE(f.IsValid());
  f.displacement.weight[3] = 0.9;
  EXPECT_FALSE(f.IsValid()) << "weights of one step";
  f = MakeDisplacement(), f.displacement.sigma[2].y = 0;
  EXPECT_FALSE(f.IsValid()) << "sigma zero";
  f = MakeDisplacement(), f.displacement.mean[7].x = kNan;
  EXPECT_FALSE(f.IsValid()) << "NaN displacement";
  f = MakeDisplacement(), f.displacement.mean.pop_back();
  EXPECT_FALSE(f.IsValid()) << "a missing displacement";
  f = MakeDisplacement(), f.displacement.anchor.y = kNan;
  EXPECT_FALSE(f.IsValid()) << "a NaN anchor";

  Forecast g;
  g.Reset({.steps = 2, .modes = 1, .conformal_levels = 1}, "net", 0, 0.1);
  g.weight(0) = 1;
  g.cov(0, 0) = g.cov(0, 1) = Cov3::Isotropic(1);
  EXPECT_TRUE(g.IsValid());
  g.conformal.radius[1] = -1;
  EXPECT_FALSE(g.IsValid()) << "a negative radius";
  g.conformal.radius[1] = 1, g.conformal.tube[0] = kNan;
  EXPECT_FALSE(g.IsValid()) << "a NaN tube";
  g.conformal.tube[0] = 1, g.conformal.level[0] = 1.5;
  EXPECT_FALSE(g.IsValid()) << "a level above one";
  g.conformal.level[0] = 0.9, g.conformal.shape.clear();
  EXPECT_FALSE(g.IsValid()) << "a tube without a shape";
  g.conformal.tube.clear();
  EXPECT_TRUE(g.IsValid()) << "no tube at all";
}

}  // namespace
}  // namespace aerocast
