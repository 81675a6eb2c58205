// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/base/parallel.h"

namespace aerocast {
namespace {

constexpr double kLeastVariance = 1e-6;  // the 1 mm of SpreadSigma
constexpr double kFewestInMode = 30;     // windows' worth of weight that a mode's spread stands on

void ReadErrors(const Forecast& forecast, const HeadingFrame& frame, std::span<const Vec3> targets,
                std::size_t n, PathErrors& errors) {
  const Yaw to_frame = frame.to_world.Inverse();
  for (std::size_t k = 0; k < errors.modes; ++k) {
    const int mode = static_cast<int>(k);
    errors.weight[n * errors.modes + k] = static_cast<float>(forecast.weight(mode));
    for (std::size_t i = 0; i < errors.steps; ++i) {
      const int step = static_cast<int>(i);
      const std::size_t at = (n * errors.modes + k) * errors.steps + i;
      errors.error[at] = to_frame * (targets[i] - forecast.mean(mode, step));
      errors.noise[at] = static_cast<float>(forecast.cov(mode, step).zz - kLeastVariance);
    }
  }
}

// var = noise + b + c * driver^2, with b and c not negative.
struct Growth {
  double b = 0, c = 0;
  double Variance(double noise, double driver) const {
    return std::max(noise + b + c * driver * driver, kLeastVariance);
  }
};

// Weighted least squares of the squared errors on 1 and driver^2.
struct GrowthSums {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;

  void Add(double weight, double x, double y) {
    w += weight, wx += weight * x, wxx += weight * x * x, wy += weight * y, wxy += weight * x * y;
  }
  Growth Solve() const {
    const double det = w * wxx - wx * wx;
    Growth g;
    if (det > 1e-12 * w * wxx) g = {(wy * wxx - wxy * wx) / det, (w * wxy - wx * wy) / det};
    if (g.c <= 0) g = {w > 0 ? wy / w : 0, 0};
    if (g.b < 0) g = {0, wxx > 0 ? wxy / wxx : 0};
    return {std::max(g.b, 0.0), std::max(g.c, 0.0)};
  }
};

using Growths = std::array<Growth, 3>;  // along, across, up

double Component(const Vec3& v, int d) { return d == 0 ? v.x : d == 1 ? v.y : v.z; }

// How much of the outcome each mode of window n explains at step i, under the present spreads.
void Responsibilities(const PathErrors& e, std::size_t n, std::size_t i,
                      std::span<const Growths> growth, std::span<double> share) {
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < e.modes; ++k) {
    const std::size_t at = n * e.modes + k;
    const Growths& g = growth[growth.size() == 1 ? 0 : k];
    double distance = 0, determinant = 1;
    for (int d = 0; d < 3; ++d) {
      const double variance = g[d].Variance(e.noise[at * e.steps + i], e.driver[at]);
      const double error = Component(e.error[at * e.steps + i], d);
      distance += error * error / variance, determinant *= variance;
    }
    const double weight = std::max<double>(e.weight[at], 1e-30);
    const double log_density = std::log(weight / std::sqrt(determinant)) - distance / 2;
    share[k] = log_density;
    best = std::max(best, log_density);
  }
  double sum = 0;
  for (double& s : share) sum += s = std::exp(s - best);
  for (double& s : share) s /= sum;
}

// One pass: who explains what, then what spread explains that. The weights 1 / variance^2 make the
// least squares the maximum-likelihood estimate of a Gaussian's variance (Fisher scoring).
void Improve(const PathErrors& e, std::size_t i, bool first, std::span<Growths> growth) {
  std::vector<std::array<GrowthSums, 3>> sums(growth.size());
  std::vector<double> share(e.modes), mass(growth.size());
  for (std::size_t n = 0; n < e.windows; ++n) {
    if (e.weight[n * e.modes] + e.weight[n * e.modes + e.modes - 1] == 0) continue;
    if (first) {
      for (std::size_t k = 0; k < e.modes; ++k) share[k] = e.weight[n * e.modes + k];
    } else {
      Responsibilities(e, n, i, growth, share);
    }
    for (std::size_t k = 0; k < e.modes; ++k) {
      const std::size_t at = n * e.modes + k, g = growth.size() == 1 ? 0 : k;
      mass[g] += share[k];
      const double noise = e.noise[at * e.steps + i], driver = e.driver[at];
      for (int d = 0; d < 3; ++d) {
        const double error = Component(e.error[at * e.steps + i], d);
        const double variance = first ? 1.0 : growth[g][d].Variance(noise, driver);
        sums[g][d].Add(share[k] / (variance * variance), driver * driver, error * error - noise);
      }
    }
  }
  for (std::size_t g = 0; g < growth.size(); ++g) {
    if (!first && mass[g] < kFewestInMode) continue;
    for (int d = 0; d < 3; ++d) {
      const Growth next = sums[g][d].Solve();
      Growth& now = growth[g][d];
      now = first ? next : Growth{(now.b + next.b) / 2, (now.c + next.c) / 2};
    }
  }
}

// Correlation of whitened errors from one step to the next, of the mode that came nearest.
double ResidualCorrelation(const PathErrors& e, std::span<const Spread> spread) {
  double cross = 0, square = 0;
  for (std::size_t n = 0; n < e.windows; ++n) {
    if (e.weight[n * e.modes] == 0) continue;
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < e.modes; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < e.steps; ++i) {
        sum += Norm(e.error[(n * e.modes + k) * e.steps + i]);
      }
      if (sum < least) least = sum, nearest = k;
    }
    const Spread& s = spread[spread.size() == 1 ? 0 : nearest];
    const std::size_t at = n * e.modes + nearest;
    Vec3 before;
    for (std::size_t i = 0; i < e.steps; ++i) {
      Scene scene;
      scene.speed = e.driver[at];
      const Vec3 sigma = SpreadSigma(s.table[i], scene, 0);
      const Vec3& error = e.error[at * e.steps + i];
      const Vec3 z = {error.x / sigma.x, error.y / sigma.y, error.z / sigma.z};
      if (i > 0) cross += Dot(before, z), square += (SquaredNorm(before) + SquaredNorm(z)) / 2;
      before = z;
    }
  }
  return square > 0 ? std::clamp(cross / square, 0.0, 0.9999) : 0.98;
}

}  // namespace

PathErrors MeasureErrors(std::span<const FitWindow> windows, const FitOptions& options,
                         const ForecasterInfo& info, const BareForecast& forecasting) {
  PathErrors errors(windows.size(), info.shape);
  const auto workers = static_cast<std::size_t>(ThreadCount(options.threads));
  std::vector<Forecast> forecasts(workers, Forecast(info.shape));
  std::vector<std::vector<Vec3>> targets(workers, std::vector<Vec3>(errors.steps));
  ParallelFor(windows.size(), options.threads, [&](std::size_t n, int worker) {
    const FitWindow& w = windows[n];
    Forecast& forecast = forecasts[static_cast<std::size_t>(worker)];
    std::vector<Vec3>& y = targets[static_cast<std::size_t>(worker)];
    const History history = HistoryAt(*w.flight, w.t0, info.history_s);
    const std::span<float> driver =
        std::span(errors.driver).subspan(n * errors.modes, errors.modes);
    std::fill(driver.begin(), driver.end(), static_cast<float>(LookAt(history).speed));
    forecasting(w, history, worker, forecast, driver);
    // A window the method cannot answer is not its error; it keeps weight zero.
    if (forecast.quality == Quality::kFallback || forecast.quality == Quality::kNone) return;
    TargetsAt(*w.flight, w.t0, options.spec, y);
    ReadErrors(forecast, FitHeading(history.samples), y, n, errors);
  });
  return errors;
}

std::vector<Spread> FitSpread(const PathErrors& e, std::size_t tables, int threads) {
  std::vector<Spread> spread(tables, NoiseOnlySpread(static_cast<int>(e.steps)));
  ParallelFor(e.steps, threads, [&](std::size_t i, int) {
    std::vector<Growths> growth(tables);
    constexpr int kPasses = 20;
    for (int pass = 0; pass < kPasses; ++pass) Improve(e, i, pass == 0, growth);
    for (std::size_t g = 0; g < tables; ++g) {
      const Growths& d = growth[g];
      spread[g].table[i] = {{std::sqrt(d[0].b), std::sqrt(d[1].b), std::sqrt(d[2].b)},
                            {std::sqrt(d[0].c), std::sqrt(d[1].c), std::sqrt(d[2].c)}};
    }
  });
  const double correlation = ResidualCorrelation(e, spread);
  for (Spread& s : spread) s.residual_correlation = correlation;
  return spread;
}

}  // namespace aerocast
