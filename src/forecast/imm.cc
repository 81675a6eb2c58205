// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/imm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace aerocast {
namespace {

constexpr double kFirstSpeed = 10;          // m/s, sigma of the velocity before it is seen
constexpr double kFirstAcceleration = 10;   // m/s^2
constexpr double kRestAcceleration = 1;     // m/s^2, sigma given to the others by the CV model
constexpr double kLeastProbability = 1e-4;  // no model is ever out of the race
constexpr double kStraightAngle = 1e-4;     // rad; below it series replace quotients
constexpr double kWantedSpanS = 1.0;        // the filters need about this long to settle
constexpr double kSlowestSpeed = 0.05;      // m/s; below it there is no turn

// One axis: x' = F x, P' = F P F^T + Q. The first column of F is (1, 0, 0).
struct Transition {
  double pv = 0, pa = 0, vv = 1, va = 0, av = 0, aa = 0;

  Vec3 operator*(const Vec3& x) const {
    return {x.x + pv * x.y + pa * x.z, vv * x.y + va * x.z, av * x.y + aa * x.z};
  }
  Cov3 Propagate(const Cov3& c) const {
    const Vec3 rows[3] = {{1, pv, pa}, {0, vv, va}, {0, av, aa}};
    const auto times = [&](const Vec3& r) {  // c r
      return Vec3{c.xx * r.x + c.xy * r.y + c.xz * r.z, c.xy * r.x + c.yy * r.y + c.yz * r.z,
                  c.xz * r.x + c.yz * r.y + c.zz * r.z};
    };
    const Vec3 p = times(rows[0]), v = times(rows[1]), a = times(rows[2]);
    return {Dot(rows[0], p), Dot(rows[1], p), Dot(rows[2], p),
            Dot(rows[1], v), Dot(rows[2], v), Dot(rows[2], a)};
  }
};

Transition Straight(double t) { return {.pv = t, .pa = 0, .vv = 1, .va = 0, .av = 0, .aa = 0}; }
Transition Accelerated(double t) {
  return {.pv = t, .pa = t * t / 2, .vv = 1, .va = t, .av = 0, .aa = 1};
}
Transition Turning(double w, double t) {
  const double angle = w * t;
  if (std::abs(angle) < kStraightAngle) return Accelerated(t);
  const double s = std::sin(angle), c = std::cos(angle);
  return {.pv = s / w, .pa = (1 - c) / (w * w), .vv = c, .va = s / w, .av = -w * s, .aa = c};
}

Transition TransitionOf(int m, double turn_rate, double t) {
  if (m == 0) return Straight(t);
  return m == 1 ? Accelerated(t) : Turning(turn_rate, t);
}

Cov3 WhiteAcceleration(double psd, double t) {
  return {
      psd * t * t * t / 3, psd * t * t / 2, 0, psd * t, 0, kRestAcceleration * kRestAcceleration};
}
Cov3 WhiteJerk(double psd, double t) {
  const double t2 = t * t, t3 = t2 * t;
  return {psd * t3 * t2 / 20, psd * t2 * t2 / 8, psd * t3 / 6, psd * t3 / 3, psd * t2 / 2, psd * t};
}

Cov3 ProcessNoise(int m, const ImmOptions& options, double t) {
  if (m == 0) return WhiteAcceleration(options.accel_psd, t);
  return WhiteJerk(m == 1 ? options.jerk_psd_ca : options.jerk_psd_ct, t);
}

double Coordinate(const Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

// Position (0), velocity (1) or acceleration (2) as a vector of space.
Vec3 Part(const ImmState& state, int part) {
  return {Coordinate(state[0].x, part), Coordinate(state[1].x, part), Coordinate(state[2].x, part)};
}

double TurnRateOf(const ImmState& state, double fastest) {
  const Vec3 v = Part(state, 1), a = Part(state, 2);
  const double speed2 = SquaredNorm(v);
  if (speed2 < kSlowestSpeed * kSlowestSpeed) return 0;
  return std::min(Norm(Cross(v, a)) / speed2, fastest);
}

// Starts every model from the mixture of all that could have turned into it, and leaves the
// predicted model probabilities behind.
void Mix(double stay, ImmEstimate& e) {
  const ImmEstimate old = e;
  const double leave = (1 - stay) / (kImmModels - 1);
  for (int j = 0; j < kImmModels; ++j) {
    std::array<double, kImmModels> share;
    double sum = 0;
    for (int i = 0; i < kImmModels; ++i) {
      share[i] = (i == j ? stay : leave) * old.probability[i];
      sum += share[i];
    }
    e.probability[j] = sum;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3 x;
      for (int i = 0; i < kImmModels; ++i) x += (share[i] / sum) * old.model[i][axis].x;
      Cov3 P;
      for (int i = 0; i < kImmModels; ++i) {
        P += (old.model[i][axis].P + Cov3::Outer(old.model[i][axis].x - x)) * (share[i] / sum);
      }
      e.model[j][axis] = {x, P};
    }
  }
}

// Kalman update of one axis with a measured position. Returns the measurement's log-likelihood.
double Update(double measured, double variance, ImmAxis& axis) {
  const double s = axis.P.xx + variance;
  const double innovation = measured - axis.x.x;
  const Vec3 column = {axis.P.xx, axis.P.xy, axis.P.xz};
  axis.x += (innovation / s) * column;
  axis.P += Cov3::Outer(column) * (-1 / s);
  return -0.5 * (std::log(2 * std::numbers::pi * s) + innovation * innovation / s);
}

// Predicted probabilities times likelihoods, normalised, none below the floor.
void Reweigh(const std::array<double, kImmModels>& log_likelihood,
             std::array<double, kImmModels>& probability) {
  const double best = *std::max_element(log_likelihood.begin(), log_likelihood.end());
  double sum = 0;
  for (int m = 0; m < kImmModels; ++m) {
    probability[m] *= std::exp(log_likelihood[m] - best);
    sum += probability[m];
  }
  double floored = 0;
  for (double& p : probability) {
    p = sum > 0 ? std::max(p / sum, kLeastProbability) : 1.0;
    floored += p;
  }
  for (double& p : probability) p /= floored;
}

void Step(const Vec3& measured, double t, double variance, const ImmOptions& options,
          ImmEstimate& e) {
  Mix(std::exp(-t / options.sojourn_s), e);
  std::array<double, kImmModels> log_likelihood{};
  for (int m = 0; m < kImmModels; ++m) {
    const double w = m == 2 ? TurnRateOf(e.model[m], options.fastest_turn) : 0;
    const Transition f = TransitionOf(m, w, t);
    const Cov3 q = ProcessNoise(m, options, t);
    for (int axis = 0; axis < 3; ++axis) {
      ImmAxis& state = e.model[m][axis];
      state = {f * state.x, f.Propagate(state.P) + q};
      log_likelihood[m] += Update(Coordinate(measured, axis), variance, state);
    }
  }
  Reweigh(log_likelihood, e.probability);
}

// A filter's memory is about as long as the fits of the kinematic forecasters: a line over 0.3 s
// for CV, a parabola over 1 s for the others.
NoiseGain GainOf(std::span<const Observation> samples, int m) {
  const double span_s = m == 0 ? 0.3 : kWantedSpanS;
  const TimeNs oldest = samples.back().t_ns - DurationNs(span_s);
  const auto begin = std::lower_bound(samples.begin(), samples.end(), oldest,
                                      [](const Observation& o, TimeNs t) { return o.t_ns < t; });
  const auto used = static_cast<int>(samples.end() - begin);
  return {used, span_s, std::min(m == 0 ? 1 : 2, used - 1)};
}

// Sigma of the observations, told from the samples themselves: third differences leave the noise
// (sigma * sqrt 20) and the jerk (times dt^3, little at any useful rate). The median does not mind
// a few outliers; only evenly spaced samples count, and with too few of them the answer is 0.
double EstimateNoise(std::span<const Observation> samples) {
  constexpr std::size_t kMost = 64, kLeast = 6;
  std::array<double, 3 * kMost> size;
  std::size_t n = 0;
  for (std::size_t i = samples.size(); i-- > 3 && n < size.size();) {
    const Observation *d = &samples[i], *c = d - 1, *b = d - 2, *a = d - 3;
    const TimeNs h = c->t_ns - b->t_ns;
    const auto even = [h](TimeNs step) { return 5 * std::abs(step - h) <= h; };
    if (!even(b->t_ns - a->t_ns) || !even(d->t_ns - c->t_ns)) continue;
    const Vec3 third = (d->p_world - a->p_world) - 3 * (c->p_world - b->p_world);
    for (const double x : {third.x, third.y, third.z}) size[n++] = std::abs(x);
  }
  if (n < 3 * kLeast) return 0;
  const auto middle = size.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(size.begin(), middle, size.begin() + static_cast<std::ptrdiff_t>(n));
  return *middle / (0.6745 * std::sqrt(20.0));
}

ImmEstimate Begin(const Vec3& p, double variance) {
  ImmEstimate e;
  e.probability.fill(1.0 / kImmModels);
  for (ImmState& state : e.model) {
    for (int axis = 0; axis < 3; ++axis) {
      state[axis] = {{Coordinate(p, axis), 0, 0},
                     Cov3::Diagonal(variance, kFirstSpeed * kFirstSpeed,
                                    kFirstAcceleration * kFirstAcceleration)};
    }
  }
  return e;
}

}  // namespace

ImmEstimate FilterImm(std::span<const Observation> samples, const HeadingFrame& frame,
                      double noise_m, const ImmOptions& options) {
  const double sigma =
      std::max(noise_m > 0 ? noise_m : EstimateNoise(samples), options.least_sigma_m);
  const TimeNs spacing = DurationNs(options.spacing_s);
  const Observation& newest = samples.back();
  ImmEstimate e = Begin(frame.ToFrame(samples.front().p_world), sigma * sigma);
  TimeNs last = samples.front().t_ns;
  for (const Observation& o : samples.subspan(1)) {
    // A sample is passed over when it is too near the one before, or the newest is too near it.
    const bool is_newest = &o == &newest;
    if (!is_newest && (o.t_ns - last < spacing || newest.t_ns - o.t_ns < spacing)) continue;
    Step(frame.ToFrame(o.p_world), DurationS(o.t_ns - last), sigma * sigma, options, e);
    last = o.t_ns;
  }
  e.turn_rate = {0, 0, TurnRateOf(e.model[2], options.fastest_turn)};
  return e;
}

Vec3 ContinueImm(const ImmEstimate& e, int m, double t_s, double manoeuvre_s) {
  Transition f = TransitionOf(m, e.turn_rate[m], t_s);
  const Vec3 p = Part(e.model[m], 0), v = Part(e.model[m], 1);
  Vec3 a = Part(e.model[m], 2);
  if (m == 1) f.pa = manoeuvre_s * (t_s + manoeuvre_s * std::expm1(-t_s / manoeuvre_s));
  // A coordinated turn keeps its speed: the acceleration along the motion is not continued.
  if (m == 2) a -= (Dot(a, v) / std::max(SquaredNorm(v), kSlowestSpeed * kSlowestSpeed)) * v;
  return p + f.pv * v + f.pa * a;
}

Quality ImmForecaster::DoPredict(const History& history, Workspace&,
                                 Forecast& forecast) const noexcept {
  const std::span<const Observation> samples = history.samples;
  Scene scene = LookAt(history);
  const ImmEstimate estimate = FilterImm(samples, scene.frame, history.noise_m, options_);
  for (int m = 0; m < kImmModels; ++m) {
    scene.gain = GainOf(samples, m);
    forecast.weight(m) = estimate.probability[m];
    for (int i = 0; i < forecast.steps(); ++i) {
      forecast.mean(m, i) = scene.frame.ToWorld(
          ContinueImm(estimate, m, (i + 1) * forecast.dt_s, options_.manoeuvre_s));
    }
    WriteSpread(spread_[static_cast<std::size_t>(m)], scene, m, forecast);
  }
  for (int i = 0; i < forecast.steps(); ++i) forecast.point(i) = forecast.mixture_mean(i);
  const bool settled =
      samples.size() > 3 && samples.back().t_ns - samples.front().t_ns >= DurationNs(kWantedSpanS);
  return settled ? Quality::kOk : Quality::kShortHistory;
}

}  // namespace aerocast
