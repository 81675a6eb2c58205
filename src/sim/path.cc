// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/path.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/base/check.h"

namespace aerocast {
namespace {

constexpr double kLeastPieceM = 1e-9;

void Extend(Box& box, const Vec3& p) {
  box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y), std::min(box.low.z, p.z)};
  box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y), std::max(box.high.z, p.z)};
}

}  // namespace

Path ClosedCurve(const std::function<Vec3(double angle)>& at, bool constant_rate, int turns,
                 int pieces) {
  Path path;
  path.closed = true;
  const int n = turns * pieces;
  for (int i = 0; i <= n; ++i) {
    // The last vertex is the first one to the bit, so that the path closes without a step.
    const Vec3 p = i == n ? path.vertices.front().p : at(2 * std::numbers::pi * i / pieces);
    const double step = i == 0 ? 0 : Norm(p - path.vertices.back().p);
    const double before = i == 0 ? 0 : path.vertices.back().progress_m;
    path.vertices.push_back({p, i == 0 ? 0 : before + std::max(step, kLeastPieceM)});
  }
  if (constant_rate) {
    const double length = path.length_m();
    for (int i = 0; i <= n; ++i) {
      path.vertices[static_cast<std::size_t>(i)].progress_m = length * i / n;
    }
  }
  return path;
}

Path Polyline(const std::vector<Vec3>& points, bool closed, const std::vector<double>& hold_s) {
  Path path;
  path.closed = closed;
  for (std::size_t i = 0; i < points.size() + (closed ? 1 : 0); ++i) {
    const std::size_t k = i % points.size();
    const double hold = hold_s.empty() ? 0 : hold_s[k];
    const double step = path.vertices.empty() ? 0 : Norm(points[k] - path.vertices.back().p);
    if (!path.vertices.empty() && step < kLeastPieceM) continue;
    const double before = path.vertices.empty() ? 0 : path.vertices.back().progress_m;
    path.vertices.push_back({points[k], before + step, hold});
  }
  AEROCAST_CHECK(path.vertices.size() >= 2);
  return path;
}

Box BoundsOf(const Path& path) {
  Box box{path.vertices.front().p, path.vertices.front().p};
  for (const PathVertex& vertex : path.vertices) Extend(box, vertex.p);
  return box;
}

Box BoundsOf(const std::vector<Vec3>& points) {
  Box box{points.front(), points.front()};
  for (const Vec3& p : points) Extend(box, p);
  return box;
}

void Transform(Path& path, const std::function<Vec3(const Vec3&)>& map, double progress_scale) {
  for (PathVertex& vertex : path.vertices) {
    vertex.p = map(vertex.p);
    vertex.progress_m *= progress_scale;
  }
}

PathMotion MotionOf(const Path& path) {
  PathMotion motion;
  int corners = 0;
  const auto& v = path.vertices;
  const auto slope = [&](std::size_t i) {
    return (v[i + 1].p - v[i].p) * (1 / (v[i + 1].progress_m - v[i].progress_m));
  };
  for (std::size_t i = 0; i + 1 < v.size(); ++i) {
    motion.speed = std::max(motion.speed, Norm(slope(i)));
    if (i == 0) continue;
    const double turn = Norm(slope(i) - slope(i - 1));
    const double span = (v[i + 1].progress_m - v[i - 1].progress_m) / 2;
    // A turn of more than 0.3 (17 degrees at even speed) at one vertex is a corner.
    if (turn < 0.3) {
      motion.curvature_m = std::max(motion.curvature_m, turn / span);
    } else {
      ++corners;
    }
  }
  if (corners > 0) motion.leg_m = path.length_m() / (corners + 1);
  return motion;
}

PathWalker::PathWalker(const Path& path, double start_m) : path_(path) {
  progress_m_ = std::clamp(start_m, 0.0, path.length_m());
  const auto& v = path.vertices;
  while (piece_ + 2 < v.size() && v[piece_ + 1].progress_m <= progress_m_) ++piece_;
  Locate();
}

void PathWalker::Step(double advance_m, double dt_s) {
  if (hold_left_s_ > 0) {
    hold_left_s_ -= dt_s;
    return;
  }
  progress_m_ += advance_m;
  const auto& v = path_.vertices;
  while (progress_m_ >= v[piece_ + 1].progress_m) {
    const PathVertex& reached = v[piece_ + 1];
    const bool last = piece_ + 2 == v.size();
    if (last && !path_.closed) {
      progress_m_ = reached.progress_m;
      break;
    }
    if (last) progress_m_ -= reached.progress_m;
    piece_ = last ? 0 : piece_ + 1;
    if (reached.hold_s > 0) {
      hold_left_s_ = reached.hold_s;
      progress_m_ = v[piece_].progress_m;
      break;
    }
  }
  Locate();
}

void PathWalker::Locate() {
  const PathVertex& a = path_.vertices[piece_];
  const PathVertex& b = path_.vertices[piece_ + 1];
  const double share = (progress_m_ - a.progress_m) / (b.progress_m - a.progress_m);
  position_ = a.p + (b.p - a.p) * share;
}

}  // namespace aerocast
