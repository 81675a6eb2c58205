// SPDX-License-Identifier: BSD-3-Clause
//
// Forecasts along a recording: `02_recording FLIGHT.csv` prints the error after one second.
#include <aerocast/classical.h>
#include <aerocast/recording.h>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace aerocast;
  if (argc != 2) return std::fprintf(stderr, "usage: 02_recording FLIGHT.csv\n"), 2;
  const Result<Recording> flight = ReadRecording(argv[1]);
  if (!flight.ok()) return std::fprintf(stderr, "%s\n", flight.error().message.c_str()), 1;

  const auto forecaster = MakeClassical("imm").value();
  const auto workspace = forecaster->MakeWorkspace();
  Forecast forecast(forecaster->info().shape);

  // At every sample only what came before is shown: a history is a view that ends at t0.
  const std::span<const Observation> samples = flight->samples;
  double error = 0;
  int count = 0;
  for (std::size_t now = 0, later = 0; now < samples.size(); ++now) {
    forecaster->Predict({flight->id, samples.first(now + 1), flight->noise_m}, *workspace,
                        forecast);
    while (later < samples.size() && samples[later].t_ns < forecast.time_ns(9)) ++later;
    if (later == samples.size()) break;
    error += Norm(forecast.point(9) - flight->target(later));
    ++count;
  }
  std::printf("%s: %d forecasts, mean error one second ahead %.3f m\n", flight->id.c_str(), count,
              count > 0 ? error / count : 0.0);
}
