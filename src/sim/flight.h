// SPDX-License-Identifier: BSD-3-Clause
//
// One generated flight: who it is, what it keeps to, how it is placed in the space and observed by
// a noisy sensor. These are the same for all kinds of flight (src/sim/kinds.h). Here is also how
// the nine categories fly: draw a plan (path, speed profile, tracking), fly it with the tracking
// loop.
//
// Every step takes random numbers from a stream of its own, so the same plan can be flown at
// several speeds in the same gusts (which is how presets hit their speeds), and changing the noise
// changes nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"
#include "src/sim/path.h"
#include "src/sim/tracking.h"

namespace aerocast {

enum class Regime {
  kArena,  // the motion-capture room of the real flights, a Crazyflie's speeds
  kFast,   // out of doors: larger, higher, faster, up to 3 g
};

std::optional<Regime> RegimeFromName(std::string_view name);  // "arena", "fast"

// What every flight of a regime keeps to, gusts included.
struct FlightLimits {
  Box space;         // true positions stay inside, metres
  Vec3 margin;       // reference paths keep this far inside: tracking swings beyond them
  double speed;      // m/s
  double accel;      // m/s^2
  double warm_up_s;  // flown before the recording starts, so that it starts in mid-flight
};
FlightLimits LimitsOf(Regime regime);

// The set-point's speed over time relative to nominal: 1 plus up to three slow waves.
struct SpeedProfile {
  struct Wave {
    double amplitude = 0, rate = 0, phase = 0;
  };
  std::array<Wave, 3> waves;
  int count = 0;

  double At(double t_s) const;
  double peak() const;  // upper bound of At
};
SpeedProfile DrawSpeedProfile(Rng& rng);

struct FlightPlan {
  Path path;  // scaled, tilted, turned; around the origin
  double start_m = 0;
  double speed = 0;  // nominal, m/s
  SpeedProfile profile;
  TrackingModel tracking;
  // What was drawn, for tests and reports.
  double scale = 1, tilt_rad = 0, yaw_rad = 0;
  bool clockwise = false;
};

// Who a flight is: its content depends on this and on the request only.
struct FlightKey {
  std::uint64_t seed = 0;
  int category = 0;           // index into kFlightKinds; the first nine are kCategories
  std::uint64_t number = 0;   // flight n of the category
  std::uint64_t purpose = 0;  // keeps presets and their redraws apart from plain flights
};

// What a flight draws its random numbers for, each from a stream of its own.
enum class Stream : std::uint64_t { kPlan, kGust, kPlace, kNoise, kBranch };
Rng StreamOf(const FlightKey& key, Stream stream);

// What is asked of a flight.
struct FlightRequest {
  Regime regime = Regime::kArena;  // for the nine categories
  double duration_s = 30;
  double fork_probability = 0.5;  // of turning left, for forks
};

// A flight flown: true positions at 100 Hz, placed in the world.
struct Flight {
  std::vector<Vec3> truth;
  std::string configuration;  // empty: it is a configuration of its own
};

FlightPlan DrawPlan(const FlightKey& key, Regime regime, double duration_s);

// The true positions at 100 Hz, `samples` of them, around the origin of the path. `gusts` has at
// least WarmUpSteps(regime) + samples entries.
std::vector<Vec3> Fly(const FlightPlan& plan, Regime regime, const std::vector<Vec3>& gusts,
                      std::size_t samples);
std::vector<Vec3> GustsOf(const FlightKey& key, Regime regime, const TrackingModel& model,
                          std::size_t samples);

std::size_t SamplesFor(double duration_s);

// A flight of one of the nine categories, drawn, flown and placed.
Flight FlyShape(const FlightKey& key, const FlightRequest& request);

// Moves the flight to a random place of the space.
void Place(const FlightKey& key, const Box& space, std::vector<Vec3>& truth);

// Adds the sensor: noise_m, or a draw between motion capture and radio when not given.
Recording Record(const FlightKey& key, Flight flight, std::optional<double> noise_m);

}  // namespace aerocast
