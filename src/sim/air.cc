// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/air.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/sim/tracking.h"

namespace aerocast {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kHeadingGain = 0.8;             // 1/s: how the last of a turn is rolled out of
constexpr double kOnHeadingRad = 4 * kPi / 180;  // the turn is over
constexpr double kLevelOffS = 3;                 // lag of holding the height at a limit
constexpr double kFlapSpeed = 0.04;              // flapping adds this share of the airspeed

// Moves `value` towards `wanted` with a lag, no faster than `rate`.
void Follow(double wanted, double lag_s, double rate, double& value) {
  value += std::clamp((wanted - value) / lag_s, -rate, rate) * kSimStepS;
}

// The up and down of flap and glide.
class Beat {
 public:
  explicit Beat(const Rhythm& rhythm) : rhythm_(rhythm) {}

  // +1 while flapping, -1 while gliding, 0 in steady flight; for one simulation step.
  int Step(Rng& rng) {
    if (rhythm_.flap_s <= 0) return 0;
    if (left_s_ <= 0) {
      flapping_ = !flapping_;
      if (flapping_) steady_ = rng.Chance(rhythm_.steady_share);
      left_s_ = (flapping_ ? rhythm_.flap_s : rhythm_.glide_s) * rng.Uniform(0.8, 1.2);
    }
    left_s_ -= kSimStepS;
    return steady_ ? 0 : flapping_ ? 1 : -1;
  }
  // Vertical speed of a phase: level on average over a cycle.
  double Climb(int phase) const {
    const double cycle = rhythm_.flap_s + rhythm_.glide_s;
    if (phase == 0) return 0;
    return rhythm_.swing * (phase > 0 ? rhythm_.glide_s : -rhythm_.flap_s) / cycle;
  }

 private:
  Rhythm rhythm_;
  double left_s_ = 0;
  bool flapping_ = false, steady_ = false;
};

// Works through manoeuvres: which heading is flown to, and when the next one is due.
class Pilot {
 public:
  Pilot(const AirPlan& plan, Rng& rng) : plan_(plan), rng_(rng), aim_(plan.start.heading_rad) {}

  AirCommand Step(const AirState& state) {
    while (!begun_ || Done(state)) Begin(state);
    const double lead = state.speed * kHeadingGain * (aim_ - state.heading_rad) / kGravity;
    const double bank = std::clamp(std::atan(lead), -now_.bank_rad, now_.bank_rad);
    const AirModel& model = plan_.model;
    const double climb = std::clamp(now_.climb, (model.low_m - state.p.z) / kLevelOffS,
                                    (model.high_m - state.p.z) / kLevelOffS);
    return {bank, now_.speed, climb};
  }

 private:
  bool Done(const AirState& state) {
    const double left = std::abs(aim_ - state.heading_rad);
    if (now_.straight_s == 0) {
      return kHeadingGain * left <= kGravity * std::tan(now_.bank_rad) / state.speed;
    }
    turned_ = turned_ || left < kOnHeadingRad;
    return turned_ && steps_left_-- == 0;
  }

  void Begin(const AirState& state) {
    if (next_ == queue_.size()) {
      queue_ = plan_.next(rng_);
      next_ = 0;
      if (std::hypot(state.p.x, state.p.y) > plan_.home_m) TurnHome(state);
    }
    now_ = queue_[next_++];
    aim_ += now_.turn_rad;
    steps_left_ = std::lround(now_.straight_s / kSimStepS);
    turned_ = false;
    begun_ = true;
  }

  void TurnHome(const AirState& state) {
    queue_.resize(1);
    const double home = std::atan2(-state.p.y, -state.p.x);
    // The shorter way round, not quite straight at it.
    const double turn = std::remainder(home - state.heading_rad, 2 * kPi) + rng_.Uniform(-0.5, 0.5);
    queue_[0].turn_rad = state.heading_rad + turn - aim_;
    queue_[0].straight_s = std::max(queue_[0].straight_s, 2.0);
  }

  const AirPlan& plan_;
  Rng& rng_;
  std::vector<Manoeuvre> queue_;
  std::size_t next_ = 0;
  Manoeuvre now_;
  double aim_;  // heading
  long steps_left_ = 0;
  bool turned_ = false, begun_ = false;
};

}  // namespace

void StepAir(const AirModel& model, const AirCommand& command, AirState& state) {
  Follow(command.bank_rad, model.bank_s, model.roll_rate, state.bank_rad);
  Follow(command.speed, model.speed_s, model.speed_rate, state.speed);
  Follow(command.climb, model.climb_s, model.climb_rate, state.climb);
  const double turn = kGravity * std::tan(state.bank_rad) / state.speed * kSimStepS;
  const double middle = state.heading_rad + 0.5 * turn;
  const Vec3 through_air{state.speed * std::cos(middle), state.speed * std::sin(middle),
                         state.climb};
  state.p += (through_air + model.wind) * kSimStepS;
  state.heading_rad += turn;
}

std::vector<AirState> FlyAir(const AirPlan& plan, Rng& rng, std::size_t steps) {
  Pilot pilot(plan, rng);
  Beat beat(plan.rhythm);
  AirState state = plan.start;
  std::vector<AirState> states;
  states.reserve(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    states.push_back(state);
    AirCommand command = pilot.Step(state);
    const int phase = beat.Step(rng);
    command.climb += beat.Climb(phase);
    command.speed *= 1 + kFlapSpeed * phase;
    StepAir(plan.model, command, state);
  }
  return states;
}

}  // namespace aerocast
