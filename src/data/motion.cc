// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/motion.h"

#include <algorithm>
#include <cmath>

namespace aerocast {
namespace {

constexpr double kHeadingSpanS = 0.3;
constexpr double kLeastHeadingSpeed = 0.05;  // m/s

struct Stretch {
  std::size_t count = 1;  // of the newest samples
  int apart = 1;          // how many of them lie well apart
};

// The newest samples within span_s of the last one, and as many older ones as it takes to have
// order + 1 well apart: a curve through samples that are microseconds apart is their noise.
Stretch FindRecent(std::span<const Observation> samples, double span_s, int order) {
  const TimeNs oldest = samples.back().t_ns - DurationNs(span_s);
  const TimeNs apart = DurationNs(span_s / (2 * order));
  Stretch stretch;
  TimeNs last = samples.back().t_ns;
  for (std::size_t i = samples.size() - 1; i-- > 0; ++stretch.count) {
    if (stretch.apart > order && samples[i].t_ns < oldest) break;
    if (last - samples[i].t_ns < apart) continue;
    ++stretch.apart, last = samples[i].t_ns;
  }
  return stretch;
}

}  // namespace

Motion FitMotion(std::span<const Observation> samples, double span_s, int order) {
  Motion motion;
  if (samples.empty()) return motion;
  const Observation& newest = samples.back();
  const auto [n, apart] = FindRecent(samples, span_s, order);
  motion.p = newest.p_world;
  motion.samples = static_cast<int>(n);
  if (n < 2) return motion;
  order = std::clamp(apart - 1, 1, order);

  // Normal equations in u = (t - t0) / length, in [-1, 0], positions relative to the newest.
  const double length = DurationS(newest.t_ns - samples[samples.size() - n].t_ns);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  Vec3 s0, s1, s2;
  for (const Observation& o : samples.last(n)) {
    const double u = DurationS(o.t_ns - newest.t_ns) / length;
    const Vec3 d = o.p_world - newest.p_world;
    m1 += u, m2 += u * u, m3 += u * u * u, m4 += u * u * u * u;
    s0 += d, s1 += u * d, s2 += u * u * d;
  }
  const double m0 = static_cast<double>(n);
  Vec3 c0, c1, c2;
  if (order >= 2) {
    const double det =
        m0 * (m2 * m4 - m3 * m3) - m1 * (m1 * m4 - m2 * m3) + m2 * (m1 * m3 - m2 * m2);
    if (std::abs(det) > 1e-12) {
      const double inv = 1 / det;
      c0 = inv * ((m2 * m4 - m3 * m3) * s0 + (m2 * m3 - m1 * m4) * s1 + (m1 * m3 - m2 * m2) * s2);
      c1 = inv * ((m2 * m3 - m1 * m4) * s0 + (m0 * m4 - m2 * m2) * s1 + (m1 * m2 - m0 * m3) * s2);
      c2 = inv * ((m1 * m3 - m2 * m2) * s0 + (m1 * m2 - m0 * m3) * s1 + (m0 * m2 - m1 * m1) * s2);
      motion.p = newest.p_world + c0;
      motion.v = c1 * (1 / length);
      motion.a = c2 * (2 / (length * length));
      return motion;
    }
  }
  const double inv = 1 / (m0 * m2 - m1 * m1);  // n >= 2 different stamps: never zero
  c0 = inv * (m2 * s0 - m1 * s1);
  c1 = inv * (m0 * s1 - m1 * s0);
  motion.p = newest.p_world + c0;
  motion.v = c1 * (1 / length);
  return motion;
}

HeadingFrame FitHeading(std::span<const Observation> samples) {
  HeadingFrame frame;
  if (samples.empty()) return frame;
  frame.origin = samples.back().p_world;
  std::span<const Observation> upto = samples;
  while (upto.size() >= 2) {
    const Motion motion = FitMotion(upto, kHeadingSpanS, 1);
    const double speed = std::hypot(motion.v.x, motion.v.y);
    if (speed >= kLeastHeadingSpeed) {
      frame.to_world = {motion.v.x / speed, motion.v.y / speed};
      frame.stable = upto.size() == samples.size();
      return frame;
    }
    upto = upto.first(upto.size() - static_cast<std::size_t>(std::max(1, motion.samples / 2)));
  }
  return frame;
}

}  // namespace aerocast
