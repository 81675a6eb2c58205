// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/fork.h"

#include <cmath>
#include <numbers>

#include "src/sim/course.h"
#include "src/sim/fliers.h"

namespace aerocast {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDegree = kPi / 180;

// Straight through warm-up and history, the turn, straight on for the rest.
AirPlan DrawFork(bool left, double duration_s, Rng& rng) {
  AirPlan plan;
  const double speed = rng.Uniform(5, 14);
  plan.start.heading_rad = rng.Uniform(0, 2 * kPi);
  plan.start.speed = speed;
  plan.residual_m = rng.LogUniform(0.01, 0.03);
  plan.home_m = HUGE_VAL;
  plan.model.bank_s = 0.3;
  const double angle = rng.Uniform(60, 120) * kDegree, bank = rng.Uniform(30, 45) * kDegree;
  const double before_s = OpenLimits().warm_up_s + kForkTimeS;
  plan.next = [=](Rng&) {
    return std::vector<Manoeuvre>{{0, bank, before_s, speed, 0},
                                  {left ? angle : -angle, bank, duration_s, speed, 0}};
  };
  return plan;
}

}  // namespace

Flight FlyFork(const FlightKey& key, const FlightRequest& request) {
  const bool left = StreamOf(key, Stream::kBranch).Chance(request.fork_probability);
  Rng rng = StreamOf(key, Stream::kPlan);
  const AirPlan plan = DrawFork(left, request.duration_s, rng);
  const std::vector<AirState> states = FlyAir(plan, rng, CourseSteps(request.duration_s));
  Flight flight{FlyCourse(key, CourseOf(states), plan.residual_m),
                left ? "fork-left" : "fork-right"};
  const Vec3 move = kForkPoint - flight.truth[SamplesFor(kForkTimeS) - 1];
  for (Vec3& p : flight.truth) p += move;
  return flight;
}

}  // namespace aerocast
