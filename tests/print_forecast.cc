// SPDX-License-Identifier: BSD-3-Clause
//
// A forecast to the last bit, for comparison with other ways to get it:
//   print_forecast FORECASTER FLIGHT.csv SAMPLES
// forecasts with a classical forecaster or a model file from the flight's first SAMPLES samples,
// and prints t0 in nanoseconds, the quality, then as hexadecimal floats one after the other: point,
// weights, means, covariances (six numbers each) and three paths drawn with seed 7.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "aerocast/classical.h"
#include "aerocast/load.h"
#include "aerocast/recording.h"

namespace aerocast {
namespace {

void Print(const Vec3& v) { std::printf("%a\n%a\n%a\n", v.x, v.y, v.z); }

void Print(const Cov3& c) {
  std::printf("%a\n%a\n%a\n%a\n%a\n%a\n", c.xx, c.xy, c.xz, c.yy, c.yz, c.zz);
}

void Print(const Forecast& f) {
  std::printf("%lld\n%s\n", static_cast<long long>(f.t0_ns),
              std::string(QualityName(f.quality)).c_str());
  for (const Vec3& p : f.point_path()) Print(p);
  for (const double w : f.weights()) std::printf("%a\n", w);
  for (int k = 0; k < f.modes(); ++k) {
    for (int i = 0; i < f.steps(); ++i) Print(f.mean(k, i));
  }
  for (int k = 0; k < f.modes(); ++k) {
    for (int i = 0; i < f.steps(); ++i) Print(f.cov(k, i));
  }
  std::vector<Vec3> paths(3 * static_cast<std::size_t>(f.steps()));
  f.SamplePaths(7, 3, paths);
  for (const Vec3& p : paths) Print(p);
}

int Fail(const std::string& message, int code) {
  return std::fprintf(stderr, "print_forecast: %s\n", message.c_str()), code;
}

int Main(int argc, char** argv) {
  if (argc != 4) return Fail("usage: print_forecast FORECASTER FLIGHT.csv SAMPLES", 2);
  const bool is_file = std::string_view(argv[1]).find('.') != std::string_view::npos;
  const auto forecaster = is_file ? LoadForecaster(argv[1]) : MakeClassical(argv[1]);
  if (!forecaster.ok()) return Fail(forecaster.error().message, 1);
  const Result<Recording> flight = ReadRecording(argv[2]);
  if (!flight.ok()) return Fail(flight.error().message, 1);
  const auto count = static_cast<std::size_t>(std::atoi(argv[3]));
  if (count > flight->samples.size()) return Fail("the flight is shorter than that", 1);

  const auto workspace = (*forecaster)->MakeWorkspace();
  Forecast forecast((*forecaster)->info().shape);
  const auto samples = std::span(flight->samples).first(count);
  (*forecaster)->Predict({flight->id, samples, flight->noise_m}, *workspace, forecast);
  Print(forecast);
  return 0;
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) { return aerocast::Main(argc, argv); }
