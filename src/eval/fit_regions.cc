// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/eval/fit_calibration.h"
#include "src/eval/metrics.h"
#include "src/eval/rounding.h"
#include "src/forecast/calibrate.h"

namespace aerocast {
namespace {

// |target - point| in units of the forecast's spread, at every step.
std::vector<double> ErrorsInSpreads(const Forecast& forecast, std::span<const Vec3> targets) {
  std::vector<double> errors;
  for (int i = 0; i < forecast.steps(); ++i) {
    const double error = Norm(targets[static_cast<std::size_t>(i)] - forecast.point(i));
    errors.push_back(error / SpreadAboutPoint(forecast, i));
  }
  return errors;
}

// A region rounded up holds as much or more.
double RoundUp(double value) {
  return RoundDigits(value, [](double v) { return std::ceil(v); });
}

struct UsedErrors {
  std::vector<std::size_t> flight;          // (N)
  std::vector<std::vector<double>> errors;  // (N, S)
  std::vector<double> mean;                 // (S), every flight the same
};

UsedErrors MeasureUsed(const CalibrationWindows& windows, std::span<const Forecast> calibrated,
                       const std::vector<bool>& used) {
  UsedErrors all;
  std::vector<double> count(windows.flights.size());
  for (std::size_t n = 0; n < calibrated.size(); ++n) {
    const CalibrationWindow& w = windows.windows[n];
    if (!used[w.flight]) continue;
    count[w.flight] += 1;
    all.flight.push_back(w.flight);
    all.errors.push_back(ErrorsInSpreads(calibrated[n], w.targets));
  }
  const double flights = static_cast<double>(std::count(used.begin(), used.end(), true));
  all.mean.resize(all.errors[0].size());
  for (std::size_t n = 0; n < all.errors.size(); ++n) {
    const double share = 1 / (flights * count[all.flight[n]]);
    for (std::size_t i = 0; i < all.mean.size(); ++i) all.mean[i] += share * all.errors[n][i];
  }
  return all;
}

template <typename ScoreOf>
double QuantileOf(const UsedErrors& all, double level, const ScoreOf& score_of) {
  std::vector<FlightScore> scores;
  for (std::size_t n = 0; n < all.errors.size(); ++n) {
    scores.push_back({score_of(all.errors[n]), all.flight[n]});
  }
  return FlightQuantile(std::move(scores), level);
}

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

// Sorted scores, every flight with the same mass.
class PooledFlights {
 public:
  explicit PooledFlights(std::span<const FlightScore> scores) : scores_(scores) {
    for (const FlightScore& s : scores) count_.resize(std::max(count_.size(), s.flight + 1));
    for (const FlightScore& s : scores) count_[s.flight] += 1;
    for (std::size_t f = 0; f < count_.size(); ++f) {
      if (count_[f] > 0) flights_.push_back(f);
    }
  }

  const std::vector<std::size_t>& flights() const { return flights_; }

  // The smallest score with at least `share` of the mass at or below it, one flight left out.
  double Quantile(double share, std::size_t left_out) const {
    const double flights = static_cast<double>(flights_.size()) - (left_out == kNobody ? 0 : 1);
    double sum = 0, last = 0;
    for (const FlightScore& s : scores_) {
      if (s.flight == left_out) continue;
      last = s.score;
      if ((sum += 1 / (flights * count_[s.flight])) >= share - 1e-9) break;
    }
    return last;
  }

  // How much of a flight lies within the quantile of all others, on average over the flights.
  double HeldOfOthers(double share) const {
    double held = 0;
    for (const std::size_t f : flights_) {
      const double limit = Quantile(share, f);
      for (const FlightScore& s : scores_) {
        if (s.score > limit) break;
        if (s.flight == f) held += 1 / count_[f];
      }
    }
    return held / static_cast<double>(flights_.size());
  }

 private:
  std::span<const FlightScore> scores_;
  std::vector<double> count_;  // scores of every flight
  std::vector<std::size_t> flights_;
};

// Correlation of the residuals from one step to the next.
double StepCorrelation(std::span<const Vec3> residuals, std::size_t steps) {
  double cross = 0, square = 0;
  for (std::size_t at = 0; at < residuals.size(); at += steps) {
    for (std::size_t i = at + 1; i < at + steps; ++i) {
      const Vec3 &a = residuals[i - 1], &b = residuals[i];
      cross += Dot(a, b), square += (SquaredNorm(a) + SquaredNorm(b)) / 2;
    }
  }
  return square > 0 ? std::clamp(cross / square, 0.0, 0.9999) : 0.98;
}

int NearestWay(const Forecast& forecast, std::span<const Vec3> targets) {
  const int ways = forecast.paired_modes ? forecast.modes() / 2 : forecast.modes();
  int nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < ways; ++k) {
    double sum = 0;
    for (int i = 0; i < forecast.steps(); ++i) {
      sum += Norm(targets[static_cast<std::size_t>(i)] - forecast.mean(k, i));
    }
    if (sum < least) least = sum, nearest = k;
  }
  return nearest;
}

// In every direction and at every step the mean square becomes 1: the nearest of several modes is
// nearer than the mixture says, and samples shall be as wide as the mixture.
void Normalise(std::vector<Vec3>& residuals, std::size_t steps) {
  const double paths = static_cast<double>(residuals.size() / steps);
  for (std::size_t i = 0; i < steps; ++i) {
    for (double Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
      double square = 0;
      for (std::size_t at = i; at < residuals.size(); at += steps) {
        square += residuals[at].*axis * residuals[at].*axis;
      }
      const double rms = std::sqrt(square / paths);
      for (std::size_t at = i; at < residuals.size(); at += steps) {
        residuals[at].*axis = rms > 0 ? residuals[at].*axis / rms : 0;
      }
    }
  }
}

}  // namespace

double FlightQuantile(std::vector<FlightScore> scores, double level) {
  std::sort(scores.begin(), scores.end(),
            [](const FlightScore& a, const FlightScore& b) { return a.score < b.score; });
  const PooledFlights pool(scores);
  if (pool.flights().size() < 2) return pool.Quantile(level, kNobody);
  // The share that holds `level` of a flight that was left out: between these two.
  double low = 0, high = 1;
  for (int i = 0; i < 16; ++i) {
    const double share = (low + high) / 2;
    (pool.HeldOfOthers(share) >= level - 1e-9 ? high : low) = share;
  }
  return pool.Quantile(high, kNobody);
}

void FitRegions(const CalibrationWindows& windows, std::span<const Forecast> calibrated,
                const std::vector<bool>& used, std::span<const double> levels,
                Calibration& calibration) {
  AEROCAST_CHECK(calibrated.size() == windows.windows.size() && !calibrated.empty());
  Calibration& c = calibration;
  const UsedErrors all = MeasureUsed(windows, calibrated, used);
  const std::size_t steps = all.mean.size();
  c.origin.flight_count = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), true));
  c.level.clear(), c.radius.clear(), c.tube.clear(), c.shape.clear();
  for (const double level : levels) {
    if (EnoughFlights(c.origin.flight_count, level)) c.level.push_back(level);
  }
  if (c.level.empty()) return;
  for (const double mean : all.mean) c.shape.push_back(RoundUp(std::clamp(mean, 1e-6, 1e6)));
  for (const double level : c.level) {
    for (std::size_t i = 0; i < steps; ++i) {
      c.radius.push_back(RoundUp(
          QuantileOf(all, level, [i](const std::vector<double>& errors) { return errors[i]; })));
    }
    c.tube.push_back(RoundUp(QuantileOf(all, level, [&](const std::vector<double>& errors) {
      double most = 0;
      for (std::size_t i = 0; i < steps; ++i) most = std::max(most, errors[i] / c.shape[i]);
      return most;
    })));
  }
}

void FitResiduals(const CalibrationWindows& windows, std::span<const Forecast> calibrated,
                  int paths, Calibration& calibration) {
  const auto most = static_cast<std::size_t>(std::clamp(paths, 0, kMostResidualPaths));
  const std::size_t flights = std::max<std::size_t>(1, windows.flights.size());
  std::vector<std::size_t> chosen =
      ChooseWindows(windows, most == 0 ? 0 : std::max<std::size_t>(1, most / flights));
  chosen.resize(std::min(chosen.size(), most));
  calibration.residual_paths = static_cast<int>(chosen.size());
  calibration.residuals.clear();
  if (chosen.empty()) return;
  const auto steps = static_cast<std::size_t>(calibrated[0].steps());
  std::vector<Vec3> residuals(chosen.size() * steps);
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const Forecast& f = calibrated[chosen[n]];
    const std::vector<Vec3>& targets = windows.windows[chosen[n]].targets;
    WhitenResidual(f, NearestWay(f, targets), targets,
                   std::span(residuals).subspan(n * steps, steps));
  }
  Normalise(residuals, steps);
  for (const Vec3& r : residuals) {
    for (const double v : {r.x, r.y, r.z}) calibration.residuals.push_back(static_cast<float>(v));
  }
  calibration.residual_correlation = RoundDigits(StepCorrelation(residuals, steps));
}

std::vector<Forecast> ApplyCalibration(const CalibrationWindows& windows,
                                       const Calibration& calibration, int threads) {
  std::vector<Forecast> calibrated(windows.windows.size());
  if (calibrated.empty()) return calibrated;
  const Forecast& first = windows.windows[0].raw;
  const Calibrator calibrator(calibration, first.steps(), first.dt_s);
  ParallelFor(calibrated.size(), threads, [&](std::size_t n, int) {
    calibrated[n] = windows.windows[n].raw;
    calibrator.Apply(calibrated[n], windows.windows[n].log_seen);
  });
  return calibrated;
}

void FitDomain(const CalibrationWindows& windows, double kept, Calibration& calibration) {
  // Windows of one flight share its weight.
  std::vector<double> weight(windows.flights.size(), 0);
  for (const CalibrationWindow& w : windows.windows) weight[w.flight] += w.roughness ? 1 : 0;
  double mass = 0;
  Roughness mean = {}, square = {};
  for (const CalibrationWindow& w : windows.windows) {
    if (!w.roughness) continue;
    const double share = 1 / weight[w.flight];
    mass += share;
    for (std::size_t n = 0; n < mean.size(); ++n) {
      mean[n] += share * (*w.roughness)[n];
      square[n] += share * (*w.roughness)[n] * (*w.roughness)[n];
    }
  }
  calibration.domain_limit = 0;
  if (mass == 0) return;
  Roughness sigma;
  for (std::size_t n = 0; n < mean.size(); ++n) {
    mean[n] /= mass;
    sigma[n] = std::max(0.02, std::sqrt(std::max(0.0, square[n] / mass - mean[n] * mean[n])));
    mean[n] = RoundDigits(mean[n]), sigma[n] = RoundDigits(sigma[n]);
  }
  std::vector<std::pair<double, double>> scores;  // how much rougher, weight
  for (const CalibrationWindow& w : windows.windows) {
    if (!w.roughness) continue;
    scores.emplace_back(RougherBy(*w.roughness, mean, sigma), 1 / (weight[w.flight] * mass));
  }
  std::sort(scores.begin(), scores.end());
  double below = 0;
  for (const auto& [score, share] : scores) {
    calibration.domain_limit = score;
    if ((below += share) >= kept) break;
  }
  calibration.domain_mean = mean, calibration.domain_sigma = sigma;
  calibration.domain_limit = RoundDigits(std::max(calibration.domain_limit, 1.0));
}

}  // namespace aerocast
