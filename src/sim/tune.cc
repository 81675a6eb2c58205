// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aerocast/window.h"

namespace aerocast {
namespace {

constexpr int kDraws = 60;  // the first does mostly; fast staircases under a low cap need many
constexpr int kFlightsPerDraw = 10;
constexpr double kTolerance = 0.003;  // of the goal
constexpr double kSlowest = 0.05, kFastest = 3.0;

double Reached(const FlightSpeeds& speeds, const SpeedGoal& goal) {
  return goal.kind == SpeedGoal::Kind::kPeak ? speeds.max : speeds.mean_rms();
}

// 0 when the goal is met; exceeding the cap weighs more than missing the mean.
double Miss(const FlightSpeeds& speeds, const SpeedGoal& goal) {
  const double off = std::abs(Reached(speeds, goal) / goal.value - 1);
  const bool peak = goal.kind == SpeedGoal::Kind::kPeak;
  const double over = peak ? 0 : std::max(0.0, speeds.max - goal.cap);
  return (off <= 1.5 * kTolerance ? 0 : off) + 10 * over;
}

// Flies one plan at several nominal speeds, in the same gusts, by bracketed false position (the
// Illinois rule): speed flown rises with speed commanded, until the aircraft's limit.
class SpeedSearch {
 public:
  SpeedSearch(const FlightKey& key, FlightPlan plan, std::size_t samples, const SpeedGoal& goal)
      : plan_(std::move(plan)),
        gusts_(GustsOf(key, Regime::kArena, plan_.tracking, samples)),
        samples_(samples),
        goal_(goal) {
    best_.key = key;
  }

  TunedFlight Run() {
    double low = kSlowest, high = kFastest;
    double f_low = -goal_.value, f_high = goal_.value;
    double speed = goal_.kind == SpeedGoal::Kind::kPeak ? 0.9 * goal_.value : 1.1 * goal_.value;
    for (int i = 0; i < kFlightsPerDraw; ++i) {
      const double f = Try(speed);
      if (std::abs(f) <= kTolerance * goal_.value) break;
      (f < 0 ? low : high) = speed;
      (f < 0 ? f_low : f_high) = f;
      // The side that stays loses weight, so that both close in.
      (f < 0 ? f_high : f_low) *= i > 2 ? 0.5 : 1;
      speed = (low * f_high - high * f_low) / (f_high - f_low);
      if (high - low < 1e-4) break;
    }
    return std::move(best_);
  }

 private:
  double Try(double speed) {
    plan_.speed = speed;
    std::vector<Vec3> truth = Fly(plan_, Regime::kArena, gusts_, samples_);
    const FlightSpeeds speeds = MeasureSpeeds(truth);
    const double f = Reached(speeds, goal_) - goal_.value;
    if (std::abs(f) < nearest_) {
      nearest_ = std::abs(f);
      best_.truth = std::move(truth);
      best_.speeds = speeds;
    }
    return f;
  }

  FlightPlan plan_;
  std::vector<Vec3> gusts_;
  std::size_t samples_;
  SpeedGoal goal_;
  double nearest_ = std::numeric_limits<double>::infinity();
  TunedFlight best_;
};

}  // namespace

double DurationForWindows(std::size_t windows) {
  const WindowSpec spec = PaperWindows();
  return spec.min_history_s + spec.horizon_s + static_cast<double>(windows - 1) * spec.dt_s;
}

TunedFlight TuneFlight(const FlightKey& key, std::size_t windows, const SpeedGoal& goal) {
  const double duration_s = DurationForWindows(windows);
  TunedFlight best;
  double least_miss = std::numeric_limits<double>::infinity();
  for (int draw = 0; draw < kDraws && least_miss > 0; ++draw) {
    FlightKey drawn = key;
    drawn.purpose += static_cast<std::uint64_t>(draw);
    FlightPlan plan = DrawPlan(drawn, Regime::kArena, duration_s);
    if (goal.kind == SpeedGoal::Kind::kPeak) {
      // The fitted limit would hold the peak below some of the table's maxima.
      AxisGains& gains = plan.tracking.horizontal;
      gains.vmax = std::max(gains.vmax, 1.1 * goal.value);
    }
    TunedFlight flown = SpeedSearch(drawn, std::move(plan), SamplesFor(duration_s), goal).Run();
    const double miss = Miss(flown.speeds, goal);
    if (miss < least_miss) {
      least_miss = miss;
      best = std::move(flown);
    }
  }
  return best;
}

}  // namespace aerocast
