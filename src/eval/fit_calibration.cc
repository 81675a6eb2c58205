// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_calibration.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/eval/calibration_rows.h"
#include "src/eval/rounding.h"

namespace aerocast {
namespace {

// Weight of roughness and temperature against the relative CRPS, divided by the number of flights.
constexpr double kSmoothness = 0.02;
// A tail is kept when it lowers the objective by this much.
constexpr double kTailGain = 2e-4;
// The CRPS hardly sees tails; a little of the log score does, and costs the CRPS next to nothing.
constexpr double kLogScore = 0.1;
constexpr double kTailShare = 0.1, kTailFactor = 2.5;  // to start from
constexpr double kFirstStep = 0.3, kLastStep = 0.01;   // of a logarithm
constexpr int kSweeps = 8;
constexpr double kMostSlope = 0.9;    // of the vagueness
constexpr double kVagueShare = 0.05;  // of the windows lies beyond each end of its range
constexpr double kLeastGain = 1e-4;   // of a sweep that is worth another

struct Range {
  double low, high;
  double Clamp(double v) const { return std::clamp(v, std::log(low), std::log(high)); }
};
constexpr Range kScales = {0.02, 50}, kTemperatures = {0.1, 10}, kShares = {0.01, 0.4},
                kFactors = {1.2, 8};

// What is moved together: one number, or the scales of a direction, or all of them.
struct Coordinate {
  enum Kind { kScale, kTemperature, kShare, kFactor, kVague } kind = kScale;
  int direction = -1;  // -1: all
  int knot = -1;       // -1: all
};

void MoveScales(const Coordinate& c, double by, CalibrationParameters& p) {
  for (int d = 0; d < 3; ++d) {
    std::vector<double>& scale = p.log_scale[static_cast<std::size_t>(d)];
    for (int g = 0; g < static_cast<int>(scale.size()); ++g) {
      if ((c.direction >= 0 && c.direction != d) || (c.knot >= 0 && c.knot != g)) continue;
      double& s = scale[static_cast<std::size_t>(g)];
      s = kScales.Clamp(s + by);
    }
  }
}

void Move(const Coordinate& c, double by, CalibrationParameters& p) {
  if (c.kind == Coordinate::kScale) MoveScales(c, by, p);
  if (c.kind == Coordinate::kTemperature) {
    p.log_temperature = kTemperatures.Clamp(p.log_temperature + by);
  }
  if (c.kind == Coordinate::kShare) p.log_share = kShares.Clamp(p.log_share + by);
  if (c.kind == Coordinate::kVague) {
    p.vague_slope = std::clamp(p.vague_slope + by, -kMostSlope, kMostSlope);
  }
  if (c.kind == Coordinate::kFactor) p.log_factor = kFactors.Clamp(p.log_factor + by);
}

std::vector<Coordinate> AllCoordinates(bool tail, int knots) {
  std::vector<Coordinate> all = {
      {Coordinate::kTemperature}, {Coordinate::kScale}, {Coordinate::kVague}};
  if (tail) all.push_back({Coordinate::kShare}), all.push_back({Coordinate::kFactor});
  for (int d = 0; d < 3; ++d) all.push_back({Coordinate::kScale, d, -1});
  for (int d = 0; d < 3; ++d) {
    for (int g = 0; g < knots; ++g) all.push_back({Coordinate::kScale, d, g});
  }
  return all;
}

// The scores of the used windows as a function of the parameters, and their descent, one coordinate
// at a time.
class Descent {
 public:
  Descent(const CalibrationRows& rows, const std::vector<bool>& used, int threads)
      : rows_(rows), threads_(threads) {
    std::vector<double> count(rows.flights());
    for (std::size_t n = 0; n < rows.windows(); ++n) count[rows.flight(n)] += 1;
    flights_ = static_cast<double>(std::count(used.begin(), used.end(), true));
    for (std::size_t n = 0; n < rows.windows(); ++n) {
      if (!used[rows.flight(n)]) continue;
      index_.push_back(n), share_.push_back(1 / (flights_ * count[rows.flight(n)]));
    }
    SetVagueRange();
    for (auto& scale : now_.p.log_scale) scale.assign(rows.knot_s().size(), 0);
    now_.axis.resize(rows.steps());
    ScoreAll();
    for (const AxisScores& a : now_.axis) base_.push_back(a.crps[0] + a.crps[1] + a.crps[2]);
    now_.value = Value(now_);
  }

  const CalibrationParameters& parameters() const { return now_.p; }
  double value() const { return now_.value; }

  // All scales together over a wide range, for networks that are wrong by a large factor.
  void Search() {
    for (const double by : {1.0, -1.0, 0.5, -0.5}) {
      for (State next = Tried({}, by); next.value < now_.value; next = Tried({}, by)) now_ = next;
    }
  }

  void AddTail() {
    now_.p.tail = true;
    now_.p.log_share = std::log(kTailShare), now_.p.log_factor = std::log(kTailFactor);
    ScoreAll();
    now_.value = Value(now_);
  }

  void Descend() {
    const std::vector<Coordinate> all =
        AllCoordinates(now_.p.tail, static_cast<int>(rows_.knot_s().size()));
    std::vector<double> step(all.size(), kFirstStep);
    double before = now_.value + 1;
    for (int sweep = 0; sweep < kSweeps && before - now_.value > kLeastGain; ++sweep) {
      before = now_.value;
      for (std::size_t c = 0; c < all.size(); ++c) {
        if (step[c] >= kLastStep) step[c] = Improve(all[c], step[c]);
      }
    }
  }

 private:
  struct State {
    CalibrationParameters p;
    std::vector<double> weight;    // (used, K), at the temperature
    std::vector<AxisScores> axis;  // (J)
    double value = 0;
  };

  void SetVagueRange() {
    std::vector<double> z;
    for (const std::size_t n : index_) z.push_back(rows_.vagueness(n));
    std::sort(z.begin(), z.end());
    const auto beyond = static_cast<std::size_t>(kVagueShare * static_cast<double>(z.size()));
    now_.p.vague_low = RoundDigits(std::clamp(z[beyond], -20.0, 20.0));
    now_.p.vague_high = RoundDigits(std::clamp(z[z.size() - 1 - beyond], -20.0, 20.0));
  }

  void ScoreAll() {
    now_.weight = rows_.Weights(index_, now_.p.log_temperature);
    Score(now_, {Coordinate::kTemperature});
  }

  // A parabola through three points; the best point seen is taken. Returns the next step's size.
  double Improve(const Coordinate& c, double h) {
    State low = Tried(c, -h), high = Tried(c, h);
    const double bend = low.value - 2 * now_.value + high.value;
    const double slope = high.value - low.value;
    const double by = bend > 0 ? std::clamp(-h * slope / (2 * bend), -2 * h, 2 * h)
                               : std::copysign(2 * h, -slope);
    State vertex = Tried(c, by);
    double moved = 0;
    const auto take = [&](State& state, double size) {
      if (state.value < now_.value) now_ = std::move(state), moved = size;
    };
    take(vertex, std::abs(by)), take(low, h), take(high, h);
    return std::clamp(moved, h / 4, 2 * h);
  }

  State Tried(const Coordinate& c, double by) {
    State state = now_;
    Move(c, by, state.p);
    if (c.kind == Coordinate::kTemperature) {
      state.weight = rows_.Weights(index_, state.p.log_temperature);
    }
    Score(state, c);
    state.value = Value(state);
    return state;
  }

  // The steps and axes that the coordinate touches.
  void Score(State& s, const Coordinate& c) {
    const bool scale = c.kind == Coordinate::kScale;
    const bool horizontal = !scale || c.direction != 2;
    const bool vertical = !scale || c.direction == 2 || c.direction < 0;
    ParallelFor(rows_.steps(), threads_, [&](std::size_t j, int) {
      if (scale && c.knot >= 0 && rows_.hat(j, static_cast<std::size_t>(c.knot)) == 0) return;
      const AxisScores fresh = rows_.Score(j, s.p, index_, share_, s.weight, horizontal, vertical);
      for (std::size_t d = 0; d < 3; ++d) {
        if (d < 2 ? !horizontal : !vertical) continue;
        s.axis[j].crps[d] = fresh.crps[d], s.axis[j].log_score[d] = fresh.log_score[d];
      }
    });
  }

  // CRPS relative to the raw forecasts' and some log score, mean of the steps, and what few flights
  // should not decide.
  double Value(const State& s) const {
    double sum = 0, rough = s.p.log_temperature * s.p.log_temperature;
    rough += s.p.vague_slope * s.p.vague_slope;
    for (std::size_t j = 0; j < base_.size(); ++j) {
      for (std::size_t d = 0; d < 3; ++d) {
        sum += s.axis[j].crps[d] / std::max(base_[j], 1e-12);
        sum += kLogScore * s.axis[j].log_score[d];
      }
    }
    for (const std::vector<double>& scale : s.p.log_scale) {
      for (std::size_t g = 2; g < scale.size(); ++g) {
        const double bend = scale[g] - 2 * scale[g - 1] + scale[g - 2];
        rough += bend * bend;
      }
    }
    return sum / static_cast<double>(base_.size()) + kSmoothness / flights_ * rough;
  }

  const CalibrationRows& rows_;
  int threads_;
  double flights_ = 0;
  std::vector<std::size_t> index_;  // of the used windows
  std::vector<double> share_;       // of each in the mean
  std::vector<double> base_;        // (J), CRPS of the raw forecasts
  State now_;
};

Calibration ToCalibration(const CalibrationRows& rows, const CalibrationParameters& p) {
  Calibration c;
  c.knot_s.assign(rows.knot_s().begin(), rows.knot_s().end());
  c.temperature = RoundDigits(std::exp(p.log_temperature));
  for (std::size_t d = 0; d < 3; ++d) {
    for (const double s : p.log_scale[d]) c.scale[d].push_back(RoundDigits(std::exp(s)));
  }
  c.vague_slope = RoundDigits(p.vague_slope);
  c.vague_low = p.vague_low, c.vague_high = p.vague_high;
  if (p.tail) c.tail_share = RoundDigits(std::exp(p.log_share));
  if (p.tail) c.tail_factor = RoundDigits(std::exp(p.log_factor));
  return c;
}

}  // namespace

CalibrationFit::CalibrationFit(const CalibrationWindows& windows, std::size_t per_flight)
    : rows_(std::make_unique<CalibrationRows>(windows, per_flight)) {}
CalibrationFit::~CalibrationFit() = default;

Calibration CalibrationFit::FitSpread(const std::vector<bool>& used, int threads) const {
  AEROCAST_CHECK(used.size() == rows_->flights() && std::count(used.begin(), used.end(), true) > 0);
  Descent descent(*rows_, used, threads);
  descent.Search();
  descent.Descend();
  const CalibrationParameters single = descent.parameters();
  const double without = descent.value();
  if (2 * rows_->modes() > kMaxModes) return ToCalibration(*rows_, single);
  descent.AddTail();
  descent.Descend();
  const bool better = descent.value() < without - kTailGain;
  return ToCalibration(*rows_, better ? descent.parameters() : single);
}

Result<Calibration> FitCalibration(const CalibrationWindows& windows,
                                   const CalibrationFitOptions& options) {
  if (windows.windows.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "there is no window that the network can answer, so nothing to calibrate on"};
  }
  const std::vector<bool> used(windows.flights.size(), true);
  Calibration c = CalibrationFit(windows).FitSpread(used, options.threads);
  const std::vector<Forecast> calibrated = ApplyCalibration(windows, c, options.threads);
  FitRegions(windows, calibrated, used, options.levels, c);
  FitResiduals(windows, calibrated, options.residual_paths, c);
  FitDomain(windows, options.kept, c);
  c.origin.windows = windows.windows.size();
  return c;
}

}  // namespace aerocast
