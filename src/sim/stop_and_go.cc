// SPDX-License-Identifier: BSD-3-Clause
#include "src/sim/stop_and_go.h"

#include <algorithm>
#include <cmath>

#include "src/sim/course.h"
#include "src/sim/tracking.h"

namespace aerocast {
namespace {

constexpr double kAccel = 8;   // m/s^2, gusts included
constexpr double kBrakeS = 2;  // how much longer a leg takes than at full speed all the way

struct Mission {
  TrackingModel aircraft;
  double speed = 0;  // m/s, the limit of each axis
  Vec3 half;         // of the box the waypoints are in, metres
  double least_leg_m = 0;
  bool smooth = false;  // the set-point glides to the waypoint, else it jumps there
  double period_s = 0;  // a waypoint every so often; 0: some time after the one before is reached
  double longest_stay_s = 0;
};

// Half of them of a Crazyflie's speed, half faster and larger in proportion.
Mission DrawMission(Rng& rng) {
  Mission mission;
  mission.speed = rng.Chance(0.5) ? rng.LogUniform(0.4, 1.5) : rng.LogUniform(1.5, 12);
  mission.half =
      mission.speed * Vec3{rng.Uniform(0.7, 2.5), rng.Uniform(0.5, 2), rng.Uniform(0.1, 0.8)};
  // Some corner of the box is at least half its diagonal away from wherever it is.
  mission.least_leg_m = std::min(mission.speed * rng.Uniform(0.2, 1), 0.8 * Norm(mission.half));
  mission.smooth = rng.Chance(0.35);
  mission.period_s = rng.Chance(0.5) ? rng.Uniform(2.5, 7) : 0;
  mission.longest_stay_s = rng.Uniform(0, 4);
  TrackingModel& aircraft = mission.aircraft;
  aircraft = DrawArenaTracking(rng);
  for (AxisGains* gains : {&aircraft.horizontal, &aircraft.vertical}) {
    const double ratio = gains->kv / gains->kp;
    gains->vmax = mission.speed;
    gains->kp = std::min(gains->kp, 0.5 * kAccel / mission.speed);  // it can brake in time
    gains->kv = gains->kp * std::max(ratio, 1.2);
  }
  // From a Crazyflie in a Vicon room to one that holds its place by radio.
  aircraft.residual_xy_m = rng.LogUniform(0.015, 0.15) * std::max(1.0, std::sqrt(mission.speed));
  aircraft.residual_z_m = aircraft.residual_xy_m * rng.Uniform(0.3, 1);
  aircraft.accel_limit = kAccel;
  return mission;
}

Vec3 DrawWaypoint(const Mission& mission, const Vec3& from, Rng& rng) {
  for (;;) {
    const Vec3& half = mission.half;
    const double x = rng.Uniform(-half.x, half.x), y = rng.Uniform(-half.y, half.y);
    const double z = rng.Uniform(-half.z, half.z);
    if (const Vec3 to{x, y, z}; Norm(to - from) >= mission.least_leg_m) return to;
  }
}

// From 0 to 1 with speed and acceleration zero at both ends; greatest slope 15/8.
double MinimumJerk(double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  return s * s * s * (10 + s * (6 * s - 15));
}

std::vector<Vec3> Course(const Mission& mission, const std::vector<Vec3>& gusts, Rng& rng) {
  std::vector<Vec3> course;
  course.reserve(gusts.size());
  Tracker tracker(mission.aircraft, {});
  Vec3 from, to;
  double glide_s = 1, left_s = 0, flown_s = 0;
  for (const Vec3& gust : gusts) {
    if (left_s <= 0) {
      from = to;
      to = DrawWaypoint(mission, from, rng);
      const double leg_s = Norm(to - from) / mission.speed;
      const double stay_s = rng.Uniform(0, mission.longest_stay_s);
      left_s = mission.period_s > 0 ? mission.period_s : leg_s + kBrakeS + stay_s;
      glide_s = 15.0 / 8 * leg_s, flown_s = 0;
    }
    course.push_back(tracker.position());
    const double share = mission.smooth ? MinimumJerk(flown_s / glide_s) : 1;
    tracker.Step(from + share * (to - from), gust);
    left_s -= kSimStepS, flown_s += kSimStepS;
  }
  return course;
}

}  // namespace

Flight FlyStopAndGo(const FlightKey& key, const FlightRequest& request) {
  Rng rng = StreamOf(key, Stream::kPlan);
  const Mission mission = DrawMission(rng);
  Rng air = StreamOf(key, Stream::kGust);
  const std::vector<Vec3> gusts = DrawGusts(mission.aircraft, air, CourseSteps(request.duration_s));
  Flight flight{FlyCourse(key, Course(mission, gusts, rng), 0), {}};
  Place(key, OpenLimits().space, flight.truth);
  return flight;
}

}  // namespace aerocast
