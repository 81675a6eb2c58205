// SPDX-License-Identifier: BSD-3-Clause
//
// A trained network at the end of a recording: `04_load_model MODEL.safetensors FLIGHT.csv` prints
// how the flight may go on, one line for each mode.
#include <aerocast/load.h>
#include <aerocast/recording.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace {

int Fail(const aerocast::Error& error) {
  return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
}

// One mode of the future: how likely, where at the end of the horizon, how sure of it.
void PrintMode(const aerocast::Forecast& forecast, int k) {
  const int last = forecast.steps() - 1;
  const aerocast::Vec3& p = forecast.mean(k, last);
  const aerocast::Cov3& c = forecast.cov(k, last);
  std::printf("  mode %d, %4.1f %%: to (%6.2f, %6.2f, %6.2f) m, 1 sigma (%.2f, %.2f, %.2f) m\n", k,
              100 * forecast.weight(k), p.x, p.y, p.z, std::sqrt(c.xx), std::sqrt(c.yy),
              std::sqrt(c.zz));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace aerocast;
  if (argc != 3)
    return std::fprintf(stderr, "usage: 04_load_model MODEL.safetensors FLIGHT.csv\n"), 2;

  // The file is checked completely: what loads, forecasts.
  const auto forecaster = LoadForecaster(argv[1]);
  if (!forecaster.ok()) return Fail(forecaster.error());
  const Result<Recording> flight = ReadRecording(argv[2]);
  if (!flight.ok()) return Fail(flight.error());

  const ForecasterInfo& info = (*forecaster)->info();
  std::printf("%s on %s: %s\n", info.name.c_str(), SimdTargets().front().c_str(),
              info.description.c_str());

  const auto workspace = (*forecaster)->MakeWorkspace();
  Forecast forecast(info.shape);
  (*forecaster)->Predict({flight->id, flight->samples, flight->noise_m}, *workspace, forecast);

  // Anything but "ok" says how far to trust it: a recording with a hole near its end gives
  // "fallback", the held position with a wide spread.
  std::printf("%s from %.2f s on, quality %s, branching %.2f nats\n", forecast.id.c_str(),
              DurationS(forecast.t0_ns), std::string(QualityName(forecast.quality)).c_str(),
              forecast.mode_entropy());
  for (int k = 0; k < forecast.modes(); ++k) PrintMode(forecast, k);
}
