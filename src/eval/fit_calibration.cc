// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/fit_calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/check.h"
#include "src/base/parallel.h"
#include "src/eval/calibration_rows.h"
#include "src/eval/forecast_draws.h"
#include "src/eval/metrics.h"
#include "src/eval/rounding.h"
#include "src/forecast/calibrate.h"

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
// The place is found on every so manyth window of a flight (neighbours say nearly the same), then
// all of them are asked.
constexpr std::size_t kRoughly = 4;
constexpr int kFineSweeps = 1;
constexpr double kFineStep = 0.1;
constexpr double kMostSlope = 0.9;       // of the vagueness, and of how long an object was seen
constexpr double kSlopeShare = 0.05;     // of the windows lies beyond each end of their ranges
constexpr double kLeastSeenRange = 0.3;  // of logarithms: below it all have seen as much
constexpr double kLeastGain = 1e-4;      // of a sweep that is worth another
constexpr std::size_t kFolds = 3;        // that flights are left out in
constexpr int kFoldSweeps = 1;           // from where the fit on all flights ended
constexpr double kLeastWiden = -0.3, kMostWiden = 0.7, kWidenStep = 0.02;  // logarithms
constexpr std::array<double, 3> kWidenLevels = {0.5, 0.8, 0.9};
constexpr int kWidenDraws = 64;
constexpr std::uint64_t kWidenSeed = 1;

struct Range {
  double low, high;
  double Clamp(double v) const { return std::clamp(v, std::log(low), std::log(high)); }
};
constexpr Range kScales = {0.02, 50}, kTemperatures = {0.1, 10}, kShares = {0.01, 0.4},
                kFactors = {1.2, 8};

// What is moved together: one number, or the scales of a direction, or all of them.
struct Coordinate {
  enum Kind { kScale, kTemperature, kShare, kFactor, kVague, kSeen } kind = kScale;
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
  const auto tilt = [by](SpreadSlope& s) {
    s.slope = std::clamp(s.slope + by, -kMostSlope, kMostSlope);
  };
  if (c.kind == Coordinate::kVague) tilt(p.vague);
  if (c.kind == Coordinate::kSeen) tilt(p.seen);
  if (c.kind == Coordinate::kFactor) p.log_factor = kFactors.Clamp(p.log_factor + by);
}

std::vector<Coordinate> AllCoordinates(bool tail, bool seen, int knots) {
  std::vector<Coordinate> all = {
      {Coordinate::kTemperature}, {Coordinate::kScale}, {Coordinate::kVague}};
  if (seen) all.push_back({Coordinate::kSeen});
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
  // Of every flight, one in `every` windows.
  Descent(const CalibrationRows& rows, const std::vector<bool>& used, int threads,
          std::size_t every = 1)
      : rows_(rows), threads_(threads) {
    flights_ = static_cast<double>(std::count(used.begin(), used.end(), true));
    std::vector<std::size_t> met(rows.flights()), taken(rows.flights());
    for (std::size_t n = 0; n < rows.windows(); ++n) {
      const std::size_t f = rows.flight(n);
      if (!used[f] || met[f]++ % every != 0) continue;
      index_.push_back(n), taken[f] += 1;
    }
    for (const std::size_t n : index_) {
      share_.push_back(1 / (flights_ * static_cast<double>(taken[rows.flight(n)])));
    }
    SetRange(now_.p.vague, [&rows](std::size_t n) { return rows.vagueness(n); });
    SetRange(now_.p.seen, [&rows](std::size_t n) { return rows.log_seen(n); });
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

  // Goes on from parameters found elsewhere.
  void StartAt(const CalibrationParameters& p) {
    now_.p = p;
    ScoreAll();
    now_.value = Value(now_);
  }

  void Descend(int sweeps = kSweeps, double first_step = kFirstStep) {
    const std::vector<Coordinate> all =
        AllCoordinates(now_.p.tail, now_.p.seen.high - now_.p.seen.low > kLeastSeenRange,
                       static_cast<int>(rows_.knot_s().size()));
    std::vector<double> step(all.size(), first_step);
    double before = now_.value + 1;
    for (int sweep = 0; sweep < sweeps && before - now_.value > kLeastGain; ++sweep) {
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

  template <typename Of>
  void SetRange(SpreadSlope& slope, Of of) {
    std::vector<double> z;
    for (const std::size_t n : index_) z.push_back(of(n));
    std::sort(z.begin(), z.end());
    const auto beyond = static_cast<std::size_t>(kSlopeShare * static_cast<double>(z.size()));
    slope.low = RoundDigits(std::clamp(z[beyond], -20.0, 20.0));
    slope.high = RoundDigits(std::clamp(z[z.size() - 1 - beyond], -20.0, 20.0));
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
    rough += s.p.vague.slope * s.p.vague.slope + s.p.seen.slope * s.p.seen.slope;
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
  c.vague = p.vague, c.seen = p.seen;
  for (SpreadSlope* slope : {&c.vague, &c.seen}) slope->slope = RoundDigits(slope->slope);
  if (p.tail) c.tail_share = RoundDigits(std::exp(p.log_share));
  if (p.tail) c.tail_factor = RoundDigits(std::exp(p.log_factor));
  return c;
}

// Flight f of those used is in fold f % folds.
std::vector<bool> Fold(const std::vector<bool>& used, std::size_t fold, std::size_t folds) {
  std::vector<bool> in(used.size());
  std::size_t n = 0;
  for (std::size_t f = 0; f < used.size(); ++f) in[f] = used[f] && n++ % folds == fold;
  return in;
}

}  // namespace

CalibrationFit::CalibrationFit(const CalibrationWindows& windows)
    : windows_(windows), rows_(std::make_unique<CalibrationRows>(windows)) {}
CalibrationFit::~CalibrationFit() = default;

Calibration CalibrationFit::FitSpread(const std::vector<bool>& used, int threads) const {
  AEROCAST_CHECK(used.size() == rows_->flights() && std::count(used.begin(), used.end(), true) > 0);
  Descent rough(*rows_, used, threads, kRoughly), fine(*rows_, used, threads);
  const auto descend = [&] {
    rough.Descend();
    fine.StartAt(rough.parameters());
    fine.Descend(kFineSweeps, kFineStep);
  };
  rough.Search();
  descend();
  CalibrationParameters best = fine.parameters();
  if (2 * rows_->modes() <= kMaxModes) {
    const double without = fine.value();
    rough.AddTail();
    descend();
    if (fine.value() < without - kTailGain) best = fine.parameters();
  }
  MoveScales({}, Widening(used, best, threads), best);
  return ToCalibration(*rows_, best);
}

// Parameters are fitted without a fold of the flights, from where the fit on all of them ended, and
// judged on it. The common factor is taken with which the mixture's own regions hold on all folds
// together what they say, on average over the levels.
double CalibrationFit::Widening(const std::vector<bool>& used, const CalibrationParameters& fitted,
                                int threads) const {
  const auto flights = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  const std::size_t folds = std::min(kFolds, flights);
  if (folds < 2) return 0;
  std::vector<LeftOut> left_out;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<bool> in = Fold(used, fold, folds), rest = used;
    for (std::size_t f = 0; f < used.size(); ++f) rest[f] = rest[f] && !in[f];
    Descent fit(*rows_, rest, threads);
    fit.StartAt(fitted);
    fit.Descend(kFoldSweeps);
    left_out.push_back({std::move(in), ToCalibration(*rows_, fit.parameters())});
  }
  double low = kLeastWiden, high = kMostWiden;
  while (high - low > kWidenStep) {
    const double middle = (low + high) / 2;
    (HeldTooLittle(left_out, middle, threads) ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Whether regions that are wider by exp(by) hold less than they say, on flights left out.
bool CalibrationFit::HeldTooLittle(std::span<const LeftOut> left_out, double by,
                                   int threads) const {
  const std::vector<int> steps = WholeSeconds(windows_.windows[0].raw);
  const NormalPool pool(kWidenSeed);
  std::vector<double> count(windows_.flights.size());
  for (const CalibrationWindow& w : windows_.windows) count[w.flight] += 1;
  std::vector<double> beyond(windows_.windows.size());  // what is held less what is said, by window
  ParallelFor(left_out.size(), threads, [&](std::size_t fold, int) {
    const Forecast& first = windows_.windows[0].raw;
    const Calibrator calibrator(left_out[fold].calibration, first.steps(), first.dt_s);
    ForecastDraws draws(pool, kWidenDraws);
    for (std::size_t n = 0; n < beyond.size(); ++n) {
      const CalibrationWindow& w = windows_.windows[n];
      if (!left_out[fold].flights[w.flight]) continue;
      Forecast f = w.raw;
      calibrator.Apply(f, w.log_seen, std::exp(by));
      for (const int i : steps) {
        const int denser = draws.CountDenser(f, i, w.targets[static_cast<std::size_t>(i)], w.key);
        for (const double level : kWidenLevels) {
          beyond[n] += (RegionShare(denser, draws.count(), level) - level) / count[w.flight];
        }
      }
    }
  });
  return std::accumulate(beyond.begin(), beyond.end(), 0.0) < 0;
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
  c.origin.windows = windows.windows.size() / windows.histories_s.size();
  c.origin.histories_s = windows.histories_s;
  return c;
}

}  // namespace aerocast
