// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/fliers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/sim/course.h"
#include "src/sim/tracking.h"

namespace aerocast {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDegree = kPi / 180;
constexpr double kFastestOverGround = 20;  // m/s, before gusts
constexpr double kLongestThermalS = 45;

double Side(Rng& rng) { return rng.Chance(0.5) ? 1 : -1; }

// The parts all of them have: a wind of up to `share` of the airspeed, but not so strong that
// `fastest` through the air is too fast over ground; mid-flight, any heading.
AirPlan DrawAirPlan(double speed, double fastest, double share, Rng& rng) {
  AirPlan plan;
  const double wind = rng.Uniform() * std::min(share * speed, kFastestOverGround - fastest);
  const double from = rng.Uniform(0, 2 * kPi);
  plan.model.wind = {wind * std::cos(from), wind * std::sin(from), 0};
  plan.start.heading_rad = rng.Uniform(0, 2 * kPi);
  plan.start.speed = speed;
  plan.residual_m = rng.LogUniform(0.01, 0.15);
  return plan;
}

// Level for about half of the time.
double DrawClimb(double most, Rng& rng) { return rng.Chance(0.5) ? 0 : rng.Uniform(-most, most); }

// Bounding (small birds: quick, wings folded in between) or undulating (slow, gliding).
Rhythm DrawRhythm(Rng& rng) {
  const bool bounding = rng.Chance(0.5);
  const double cycle = bounding ? rng.Uniform(0.6, 1.5) : rng.Uniform(1.5, 5);
  const double flap = rng.Uniform(0.3, 0.7);
  Rhythm rhythm{flap * cycle, (1 - flap) * cycle};
  rhythm.swing = bounding ? rng.Uniform(0.6, 2.0) : rng.Uniform(0.4, 1.6);
  rhythm.steady_share = rng.Chance(0.5) ? 0 : rng.Uniform(0.1, 0.5);
  return rhythm;
}

Manoeuvre Straight(double speed, double straight_s) { return {0, 0.5, straight_s, speed, 0}; }

// Out and back with half circles to one side, `laps` times.
std::vector<Manoeuvre> HoldingPattern(Manoeuvre half_circle, double leg_s, int laps, Rng& rng) {
  half_circle.turn_rad = Side(rng) * kPi;
  half_circle.straight_s = leg_s;
  return std::vector<Manoeuvre>(static_cast<std::size_t>(2 * laps), half_circle);
}

std::vector<Manoeuvre> SerialTurns(Manoeuvre turn, Rng& rng) {
  std::vector<Manoeuvre> turns;
  const std::uint64_t count = 3 + rng.Below(3);
  double side = Side(rng);
  for (std::uint64_t i = 0; i < count; ++i, side = -side) {
    turn.turn_rad = side * rng.Uniform(30, 80) * kDegree;
    turn.straight_s = rng.Uniform(0.1, 1);
    turns.push_back(turn);
  }
  return turns;
}

// What a fixed-wing aircraft does next; `turn` has its speed, climb and bank.
std::vector<Manoeuvre> NextOfFixedWing(Manoeuvre turn, Rng& rng) {
  const double choice = rng.Uniform();
  if (choice < 0.2) {  // loiter
    turn.turn_rad = Side(rng) * 2 * kPi * rng.Uniform(1, 4);
    return {turn, Straight(turn.speed, rng.Uniform(1, 6))};
  }
  if (choice < 0.4) {
    const int laps = 1 + static_cast<int>(rng.Below(3));
    return HoldingPattern(turn, rng.Uniform(3, 10), laps, rng);
  }
  if (choice < 0.55) return SerialTurns(turn, rng);
  turn.turn_rad = Side(rng) * rng.Uniform(15, 150) * kDegree;
  turn.straight_s = rng.Uniform(2, 12);
  return {turn};
}

// To the next thermal.
Manoeuvre DrawGlide(double speed, Rng& rng) {
  Manoeuvre glide;
  glide.turn_rad = rng.Uniform(-120, 120) * kDegree;
  glide.bank_rad = rng.Uniform(15, 30) * kDegree;
  glide.straight_s = rng.Uniform(4, 18);
  glide.speed = speed;
  glide.climb = -rng.Uniform(0.4, 1.2);
  return glide;
}

// Circle after circle, the bank corrected a little each time.
void AppendThermal(double speed, Rng& rng, std::vector<Manoeuvre>& plan) {
  const double side = Side(rng), bank = rng.Uniform(20, 38) * kDegree;
  const double climb = rng.Uniform(0.4, 2.5), wanted_s = rng.Uniform(12, kLongestThermalS);
  for (double flown_s = 0; flown_s < wanted_s;) {
    Manoeuvre circle;
    circle.turn_rad = side * kPi;
    circle.bank_rad = bank * rng.Uniform(0.9, 1.1);
    circle.speed = speed * rng.Uniform(0.97, 1.03);
    circle.climb = climb * rng.Uniform(0.6, 1.4);
    flown_s += kPi * circle.speed / (kGravity * std::tan(circle.bank_rad));
    plan.push_back(circle);
  }
}

Flight FlyOnWings(AirPlan (*draw)(Rng&), const FlightKey& key, const FlightRequest& request) {
  Rng rng = StreamOf(key, Stream::kPlan);
  const AirPlan plan = draw(rng);
  const std::vector<AirState> states = FlyAir(plan, rng, CourseSteps(request.duration_s));
  Flight flight{FlyCourse(key, CourseOf(states), plan.residual_m), {}};
  Place(key, OpenLimits().space, flight.truth);
  return flight;
}

}  // namespace

AirPlan DrawBird(Rng& rng) {
  const double cruise = rng.Uniform(5.5, 13.5);
  AirPlan plan = DrawAirPlan(cruise, 1.15 * cruise, 0.25, rng);
  plan.rhythm = DrawRhythm(rng);
  plan.model.bank_s = rng.Uniform(0.15, 0.3), plan.model.roll_rate = 3;
  plan.model.climb_s = rng.Uniform(0.15, 0.3), plan.model.climb_rate = 6;
  plan.model.speed_s = 0.8;
  const double meander = rng.Uniform(8, 35) * kDegree, sharp_share = rng.Uniform(0.05, 0.25);
  plan.next = [=](Rng& draw) {
    Manoeuvre m;
    const bool sharp = draw.Chance(sharp_share);
    m.turn_rad = sharp ? Side(draw) * draw.Uniform(60, 160) * kDegree : meander * draw.Normal();
    m.bank_rad = (sharp ? draw.Uniform(35, 58) : draw.Uniform(15, 35)) * kDegree;
    m.straight_s = draw.Uniform(0.2, 3);
    m.speed = cruise * draw.Uniform(0.9, 1.1);
    m.climb = DrawClimb(0.12 * cruise, draw);
    return std::vector<Manoeuvre>{m};
  };
  return plan;
}

AirPlan DrawSoaring(Rng& rng) {
  const double circling = rng.Uniform(6, 10.5);
  const double gliding = std::min(15.0, circling * rng.Uniform(1.1, 1.6));
  AirPlan plan = DrawAirPlan(circling, gliding, 0.3, rng);
  plan.model.low_m = -rng.Uniform(20, 60), plan.model.high_m = -plan.model.low_m;
  plan.model.bank_s = rng.Uniform(0.3, 0.6), plan.model.roll_rate = 1;
  bool in_thermal = rng.Chance(0.6);  // at the start of the flight
  plan.next = [=](Rng& draw) mutable {
    std::vector<Manoeuvre> manoeuvres;
    if (!in_thermal) manoeuvres.push_back(DrawGlide(gliding, draw));
    in_thermal = false;
    AppendThermal(circling, draw, manoeuvres);
    return manoeuvres;
  };
  return plan;
}

AirPlan DrawFixedWing(Rng& rng) {
  const double cruise = rng.Uniform(8.8, 17.5), most_bank = rng.Uniform(22, 50) * kDegree;
  AirPlan plan = DrawAirPlan(cruise, 1.1 * cruise, 0.2, rng);
  plan.model.low_m = -40, plan.model.high_m = 40;
  plan.model.bank_s = rng.Uniform(0.3, 0.6), plan.model.roll_rate = rng.Uniform(0.6, 1.5);
  plan.next = [=](Rng& draw) {
    Manoeuvre turn;
    turn.bank_rad = most_bank * draw.Uniform(0.6, 1);
    turn.speed = cruise * draw.Uniform(0.92, 1.1);
    turn.climb = DrawClimb(0.15 * cruise, draw);
    return NextOfFixedWing(turn, draw);
  };
  return plan;
}

Flight FlyBird(const FlightKey& key, const FlightRequest& request) {
  return FlyOnWings(DrawBird, key, request);
}
Flight FlySoaring(const FlightKey& key, const FlightRequest& request) {
  return FlyOnWings(DrawSoaring, key, request);
}
Flight FlyFixedWing(const FlightKey& key, const FlightRequest& request) {
  return FlyOnWings(DrawFixedWing, key, request);
}

std::vector<Vec3> CourseOf(const std::vector<AirState>& states) {
  std::vector<Vec3> course(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) course[i] = states[i].p;
  return course;
}

}  // namespace aerocast
