// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/flight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/base/rng.h"
#include "src/sim/kinds.h"
#include "src/sim/noise.h"
#include "src/sim/shapes.h"

namespace aerocast {
namespace {

constexpr double kPi = std::numbers::pi;

std::size_t WarmUpSteps(Regime regime) {
  return static_cast<std::size_t>(std::lround(LimitsOf(regime).warm_up_s / kSimStepS));
}

// Rotates about a horizontal axis through the origin.
Vec3 Tilt(const Vec3& p, const Yaw& axis, double angle) {
  const Vec3 q = axis.Inverse() * p;
  const double c = std::cos(angle), s = std::sin(angle);
  return axis * Vec3{q.x, c * q.y - s * q.z, s * q.y + c * q.z};
}

// Scales what sticks out of the space back into it: sideways as a whole, so that the shape keeps
// its proportions; in height alone, as if it had been tilted or climbed less.
void FitInto(const Vec3& room, Path& path) {
  const Vec3 size = BoundsOf(path).size();
  const double shrink = std::min({1.0, room.x / size.x, room.y / size.y});
  const double height = size.z * shrink;
  const double squash = height > room.z ? shrink * room.z / height : shrink;
  Transform(
      path,
      [=](const Vec3& p) {
        return Vec3{shrink * p.x, shrink * p.y, squash * p.z};
      },
      shrink);
}

// Draws scale, direction, tilt and yaw, and applies them.
void Orient(const ShapeKind& kind, Regime regime, Rng& rng, FlightPlan& plan) {
  plan.clockwise = rng.Chance(0.5);
  plan.tilt_rad = rng.Chance(0.4) ? 0 : rng.Uniform(0, kind.max_tilt_rad);
  plan.yaw_rad = rng.Uniform(0, 2 * kPi);
  const Yaw axis = Yaw::FromAngle(rng.Uniform(0, 2 * kPi)), yaw = Yaw::FromAngle(plan.yaw_rad);
  const double mirror = plan.clockwise ? -1 : 1;
  Transform(
      plan.path,
      [&](const Vec3& p) {
        const Vec3 scaled = plan.scale * Vec3{p.x, mirror * p.y, p.z};
        return yaw * Tilt(scaled, axis, plan.tilt_rad);
      },
      plan.scale);
  const FlightLimits limits = LimitsOf(regime);
  FitInto(limits.space.size() - 2 * limits.margin, plan.path);
}

// The nominal speed drawn, or less where turns ask for more than `accel` or legs are shorter than
// leg_s: there the loop would no longer follow the path but shrink it. Never below `least`, for a
// single cusp must not slow the whole flight.
double LimitSpeed(double drawn, double least, double accel, double leg_s,
                  const PathMotion& motion) {
  double speed = drawn;
  if (motion.curvature_m > 0) speed = std::min(speed, std::sqrt(accel / motion.curvature_m));
  if (motion.leg_m > 0) speed = std::min(speed, motion.leg_m / leg_s);
  return std::max(speed, std::min(drawn, least));
}

double DrawArenaSpeed(const PathMotion& motion, Rng& rng) {
  return LimitSpeed(rng.Uniform(0.3, 1.2), 0.3, 2.0, 0.5, motion);
}

// A faster aircraft for the fast regime: a quicker loop, but one that can brake from its top speed
// within its acceleration (kp * vmax stays below it), or it would overshoot every corner.
void DrawFastAircraft(const PathMotion& motion, Rng& rng, FlightPlan& plan) {
  const FlightLimits limits = LimitsOf(Regime::kFast);
  plan.tracking = DrawArenaTracking(rng);
  const double drawn = std::min(rng.LogUniform(4, 25), 20 / motion.speed);
  plan.speed = LimitSpeed(drawn, 1.5, 0.7 * limits.accel, 1.5, motion);
  const double vmax = std::min(20.0, 1.3 * plan.speed * motion.speed * plan.profile.peak());
  const double quicker = rng.LogUniform(1, 2.5);
  for (AxisGains* gains : {&plan.tracking.horizontal, &plan.tracking.vertical}) {
    const double ratio = gains->kv / gains->kp;
    gains->kp = std::min(gains->kp * quicker, 0.7 * limits.accel / vmax);
    gains->kv = gains->kp * std::max(ratio, 1.2);
    gains->vmax = vmax;
  }
  const double windier = rng.LogUniform(1, 5);
  plan.tracking.residual_xy_m *= windier;
  plan.tracking.residual_z_m *= windier;
  plan.tracking.speed_limit = 20;
}

}  // namespace

Rng StreamOf(const FlightKey& key, Stream stream) {
  std::uint64_t h = Mix64(key.purpose);
  h = Mix64(h ^ static_cast<std::uint64_t>(key.category));
  h = Mix64(h ^ key.number);
  return Rng(key.seed, Mix64(h ^ static_cast<std::uint64_t>(stream)));
}

std::optional<Regime> RegimeFromName(std::string_view name) {
  if (name == "arena") return Regime::kArena;
  if (name == "fast") return Regime::kFast;
  return std::nullopt;
}

FlightLimits LimitsOf(Regime regime) {
  if (regime == Regime::kFast) {
    return {{{-40, -40, 2}, {40, 40, 85}}, {10, 10, 5}, 22, 3 * kGravity, 12};
  }
  return {{{-3, -2, 0.35}, {3, 2, 2.1}}, {0.3, 0.3, 0.2}, 2.2, 10, 8};
}

double SpeedProfile::At(double t_s) const {
  double factor = 1;
  for (int i = 0; i < count; ++i) {
    const Wave& wave = waves[static_cast<std::size_t>(i)];
    factor += wave.amplitude * std::sin(wave.rate * t_s + wave.phase);
  }
  return factor;
}

double SpeedProfile::peak() const {
  double factor = 1;
  for (int i = 0; i < count; ++i) factor += waves[static_cast<std::size_t>(i)].amplitude;
  return factor;
}

SpeedProfile DrawSpeedProfile(Rng& rng) {
  SpeedProfile profile;
  profile.count = static_cast<int>(rng.Below(4));  // none: constant speed, as the real set-points
  for (int i = 0; i < profile.count; ++i) {
    const double amplitude = rng.Uniform(0.03, 0.15), period_s = rng.LogUniform(4, 40);
    const double phase = rng.Uniform(0, 2 * kPi);
    profile.waves[static_cast<std::size_t>(i)] = {amplitude, 2 * kPi / period_s, phase};
  }
  return profile;
}

FlightPlan DrawPlan(const FlightKey& key, Regime regime, double duration_s) {
  Rng rng = StreamOf(key, Stream::kPlan);
  const ShapeKind& kind = kShapeKinds[static_cast<std::size_t>(key.category)];
  const FlightLimits limits = LimitsOf(regime);
  FlightPlan plan;
  plan.profile = DrawSpeedProfile(rng);
  plan.scale = regime == Regime::kFast ? rng.LogUniform(4, 20) : 1;
  const double top_speed = regime == Regime::kFast ? 20 : 2 * limits.speed;
  const double length = 1.5 * (duration_s + limits.warm_up_s + 1) * top_speed / plan.scale;
  // The shape draws last and from a stream of its own: an open path of a longer flight starts as
  // the shorter flight's does.
  Rng shape_rng(rng.Next());
  plan.path = kind.make(shape_rng, length);
  Orient(kind, regime, rng, plan);
  if (plan.path.closed) plan.start_m = rng.Uniform(0, plan.path.length_m());
  const PathMotion motion = MotionOf(plan.path);
  if (regime == Regime::kFast) {
    DrawFastAircraft(motion, rng, plan);
  } else {
    plan.tracking = DrawArenaTracking(rng);
    plan.speed = DrawArenaSpeed(motion, rng);
  }
  plan.tracking.accel_limit = limits.accel;
  return plan;
}

std::size_t SamplesFor(double duration_s) {
  return static_cast<std::size_t>(std::llround(duration_s / kSimStepS)) + 1;
}

std::vector<Vec3> GustsOf(const FlightKey& key, Regime regime, const TrackingModel& model,
                          std::size_t samples) {
  Rng rng = StreamOf(key, Stream::kGust);
  return DrawGusts(model, rng, WarmUpSteps(regime) + samples);
}

std::vector<Vec3> Fly(const FlightPlan& plan, Regime regime, const std::vector<Vec3>& gusts,
                      std::size_t samples) {
  const std::size_t warm_up = WarmUpSteps(regime);
  PathWalker walker(plan.path, plan.start_m);
  Tracker tracker(plan.tracking, walker.position());
  std::vector<Vec3> truth;
  truth.reserve(samples);
  for (std::size_t i = 0; i + 1 < warm_up + samples; ++i) {
    if (i >= warm_up) truth.push_back(tracker.position());
    const double t = (static_cast<double>(i) - static_cast<double>(warm_up)) * kSimStepS;
    const double sag = t > 0 ? plan.tracking.sag_m * (1 - std::exp(-t / kSagTimeS)) : 0;
    tracker.Step(walker.position() - Vec3{0, 0, sag}, gusts[i]);
    walker.Step(plan.speed * plan.profile.At(t) * kSimStepS, kSimStepS);
  }
  truth.push_back(tracker.position());
  return truth;
}

Flight FlyShape(const FlightKey& key, const FlightRequest& request) {
  const FlightPlan plan = DrawPlan(key, request.regime, request.duration_s);
  const std::size_t samples = SamplesFor(request.duration_s);
  const std::vector<Vec3> gusts = GustsOf(key, request.regime, plan.tracking, samples);
  Flight flight{Fly(plan, request.regime, gusts, samples), {}};
  Place(key, LimitsOf(request.regime).space, flight.truth);
  return flight;
}

void Place(const FlightKey& key, const Box& space, std::vector<Vec3>& truth) {
  Rng rng = StreamOf(key, Stream::kPlace);
  const Box box = BoundsOf(truth);
  // Anywhere the whole flight fits; a flight that is too large is centred, but never too low.
  const auto shift = [&rng](double low, double high, double from, double to) {
    const double room = (high - low) - (to - from), share = rng.Uniform();
    return low - from + (room > 0 ? share * room : 0.5 * room);
  };
  const double dx = shift(space.low.x, space.high.x, box.low.x, box.high.x);
  const double dy = shift(space.low.y, space.high.y, box.low.y, box.high.y);
  const double dz = shift(space.low.z + 0.01, space.high.z, box.low.z, box.high.z);
  const Vec3 move{dx, dy, std::max(dz, space.low.z + 0.01 - box.low.z)};
  for (Vec3& p : truth) p += move;
}

Recording Record(const FlightKey& key, Flight flight, std::optional<double> noise_m) {
  Rng rng = StreamOf(key, Stream::kNoise);
  const double drawn = rng.LogUniform(kLeastNoiseM, kMostNoiseM);
  const FlightKind& kind = kFlightKinds[static_cast<std::size_t>(key.category)];
  std::vector<Vec3>& truth = flight.truth;
  Recording recording;
  recording.id = fmt::format("gen-{}-{:04}", kind.name, key.number);
  recording.category = kind.name;
  recording.configuration =
      flight.configuration.empty() ? recording.id : std::move(flight.configuration);
  recording.object = kind.object;
  recording.frame = "simulated";
  recording.source = Source::kSynthetic;
  recording.noise_m = noise_m.value_or(drawn);
  const std::vector<Vec3> observed = Observe(truth, recording.noise_m, rng);
  recording.samples.resize(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto t_ns = static_cast<TimeNs>(i) * (kNsPerSecond / 100);
    recording.samples[i] = {t_ns, observed[i]};
  }
  recording.truth = std::move(truth);
  return recording;
}

}  // namespace aerocast
