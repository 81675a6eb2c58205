// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/metrics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "src/base/rng.h"
#include "src/eval/normal.h"

namespace aerocast {
namespace {

TEST(Normal, QuantileInvertsTheDistribution) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-15);
  for (double p = 1e-7; p < 1; p += 0.003) EXPECT_NEAR(NormalCdf(NormalQuantile(p)), p, 1e-13);
}

TEST(Normal, RadialCoverageIsChiSquareOfThree) {
  // Quantiles of the chi-square distribution with three degrees of freedom.
  EXPECT_NEAR(RadialCoverage(std::sqrt(7.814727903)), 0.95, 1e-9);
  EXPECT_NEAR(RadialCoverage(std::sqrt(2.365973884)), 0.5, 1e-9);
  EXPECT_NEAR(RadialQuantile(0.9), std::sqrt(6.251388631), 1e-8);
  EXPECT_EQ(RadialCoverage(0), 0);
}

RC_GTEST_PROP(Normal, AbsMomentTableAgreesWithTheFormula, ()) {
  const double d = *rc::gen::inRange(-9000, 9000) / 1000.0;
  const double s = *rc::gen::inRange(1, 5000) / 1000.0;
  const double table = AbsMomentTable::Get()(d, s);
  RC_ASSERT(std::abs(table - AbsMoment(d, s)) < 1e-9 * (s + std::abs(d)));
}

TEST(Nll, OfOneGaussianAtItsCentre) {
  const double w = 1;
  const Vec3 m{1, 2, 3};
  const Cov3 c = Cov3::Isotropic(0.05);
  EXPECT_NEAR(MixtureNll({&w, 1}, {&m, 1}, {&c, 1}, m), NllBound(0.05), 1e-12);
  EXPECT_NEAR(NllBound(0.05), -6.23, 0.005);
  EXPECT_NEAR(NllBound(0.05 / 2.5), -8.98, 0.005);
}

RC_GTEST_PROP(Nll, NeverBelowTheBoundOfItsSmallestSigma, (std::uint64_t seed)) {
  Rng rng(seed);
  const double sigma_min = rng.LogUniform(1e-3, 1);
  std::vector<double> w(4);
  std::vector<Vec3> mean(4), sigma(4);
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    sum += w[k] = rng.Uniform();
    mean[k] = {rng.Normal(), rng.Normal(), rng.Normal()};
    const auto s = [&] { return sigma_min * rng.LogUniform(1, 100); };
    sigma[k] = {s(), s(), s()};
  }
  for (double& v : w) v /= sum;
  const Vec3 y = mean[seed % 4];
  RC_ASSERT(DiagonalMixtureNll(w, mean, sigma, y) >= NllBound(sigma_min));
  // Both forms agree where both apply.
  std::vector<Cov3> cov;
  for (const Vec3& s : sigma) cov.push_back(Cov3::Diagonal(s.x * s.x, s.y * s.y, s.z * s.z));
  RC_ASSERT(std::abs(MixtureNll(w, mean, cov, y) - DiagonalMixtureNll(w, mean, sigma, y)) < 1e-9);
}

TEST(Crps, OfOneGaussianIsTheKnownFormula) {
  const double w = 1, m = 0.3, s = 2;
  for (double y = -8; y < 8; y += 0.37) {
    const double z = (y - m) / s;
    const double known =
        s * (z * (2 * NormalCdf(z) - 1) + 2 * NormalPdf(z) - std::numbers::inv_sqrtpi);
    EXPECT_NEAR(MixtureCrps({&w, 1}, {&m, 1}, {&s, 1}, y), known, 1e-8);
  }
}

TEST(Crps, OfAMixtureIsTheIntegralOfTheSquaredDifference) {
  const std::vector<double> w = {0.5, 0.2, 0.3}, m = {-1, 0.5, 2}, s = {0.3, 1.2, 0.1};
  const double y = 0.8;
  double integral = 0;
  constexpr double kStep = 1e-4;
  for (double x = -12; x < 12; x += kStep) {
    const double f = MixturePit(w, m, s, x + kStep / 2) - (x + kStep / 2 >= y ? 1 : 0);
    integral += f * f * kStep;
  }
  EXPECT_NEAR(MixtureCrps(w, m, s, y), integral, 1e-5);
}

TEST(Crps, SplittingAComponentChangesNothing) {
  const std::vector<double> w = {1}, m = {0.4}, s = {0.7};
  const std::vector<double> w2 = {0.25, 0.75}, m2 = {0.4, 0.4}, s2 = {0.7, 0.7};
  EXPECT_NEAR(MixtureCrps(w, m, s, 1.1), MixtureCrps(w2, m2, s2, 1.1), 1e-9);
}

TEST(EnergyScore, ReachesTheKnownValuesForAStandardNormal) {
  Rng rng(3);
  double own = 0, centre = 0;
  constexpr int kTrials = 4000;
  for (int t = 0; t < kTrials; ++t) {
    std::vector<Vec3> draws(32);
    const auto draw = [&] {
      const double a = rng.Normal(), b = rng.Normal();
      return Vec3{a, b, rng.Normal()};
    };
    for (Vec3& d : draws) d = draw();
    own += EnergyScore(draws, draw()) / kTrials;
    centre += EnergyScore(draws, {}) / kTrials;
  }
  EXPECT_NEAR(own, 1.12838, 0.02);
  EXPECT_NEAR(centre, 0.46739, 0.01);
}

TEST(PaperEce, ExtremesAreTheKnownOnes) {
  EXPECT_NEAR(PaperEce(std::vector<double>(kPaperZ, 0)), 0.7507, 5e-5);
  EXPECT_NEAR(PaperEce(std::vector<double>(kPaperZ, 1)), 0.2493, 5e-5);
  std::vector<double> exact;
  for (int i = 0; i < kPaperZ; ++i) exact.push_back(PaperNominal(i));
  EXPECT_EQ(PaperEce(exact), 0);
}

RC_GTEST_PROP(RegionShare, HasTheNominalExpectationForUniformRanks, ()) {
  const int draws = *rc::gen::inRange(2, 200);
  const double level = *rc::gen::inRange(1, 100) / 100.0;
  double sum = 0;
  for (int rank = 0; rank <= draws; ++rank) sum += RegionShare(rank, draws, level);
  RC_ASSERT(std::abs(sum / (draws + 1) - level) < 1e-12);
}

TEST(Paths, DistancesAndBrier) {
  const std::vector<Vec3> a = {{0, 0, 0}, {1, 0, 0}}, b = {{0, 3, 4}, {1, 0, 1}};
  EXPECT_DOUBLE_EQ(AverageDistance(a, b), 3);
  EXPECT_DOUBLE_EQ(FinalDistance(a, b), 1);
  EXPECT_DOUBLE_EQ(BrierMinFde(0.5, 0.7), 0.5 + 0.3 * 0.3);
}

TEST(Entropy, OfUniformAndCertainCounts) {
  EXPECT_NEAR(Entropy(std::vector<double>{5, 5, 5, 5}), std::log(4), 1e-12);
  EXPECT_EQ(Entropy(std::vector<double>{0, 7, 0}), 0);
  EXPECT_EQ(Entropy(std::vector<double>{}), 0);
}

}  // namespace
}  // namespace aerocast
