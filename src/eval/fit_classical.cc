// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_classical.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "src/base/parallel.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/forecast/kinematic.h"
#include "src/forecast/knn.h"
#include "src/forecast/make_classical.h"
#include "src/forecast/ridge.h"

namespace aerocast {
namespace {

constexpr std::size_t kFewestWindows = 100;
constexpr double kLongestHistoryS = 2.0;
constexpr double kLeastVariance = 1e-6;  // the 1 mm of SpreadSigma
constexpr double kFewestInMode = 30;     // windows' worth of weight that a mode's spread stands on

// --- Windows ------------------------------------------------------------------------------------

struct Window {
  const Recording* flight;
  std::size_t flight_index;
  std::uint32_t t0;
};

// Every n-th of the windows whose targets are recorded, n the least that keeps within `most`.
std::vector<Window> Gather(std::span<const FlightWindows> train, const WindowSpec& spec,
                           std::size_t most) {
  std::vector<Window> all;
  std::vector<Vec3> targets(static_cast<std::size_t>(spec.horizon_steps()));
  for (std::size_t f = 0; f < train.size(); ++f) {
    for (const std::uint32_t t0 : train[f].t0) {
      if (TargetsAt(*train[f].flight, t0, spec, targets)) all.push_back({train[f].flight, f, t0});
    }
  }
  const std::size_t n = (all.size() + most - 1) / std::max<std::size_t>(most, 1);
  std::vector<Window> some;
  for (std::size_t i = 0; i < all.size(); i += std::max<std::size_t>(n, 1)) some.push_back(all[i]);
  return some;
}

// --- Spread -------------------------------------------------------------------------------------

// What a forecaster without any spread got wrong, in the heading frame.
struct Errors {
  std::size_t windows = 0, modes = 0, steps = 0;
  std::vector<float> weight;  // (N, K)
  std::vector<float> driver;  // (N, K), what the rate multiplies: speed, or knn's mismatch
  std::vector<float> noise;   // (N, K, S), variance that is there already
  std::vector<Vec3> error;    // (N, K, S), target - mean along, across, up

  Errors(std::size_t n, const ForecastShape& shape)
      : windows(n),
        modes(static_cast<std::size_t>(shape.modes)),
        steps(static_cast<std::size_t>(shape.steps)),
        weight(n * modes),
        driver(n * modes),
        noise(n * modes * steps),
        error(n * modes * steps) {}
};

// Forecasts a window without spread; `driver` has one entry per mode.
using Forecasting = std::function<void(const Window& window, const History& history, int worker,
                                       Forecast& forecast, std::span<float> driver)>;

void ReadErrors(const Forecast& forecast, const HeadingFrame& frame, std::span<const Vec3> targets,
                std::size_t n, Errors& errors) {
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

Errors MeasureErrors(std::span<const Window> windows, const FitOptions& options,
                     const ForecasterInfo& info, const Forecasting& forecasting) {
  Errors errors(windows.size(), info.shape);
  const auto workers = static_cast<std::size_t>(ThreadCount(options.threads));
  std::vector<Forecast> forecasts(workers, Forecast(info.shape));
  std::vector<std::vector<Vec3>> targets(workers, std::vector<Vec3>(errors.steps));
  ParallelFor(windows.size(), options.threads, [&](std::size_t n, int worker) {
    const Window& w = windows[n];
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
void Responsibilities(const Errors& e, std::size_t n, std::size_t i,
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
void Improve(const Errors& e, std::size_t i, bool first, std::span<Growths> growth) {
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
double ResidualCorrelation(const Errors& e, std::span<const Spread> spread) {
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

// Gaussian maximum likelihood of the mixture's spread, step by step, weights and means given.
// `tables` is one for all modes together, or one per mode.
std::vector<Spread> FitSpread(const Errors& e, std::size_t tables, int threads) {
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

// --- Naming -------------------------------------------------------------------------------------

// Hashes every fitted number under the forecaster's name and spec.
class Fingerprint {
 public:
  Fingerprint(std::string_view name, const WindowSpec& spec) {
    hash_.Update(name);
    const std::array<double, 6> numbers = {spec.history_s,
                                           spec.min_history_s,
                                           spec.horizon_s,
                                           spec.dt_s,
                                           static_cast<double>(spec.stride),
                                           spec.max_gap_s};
    Add(std::span<const double>(numbers));
  }
  template <typename T>
  void Add(std::span<const T> numbers) {
    hash_.Update(numbers);
  }
  void Add(const Spread& spread) {
    Add(std::span<const SpreadStep>(spread.table));
    hash_.Update(&spread.residual_correlation, sizeof(double));
  }
  std::string Hex() { return hash_.Hex(); }

 private:
  Sha256 hash_;
};

ForecasterInfo MakeInfo(std::string_view name, const WindowSpec& spec) {
  ForecasterInfo info;
  info.name = name;
  info.history_s = std::min(spec.history_s, kLongestHistoryS);
  info.dt_s = spec.dt_s;
  info.shape.steps = spec.horizon_steps();
  return info;
}

std::vector<std::unique_ptr<Workspace>> MakeWorkspaces(const Forecaster& forecaster, int threads) {
  std::vector<std::unique_ptr<Workspace>> workspaces(
      static_cast<std::size_t>(ThreadCount(threads)));
  for (auto& workspace : workspaces) workspace = forecaster.MakeWorkspace();
  return workspaces;
}

// --- hold, cv, ca, ctrv, imm --------------------------------------------------------------------

using Made = Result<std::unique_ptr<Forecaster>>;

std::vector<Spread> FitKinematicSpread(std::string_view name, std::span<const FlightWindows> train,
                                       const FitOptions& options) {
  const ForecasterInfo info = MakeInfo(name, options.spec);
  std::vector<Spread> none(GenericSpreads(name).size(), NoiseOnlySpread(info.shape.steps));
  const auto bare = *MakeClassical(name, info, none);
  const auto workspaces = MakeWorkspaces(*bare, options.threads);
  const std::vector<Window> windows = Gather(train, options.spec, options.spread_windows);
  const Errors errors = MeasureErrors(
      windows, options, bare->info(),
      [&](const Window&, const History& history, int worker, Forecast& forecast, std::span<float>) {
        bare->Predict(history, *workspaces[static_cast<std::size_t>(worker)], forecast);
      });
  return FitSpread(errors, none.size(), options.threads);
}

Made FitKinematic(std::string_view name, std::span<const FlightWindows> train,
                  const FitOptions& options) {
  std::vector<Spread> spread = FitKinematicSpread(name, train, options);
  Fingerprint fingerprint(name, options.spec);
  for (const Spread& s : spread) fingerprint.Add(s);
  ForecasterInfo info = MakeInfo(name, options.spec);
  info.fingerprint = fingerprint.Hex();
  return MakeClassical(name, std::move(info), std::move(spread));
}

// --- ridge and knn: windows to learn from -------------------------------------------------------

GridSpec MakeGrid(const WindowSpec& spec, bool per_speed) {
  const double history_s = std::min(spec.history_s, kLongestHistoryS);
  GridSpec grid;
  grid.steps = static_cast<int>(std::lround(history_s / spec.dt_s));
  grid.dt_s = spec.dt_s, grid.max_gap_s = spec.max_gap_s, grid.per_speed = per_speed;
  return grid;
}

// Windows on the grid, in the heading frame, divided by their scale.
struct Examples {
  std::size_t inputs = 0, outputs = 0;
  std::vector<std::size_t> flight;  // (N)
  std::vector<double> scale;        // (N)
  std::vector<float> x;             // (N, inputs)
  std::vector<float> y;             // (N, outputs)

  std::size_t size() const { return flight.size(); }
  std::span<const float> input(std::size_t n) const {
    return std::span(x).subspan(n * inputs, inputs);
  }
  std::span<const float> output(std::size_t n) const {
    return std::span(y).subspan(n * outputs, outputs);
  }
};

Examples MakeExamples(std::span<const Window> windows, const GridSpec& grid,
                      const WindowSpec& spec) {
  Examples examples;
  std::vector<Vec3> targets(static_cast<std::size_t>(spec.horizon_steps()));
  examples.inputs = static_cast<std::size_t>(grid.features());
  examples.outputs = 3 * targets.size();
  GridWorkspace scratch(grid, 0);
  for (const Window& w : windows) {
    GridFrame frame;
    const History history = HistoryAt(*w.flight, w.t0, grid.steps * grid.dt_s);
    if (!ReadHeadingGrid(history, grid, scratch, frame)) continue;
    TargetsAt(*w.flight, w.t0, spec, targets);
    examples.flight.push_back(w.flight_index);
    examples.scale.push_back(frame.scale);
    examples.x.insert(examples.x.end(), scratch.features.begin(), scratch.features.end());
    for (const Vec3& target : targets) {
      const Vec3 q = (1 / frame.scale) * frame.frame.ToFrame(target);
      for (const double c : {q.x, q.y, q.z}) examples.y.push_back(static_cast<float>(c));
    }
  }
  return examples;
}

Error TooFew(std::string_view name, std::size_t windows, std::size_t flights) {
  return {ErrorCode::kInvalidArgument,
          std::string(name) + " cannot be fitted: " + std::to_string(windows) + " windows of " +
              std::to_string(flights) + " flights, at least " + std::to_string(kFewestWindows) +
              " windows (of two flights for ridge and knn) are needed"};
}

// --- ridge --------------------------------------------------------------------------------------

// Sums over examples: x x^T, x y^T and y^2, each weighted by scale^2, so that errors count in
// metres.
struct Moments {
  std::size_t in = 0, out = 0;  // in counts the constant
  std::vector<double> xx, xy;   // (in, in) lower half, (in, out)
  double yy = 0;

  Moments(std::size_t inputs, std::size_t outputs)
      : in(inputs + 1), out(outputs), xx(in * in), xy(in * out) {}

  void Add(std::span<const float> x, std::span<const float> y, double weight) {
    for (std::size_t a = 0; a < in; ++a) {
      const double xa = weight * (a < x.size() ? x[a] : 1.0);
      for (std::size_t b = 0; b <= a; ++b) xx[a * in + b] += xa * (b < x.size() ? x[b] : 1.0);
      for (std::size_t j = 0; j < out; ++j) xy[a * out + j] += xa * y[j];
    }
    for (const float v : y) yy += weight * v * v;
  }
  void Add(const Moments& o, double sign) {
    for (std::size_t i = 0; i < xx.size(); ++i) xx[i] += sign * o.xx[i];
    for (std::size_t i = 0; i < xy.size(); ++i) xy[i] += sign * o.xy[i];
    yy += sign * o.yy;
  }
};

// Minimises error + lambda * |W|^2 (not the constant), by Cholesky. `lambda` is relative to the
// mean diagonal of xx.
std::vector<double> SolveRidge(const Moments& m, double lambda) {
  const std::size_t n = m.in;
  std::vector<double> l = m.xx, w = m.xy;
  double trace = 0;
  for (std::size_t a = 0; a + 1 < n; ++a) trace += m.xx[a * n + a];
  const double ridge = lambda * trace / static_cast<double>(n - 1) + 1e-12;
  for (std::size_t a = 0; a < n; ++a) l[a * n + a] += a + 1 < n ? ridge : 1e-12;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = l[a * n + b];
      for (std::size_t c = 0; c < b; ++c) sum -= l[a * n + c] * l[b * n + c];
      l[a * n + b] = a == b ? std::sqrt(std::max(sum, 1e-12)) : sum / l[b * n + b];
    }
  }
  const auto row = [&](std::size_t a) { return std::span(w).subspan(a * m.out, m.out); };
  const auto subtract = [&](std::size_t a, std::size_t c, double factor) {
    for (std::size_t j = 0; j < m.out; ++j) row(a)[j] -= factor * row(c)[j];
  };
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t c = 0; c < a; ++c) subtract(a, c, l[a * n + c]);
    for (double& v : row(a)) v /= l[a * n + a];
  }
  for (std::size_t a = n; a-- > 0;) {
    for (std::size_t c = a + 1; c < n; ++c) subtract(a, c, l[c * n + a]);
    for (double& v : row(a)) v /= l[a * n + a];
  }
  return w;
}

// Sum of squared errors of W on the examples behind m: yy - 2 W.xy + W.(xx W).
double SquaredError(const Moments& m, std::span<const double> w) {
  double sum = m.yy;
  std::vector<double> xxw(m.out);
  for (std::size_t a = 0; a < m.in; ++a) {
    std::fill(xxw.begin(), xxw.end(), 0.0);
    for (std::size_t b = 0; b < m.in; ++b) {
      const double x = m.xx[std::max(a, b) * m.in + std::min(a, b)];
      for (std::size_t j = 0; j < m.out; ++j) xxw[j] += x * w[b * m.out + j];
    }
    for (std::size_t j = 0; j < m.out; ++j) {
      sum += w[a * m.out + j] * (xxw[j] - 2 * m.xy[a * m.out + j]);
    }
  }
  return sum;
}

struct RidgeFit {
  std::vector<double> weights;                // of all flights
  std::vector<std::vector<double>> left_out;  // (folds), without the fold's flights
  double lambda = 0;
};
constexpr std::size_t kFolds = 5;

RidgeFit FitRidgeWeights(const Examples& examples, int threads) {
  std::vector<Moments> fold(kFolds, Moments(examples.inputs, examples.outputs));
  ParallelFor(kFolds, threads, [&](std::size_t f, int) {
    for (std::size_t n = 0; n < examples.size(); ++n) {
      if (examples.flight[n] % kFolds != f) continue;
      const double s = examples.scale[n];
      fold[f].Add(examples.input(n), examples.output(n), s * s);
    }
  });
  Moments all(examples.inputs, examples.outputs);
  for (const Moments& m : fold) all.Add(m, 1);
  std::vector<Moments> others(kFolds, all);
  for (std::size_t f = 0; f < kFolds; ++f) others[f].Add(fold[f], -1);

  RidgeFit fit;
  double least = std::numeric_limits<double>::infinity();
  for (const double lambda : {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) {
    std::vector<std::vector<double>> left_out(kFolds);
    std::array<double, kFolds> error{};
    ParallelFor(kFolds, threads, [&](std::size_t f, int) {
      left_out[f] = SolveRidge(others[f], lambda);
      error[f] = SquaredError(fold[f], left_out[f]);
    });
    double sum = 0;
    for (const double e : error) sum += e;
    if (sum < least) least = sum, fit.lambda = lambda, fit.left_out = std::move(left_out);
  }
  fit.weights = SolveRidge(all, fit.lambda);
  return fit;
}

// Every window's error is that of the fold that has not seen its flight.
Spread FitRidgeSpread(const RidgeFit& fit, std::span<const FlightWindows> train,
                      const FitOptions& options, const ForecasterInfo& info,
                      const RidgeParams& params) {
  std::vector<std::unique_ptr<Forecaster>> bare;
  for (const std::vector<double>& weights : fit.left_out) {
    RidgeParams fold = params;
    fold.weights = weights, fold.spread = NoiseOnlySpread(info.shape.steps);
    bare.push_back(std::make_unique<RidgeForecaster>(info, std::move(fold)));
  }
  const auto workspaces = MakeWorkspaces(*bare[0], options.threads);
  const auto forecasting = [&](const Window& w, const History& history, int worker,
                               Forecast& forecast, std::span<float>) {
    bare[w.flight_index % kFolds]->Predict(history, *workspaces[static_cast<std::size_t>(worker)],
                                           forecast);
  };
  const std::vector<Window> windows = Gather(train, options.spec, options.spread_windows);
  return FitSpread(MeasureErrors(windows, options, info, forecasting), 1, options.threads)[0];
}

Made FitRidge(std::span<const FlightWindows> train, const FitOptions& options) {
  RidgeParams params;
  params.grid = MakeGrid(options.spec, options.ridge_per_speed);
  ForecasterInfo info = MakeInfo("ridge", options.spec);
  info.description = "linear regression on the last 2 s in the heading frame";
  const std::vector<Window> windows = Gather(train, options.spec, options.library_windows);
  const RidgeFit fit =
      FitRidgeWeights(MakeExamples(windows, params.grid, options.spec), options.threads);
  params.fallback = FitKinematicSpread("ctrv", train, options)[0];
  params.spread = FitRidgeSpread(fit, train, options, info, params);
  params.weights = fit.weights;

  Fingerprint fingerprint("ridge", options.spec);
  fingerprint.Add(std::span<const double>(params.weights));
  fingerprint.Add(params.spread), fingerprint.Add(params.fallback);
  info.fingerprint = fingerprint.Hex();
  return std::unique_ptr<Forecaster>(
      std::make_unique<RidgeForecaster>(std::move(info), std::move(params)));
}

// --- knn ----------------------------------------------------------------------------------------

// first[f] ... first[f + 1] are the examples of flight f.
std::vector<std::size_t> FirstOfFlights(const Examples& examples, std::size_t flights) {
  std::vector<std::size_t> first(flights + 1, 0);
  for (const std::size_t flight : examples.flight) ++first[flight + 1];
  for (std::size_t f = 0; f < flights; ++f) first[f + 1] += first[f];
  return first;
}

// Whether every flight finds enough windows of others.
bool EnoughOthers(std::span<const std::size_t> first) {
  std::size_t largest = 0;
  for (std::size_t f = 0; f + 1 < first.size(); ++f) {
    largest = std::max(largest, first[f + 1] - first[f]);
  }
  return first.back() >= largest + kNeighbours;
}

// Spread and reach of the library, from windows that do not find their own flight.
void FitKnnSpread(std::span<const Window> windows, std::span<const std::size_t> first,
                  const FitOptions& options, const ForecasterInfo& info, KnnParams& params) {
  std::vector<GridWorkspace> scratch(static_cast<std::size_t>(ThreadCount(options.threads)),
                                     GridWorkspace(params.grid, 0));
  const Spread none = NoiseOnlySpread(info.shape.steps);
  std::vector<float> nearest(windows.size());
  const auto forecasting = [&](const Window& w, const History& history, int worker,
                               Forecast& forecast, std::span<float> driver) {
    GridWorkspace& s = scratch[static_cast<std::size_t>(worker)];
    GridFrame grid;
    forecast.Reset(info.shape, history.id, history.samples.back().t_ns, info.dt_s);
    forecast.quality = Quality::kFallback;
    if (!ReadHeadingGrid(history, params.grid, s, grid)) return;
    forecast.quality = Quality::kOk;
    const Neighbours found =
        params.library.Search(s.features, first[w.flight_index], first[w.flight_index + 1]);
    WriteNeighbours(params.library, found, grid, none, LookAt(history), forecast);
    for (std::size_t k = 0; k < found.size(); ++k) {
      driver[k] = static_cast<float>(Mismatch(found[k], grid));
    }
    nearest[static_cast<std::size_t>(&w - windows.data())] = found[0].distance2;
  };
  const Errors errors = MeasureErrors(windows, options, info, forecasting);
  params.spread = FitSpread(errors, 1, options.threads)[0];
  params.far2 = *std::max_element(nearest.begin(), nearest.end());
}

Made FitKnn(std::span<const FlightWindows> train, const FitOptions& options) {
  KnnParams params;
  params.grid = MakeGrid(options.spec, options.knn_per_speed);
  ForecasterInfo info = MakeInfo("knn", options.spec);
  info.description = "futures of the 4 nearest train windows in the heading frame";
  info.shape.modes = kNeighbours;

  const Examples examples =
      MakeExamples(Gather(train, options.spec, options.library_windows), params.grid, options.spec);
  const std::vector<std::size_t> first = FirstOfFlights(examples, train.size());
  if (!EnoughOthers(first)) return TooFew("knn", examples.size(), train.size());
  params.library =
      WindowLibrary(static_cast<int>(examples.inputs), static_cast<int>(examples.outputs));
  for (std::size_t n = 0; n < examples.size(); ++n) {
    params.library.Add(examples.input(n), examples.output(n));
  }
  params.fallback = FitKinematicSpread("ctrv", train, options)[0];
  FitKnnSpread(Gather(train, options.spec, options.spread_windows), first, options, info, params);

  Fingerprint fingerprint("knn", options.spec);
  fingerprint.Add(params.library.blocks()), fingerprint.Add(params.library.futures());
  fingerprint.Add(std::span<const double>(&params.far2, 1));
  fingerprint.Add(params.spread), fingerprint.Add(params.fallback);
  info.fingerprint = fingerprint.Hex();
  return std::unique_ptr<Forecaster>(
      std::make_unique<KnnForecaster>(std::move(info), std::move(params)));
}

}  // namespace

std::vector<std::string_view> AllForecasterNames() {
  std::vector<std::string_view> names = ClassicalNames();
  names.insert(names.end(), {"ridge", "knn"});
  return names;
}

Made FitClassical(std::string_view name, std::span<const FlightWindows> train,
                  const FitOptions& options) {
  const std::vector<std::string_view> names = AllForecasterNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return Error{ErrorCode::kInvalidArgument, "no forecaster is called '" + std::string(name) +
                                                  "'; known are " + JoinNames(names)};
  }
  if (const Status valid = Validate(options.spec); !valid.ok()) return valid.error();
  std::size_t windows = 0, flights = 0;
  for (const FlightWindows& f : train) windows += f.t0.size(), flights += !f.t0.empty();
  const bool learns = name == "ridge" || name == "knn";
  if (windows < kFewestWindows || (learns && flights < 2)) return TooFew(name, windows, flights);
  if (name == "ridge") return FitRidge(train, options);
  if (name == "knn") return FitKnn(train, options);
  return FitKinematic(name, train, options);
}

}  // namespace aerocast
