// SPDX-License-Identifier: BSD-3-Clause
//
// How many flights a second one core generates, and how these move, per kind, in Markdown:
//
//   bench_generate_speed [flights per kind, default 200]
//
// Flights of 40 s at 100 Hz, in CPU time, so that a busy machine does not matter much. Speeds and
// accelerations are those of the true positions, gusts included.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "src/sim/generate.h"
#include "src/sim/kinds.h"
#include "src/sim/tracking.h"

namespace aerocast {
namespace {

// Samples of one quantity; its quantiles.
class Spread {
 public:
  void Add(double value) { values_.push_back(value); }
  // Five numbers: least, 5 %, median, 95 %, greatest.
  std::string Text(int decimals) {
    std::sort(values_.begin(), values_.end());
    std::string text;
    for (const double share : {0.0, 0.05, 0.5, 0.95, 1.0}) {
      const auto i = static_cast<std::size_t>(share * static_cast<double>(values_.size() - 1));
      text += fmt::format("{}{:.{}f}", text.empty() ? "" : " / ", values_[i], decimals);
    }
    return text;
  }

 private:
  std::vector<double> values_;
};

struct Moved {
  Spread speed, accel, turn_rate;
};

Moved Measure(const std::vector<Recording>& flights) {
  Moved moved;
  for (const Recording& flight : flights) {
    const std::vector<Vec3>& p = flight.truth;
    for (std::size_t i = 1; i + 1 < p.size(); ++i) {
      const Vec3 v = (p[i + 1] - p[i - 1]) * (0.5 / kSimStepS);
      const Vec3 a = (p[i + 1] + p[i - 1] - 2 * p[i]) * (1 / (kSimStepS * kSimStepS));
      moved.speed.Add(Norm(v));
      moved.accel.Add(Norm(a));
      moved.turn_rate.Add(std::abs(v.x * a.y - v.y * a.x) / std::max(1e-9, v.x * v.x + v.y * v.y));
    }
  }
  return moved;
}

// Flights per second of CPU time; the flights are left in `flights`.
double Rate(GenerateOptions options, std::optional<double> noise_m,
            std::vector<Recording>& flights) {
  options.noise_m = noise_m;
  const std::clock_t before = std::clock();
  flights = std::move(*GenerateFlights(options));
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  return static_cast<double>(flights.size()) / seconds;
}

void Run(int flights_per_kind) {
  fmt::print(
      "| kind | speed m/s | acceleration m/s² | turn rate rad/s | flights/s | without noise |\n"
      "|---|---|---|---|---|---|\n");
  for (const FlightKind& kind : kFlightKinds) {
    const GenerateOptions options{.categories = {std::string(kind.name)},
                                  .flights_per_category = flights_per_kind,
                                  .duration_s = 40,
                                  .threads = 1};
    std::vector<Recording> flights;
    const double noisy = Rate(options, std::nullopt, flights), quiet = Rate(options, 0.0, flights);
    Moved moved = Measure(flights);
    fmt::print("| {} | {} | {} | {} | {:.0f} | {:.0f} |\n", kind.name, moved.speed.Text(1),
               moved.accel.Text(1), moved.turn_rate.Text(2), noisy, quiet);
  }
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) {
  const int flights = argc > 1 ? std::atoi(argv[1]) : 200;
  if (argc > 2 || flights < 1 || flights > 10'000) {
    fmt::print(stderr, "usage: bench_generate_speed [flights per kind, 1 to 10000]\n");
    return 2;
  }
  aerocast::Run(flights);
  return 0;
}
