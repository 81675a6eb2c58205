// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/draws.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "src/base/rng.h"
#include "src/eval/metrics.h"
#include "src/eval/normal.h"
#include "src/eval/test_source.h"

namespace aerocast {
namespace {

using testing::TestMixture;
using testing::TwoHills;

struct Factored {
  explicit Factored(const TestMixture& mixture) : m(mixture) {
    for (const Cov3& c : m.cov) chol.emplace_back(c);
  }
  StepMixture view() const { return {m.weight, m.mean, chol}; }
  TestMixture m;
  std::vector<Cholesky3> chol;
};

const NormalPool& Pool() {
  static const NormalPool pool(1);
  return pool;
}

RC_GTEST_PROP(StepDraws, EnergyIsThePlainFormOnTheSameDraws, (std::uint64_t key)) {
  StepDraws draws(*rc::gen::inRange(2, 100));
  const Factored mixture(TwoHills());
  const Vec3 y{0.5, -1, 2};
  draws.Draw(mixture.view(), y, Pool(), Mix64(key));
  std::vector<Vec3> copies;
  for (int i = 0; i < draws.draws(); ++i) copies.push_back(draws.draw(i));
  RC_ASSERT(std::abs(draws.Energy() - EnergyScore(copies, y)) < 1e-5);
}

TEST(StepDraws, EnergyOfAStandardNormalIsUnbiased) {
  StepDraws draws(64);
  const Factored normal{TestMixture{}};
  Rng rng(5);
  double own = 0, centre = 0;
  constexpr int kTrials = 10'000;
  for (std::uint64_t t = 0; t < kTrials; ++t) {
    draws.Draw(normal.view(), normal.m.Draw(rng), Pool(), Mix64(t));
    own += draws.Energy() / kTrials;
    draws.Draw(normal.view(), {}, Pool(), Mix64(t));
    centre += draws.Energy() / kTrials;
  }
  EXPECT_NEAR(own, 1.12838, 0.01);
  EXPECT_NEAR(centre, 0.46739, 0.002);
}

TEST(StepDraws, EnergyOfAMixtureDoesNotDependOnTheNumberOfDraws) {
  const Factored mixture(
      {{0.5, 0.5}, {{-5, 0, 0}, {5, 0, 0}}, {Cov3::Isotropic(0.01), Cov3::Isotropic(0.01)}});
  // Two far points, half each: E|X - y| = 5, E|X - X'| / 2 = 2.5 at the centre.
  for (const int m : {2, 5, 64}) {
    StepDraws draws(m);
    double mean = 0;
    for (std::uint64_t t = 0; t < 5'000; ++t) {
      draws.Draw(mixture.view(), {}, Pool(), Mix64(t));
      mean += draws.Energy() / 5'000;
    }
    EXPECT_NEAR(mean, 2.5, 0.08) << m;
  }
}

TEST(StepDraws, HaveTheMixturesMoments) {
  const Factored mixture(TwoHills());
  StepDraws draws(64);
  Vec3 mean;
  double yy = 0, n = 0;
  for (std::uint64_t t = 0; t < 5'000; ++t) {
    draws.Draw(mixture.view(), {}, Pool(), Mix64(t));
    for (int i = 0; i < 64; ++i) mean += draws.draw(i), yy += std::pow(draws.draw(i).y, 2), ++n;
  }
  EXPECT_NEAR(mean.x / n, 0.9, 0.01);
  EXPECT_NEAR(mean.z / n, -0.3, 0.005);
  EXPECT_NEAR(yy / n, 0.7 * 0.5 + 0.3 * (2 + 1), 0.02);
}

TEST(StepDraws, DensityRankAgreesWithDirectEvaluation) {
  const Factored mixture(TwoHills());
  StepDraws draws(64);
  Rng rng(9);
  for (std::uint64_t t = 0; t < 500; ++t) {
    const Vec3 y = mixture.m.Draw(rng);
    draws.Draw(mixture.view(), y, Pool(), Mix64(t));
    const double nll = MixtureNll(mixture.m.weight, mixture.m.mean, mixture.m.cov, y);
    int denser = 0;
    for (int i = 0; i < 64; ++i) {
      denser += MixtureNll(mixture.m.weight, mixture.m.mean, mixture.m.cov, draws.draw(i)) < nll;
    }
    EXPECT_NEAR(draws.CountDenser(mixture.view()), denser, 1);  // a tie may fall either way
  }
}

TEST(StepDraws, RadiusHoldsItsShare) {
  const Factored normal{TestMixture{}};
  StepDraws draws(64);
  double mean = 0;
  for (std::uint64_t t = 0; t < 5'000; ++t) {
    draws.Draw(normal.view(), {}, Pool(), Mix64(t));
    mean += draws.Radius({}, 0.9) / 5'000;
  }
  EXPECT_NEAR(mean, RadialQuantile(0.9), 0.02);
}

// Millimetres or kilometres: floats inside must not show.
RC_GTEST_PROP(StepDraws, ScaleWithTheMixture, (std::uint64_t key)) {
  const double factor = std::ldexp(1.0, *rc::gen::inRange(-60, 60));
  const Factored one(TwoHills());
  TestMixture scaled = TwoHills();
  for (Vec3& m : scaled.mean) m *= factor;
  for (Cov3& c : scaled.cov) c *= factor * factor;
  const Factored other(scaled);
  const Vec3 y{0.3, 0.2, 0.1};
  StepDraws a(16), b(16);
  a.Draw(one.view(), y, Pool(), key), b.Draw(other.view(), y * factor, Pool(), key);
  RC_ASSERT(std::abs(b.Energy() / factor - a.Energy()) < 1e-9);
  RC_ASSERT(a.CountDenser(one.view()) == b.CountDenser(other.view()));
}

}  // namespace
}  // namespace aerocast
