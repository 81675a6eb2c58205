// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "src/data/category.h"
#include "src/sim/shapes.h"

namespace aerocast {
namespace {

using testing::DoubleNear;

double Radius(const Vec3& p) { return std::hypot(p.x, p.y); }

TEST(PathWalker, GoesRoundAClosedPathAndComesBack) {
  const Path square = Polyline({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, true);
  EXPECT_DOUBLE_EQ(square.length_m(), 4);
  PathWalker walker(square, 0.5);
  for (int lap = 0; lap < 3; ++lap) {
    for (int i = 0; i < 16; ++i) walker.Step(0.25, 0.01);
    EXPECT_NEAR(Norm(walker.position() - Vec3{0.5, 0, 0}), 0, 1e-12);
  }
}

TEST(PathWalker, WaitsWhereThePathHoldsAndAtAnOpenEnd) {
  const Path path = Polyline({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, false, {0, 0.05, 0});
  PathWalker walker(path, 0);
  walker.Step(1.5, 0.01);  // reaches the hold and may not pass it
  for (int i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(walker.position().x, 1);
    walker.Step(0.5, 0.01);
  }
  walker.Step(0.5, 0.01);
  EXPECT_DOUBLE_EQ(walker.position().x, 1.5);
  for (int i = 0; i < 5; ++i) walker.Step(0.5, 0.01);
  EXPECT_DOUBLE_EQ(walker.position().x, 2);
}

RC_GTEST_PROP(PathWalker, NeverMovesFartherThanProgressAllows, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto& kind = kShapeKinds[*rc::gen::inRange<std::size_t>(0, kShapeKinds.size())];
  const Path path = kind.make(rng, 50);
  const double fastest = MotionOf(path).speed;
  PathWalker walker(path, rng.Uniform(0, path.length_m()));
  for (int i = 0; i < 500; ++i) {
    const Vec3 before = walker.position();
    walker.Step(0.01, 0.01);
    RC_ASSERT(Norm(walker.position() - before) <= 0.01 * fastest + 1e-9);
  }
}

TEST(ClosedCurve, AtConstantRateHasTheSameLengthButUnevenSpeed) {
  const auto ellipse = [](double a) { return Vec3{2 * std::cos(a), std::sin(a), 0}; };
  const Path rate = ClosedCurve(ellipse, true), even = ClosedCurve(ellipse, false);
  EXPECT_NEAR(rate.length_m(), 9.68845, 1e-3);  // perimeter of the ellipse
  EXPECT_NEAR(even.length_m(), 9.68845, 1e-3);
  EXPECT_NEAR(MotionOf(even).speed, 1, 1e-9);
  EXPECT_NEAR(MotionOf(rate).speed, 2 * 2 * std::numbers::pi / 9.68845, 1e-3);
}

TEST(MotionOf, KnowsTheCurvatureOfACircleAndTheLegsOfASquare) {
  const Path circle = ClosedCurve(
      [](double a) {
        return Vec3{4 * std::cos(a), 4 * std::sin(a), 0};
      },
      true);
  EXPECT_NEAR(MotionOf(circle).curvature_m, 0.25, 1e-3);
  EXPECT_EQ(MotionOf(circle).leg_m, 0);
  const Path square = Polyline({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, true);
  EXPECT_DOUBLE_EQ(MotionOf(square).leg_m, 1);
}

TEST(Shapes, AreTheNineCategoriesInOrder) {
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    EXPECT_EQ(kShapeKinds[i].name, kCategories[i].name);
  }
}

TEST(Shapes, AreFiniteWithRisingProgressAndCloseWhenTheySaySo) {
  for (const ShapeKind& kind : kShapeKinds) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Rng rng(seed);
      const Path path = kind.make(rng, 100);
      for (std::size_t i = 1; i < path.vertices.size(); ++i) {
        ASSERT_TRUE(IsFinite(path.vertices[i].p)) << kind.name;
        ASSERT_GT(path.vertices[i].progress_m, path.vertices[i - 1].progress_m) << kind.name;
      }
      if (path.closed) {
        EXPECT_EQ(path.vertices.front().p, path.vertices.back().p) << kind.name;
      } else {
        EXPECT_GE(path.length_m(), 100) << kind.name;
      }
    }
  }
}

TEST(MakeCircle, HasOneRadiusAndOvalHasTwo) {
  Rng rng(1);
  const Path circle = MakeCircle(rng, 0), oval = MakeOval(rng, 0);
  for (const PathVertex& v : circle.vertices) {
    EXPECT_NEAR(Radius(v.p), Radius(circle.vertices[0].p), 1e-12);
  }
  const Vec3 size = BoundsOf(oval).size();
  EXPECT_LT(size.y, 0.8 * size.x);
}

TEST(MakeFigure8, CrossesItselfOnceAtItsCentre) {
  Rng rng(2);
  const Path path = MakeFigure8(rng, 0);
  int crossings = 0;
  for (std::size_t i = 1; i < path.vertices.size(); ++i) {
    crossings += Radius(path.vertices[i].p) < 1e-9 ? 1 : 0;
  }
  EXPECT_EQ(crossings, 2);  // passes its centre twice per lap
}

TEST(MakeHelix, ClimbsEvenlyAndComesDownAgain) {
  Rng rng(3);
  const Path path = MakeHelix(rng, 0);
  const std::size_t top = (path.vertices.size() - 1) / 2;
  for (std::size_t i = 1; i <= top; ++i) {
    EXPECT_GT(path.vertices[i].p.z, path.vertices[i - 1].p.z);
    EXPECT_LT(path.vertices[top + i].p.z, path.vertices[top + i - 1].p.z);
  }
  EXPECT_GE(BoundsOf(path).size().z, 0.6);
}

TEST(MakeTrefoil, IsThreefoldSymmetric) {
  Rng rng(4);
  const Path path = MakeTrefoil(rng, 0);
  // Farthest from the axis three times per lap, equally far.
  std::vector<double> peaks;
  const std::size_t n = path.vertices.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double r = Radius(path.vertices[i].p);
    if (r >= Radius(path.vertices[(i + n - 1) % n].p) && r > Radius(path.vertices[(i + 1) % n].p) &&
        r > 0.4) {
      peaks.push_back(r);
    }
  }
  ASSERT_EQ(peaks.size(), 3);
  EXPECT_THAT(peaks[1], DoubleNear(peaks[0], 1e-3));
  EXPECT_THAT(peaks[2], DoubleNear(peaks[0], 1e-3));
}

TEST(MakeStar, HasStraightLegsOfOneLengthAndSharpTurns) {
  std::set<std::size_t> points;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Path path = MakeStar(rng, 0);
    points.insert(path.vertices.size() - 1);
    for (std::size_t i = 1; i + 1 < path.vertices.size(); ++i) {
      const Vec3 in = path.vertices[i].p - path.vertices[i - 1].p;
      const Vec3 out = path.vertices[i + 1].p - path.vertices[i].p;
      EXPECT_NEAR(Norm(in), Norm(out), 1e-9);
      EXPECT_LT(Dot(in, out), 0);  // turns by more than a right angle
    }
  }
  EXPECT_THAT(points, testing::ElementsAre(5, 7, 8, 9));
}

TEST(MakeStaircase, GoesUpAndDownTheSameStairsByEvenSteps) {
  Rng rng(6);
  const Path path = MakeStaircase(rng, 200);
  std::set<long> heights, places;
  for (const PathVertex& v : path.vertices) {
    heights.insert(std::lround(v.p.z * 1e6));
    places.insert(std::lround(v.p.x * 1e6));
  }
  EXPECT_GE(heights.size(), 3u);
  EXPECT_LE(heights.size(), 6u);
  EXPECT_EQ(heights.size(), places.size());
  EXPECT_LE(BoundsOf(path).size().z, 1.0 + 1e-9);
}

TEST(MakeRandom, NeverVisitsAWaypointTwice) {
  Rng rng(7);
  const Path path = MakeRandom(rng, 500);
  std::set<double> seen;
  for (const PathVertex& v : path.vertices) EXPECT_TRUE(seen.insert(v.p.x).second);
}

}  // namespace
}  // namespace aerocast
