// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/redraw.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/base/rng.h"
#include "src/eval/fit_calibration.h"
#include "src/eval/forecast_draws.h"
#include "src/eval/metrics.h"

namespace aerocast {
namespace {

std::size_t Size(int n) { return static_cast<std::size_t>(n); }

std::vector<bool> DrawFlights(std::size_t flights, std::size_t chosen, Rng rng) {
  std::vector<std::size_t> order(flights);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = flights; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  std::vector<bool> used(flights);
  for (std::size_t i = 0; i < chosen; ++i) used[order[i]] = true;
  return used;
}

// Sums over test windows, per whole second H.
struct Judgement {
  explicit Judgement(std::size_t horizons)
      : region(horizons),
        ball(horizons),
        radius(horizons),
        sharpness(horizons),
        inside(horizons, std::vector<double>(kCalibrationLevels)) {}

  std::vector<double> region, ball, radius, sharpness;  // (H)
  std::vector<std::vector<double>> inside;              // (H, kCalibrationLevels)
  double tube = 0;
  bool has_ball = false;
};

class Judge {
 public:
  Judge(const NormalPool& pool, const RedrawOptions& options)
      : level_(options.level), draws_(pool, options.draws) {}

  // Adds a window of this share to the sums.
  void Add(const Forecast& f, const CalibrationWindow& w, std::span<const int> steps, double share,
           Judgement& sum) {
    for (std::size_t h = 0; h < steps.size(); ++h) {
      const int i = steps[h];
      const Vec3& y = w.targets[Size(i)];
      const int denser = draws_.CountDenser(f, i, y, w.key);
      sum.region[h] += share * RegionShare(denser, draws_.count(), level_);
      for (int l = 0; l < kCalibrationLevels; ++l) {
        sum.inside[h][Size(l)] += share * RegionShare(denser, draws_.count(), CalibrationLevel(l));
      }
      sum.sharpness[h] += share * draws_.Radius(f.point(i), level_);
      if (!f.conformal.present()) continue;
      const double radius = f.conformal.radius[Size(i)];  // the only level
      sum.radius[h] += share * radius;
      if (Norm(f.point(i) - y) <= radius) sum.ball[h] += share;
    }
    if (!f.conformal.present()) return;
    sum.has_ball = true;
    bool stays = true;
    for (int i = 0; i < f.steps(); ++i) {
      const double radius = f.conformal.tube[0] * f.conformal.shape[Size(i)];
      stays &= Norm(f.point(i) - w.targets[Size(i)]) <= radius;
    }
    if (stays) sum.tube += share;
  }

 private:
  double level_;
  ForecastDraws draws_;
};

using Curves = std::vector<std::vector<double>>;  // (H, kCalibrationLevels)

double EceOf(const Curves& inside) {
  std::vector<double> nominal;
  for (int l = 0; l < kCalibrationLevels; ++l) nominal.push_back(CalibrationLevel(l));
  double ece = 0;
  for (const std::vector<double>& curve : inside) ece += CalibrationError(curve, nominal);
  return ece / static_cast<double>(inside.size());
}

// What the redraws hold on average.
Curves MeanCurves(const std::vector<std::vector<Judgement>>& all, std::size_t history) {
  Curves mean = all[0][history].inside;
  for (std::size_t h = 0; h < mean.size(); ++h) {
    for (std::size_t l = 0; l < mean[h].size(); ++l) {
      mean[h][l] = 0;
      for (const auto& judged : all) {
        mean[h][l] += judged[history].inside[h][l] / static_cast<double>(all.size());
      }
    }
  }
  return mean;
}

// One judgement per history.
std::vector<Judgement> JudgeOne(const CalibrationWindows& windows, const CalibrationFit& fit,
                                const std::vector<bool>& used, const NormalPool& pool,
                                const RedrawOptions& options) {
  Calibration calibration = fit.FitSpread(used, 1);
  std::vector<Forecast> calibrated = ApplyCalibration(windows, calibration, 1);
  const double levels[] = {options.level};
  FitRegions(windows, calibrated, used, levels, calibration);
  calibrated = ApplyCalibration(windows, calibration, 1);  // now with regions
  const std::vector<int> steps = WholeSeconds(windows.windows[0].raw);
  const std::size_t histories = windows.histories_s.size();
  std::vector<double> count(windows.flights.size() * histories), tested(histories);
  const auto row = [&](const CalibrationWindow& w) { return w.flight * histories + w.history; };
  for (const CalibrationWindow& w : windows.windows) {
    if (used[w.flight]) continue;
    if (count[row(w)] == 0) tested[w.history] += 1;
    count[row(w)] += 1;
  }
  std::vector<Judgement> sums(histories, Judgement(steps.size()));
  Judge judge(pool, options);
  for (std::size_t n = 0; n < calibrated.size(); ++n) {
    const CalibrationWindow& w = windows.windows[n];
    if (used[w.flight]) continue;
    judge.Add(calibrated[n], w, steps, 1 / (tested[w.history] * count[row(w)]), sums[w.history]);
  }
  return sums;
}

double MeanOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

}  // namespace

double RedrawSeries::Mean() const { return MeanOf(values); }

double RedrawSeries::Deviation() const {
  const double mean = Mean();
  double square = 0;
  for (const double v : values) square += (v - mean) * (v - mean);
  return std::sqrt(square / std::max<double>(1, static_cast<double>(values.size()) - 1));
}

double RedrawSeries::Quantile(double share) const {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(rank);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (rank - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

RedrawResult RunRedraws(const CalibrationWindows& windows, const RedrawOptions& options) {
  const std::size_t flights = windows.flights.size();
  AEROCAST_CHECK(options.calibration_flights > 0 && options.calibration_flights < flights);
  const std::size_t histories = windows.histories_s.size();
  const CalibrationFit fit(windows);
  const NormalPool pool(options.seed);
  const std::vector<int> steps = WholeSeconds(windows.windows[0].raw);
  std::vector<std::vector<Judgement>> all(Size(options.redraws));
  std::mutex mutex;
  ParallelFor(all.size(), options.threads, [&](std::size_t r, int) {
    const std::vector<bool> used =
        DrawFlights(flights, options.calibration_flights, Rng(options.seed, r));
    all[r] = JudgeOne(windows, fit, used, pool, options);
    const std::scoped_lock lock(mutex);
    if (options.progress) options.progress();
  });

  RedrawResult result{flights, options.calibration_flights, windows.windows.size(), {}};
  const double dt_s = windows.windows[0].raw.dt_s;
  for (std::size_t history = 0; history < histories; ++history) {
    const auto add = [&](std::string key, double t_s, auto value) {
      RedrawSeries& series = result.series.emplace_back(
          RedrawSeries{std::move(key), windows.histories_s[history], t_s, {}});
      for (const auto& judged : all) series.values.push_back(value(judged[history]));
    };
    const bool ball = !all.empty() && all[0][history].has_ball;
    for (std::size_t h = 0; h < steps.size(); ++h) {
      const double t_s = (steps[h] + 1) * dt_s;
      add("region_coverage", t_s, [h](const Judgement& j) { return j.region[h]; });
      add("sharpness", t_s, [h](const Judgement& j) { return j.sharpness[h]; });
      if (ball) add("ball_coverage", t_s, [h](const Judgement& j) { return j.ball[h]; });
      if (ball) add("ball_radius", t_s, [h](const Judgement& j) { return j.radius[h]; });
    }
    add("region_coverage", 0, [](const Judgement& j) { return MeanOf(j.region); });
    add("sharpness", 0, [](const Judgement& j) { return MeanOf(j.sharpness); });
    if (ball) add("ball_coverage", 0, [](const Judgement& j) { return MeanOf(j.ball); });
    if (ball) add("ball_radius", 0, [](const Judgement& j) { return MeanOf(j.radius); });
    if (ball) add("tube_coverage", 0, [](const Judgement& j) { return j.tube; });
    add("ece_position", 0, [](const Judgement& j) { return EceOf(j.inside); });
    result.series.push_back({"ece_of_mean_coverage",
                             windows.histories_s[history],
                             0,
                             {EceOf(MeanCurves(all, history))}});
  }
  return result;
}

}  // namespace aerocast
