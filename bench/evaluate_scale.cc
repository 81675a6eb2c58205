// SPDX-License-Identifier: BSD-3-Clause
//
// How evaluation scales: time and peak memory for 10,000, 100,000 and 1,000,000 windows of a
// Gaussian constant-velocity forecaster, everything scored (all pairs of 64 draws at all 50 steps).
//
//   bench_evaluate_scale [windows [modes [threads]]]
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <vector>

#include "src/base/rng.h"
#include "src/data/motion.h"
#include "src/eval/evaluator.h"

namespace aerocast {
namespace {

// A straight line through the last 0.3 s with a spread that grows; `modes` copies of it fan out.
class LineSource final : public ForecastSource, public ForecastReader {
 public:
  explicit LineSource(int modes) : modes_(modes) {}
  const SourceInfo& info() const override { return info_; }
  ForecastShape shape() const override { return {.steps = 50, .modes = modes_}; }
  double dt_s() const override { return 0.1; }
  std::unique_ptr<ForecastReader> MakeReader() const override {
    return std::make_unique<LineSource>(modes_);
  }
  bool Read(const Recording& flight, std::size_t i, const History& history,
            Forecast& forecast) override {
    const Motion motion = FitMotion(history.samples, 0.3, 1);
    forecast.Reset(shape(), flight.id, flight.samples[i].t_ns, 0.1);
    for (int k = 0; k < modes_; ++k) {
      forecast.weight(k) = 1.0 / modes_;
      const double fan = modes_ > 1 ? 0.3 * (k - (modes_ - 1) / 2.0) : 0;
      const Vec3 v = Yaw::FromAngle(fan) * motion.v;
      for (int s = 0; s < 50; ++s) {
        const double t = 0.1 * (s + 1);
        forecast.mean(k, s) = motion.p + v * t;
        forecast.cov(k, s) = Cov3::Isotropic(0.02 + 0.1 * t * t);
        forecast.point(s) = motion.p + motion.v * t;
      }
    }
    return true;
  }

 private:
  SourceInfo info_{"line", "constant velocity, growing spread", "", ""};
  int modes_;
};

// A minute or two of circling at 100 Hz.
Recording Circle(int n, int windows) {
  Rng rng(1, static_cast<std::uint64_t>(n));
  Recording flight;
  flight.id = fmt::format("circle-{}", n), flight.category = "circle";
  const double radius = rng.Uniform(0.5, 1.5), rate = rng.Uniform(0.3, 1.2);
  for (int i = 0; i < (windows - 1) * 10 + 701; ++i) {
    const double t = 0.01 * i;
    flight.samples.push_back(
        {DurationNs(t),
         {radius * std::cos(rate * t), radius * std::sin(rate * t), 1 + 0.1 * std::sin(t)}});
  }
  return flight;
}

void Run(int windows, int modes, int threads) {
  constexpr int kPerFlight = 1000;
  std::vector<Recording> recordings;
  for (int n = 0; n < windows / kPerFlight; ++n) recordings.push_back(Circle(n, kPerFlight));
  std::vector<FlightWindows> flights;
  std::size_t count = 0;
  for (const Recording& r : recordings) {
    flights.push_back({&r, CutWindows(r, PaperWindows())});
    count += flights.back().t0.size();
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double before = static_cast<double>(usage.ru_maxrss) / 1024;
  EvaluationOptions options;
  options.threads = threads;
  const auto evaluation = Evaluate(LineSource(modes), flights, options);
  if (!evaluation.ok()) return fmt::print("{}\n", evaluation.error().message);
  getrusage(RUSAGE_SELF, &usage);
  double ade = 0;
  for (const FlightTally& f : evaluation->flights) ade += f.tally.metric[0];
  fmt::print("{:>9} {:>7} {:>9.2f} {:>12.1f} {:>12.1f} {:>12.1f} {:>9.4f}\n", count, flights.size(),
             evaluation->seconds, 1e6 * evaluation->seconds / static_cast<double>(count), before,
             static_cast<double>(usage.ru_maxrss) / 1024, ade / static_cast<double>(count));
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) {
  const int windows = argc > 1 ? std::atoi(argv[1]) : 0;
  const int modes = argc > 2 ? std::atoi(argv[2]) : 1;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 0;
  fmt::print("{:>9} {:>7} {:>9} {:>12} {:>12} {:>12} {:>9}\n", "windows", "flights", "seconds",
             "us/window", "flights MiB", "peak MiB", "ADE m");
  for (const int n : {10'000, 100'000, 1'000'000}) {
    if (windows == 0 || n == 10'000) aerocast::Run(windows == 0 ? n : windows, modes, threads);
  }
}
