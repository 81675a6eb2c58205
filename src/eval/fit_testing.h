// SPDX-License-Identifier: BSD-3-Clause
//
// Flights to fit on and a plain score, for tests.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/eval/fit_classical.h"
#include "src/forecast/forecaster_testing.h"

namespace aerocast {

// A flier that turns at random: its turn rate and climb change a little all the time.
inline Recording FlyAtRandom(std::uint64_t seed, double duration_s = 30) {
  Rng rng(seed);
  Recording flight;
  flight.id = "random-" + std::to_string(seed);
  const double speed = rng.Uniform(0.5, 3), dt = 0.02;
  double heading = rng.Uniform(0, 6), turn = 0, climb = 0;
  Vec3 p = {rng.Uniform(-5, 5), rng.Uniform(-5, 5), 2};
  for (int i = 0; i * dt < duration_s; ++i) {
    flight.samples.push_back({DurationNs(i * dt), p});
    turn += -0.5 * turn * dt + 0.8 * std::sqrt(dt) * rng.Normal();
    climb += -0.5 * climb * dt + 0.2 * std::sqrt(dt) * rng.Normal();
    heading += turn * dt;
    p += dt * Vec3{speed * std::cos(heading), speed * std::sin(heading), climb};
  }
  return flight;
}

// The windows point into the flights: a corpus is moved, not copied.
struct FitCorpus {
  FitCorpus() = default;
  FitCorpus(FitCorpus&&) = default;

  std::vector<Recording> flights;
  std::vector<FlightWindows> windows;
};

inline FitCorpus CutCorpus(std::vector<Recording> flights, const WindowSpec& spec) {
  FitCorpus corpus;
  corpus.flights = std::move(flights);
  for (const Recording& flight : corpus.flights) {
    corpus.windows.push_back({&flight, CutWindows(flight, spec)});
  }
  return corpus;
}

inline FitCorpus MakeCorpus(std::uint64_t first_seed, int flights, const WindowSpec& spec) {
  std::vector<Recording> flown;
  for (int i = 0; i < flights; ++i) {
    flown.push_back(FlyAtRandom(first_seed + static_cast<std::uint64_t>(i)));
  }
  return CutCorpus(std::move(flown), spec);
}

inline FitOptions Options(int threads = 2) {
  FitOptions options;
  options.spec.stride = 3;
  options.threads = threads;
  return options;
}

struct PathScore {
  double ade = 0, fde = 0;
  double inside = 0;  // share of outcomes in the 90 % ellipsoid of the mixture's moments
  int windows = 0;
};

inline PathScore Evaluate(const Forecaster& forecaster, std::span<const FlightWindows> flights,
                          const WindowSpec& spec) {
  constexpr double kChi90 = 6.251;  // three degrees of freedom
  const auto workspace = forecaster.MakeWorkspace();
  Forecast f(forecaster.info().shape);
  std::vector<Vec3> y(static_cast<std::size_t>(spec.horizon_steps()));
  PathScore score;
  for (const FlightWindows& w : flights) {
    for (const std::uint32_t t0 : w.t0) {
      if (!TargetsAt(*w.flight, t0, spec, y)) continue;
      forecaster.Predict(HistoryAt(*w.flight, t0, spec.history_s), *workspace, f);
      ++score.windows;
      score.fde += Norm(f.point(f.steps() - 1) - y.back());
      for (int i = 0; i < f.steps(); ++i) {
        const Vec3& target = y[static_cast<std::size_t>(i)];
        score.ade += Norm(f.point(i) - target) / f.steps();
        const Vec3 z = Cholesky3(f.mixture_cov(i)).Whiten(target - f.mixture_mean(i));
        score.inside += (SquaredNorm(z) <= kChi90) / static_cast<double>(f.steps());
      }
    }
  }
  score.ade /= score.windows, score.fde /= score.windows, score.inside /= score.windows;
  return score;
}

}  // namespace aerocast
