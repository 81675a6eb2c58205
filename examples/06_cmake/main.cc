// SPDX-License-Identifier: BSD-3-Clause
//
// The smallest program that forecasts, built outside of AeroCast's own tree (CMakeLists.txt). With
// a model file as argument it runs that network instead of the turn-rate filter.
#include <aerocast/classical.h>
#include <aerocast/load.h>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace aerocast;
  std::vector<Observation> track;  // 2.5 s of a climb to the east, 10 samples a second
  for (int i = 0; i <= 25; ++i) track.push_back({DurationNs(0.1 * i), {0.6 * i, 0, 10 + 0.1 * i}});

  const auto forecaster = argc > 1 ? LoadForecaster(argv[1]) : MakeClassical("ctrv");
  if (!forecaster.ok()) return std::fprintf(stderr, "%s\n", forecaster.error().message.c_str()), 1;
  const auto workspace = (*forecaster)->MakeWorkspace();
  Forecast forecast((*forecaster)->info().shape);
  (*forecaster)->Predict({"kite", track}, *workspace, forecast);

  const Vec3& p = forecast.point(forecast.steps() - 1);
  std::printf("%s: in %.1f s at (%.2f, %.2f, %.2f) m\n", (*forecaster)->info().name.c_str(),
              forecast.steps() * forecast.dt_s, p.x, p.y, p.z);
}
