// SPDX-License-Identifier: BSD-3-Clause
//
// A sensor on a moving aircraft measures relative to the aircraft. AeroCast wants world positions,
// because an obstacle keeps its habits in the air, not relative to us: seen from an aircraft that
// turns, a hovering balloon flies a circle. So the ego pose is added first, at the stamp of the
// measurement, and everything after that is world-fixed.
#include <aerocast/classical.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using aerocast::Vec3;

// Where the aircraft is and where its nose points; attitude reduced to yaw for brevity. With full
// attitude, rotate by the body-to-world quaternion instead.
struct EgoPose {
  Vec3 p_world;
  aerocast::Yaw body_to_world;
};

// The aircraft flies a circle of 30 m radius at 12 m/s.
EgoPose EgoAt(double t) {
  const double angle = 12.0 / 30.0 * t;
  return {{30 * std::cos(angle), 30 * std::sin(angle), 50},
          aerocast::Yaw::FromAngle(angle + 1.5707963267948966)};
}

Vec3 ToWorld(const EgoPose& ego, const Vec3& p_body) {
  return ego.body_to_world * p_body + ego.p_world;
}

}  // namespace

int main() {
  using namespace aerocast;
  const Vec3 balloon{5, 0, 55};  // hovers
  std::vector<Observation> relative, world;
  for (int i = 0; i <= 20; ++i) {
    const double t = 0.1 * i;
    const EgoPose ego = EgoAt(t);
    const Vec3 p_body = ego.body_to_world.Inverse() * (balloon - ego.p_world);  // the sensor's view
    relative.push_back({DurationNs(t), p_body});
    world.push_back({DurationNs(t), ToWorld(ego, p_body)});
  }

  const auto forecaster = MakeClassical("cv").value();
  const auto workspace = forecaster->MakeWorkspace();
  Forecast forecast(forecaster->info().shape);

  forecaster->Predict({.id = "balloon", .samples = world}, *workspace, forecast);
  const double right = Norm(forecast.point(49) - balloon);

  forecaster->Predict({.id = "balloon", .samples = relative}, *workspace, forecast);
  const double wrong = Norm(ToWorld(EgoAt(7.0), forecast.point(49)) - balloon);

  std::printf("error five seconds ahead: world-fixed %.2f m, without the ego pose %.2f m\n", right,
              wrong);
  return right < 0.01 && wrong > 5 ? 0 : 1;
}
