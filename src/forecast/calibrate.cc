// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/calibrate.h"

#include <algorithm>
#include <cmath>

#include "aerocast/window.h"
#include "src/base/check.h"
#include "src/base/sha256.h"
#include "src/data/resample.h"

namespace aerocast {
namespace {

constexpr double kMostWidened = 3;

std::size_t Size(int n) { return static_cast<std::size_t>(n); }

// Linear between the knots, constant beyond them.
double LogFactor(const std::vector<double>& knots, const std::vector<double>& factors, double t) {
  const auto above = std::upper_bound(knots.begin(), knots.end(), t);
  if (above == knots.begin()) return std::log(factors.front());
  if (above == knots.end()) return std::log(factors.back());
  const std::size_t g = static_cast<std::size_t>(above - knots.begin());
  const double share = (t - knots[g - 1]) / (knots[g] - knots[g - 1]);
  return (1 - share) * std::log(factors[g - 1]) + share * std::log(factors[g]);
}

}  // namespace

PathScale::PathScale(const Vec3& log_factor, const PathDirection& direction) {
  const double clear = std::hypot(direction.cos2, direction.sin2);
  const double both = std::exp((log_factor.x + log_factor.y) / 2);
  const double half = (log_factor.x - log_factor.y) / 2, grown = std::exp(half * clear);
  const double cosh = (grown + 1 / grown) / 2;
  const double sinh = clear > 0 ? (grown - 1 / grown) / (2 * clear) : half;  // per length of Q
  xx = both * (cosh + sinh * direction.cos2);
  xy = both * sinh * direction.sin2;
  yy = both * (cosh - sinh * direction.cos2);
  zz = std::exp(log_factor.z);
}

Cov3 PathScale::Apply(const Cov3& c) const {
  const double axx = xx * c.xx + xy * c.xy, axy = xx * c.xy + xy * c.yy;  // M C
  const double ayx = xy * c.xx + yy * c.xy, ayy = xy * c.xy + yy * c.yy;
  return {axx * xx + axy * xy, axx * xy + axy * yy,          zz * (xx * c.xz + xy * c.yz),
          ayx * xy + ayy * yy, zz * (xy * c.xz + yy * c.yz), zz * zz * c.zz};
}

double SpreadAboutPoint(const Forecast& forecast, int i) {
  double square = 0;
  for (int k = 0; k < forecast.modes(); ++k) {
    const Cov3& c = forecast.cov(k, i);
    square += forecast.weight(k) *
              (c.xx + c.yy + c.zz + SquaredNorm(forecast.mean(k, i) - forecast.point(i)));
  }
  return std::sqrt(square / 3);
}

double Vagueness(const Forecast& forecast) {
  double square = 0, length = 0;
  for (int i = 0; i < forecast.steps(); ++i) {
    const double spread = SpreadAboutPoint(forecast, i);
    square += spread * spread;
    if (i > 0) length += Norm(forecast.point(i) - forecast.point(i - 1));
  }
  return std::log(std::sqrt(square / forecast.steps()) / std::max(length, 1e-12));
}

double LogSeen(const History& history, double history_s) {
  constexpr double kLeastS = 0.1;
  const std::span<const Observation> samples = history.samples;
  if (samples.empty()) return std::log(kLeastS);
  double seen_s = kLeastS;
  // From the newest back: a sample counts with a neighbour that the grid can be laid between.
  for (std::size_t i = samples.size() - 1; i-- > 0;) {
    const double age_s = DurationS(samples.back().t_ns - samples[i].t_ns);
    if (age_s > history_s + 1e-6) break;
    const double gap_s = DurationS(samples[i + 1].t_ns - samples[i].t_ns);
    if (gap_s <= WindowSpec{}.max_gap_s) seen_s = std::max(seen_s, age_s);
  }
  return std::log(seen_s);
}

Calibrator::Calibrator(const Calibration& calibration, int steps, double dt_s)
    : calibration_(calibration) {
  calibration_.residuals = {};
  const auto& scale = calibration.scale;
  for (int i = 0; i < steps; ++i) {
    const double t = (i + 1) * dt_s;
    log_scale_.push_back({LogFactor(calibration.knot_s, scale[0], t),
                          LogFactor(calibration.knot_s, scale[1], t),
                          LogFactor(calibration.knot_s, scale[2], t)});
  }
  if (calibration.residual_paths == 0) return;
  residuals_ = std::make_shared<ResidualLibrary>(
      ResidualLibrary{calibration.residual_paths, steps, calibration.residuals});
}

ForecastShape Calibrator::Shape(const ForecastShape& raw) const {
  ForecastShape shape = raw;
  if (calibration_.tail_share > 0 && 2 * raw.modes <= kMaxModes) shape.modes *= 2;
  shape.conformal_levels = static_cast<int>(calibration_.level.size());
  return shape;
}

void Calibrator::Apply(Forecast& forecast, double log_seen, double widened) const noexcept {
  AEROCAST_CHECK(Size(forecast.steps()) == log_scale_.size() && forecast.modes() > 0);
  double log_width = calibration_.seen.LogFactor(log_seen);
  if (calibration_.vague.slope != 0) {  // of the forecast as it was given
    log_width += calibration_.vague.LogFactor(Vagueness(forecast));
  }
  ApplyTemperature(forecast);
  ApplyScale(forecast, widened * std::exp(log_width));
  if (calibration_.tail_share > 0 && 2 * forecast.modes() <= kMaxModes) AddTails(forecast);
  WriteRegions(forecast);
  forecast.residual_correlation = calibration_.residual_correlation;
  forecast.residuals = residuals_;
}

void Calibrator::ApplyTemperature(Forecast& forecast) const {
  if (calibration_.temperature == 1) return;
  double sum = 0;
  for (int k = 0; k < forecast.modes(); ++k) {
    double& w = forecast.weight(k);
    sum += w = w > 0 ? std::exp(std::log(w) / calibration_.temperature) : 0;
  }
  for (int k = 0; k < forecast.modes(); ++k) forecast.weight(k) /= sum;
}

double Calibrator::BeyondDomain(const Roughness& roughness) const noexcept {
  const Calibration& c = calibration_;
  if (c.domain_limit == 0) return 0;
  return RougherBy(roughness, c.domain_mean, c.domain_sigma) / c.domain_limit;
}

void Calibrator::ApplyScale(Forecast& forecast, double widened) const {
  for (int k = 0; k < forecast.modes(); ++k) {
    for (int i = 0; i < forecast.steps(); ++i) {
      const PathScale scale(log_scale(i), DirectionAt(forecast, k, i));
      forecast.cov(k, i) = scale.Apply(forecast.cov(k, i)) * (widened * widened);
    }
  }
}

void Calibrator::AddTails(Forecast& forecast) const {
  const int narrow = forecast.modes();
  const double share = calibration_.tail_share, factor = calibration_.tail_factor;
  forecast.ResizeModes(2 * narrow);
  forecast.paired_modes = true;
  for (int k = 0; k < narrow; ++k) {
    forecast.weight(narrow + k) = share * forecast.weight(k);
    forecast.weight(k) *= 1 - share;
    for (int i = 0; i < forecast.steps(); ++i) {
      forecast.mean(narrow + k, i) = forecast.mean(k, i);
      forecast.cov(narrow + k, i) = forecast.cov(k, i) * (factor * factor);
    }
  }
}

void Calibrator::WriteRegions(Forecast& forecast) const {
  const Calibration& c = calibration_;
  ConformalRegions& regions = forecast.conformal;
  const std::size_t steps = log_scale_.size(), levels = c.level.size();
  regions.level = c.level, regions.radius = c.radius, regions.tube = c.tube;
  regions.shape = c.shape;
  if (levels == 0) return;
  for (std::size_t i = 0; i < steps; ++i) {
    const double u = SpreadAboutPoint(forecast, static_cast<int>(i));
    regions.shape[i] *= u;
    for (std::size_t l = 0; l < levels; ++l) regions.radius[l * steps + i] *= u;
  }
}

// Calls another forecaster and calibrates what it says. A friend of Forecaster: guarding input and
// output, done once, is this one's part.
class CalibratedForecaster final : public Forecaster {
 public:
  CalibratedForecaster(std::unique_ptr<Forecaster> raw, const Calibration& calibration,
                       const Calibrator& calibrator)
      : Forecaster(CalibratedInfo(raw->info(), calibration, calibrator)),
        raw_(std::move(raw)),
        calibrator_(calibrator) {}

 private:
  struct CalibratedWorkspace final : Workspace {
    std::unique_ptr<Workspace> raw;
    std::array<Vec3, kRoughnessPoints> grid;
    std::array<std::uint8_t, kRoughnessPoints> present;
  };

  static ForecasterInfo CalibratedInfo(ForecasterInfo info, const Calibration& calibration,
                                       const Calibrator& calibrator) {
    info.description += ", calibrated";
    info.fingerprint += "-calibrated-" + Sha256Hex(ToJson(calibration)).substr(0, 12);
    info.shape = calibrator.Shape(info.shape);
    return info;
  }

  std::unique_ptr<Workspace> DoMakeWorkspace(int threads) const override {
    auto workspace = std::make_unique<CalibratedWorkspace>();
    workspace->raw = raw_->MakeWorkspace(threads);
    return workspace;
  }

  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept override {
    Task task = {history, &forecast};
    DoPredictTasks({&task, 1}, workspace);
    return task.quality;
  }

  void DoPredictTasks(std::span<Task> tasks, Workspace& workspace) const noexcept override {
    for (Task& task : tasks) {
      Forecast& f = *task.forecast;
      f.Reset(raw_->info().shape, task.history.id, f.t0_ns, f.dt_s);
    }
    auto& scratch = static_cast<CalibratedWorkspace&>(workspace);
    raw_->DoPredictTasks(tasks, *scratch.raw);
    for (Task& task : tasks) {
      if (task.quality >= Quality::kFallback) continue;
      const double beyond = BeyondDomain(task.history, scratch);
      calibrator_.Apply(*task.forecast, LogSeen(task.history, info().history_s),
                        std::clamp(beyond, 1.0, kMostWidened));
      if (beyond > 1) task.quality = std::max(task.quality, Quality::kOutOfDomain);
    }
  }

  double BeyondDomain(const History& history, CalibratedWorkspace& scratch) const noexcept {
    ResampleHistory(history, info().dt_s, WindowSpec{}.max_gap_s, scratch.grid, scratch.present);
    Roughness roughness;
    const bool measured =
        MeasureRoughness(scratch.grid, scratch.present, history.noise_m, roughness);
    return measured ? calibrator_.BeyondDomain(roughness) : 0;
  }

  std::unique_ptr<Forecaster> raw_;
  Calibrator calibrator_;
};

std::unique_ptr<Forecaster> MakeCalibrated(std::unique_ptr<Forecaster> forecaster,
                                           const Calibration& calibration) {
  const ForecasterInfo& info = forecaster->info();
  const Calibrator calibrator(calibration, info.shape.steps, info.dt_s);
  return std::make_unique<CalibratedForecaster>(std::move(forecaster), calibration, calibrator);
}

}  // namespace aerocast
