// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/racing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "src/base/check.h"
#include "src/sim/course.h"
#include "src/sim/tracking.h"

namespace aerocast {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDegree = kPi / 180;
constexpr std::size_t kCells = 32;  // of the speed profile, per segment

// One lap's gates: round the middle, each farther or nearer.
std::vector<Vec3> DrawRound(double radius, double height, Rng& rng) {
  const std::uint64_t gates = 5 + rng.Below(5);
  const double evenness = rng.Uniform(0.45, 0.9);
  std::vector<Vec3> track;
  for (std::uint64_t i = 0; i < gates; ++i) {
    const double share =
        (static_cast<double>(i) + rng.Uniform(-0.2, 0.2)) / static_cast<double>(gates);
    const double r = radius * rng.Uniform(evenness, 1.1);
    track.push_back({r * std::cos(2 * kPi * share), r * std::sin(2 * kPi * share),
                     height * rng.Uniform(-1, 1)});
  }
  return track;
}

// A track that crosses itself once, at two heights.
std::vector<Vec3> DrawCrossing(double radius, double height, Rng& rng) {
  const std::uint64_t gates = 8 + rng.Below(3);
  const double width = rng.Uniform(0.8, 1.3);
  std::vector<Vec3> track;
  for (std::uint64_t i = 0; i < gates; ++i) {
    const double a =
        2 * kPi * (static_cast<double>(i) + rng.Uniform(-0.15, 0.15)) / static_cast<double>(gates);
    track.push_back({radius * std::sin(a), radius * width * std::sin(a) * std::cos(a),
                     height * (std::cos(a) + rng.Uniform(-0.3, 0.3))});
  }
  return track;
}

// Gates without end: each call gives the next.
using Gates = std::function<Vec3(Rng& rng)>;

// Gate after gate, never straight back; home again where it strays.
Gates OpenCourse(double radius, double height) {
  return [=, last = Vec3{}, heading = 0.0](Rng& rng) mutable {
    double turn = 50 * kDegree * rng.Normal();
    if (std::hypot(last.x, last.y) > 4 * radius) {
      turn = std::remainder(std::atan2(-last.y, -last.x) - heading, 2 * kPi);
    }
    heading += std::clamp(turn, -100 * kDegree, 100 * kDegree);
    const double leg = radius * rng.Uniform(0.5, 1.3);
    last = {last.x + leg * std::cos(heading), last.y + leg * std::sin(heading),
            height * rng.Uniform(-1, 1)};
    return last;
  };
}

// The same gates lap after lap, passed a little differently each time.
Gates Laps(std::vector<Vec3> track, double wander_m) {
  return [=, track = std::move(track), i = std::size_t{0}](Rng& rng) mutable {
    const auto off = [&] { return wander_m * std::clamp(rng.Normal(), -2.0, 2.0); };
    const double x = off(), y = off(), z = 0.5 * off();
    return track[i++ % track.size()] + Vec3{x, y, z};
  };
}

// Enough control points for a line of length_m: the chords between its joints are that long.
std::vector<Vec3> ControlPoints(Gates next, double length_m, Rng& rng) {
  std::vector<Vec3> control = {next(rng), next(rng), next(rng)};
  const auto joint = [&](std::size_t i) {
    return (control[i] + 4 * control[i + 1] + control[i + 2]) * (1.0 / 6);
  };
  for (double length = 0; length < length_m || control.size() < 4;) {
    control.push_back(next(rng));
    const std::size_t n = control.size();
    length += Norm(joint(n - 3) - joint(n - 4));
  }
  return control;
}

// The speed profile: squares of speeds at kCells points per segment.
class SpeedLimits {
 public:
  SpeedLimits(const RacingLine& line, double top_speed, double accel) : accel_(accel) {
    const std::size_t n = line.segments() * kCells;
    for (std::size_t i = 0; i <= n; ++i) {
      const RacingLine::Point at = line.At(static_cast<double>(i) / kCells);
      curvature_.push_back(at.curvature());
      step_m_.push_back(Norm(at.d1) / kCells);
      square_.push_back(std::min(top_speed * top_speed, accel / std::max(curvature_.back(), 1e-9)));
    }
    for (std::size_t i = 1; i <= n; ++i) Bound(i - 1, i);  // speeding up
    for (std::size_t i = n; i > 0; --i) Bound(i, i - 1);   // braking, seen backwards
  }

  double At(double u) const {
    const double place = u * kCells;
    const std::size_t i = std::min(static_cast<std::size_t>(place), square_.size() - 2);
    const double share = place - static_cast<double>(i);
    return std::sqrt(square_[i] + share * (square_[i + 1] - square_[i]));
  }

 private:
  // v_b^2 <= v_a^2 + 2 a s, with the acceleration that turning leaves over at the tighter end.
  void Bound(std::size_t a, std::size_t b) {
    const double turning = square_[a] * std::max(curvature_[a], curvature_[b]);
    const double left = std::sqrt(std::max(0.0, accel_ * accel_ - turning * turning));
    square_[b] = std::min(square_[b], square_[a] + left * (step_m_[a] + step_m_[b]));
  }

  double accel_;
  std::vector<double> curvature_, step_m_, square_;
};

}  // namespace

double RacingLine::Point::curvature() const {
  const double speed = Norm(d1);
  return Norm(Cross(d1, d2)) / std::max(speed * speed * speed, 1e-12);
}

RacingLine::Point RacingLine::At(double u) const {
  const std::size_t i = std::min(static_cast<std::size_t>(u), segments() - 1);
  const double t = u - static_cast<double>(i), s = 1 - t;
  const Vec3 &a = control_[i], &b = control_[i + 1], &c = control_[i + 2], &d = control_[i + 3];
  Point at;
  at.p = (s * s * s * a + (4 - 3 * t * t * (2 - t)) * b + (4 - 3 * s * s * (2 - s)) * c +
          t * t * t * d) *
         (1.0 / 6);
  at.d1 = 0.5 * (s * s * (b - a) + (1 + 2 * t * s) * (c - b) + t * t * (d - c));
  at.d2 = s * (a - 2 * b + c) + t * (b - 2 * c + d);
  return at;
}

RacingPlan DrawRacing(Rng& rng, double seconds) {
  RacingPlan plan;
  const double radius = rng.LogUniform(6, 40), height = std::min(5.0, rng.Uniform(0, 0.2) * radius);
  const double choice = rng.Uniform();
  plan.top_speed = rng.LogUniform(7, 20);
  plan.accel = rng.LogUniform(0.5, 2.5) * kGravity;
  plan.residual_m = rng.LogUniform(0.01, 0.1);
  const double wander_m = rng.Uniform(0.005, 0.03) * radius;
  const Gates gates = choice < 0.25  ? OpenCourse(radius, height)
                      : choice < 0.7 ? Laps(DrawRound(radius, height, rng), wander_m)
                                     : Laps(DrawCrossing(radius, height, rng), wander_m);
  // Either way round, and turned as a whole.
  const double mirror = rng.Chance(0.5) ? -1 : 1;
  const Yaw yaw = Yaw::FromAngle(rng.Uniform(0, 2 * kPi));
  plan.control = ControlPoints(gates, plan.top_speed * (seconds + 1), rng);
  for (Vec3& p : plan.control) p = yaw * Vec3{p.x, mirror * p.y, p.z};
  return plan;
}

std::vector<Vec3> FlyLine(const RacingPlan& plan, std::size_t steps) {
  const RacingLine line(plan.control);
  const SpeedLimits limits(line, plan.top_speed, plan.accel);
  std::vector<Vec3> course(steps);
  double u = 0;
  const auto rate = [&](double at, const Vec3& d1) { return limits.At(at) / Norm(d1); };
  for (Vec3& p : course) {
    const RacingLine::Point here = line.At(u);
    p = here.p;
    const double half = u + 0.5 * kSimStepS * rate(u, here.d1);
    u += kSimStepS * rate(half, line.At(half).d1);
    AEROCAST_CHECK(u < static_cast<double>(line.segments()));
  }
  return course;
}

Flight FlyRacing(const FlightKey& key, const FlightRequest& request) {
  Rng rng = StreamOf(key, Stream::kPlan);
  const std::size_t steps = CourseSteps(request.duration_s);
  const RacingPlan plan = DrawRacing(rng, static_cast<double>(steps) * kSimStepS);
  Flight flight{FlyCourse(key, FlyLine(plan, steps), plan.residual_m), {}};
  Place(key, OpenLimits().space, flight.truth);
  return flight;
}

}  // namespace aerocast
