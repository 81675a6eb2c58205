// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/calibration_rows.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"
#include "src/eval/metrics.h"
#include "src/eval/normal.h"

namespace aerocast {
namespace {

constexpr double kNoWeight = 1e-5;  // of a mode that no score sees
// Knots as shares of the horizon: close where errors grow fast.
constexpr std::array<double, 8> kKnots = {0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0};

std::vector<double> KnotTimes(int steps, double dt_s) {
  std::vector<double> times;
  double before = 0;
  for (const double share : kKnots) {
    const double step = std::max(1.0, std::round(share * steps));
    if (step > before) times.push_back(std::round(step * dt_s * 1e6) / 1e6);
    before = step;
  }
  return times;
}

// The steps at the knots, and one in the middle between each two.
std::vector<int> ScoredSteps(std::span<const double> knot_s, double dt_s, int steps) {
  std::vector<int> scored;
  const auto add = [&](double t) {
    scored.push_back(std::clamp(static_cast<int>(std::lround(t / dt_s)) - 1, 0, steps - 1));
  };
  for (std::size_t g = 0; g < knot_s.size(); ++g) {
    add(knot_s[g]);
    if (g + 1 < knot_s.size()) add((knot_s[g] + knot_s[g + 1]) / 2);
  }
  scored.erase(std::unique(scored.begin(), scored.end()), scored.end());
  return scored;
}

std::vector<double> HatAt(std::span<const double> knot_s, double t) {
  std::vector<double> hat(knot_s.size());
  const auto above = std::upper_bound(knot_s.begin(), knot_s.end(), t);
  const auto g = static_cast<std::size_t>(above - knot_s.begin());
  if (g == 0 || g == knot_s.size()) {
    hat[g == 0 ? 0 : g - 1] = 1;
    return hat;
  }
  hat[g] = (t - knot_s[g - 1]) / (knot_s[g] - knot_s[g - 1]);
  hat[g - 1] = 1 - hat[g];
  return hat;
}

Yaw AlongPoint(const Forecast& f, int i) {
  const Vec3 d = f.point(std::min(i + 2, f.steps() - 1)) - f.point(std::max(i - 2, 0));
  const double length = std::hypot(d.x, d.y);
  return length > 0 ? Yaw{d.x / length, d.y / length} : Yaw{};
}

// -log of the mixture's density at 0.
double LogScore(std::size_t components, const std::array<double, kMaxModes>& w,
                const std::array<double, kMaxModes>& m, const std::array<double, kMaxModes>& s) {
  double density = 0, nearest = 1e300, widest = 0;
  for (std::size_t k = 0; k < components; ++k) {
    const double z = m[k] / s[k];
    density += w[k] / s[k] * std::exp(-0.5 * z * z);
    nearest = std::min(nearest, std::abs(z)), widest = std::max(widest, s[k]);
  }
  // Beyond what exp can tell, the nearest component decides.
  const double log_density =
      density > 1e-280 ? std::log(density) : -std::log(widest) - 0.5 * nearest * nearest;
  return kHalfLogTwoPi - log_density;
}

}  // namespace

CalibrationRows::CalibrationRows(const CalibrationWindows& all) : flights_(all.flights.size()) {
  AEROCAST_CHECK(!all.windows.empty());
  const Forecast& first = all.windows[0].raw;
  modes_ = static_cast<std::size_t>(first.modes());
  AEROCAST_CHECK(modes_ > 0);
  knot_s_ = KnotTimes(first.steps(), first.dt_s);
  for (const CalibrationWindow& w : all.windows) {
    AEROCAST_CHECK(w.raw.modes() == first.modes() && w.raw.steps() == first.steps());
    flight_.push_back(w.flight);
    vagueness_.push_back(Vagueness(w.raw));
    log_seen_.push_back(w.log_seen);
    for (int k = 0; k < w.raw.modes(); ++k) {
      log_weight_.push_back(std::log(std::max(w.raw.weight(k), 1e-300)));
    }
  }
  for (const int i : ScoredSteps(knot_s_, first.dt_s, first.steps())) {
    hat_.push_back(HatAt(knot_s_, (i + 1) * first.dt_s));
    AddStep(all.windows, i);
  }
}

void CalibrationRows::AddStep(std::span<const CalibrationWindow> windows, int i) {
  for (const CalibrationWindow& w : windows) {
    const Yaw to_frame = AlongPoint(w.raw, i).Inverse();
    // Turning by an angle turns the doubled angle twice as far.
    const Yaw twice = {to_frame.cos * to_frame.cos - to_frame.sin * to_frame.sin,
                       2 * to_frame.cos * to_frame.sin};
    const Vec3& y = w.targets[static_cast<std::size_t>(i)];
    for (int k = 0; k < w.raw.modes(); ++k) {
      const PathDirection d = DirectionAt(w.raw, k, i);
      const Vec3 turned = twice * Vec3{d.cos2, d.sin2, 0};
      mode_.push_back({to_frame * (w.raw.mean(k, i) - y),
                       to_frame.Rotate(w.raw.cov(k, i)),
                       {turned.x, turned.y}});
    }
  }
}

std::vector<double> CalibrationRows::Weights(std::span<const std::size_t> index,
                                             double log_temperature) const {
  const double power = std::exp(-log_temperature);
  std::vector<double> weight(index.size() * modes_);
  for (std::size_t n = 0; n < index.size(); ++n) {
    double sum = 0;
    for (std::size_t k = 0; k < modes_; ++k) {
      sum += weight[n * modes_ + k] = std::exp(power * log_weight_[index[n] * modes_ + k]);
    }
    for (std::size_t k = 0; k < modes_; ++k) weight[n * modes_ + k] /= sum;
  }
  return weight;
}

AxisScores CalibrationRows::Score(std::size_t j, const CalibrationParameters& p,
                                  std::span<const std::size_t> index, std::span<const double> share,
                                  std::span<const double> weight, bool horizontal,
                                  bool vertical) const {
  Vec3 log_factor;
  for (std::size_t g = 0; g < knot_s_.size(); ++g) {
    log_factor += hat(j, g) * Vec3{p.log_scale[0][g], p.log_scale[1][g], p.log_scale[2][g]};
  }
  const double wide = p.tail ? std::exp(p.log_share) : 0, wider = std::exp(p.log_factor);
  std::array<double, kMaxModes> w, m, s;
  AxisScores sum;
  for (std::size_t n = 0; n < index.size(); ++n) {
    const double width =
        p.vague.LogFactor(vagueness(index[n])) + p.seen.LogFactor(log_seen(index[n]));
    const Vec3 log_own = log_factor + Vec3{width, width, width};
    const Mode* modes = &mode_[(j * windows() + index[n]) * modes_];
    std::array<Cov3, kMaxModes> cov;
    std::array<std::size_t, kMaxModes> live;
    std::size_t count = 0;
    for (std::size_t k = 0; k < modes_; ++k) {
      if (weight[n * modes_ + k] < kNoWeight) continue;
      cov[count] = PathScale(log_own, modes[k].direction).Apply(modes[k].cov);
      live[count++] = k;
    }
    const std::size_t components = p.tail ? 2 * count : count;
    const auto add = [&](std::size_t axis, double Vec3::*mean, double Cov3::*variance) {
      for (std::size_t c = 0; c < count; ++c) {
        w[c] = (1 - wide) * weight[n * modes_ + live[c]];
        m[c] = modes[live[c]].mean.*mean, s[c] = std::sqrt(std::max(cov[c].*variance, 1e-18));
        if (!p.tail) continue;
        w[count + c] = wide * weight[n * modes_ + live[c]];
        m[count + c] = m[c], s[count + c] = wider * s[c];
      }
      sum.crps[axis] += share[n] * MixtureCrps({w.data(), components}, {m.data(), components},
                                               {s.data(), components}, 0);
      sum.log_score[axis] += share[n] * LogScore(components, w, m, s);
    };
    if (horizontal) add(0, &Vec3::x, &Cov3::xx), add(1, &Vec3::y, &Cov3::yy);
    if (vertical) add(2, &Vec3::z, &Cov3::zz);
  }
  return sum;
}

}  // namespace aerocast
