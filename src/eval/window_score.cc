// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/window_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/eval/metrics.h"
#include "src/eval/normal.h"

namespace aerocast {
namespace {

constexpr double kMetricLevel = 0.9;  // of coverage_90, sharpness_90 and the conformal metrics

std::size_t Size(int i) { return static_cast<std::size_t>(i); }

// Mean and final distance of a path that is given step by step.
struct PathError {
  double ade = 0, fde = 0;
};
template <typename At>
PathError ErrorOf(At at, std::span<const Vec3> targets) {
  PathError error;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    error.fde = Norm(at(static_cast<int>(i)) - targets[i]);
    error.ade += error.fde;
  }
  error.ade /= static_cast<double>(targets.size());
  return error;
}

constexpr double kLeastVariance = 1e-18;  // a nanometre squared

}  // namespace

WindowScorer::WindowScorer(const TallyLayout& layout, const NormalPool& pool, int draws,
                           int path_samples)
    : layout_(layout), pool_(pool), draws_(draws), path_samples_(path_samples) {}

void WindowScorer::Score(const Forecast& forecast, const Outcome& outcome, Tally& tally) {
  AEROCAST_CHECK(forecast.steps() >= layout_.steps() && forecast.modes() <= kMaxModes);
  ++tally.scored;
  ScorePoint(forecast, outcome, tally);
  if (forecast.conformal.present()) ScoreConformal(forecast, outcome, tally);
  if (forecast.modes() == 0) return;
  ScoreModes(forecast, outcome, tally);
  if (path_samples_ > 0) ScoreSamples(forecast, outcome, tally);
  ScoreDensity(forecast, outcome, tally);
  if (forecast.displacement.present()) ScoreDisplacement(forecast, outcome, tally);
}

void WindowScorer::ScorePoint(const Forecast& forecast, const Outcome& outcome,
                              Tally& tally) const {
  double sum = 0, last = 0;
  for (int i = 0; i < layout_.steps(); ++i) {
    last = Norm(forecast.point(i) - outcome.targets[Size(i)]);
    tally.detail[layout_.error(i)] += last;
    sum += last;
  }
  tally.Count(layout_, Metric::kAde, sum / layout_.steps());
  tally.Count(layout_, Metric::kFde, last);
}

void WindowScorer::GatherWays(const Forecast& forecast, std::span<const Vec3> targets) {
  ways_.clear();
  const DisplacementMixture& d = forecast.displacement;
  if (!d.present()) {
    for (int k = 0; k < forecast.modes(); ++k) {
      const PathError error =
          ErrorOf([&](int i) -> const Vec3& { return forecast.mean(k, i); }, targets);
      ways_.push_back({k, error.ade, error.fde, forecast.way_weight(k)});
    }
    return;
  }
  for (int k = 0; k < d.components; ++k) {
    Vec3 p = d.anchor;
    double weight = 0;
    const PathError error = ErrorOf(
        [&](int i) {
          const std::size_t j = Size(i) * Size(d.components) + Size(k);
          weight += d.weight[j] / layout_.steps();
          return p += d.mean[j];
        },
        targets);
    ways_.push_back({k, error.ade, error.fde, weight});
  }
}

void WindowScorer::ScoreModes(const Forecast& forecast, const Outcome& outcome, Tally& tally) {
  GatherWays(forecast, outcome.targets);
  const auto first = [&](auto less) { return *std::min_element(ways_.begin(), ways_.end(), less); };
  const Way likely = first([](const Way& a, const Way& b) { return a.weight > b.weight; });
  const Way nearest = first([](const Way& a, const Way& b) { return a.ade < b.ade; });
  const Way ends_nearest = first([](const Way& a, const Way& b) { return a.fde < b.fde; });
  tally.Count(layout_, Metric::kAdeMode, likely.ade);
  tally.Count(layout_, Metric::kFdeMode, likely.fde);
  const PathError mean = ErrorOf([&](int i) { return forecast.mixture_mean(i); }, outcome.targets);
  tally.Count(layout_, Metric::kAdeMean, mean.ade);
  tally.Count(layout_, Metric::kFdeMean, mean.fde);
  tally.Count(layout_, Metric::kMinAdeModes, nearest.ade);
  tally.Count(layout_, Metric::kMinFdeModes, ends_nearest.fde);
  tally.Count(layout_, Metric::kBrierMinFde, BrierMinFde(ends_nearest.fde, ends_nearest.weight));
  tally.Count(layout_, Metric::kModeEntropy, forecast.mode_entropy());
  tally.metric[layout_.mode_use() + Size(std::min(nearest.index, kMaxModes - 1))] += 1;
}

void WindowScorer::ScoreSamples(const Forecast& forecast, const Outcome& outcome, Tally& tally) {
  const std::size_t stride = Size(forecast.steps());
  paths_.resize(Size(path_samples_) * stride);
  forecast.SamplePaths(outcome.key, path_samples_, paths_);
  PathError best{1e300, 1e300};
  for (std::size_t n = 0; n < Size(path_samples_); ++n) {
    const PathError error = ErrorOf(
        [&](int i) -> const Vec3& { return paths_[n * stride + Size(i)]; }, outcome.targets);
    best.ade = std::min(best.ade, error.ade), best.fde = std::min(best.fde, error.fde);
  }
  tally.Count(layout_, Metric::kMinAdeSamples, best.ade);
  tally.Count(layout_, Metric::kMinFdeSamples, best.fde);
}

StepMixture WindowScorer::Gather(const Forecast& forecast, int i) {
  weights_.clear(), means_.clear(), chols_.clear();
  for (int k = 0; k < forecast.modes(); ++k) {
    if (forecast.weight(k) <= 0) continue;  // a mode that cannot happen would only divide by zero
    weights_.push_back(forecast.weight(k));
    means_.push_back(forecast.mean(k, i));
    chols_.emplace_back(forecast.cov(k, i));
  }
  return {weights_, means_, chols_};
}

void WindowScorer::ScoreDensity(const Forecast& forecast, const Outcome& outcome, Tally& tally) {
  double nll = 0, crps = 0, energy = 0;
  int h = 0;
  for (int i = 0; i < layout_.steps(); ++i) {
    const Vec3& y = outcome.targets[Size(i)];
    const StepMixture mixture = Gather(forecast, i);
    draws_.Draw(mixture, y, pool_, Mix64(outcome.key + Size(i)));
    nll += StepNll(mixture, y);
    crps += StepCrps(forecast, i, y);
    energy += draws_.Energy();
    if (h < layout_.horizons() && layout_.horizon_steps()[Size(h)] == i) {
      ScoreHorizon(forecast, mixture, h++, outcome, tally);
    }
  }
  tally.Count(layout_, Metric::kNllPosition, nll / layout_.steps());
  tally.Count(layout_, Metric::kCrpsPosition, crps / layout_.steps());
  tally.Count(layout_, Metric::kEnergy, energy / layout_.steps());
}

double WindowScorer::StepNll(const StepMixture& mixture, const Vec3& y) const {
  double highest = -std::numeric_limits<double>::infinity(), sum = 0;
  std::array<double, kMaxModes> term;
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) {
    const Cholesky3& l = mixture.chol[k];
    // One logarithm: the product of three spreads of at least 1e-100 m does not underflow.
    term[k] = std::log(mixture.weight[k] / (l.l00 * l.l11 * l.l22)) -
              0.5 * SquaredNorm(l.Whiten(y - mixture.mean[k]));
    highest = std::max(highest, term[k]);
  }
  if (mixture.weight.size() == 1) return 3 * kHalfLogTwoPi - highest;
  for (std::size_t k = 0; k < mixture.weight.size(); ++k) sum += std::exp(term[k] - highest);
  return 3 * kHalfLogTwoPi - highest - std::log(sum);
}

double WindowScorer::StepCrps(const Forecast& forecast, int i, const Vec3& y) {
  const double x = Project(forecast, i, {1, 0, 0}, y);
  const double px = MixtureCrps(forecast.weights(), m_, s_, x);
  const double v = Project(forecast, i, {0, 1, 0}, y);
  const double py = MixtureCrps(forecast.weights(), m_, s_, v);
  const double z = Project(forecast, i, {0, 0, 1}, y);
  return (px + py + MixtureCrps(forecast.weights(), m_, s_, z)) / 3;
}

// The marginal of step i along a unit vector into m_ and s_, relative to mode 0's mean; returns
// where the outcome is on that line.
double WindowScorer::Project(const Forecast& forecast, int i, const Vec3& direction,
                             const Vec3& y) {
  const Vec3& origin = forecast.mean(0, i);
  m_.clear(), s_.clear();
  for (int k = 0; k < forecast.modes(); ++k) {
    m_.push_back(Dot(forecast.mean(k, i) - origin, direction));
    // A very elongated covariance may round to a negative variance across its long axis.
    const double variance = VarianceAlong(forecast.cov(k, i), direction);
    s_.push_back(std::sqrt(std::max(variance, kLeastVariance)));
  }
  return Dot(y - origin, direction);
}

void WindowScorer::ScoreHorizon(const Forecast& forecast, const StepMixture& mixture, int h,
                                const Outcome& outcome, Tally& tally) {
  const int i = layout_.horizon_steps()[Size(h)];
  const Vec3& y = outcome.targets[Size(i)];
  tally.detail[layout_.distributions(h)] += 1;
  ScoreRegion(mixture, h, y, tally);
  const Cholesky3 whole(forecast.mixture_cov(i));
  const double radial = RadialCoverage(Norm(whole.Whiten(y - forecast.mixture_mean(i))));
  for (std::size_t l = 0; l < kCoverageLevels.size(); ++l) {
    if (radial <= kCoverageLevels[l]) tally.detail[layout_.radial(h) + l] += 1;
  }
  const double radius = draws_.Radius(forecast.point(i), kMetricLevel);
  tally.detail[layout_.sharpness(h)] += radius;
  tally.Count(layout_, Metric::kSharpness90, radius);
  ScorePit(forecast, h, outcome, tally);
}

// How far inside the mixture's own highest-density regions the outcome is: in closed form for one
// Gaussian, by its rank among the draws otherwise.
void WindowScorer::ScoreRegion(const StepMixture& mixture, int h, const Vec3& y, Tally& tally) {
  const bool single = mixture.weight.size() == 1;
  const double level =
      single ? RadialCoverage(Norm(mixture.chol[0].Whiten(y - mixture.mean[0]))) : 0;
  const int denser = single ? 0 : draws_.CountDenser(mixture);
  const auto inside = [&](double nominal) {
    if (single) return level <= nominal ? 1.0 : 0.0;
    return RegionShare(denser, draws_.draws(), nominal);
  };
  for (std::size_t l = 0; l < kCoverageLevels.size(); ++l) {
    tally.detail[layout_.region(h) + l] += inside(kCoverageLevels[l]);
  }
  for (int l = 0; l < kCalibrationLevels; ++l) {
    tally.metric[layout_.calibration(h) + Size(l)] += inside(CalibrationLevel(l));
  }
  tally.metric[layout_.calibration(h) + kCalibrationLevels] += 1;
  tally.Count(layout_, Metric::kCoverage90, inside(kMetricLevel));
}

void WindowScorer::ScorePit(const Forecast& forecast, int h, const Outcome& outcome, Tally& tally) {
  const int i = layout_.horizon_steps()[Size(h)];
  const std::array<Vec3, 3> axes = {outcome.heading * Vec3{1, 0, 0},
                                    outcome.heading * Vec3{0, 1, 0}, Vec3{0, 0, 1}};
  for (int axis = 0; axis < 3; ++axis) {
    const double at = Project(forecast, i, axes[Size(axis)], outcome.targets[Size(i)]);
    const double pit = MixturePit(forecast.weights(), m_, s_, at);
    const int bin = pit < 1 ? static_cast<int>(pit * kPitBins) : kPitBins - 1;
    tally.detail[layout_.pit(h, axis) + Size(bin)] += 1;
  }
}

// The marginal of a step's displacement mixture along one axis, relative to component 0, into m_
// and s_. Returns mean and sigma of that marginal.
std::pair<double, double> WindowScorer::DisplacementAxis(const DisplacementMixture& d,
                                                         std::size_t row, double Vec3::*axis) {
  const std::size_t n = Size(d.components);
  double mean = 0, square = 0;
  m_.clear(), s_.clear();
  for (std::size_t k = row; k < row + n; ++k) {
    const double m = d.mean[k].*axis - d.mean[row].*axis, s = d.sigma[k].*axis;
    m_.push_back(m), s_.push_back(s);
    mean += d.weight[k] * m, square += d.weight[k] * (m * m + s * s);
  }
  return {mean, std::sqrt(std::max(square - mean * mean, 1e-300))};
}

void WindowScorer::ScoreDisplacement(const Forecast& forecast, const Outcome& outcome,
                                     Tally& tally) {
  const DisplacementMixture& d = forecast.displacement;
  const std::size_t n = Size(d.components);
  const double steps = layout_.steps(), floor = d.sigma_floor_m * (1 + 1e-6);
  double nll = 0, crps = 0, at_floor = 0;
  for (std::size_t i = 0; i < outcome.targets.size(); ++i) {
    const Vec3 y = outcome.targets[i] - (i == 0 ? outcome.start : outcome.targets[i - 1]);
    const std::size_t row = i * n;
    const auto weight = std::span(d.weight).subspan(row, n);
    nll += DiagonalMixtureNll(weight, std::span(d.mean).subspan(row, n),
                              std::span(d.sigma).subspan(row, n), y);
    const Vec3& heaviest =
        d.sigma[row + Size(static_cast<int>(std::max_element(weight.begin(), weight.end()) -
                                            weight.begin()))];
    for (double Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
      const auto [mean, sigma] = DisplacementAxis(d, row, axis);
      const double at = y.*axis - d.mean[row].*axis;
      crps += MixtureCrps(weight, m_, s_, at) / 3;
      CountPaperZ(std::abs(at - mean) / sigma, tally);
      if (heaviest.*axis <= floor) at_floor += 1.0 / 3;
    }
  }
  tally.Count(layout_, Metric::kNllDisplacement, nll / steps);
  tally.Count(layout_, Metric::kNllDisplacementLambda, nll / steps - 3 * std::log(d.scale_m));
  tally.Count(layout_, Metric::kCrpsDisplacement, crps / steps);
  tally.Count(layout_, Metric::kSigmaFloorShare, at_floor / steps);
}

void WindowScorer::CountPaperZ(double z, Tally& tally) const {
  for (int l = kPaperZ - 1; l >= 0 && z <= PaperZ(l); --l) {
    tally.metric[layout_.paper_z() + Size(l)] += 1;
  }
  tally.metric[layout_.paper_z() + kPaperZ] += 1;
}

void WindowScorer::ScoreConformal(const Forecast& forecast, const Outcome& outcome,
                                  Tally& tally) const {
  const ConformalRegions& c = forecast.conformal;
  if (tally.conformal_level.empty()) tally.conformal_level = c.level;
  if (tally.conformal_level != c.level || c.level.size() > kMaxConformalLevels) {
    tally.mixed_levels = true;
    return;
  }
  const auto error = [&](int i) { return Norm(forecast.point(i) - outcome.targets[Size(i)]); };
  for (std::size_t l = 0; l < c.level.size(); ++l) {
    const bool metric = std::abs(c.level[l] - kMetricLevel) < 1e-9;
    for (int h = 0; h < layout_.horizons(); ++h) {
      const int i = layout_.horizon_steps()[Size(h)];
      const bool inside = error(i) <= c.radius[l * Size(forecast.steps()) + Size(i)];
      tally.detail[layout_.conformal(h) + l] += inside;
      if (metric) tally.Count(layout_, Metric::kConformalCoverage, inside);
    }
    if (!metric || l >= c.tube.size() || c.shape.empty()) continue;
    bool stays = true;
    for (int i = 0; i < layout_.steps(); ++i) stays &= error(i) <= c.tube[l] * c.shape[Size(i)];
    tally.Count(layout_, Metric::kTubeCoverage, stays);
  }
  for (int h = 0; h < layout_.horizons(); ++h) {
    tally.detail[layout_.conformal(h) + kMaxConformalLevels] += 1;
  }
}

void WindowScorer::ScoreConsistency(const Forecast& before, const Forecast& now,
                                    Tally& tally) const {
  const double shift = DurationS(now.t0_ns - before.t0_ns) / now.dt_s;  // in steps
  double sum = 0;
  int shared = 0;
  for (int i = 0; i < layout_.steps(); ++i) {
    const double u = i + shift;  // the same instant on the older path
    const int j = static_cast<int>(u);
    if (u < 0 || j + 1 > layout_.steps()) break;
    const double t = u - j;
    if (j + 1 == layout_.steps() && t > 1e-9) break;
    const Vec3& next = before.point(std::min(j + 1, layout_.steps() - 1));
    const Vec3 then = before.point(j) + (next - before.point(j)) * t;
    sum += Norm(now.point(i) - then), ++shared;
  }
  if (2 * shared < layout_.steps()) return;
  tally.Count(layout_, Metric::kConsistency, sum / shared);
}

}  // namespace aerocast
