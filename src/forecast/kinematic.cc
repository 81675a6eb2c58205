// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/kinematic.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace aerocast {
namespace {

constexpr double kStraightSpanS = 0.3;   // of the fits for velocity
constexpr double kParabolaSpanS = 0.5;   // of the fit for acceleration
constexpr double kTurnSpanS = 1.0;       // over which the turn rate is measured
constexpr int kTurnSteps = 3;            // in which the turn is followed through that span
constexpr double kLongestStepS = 0.6;    // between two courses: half a turn at 5.2 rad/s
constexpr double kLongestLapseS = 1.2;   // between the first and the last course
constexpr double kFastestTurn = 5;       // rad/s; beyond it the longest step may be half a turn
constexpr double kSlowestSpeed = 0.05;   // m/s horizontally; below it a heading is noise
constexpr double kStraightAngle = 1e-4;  // rad; below it the turn's series replaces its quotient

using Complex = std::complex<double>;

TimeNs Age(std::span<const Observation> samples, std::size_t newest) {
  return samples.back().t_ns - samples[samples.size() - newest].t_ns;
}

// Whether the history reaches span_s back, and the fit did not have to look twice as far. That it
// spans half as far then, FitMotion has seen to.
bool Covers(std::span<const Observation> samples, int used, double span_s, int order) {
  return used > order && Age(samples, samples.size()) >= DurationNs(span_s) &&
         Age(samples, static_cast<std::size_t>(used)) <= DurationNs(2 * span_s);
}

NoiseGain GainOf(std::span<const Observation> samples, int used, int order) {
  if (used < 1) return {};
  return {used, DurationS(Age(samples, static_cast<std::size_t>(used))), std::min(order, used - 1)};
}

// The integral of e^{i w t} from 0 to t: a unit velocity that turns at w, summed up.
Complex Arc(double w, double t) {
  const double angle = w * t;
  if (std::abs(angle) < kStraightAngle) return {t * (1 - angle * angle / 6), t * angle / 2};
  return {std::sin(angle) / w, (1 - std::cos(angle)) / w};
}

KinematicPath FitPolynomial(std::span<const Observation> samples, double span_s, int order) {
  KinematicPath path;
  path.start = FitMotion(samples, span_s, order);
  path.gain = GainOf(samples, path.start.samples, order);
  path.complete = Covers(samples, path.start.samples, span_s, order);
  return path;
}

KinematicPath FitHold(std::span<const Observation> samples) {
  KinematicPath path;
  path.start.p = samples.back().p_world;
  path.start.samples = 1;
  // One sample is all it stands on, but its spread wants to know the speed.
  const Motion motion = FitMotion(samples, kStraightSpanS, 1);
  path.complete = Covers(samples, motion.samples, kStraightSpanS, 1);
  return path;
}

// Direction of travel in the middle of the last kStraightSpanS of `samples`, and that instant.
struct Course {
  Complex v;
  double t_s = 0;  // relative to t0
};

Course FitCourse(std::span<const Observation> samples, TimeNs t0) {
  const Motion motion = FitMotion(samples, kStraightSpanS, 1);
  if (motion.samples < 2) return {};
  const TimeNs length = Age(samples, static_cast<std::size_t>(motion.samples));
  return {{motion.v.x, motion.v.y}, DurationS(samples.back().t_ns - t0) - DurationS(length) / 2};
}

// The samples that are at least age_s older than the newest.
std::span<const Observation> Before(std::span<const Observation> samples, double age_s) {
  const TimeNs latest = samples.back().t_ns - DurationNs(age_s);
  std::size_t n = samples.size();
  while (n > 0 && samples[n - 1].t_ns > latest) --n;
  return samples.first(n);
}

struct Turn {
  double rate = 0;        // rad/s; zero where it is not known, or hardly anything moves
  bool complete = false;  // the history had a course at every step
};

// Turn of the course over the last second, per time. Headings repeat every full turn, so the course
// is followed in steps during which it cannot turn by half a one; a hole that makes a step longer
// leaves the rate unknown.
Turn MeasureTurn(std::span<const Observation> samples) {
  const TimeNs t0 = samples.back().t_ns;
  const Course newest = FitCourse(samples, t0);
  Course later = newest;
  double angle = 0;
  bool moves = std::abs(newest.v) >= kSlowestSpeed;
  for (int k = 1; k <= kTurnSteps; ++k) {
    const auto older = Before(samples, (kTurnSpanS - kStraightSpanS) * k / kTurnSteps);
    if (older.size() < 2) return {};
    const Course course = FitCourse(older, t0);
    if (later.t_s - course.t_s > kLongestStepS) return {};
    moves = moves && std::abs(course.v) >= kSlowestSpeed;
    angle += std::arg(later.v * std::conj(course.v));
    later = course;
  }
  const double lapse = newest.t_s - later.t_s;
  if (!(lapse > kStraightSpanS && lapse <= kLongestLapseS)) return {};
  return {moves ? std::clamp(angle / lapse, -kFastestTurn, kFastestTurn) : 0, true};
}

// Given the turn rate w, the horizontal path p + v Arc(w, t) is linear in p and v (complex
// numbers for the plane): ordinary least squares over the last moments, exact on a circle.
KinematicPath FitTurn(std::span<const Observation> samples) {
  KinematicPath path = FitPolynomial(samples, kStraightSpanS, 1);
  const Turn turn = MeasureTurn(samples);
  path.turn_rate = turn.rate;
  path.complete =
      path.complete && turn.complete && Age(samples, samples.size()) >= DurationNs(kTurnSpanS);
  if (path.turn_rate == 0) return path;
  // What the turn rate's own noise does to the path is that of a parabola over its second.
  path.gain.order = 2, path.gain.length_s = std::max(path.gain.length_s, kTurnSpanS);

  const auto used = static_cast<std::size_t>(path.start.samples);
  const Observation& newest = samples.back();
  const double n = static_cast<double>(used);
  Complex sum_u, sum_y, sum_uy;
  double sum_uu = 0;
  for (const Observation& o : samples.last(used)) {
    const Complex u = Arc(path.turn_rate, DurationS(o.t_ns - newest.t_ns));
    const Complex y(o.p_world.x - newest.p_world.x, o.p_world.y - newest.p_world.y);
    sum_u += u, sum_y += y, sum_uy += std::conj(u) * y, sum_uu += std::norm(u);
  }
  const double spread = sum_uu - std::norm(sum_u) / n;
  if (!(spread > 0)) return path;
  const Complex v = (sum_uy - std::conj(sum_u) * sum_y / n) / spread;
  const Complex p = (sum_y - sum_u * v) / n;
  path.start.p.x = newest.p_world.x + p.real(), path.start.p.y = newest.p_world.y + p.imag();
  path.start.v.x = v.real(), path.start.v.y = v.imag();
  return path;
}

}  // namespace

Vec3 KinematicPath::At(double t_s) const {
  if (turn_rate == 0) return start.p + t_s * start.v + (t_s * t_s / 2) * start.a;
  const Complex step = Complex(start.v.x, start.v.y) * Arc(turn_rate, t_s);
  return start.p + Vec3{step.real(), step.imag(), t_s * start.v.z};
}

KinematicPath FitPath(Kinematics kind, std::span<const Observation> samples) {
  switch (kind) {
    case Kinematics::kHold:
      return FitHold(samples);
    case Kinematics::kCv:
      return FitPolynomial(samples, kStraightSpanS, 1);
    case Kinematics::kCa:
      return FitPolynomial(samples, kParabolaSpanS, 2);
    case Kinematics::kCtrv:
      return FitTurn(samples);
  }
  return {};
}

Quality ForecastKinematic(Kinematics kind, const Spread& spread, const History& history,
                          Forecast& forecast) {
  const KinematicPath path = FitPath(kind, history.samples);
  Scene scene = LookAt(history);
  scene.gain = path.gain;
  for (int i = 0; i < forecast.steps(); ++i) forecast.point(i) = path.At((i + 1) * forecast.dt_s);
  WriteSingleMode(spread, scene, forecast);
  return path.complete ? Quality::kOk : Quality::kShortHistory;
}

Quality KinematicForecaster::DoPredict(const History& history, Workspace&,
                                       Forecast& forecast) const noexcept {
  return ForecastKinematic(kind_, spread_, history, forecast);
}

}  // namespace aerocast
