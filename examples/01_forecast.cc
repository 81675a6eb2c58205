// SPDX-License-Identifier: BSD-3-Clause
//
// Two seconds of tracked positions in, five seconds of forecast out.
#include <aerocast/classical.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  using namespace aerocast;

  // What a tracker would deliver: a bird circling at 8 m/s, 20 samples a second.
  std::vector<Observation> track;
  for (int i = 0; i <= 40; ++i) {
    const double t = 0.05 * i, angle = 0.4 * t;
    track.push_back({DurationNs(t), {20 * std::sin(angle), -20 * std::cos(angle), 35}});
  }

  const auto forecaster = MakeClassical("ctrv");
  if (!forecaster.ok()) return std::fprintf(stderr, "%s\n", forecaster.error().message.c_str()), 1;
  const auto workspace = (*forecaster)->MakeWorkspace();  // once, before the loop
  Forecast forecast((*forecaster)->info().shape);         // once, before the loop

  (*forecaster)->Predict({.id = "bird", .samples = track, .noise_m = 0.02}, *workspace, forecast);

  std::printf("%s, quality %s\n", forecast.id.c_str(),
              std::string(QualityName(forecast.quality)).c_str());
  for (int i = 9; i < forecast.steps(); i += 10) {
    const Vec3& p = forecast.point(i);
    std::printf("in %.1f s at (%6.2f, %6.2f, %6.2f) m, 1 sigma %.2f m east\n",
                (i + 1) * forecast.dt_s, p.x, p.y, p.z, std::sqrt(forecast.mixture_cov(i).xx));
  }
}
