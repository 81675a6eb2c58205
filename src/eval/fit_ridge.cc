// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/base/parallel.h"
#include "src/eval/fit_internal.h"
#include "src/forecast/ridge.h"

namespace aerocast {
namespace {

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

constexpr std::size_t kFolds = 5;

// The fold of every cluster: those that have examples in turn, so that no two of fewer than six
// share one. Of a cluster without examples nothing was learnt, and any fold will do.
std::vector<std::size_t> MakeFolds(const FitExamples& examples, std::size_t clusters) {
  std::vector<std::size_t> fold(clusters, 0);
  std::size_t next = 0;
  for (std::size_t n = 0; n < examples.size(); ++n) {
    if (n > 0 && examples.cluster[n] == examples.cluster[n - 1]) continue;
    fold[examples.cluster[n]] = next++ % kFolds;
  }
  return fold;
}

struct RidgeFit {
  std::vector<std::size_t> fold;              // (clusters)
  std::vector<double> weights;                // of all examples
  std::vector<std::vector<double>> left_out;  // (folds), without the fold's clusters
  double lambda = 0;
};

RidgeFit FitRidgeWeights(const FitExamples& examples, std::size_t clusters, int threads) {
  RidgeFit fit;
  fit.fold = MakeFolds(examples, clusters);
  std::vector<Moments> fold(kFolds, Moments(examples.inputs, examples.outputs));
  ParallelFor(kFolds, threads, [&](std::size_t f, int) {
    for (std::size_t n = 0; n < examples.size(); ++n) {
      if (fit.fold[examples.cluster[n]] != f) continue;
      const double s = examples.scale[n];
      fold[f].Add(examples.input(n), examples.output(n), s * s);
    }
  });
  Moments all(examples.inputs, examples.outputs);
  for (const Moments& m : fold) all.Add(m, 1);
  std::vector<Moments> others(kFolds, all);
  for (std::size_t f = 0; f < kFolds; ++f) others[f].Add(fold[f], -1);

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

// Every window's error is that of the fold that has not seen its cluster.
Spread FitRidgeSpread(const RidgeFit& fit, std::span<const FitWindow> windows,
                      const FitOptions& options, const ForecasterInfo& info,
                      const RidgeParams& params) {
  std::vector<std::unique_ptr<Forecaster>> bare;
  for (const std::vector<double>& weights : fit.left_out) {
    RidgeParams fold = params;
    fold.weights = weights, fold.spread = NoiseOnlySpread(info.shape.steps);
    bare.push_back(std::make_unique<RidgeForecaster>(info, std::move(fold)));
  }
  std::vector<std::vector<std::unique_ptr<Workspace>>> workspaces;  // of each fold
  for (const auto& fold : bare) workspaces.push_back(MakeWorkspaces(*fold, options.threads));
  const auto forecasting = [&](const FitWindow& w, const History& history, int worker,
                               Forecast& forecast, std::span<float>) {
    const auto fold = fit.fold[w.cluster];
    bare[fold]->Predict(history, *workspaces[fold][static_cast<std::size_t>(worker)], forecast);
  };
  const PathErrors errors =
      MeasureErrors(Thin(windows, options.spread_windows), options, info, forecasting);
  return FitSpread(errors, 1, options.threads)[0];
}

}  // namespace

Result<std::unique_ptr<Forecaster>> FitRidge(std::span<const FitWindow> windows,
                                             const FitOptions& options) {
  const Result<GridWindows> read =
      ReadGridWindows("ridge", windows, options.ridge_per_speed, options);
  if (!read.ok()) return read.error();
  RidgeParams params;
  params.grid = read->grid;
  ForecasterInfo info = MakeFitInfo("ridge", options.spec);
  info.description = "linear regression on the last 2 s in the heading frame";
  info.history_s = GridHistoryS(params.grid);
  const RidgeFit fit = FitRidgeWeights(read->examples, windows.back().cluster + 1, options.threads);
  params.fallback = FitKinematicSpread("ctrv", windows, options)[0];
  params.spread = FitRidgeSpread(fit, read->windows, options, info, params);
  params.weights = fit.weights;

  FitFingerprint fingerprint("ridge", options.spec);
  fingerprint.Add(std::span<const double>(params.weights));
  fingerprint.Add(params.spread), fingerprint.Add(params.fallback);
  info.fingerprint = fingerprint.Hex();
  return std::unique_ptr<Forecaster>(
      std::make_unique<RidgeForecaster>(std::move(info), std::move(params)));
}

}  // namespace aerocast
