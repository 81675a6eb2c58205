// SPDX-License-Identifier: BSD-3-Clause
//
// A reference path: the curve a set-point follows, and how fast it does so where.
//
// A path is a list of vertices joined by straight pieces. Each vertex carries its `progress`: the
// set-point moves through progress at the flight's nominal speed, so a kind of path says where it
// is quick or slow by spacing progress wider or narrower than distance (the real figure-8, at
// constant angular rate, is slower at its ends), and where it waits by a hold. That is all the
// flight simulation knows of a path; a new shape is one more function that returns one. Fliers
// that do not chase a set-point have a course instead (src/sim/course.h).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "aerocast/geometry.h"

namespace aerocast {

struct PathVertex {
  Vec3 p;
  double progress_m = 0;  // strictly increasing along the path, 0 at the first vertex
  double hold_s = 0;      // how long the set-point waits here
};

struct Path {
  std::vector<PathVertex> vertices;  // at least two
  bool closed = false;               // the last vertex is where the first is; the path repeats

  double length_m() const { return vertices.back().progress_m; }
};

// The closed curve at(angle), angle 0 ... turns * 2 pi, in `pieces` equal angles per turn. With
// constant_rate the progress follows the angle (the set-point is slow where the curve is dense),
// scaled so that total progress is the curve's length; else it is distance along the curve.
Path ClosedCurve(const std::function<Vec3(double angle)>& at, bool constant_rate, int turns = 1,
                 int pieces = 1024);

// Straight legs at even speed through the points; `hold_s` is empty or has one entry per point.
// Points that repeat the one before are dropped.
Path Polyline(const std::vector<Vec3>& points, bool closed, const std::vector<double>& hold_s = {});

struct Box {
  Vec3 low, high;
  Vec3 size() const { return high - low; }
};
Box BoundsOf(const Path& path);
Box BoundsOf(const std::vector<Vec3>& points);

// Applies `map` to every vertex; progress is scaled by `progress_scale`.
void Transform(Path& path, const std::function<Vec3(const Vec3&)>& map, double progress_scale = 1);

// Largest speed and acceleration of the set-point at nominal speed 1 m/s, on the smooth stretches
// (acceleration at speed v is v^2 times this; corners of polylines are left to the tracking).
struct PathMotion {
  double speed = 1;        // relative to nominal
  double curvature_m = 0;  // m/s^2 at 1 m/s
  double leg_m = 0;        // mean way between corners; 0: there are none
};
PathMotion MotionOf(const Path& path);

// Moves a set-point along a path.
class PathWalker {
 public:
  PathWalker(const Path& path, double start_m);

  const Vec3& position() const { return position_; }
  // Moves on by advance_m of progress, or waits dt_s where the path holds. An open path's end is
  // waited at for ever.
  void Step(double advance_m, double dt_s);

 private:
  void Locate();

  const Path& path_;
  double progress_m_ = 0;
  std::size_t piece_ = 0;  // between vertex piece_ and piece_ + 1
  double hold_left_s_ = 0;
  Vec3 position_;
};

}  // namespace aerocast
