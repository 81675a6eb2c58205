// SPDX-License-Identifier: BSD-3-Clause
#include "src/data/plus_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/check.h"

namespace aerocast {
namespace {

constexpr std::size_t kScaleLag = 5;     // steps: half a second averages noise out of the mean step
constexpr double kLeastScale = 1e-3;     // metres per step: what hardly moves is not blown up
constexpr std::size_t kHeadingSpan = 4;  // points of the straight fit that gives the heading
constexpr double kMovingShare = 0.1;     // of the mean step: slower than that, heading is old
constexpr std::size_t kRecent = 10;      // steps: without a point in them there is no motion to see
constexpr double kPositionUnit = 16;     // mean steps
constexpr double kMostInput = 10;        // outliers are cut off here

struct Grid {
  std::span<const Vec3> p;
  std::span<const std::uint8_t> present;

  bool Known(std::size_t i) const { return present[i] != 0; }
  std::size_t last() const { return p.size() - 1; }
  std::size_t oldest() const {
    return static_cast<std::size_t>(std::find(present.begin(), present.end(), 1) - present.begin());
  }
};

// Slope per step of a straight line through the known ones of the points end - 3 ... end.
Vec3 Slope(const Grid& grid, std::size_t end) {
  const std::size_t begin = end + 1 >= kHeadingSpan ? end + 1 - kHeadingSpan : 0;
  double n = 0, m1 = 0, m2 = 0;
  Vec3 s0, s1;
  for (std::size_t i = begin; i <= end; ++i) {
    if (!grid.Known(i)) continue;
    const double u = static_cast<double>(i) - static_cast<double>(end);
    const Vec3 d = grid.p[i] - grid.p.back();
    n += 1, m1 += u, m2 += u * u, s0 += d, s1 += u * d;
  }
  if (n < 2) return {};
  return (1 / (n * m2 - m1 * m1)) * (n * s1 - m1 * s0);
}

// The heading of the newest stretch that moves. One that never does is looked at from its oldest
// point.
void FindHeading(const Grid& grid, double least_step, PlusFrame& frame) {
  const auto turn_to = [&](const Vec3& v) {
    const double speed = std::hypot(v.x, v.y);
    if (speed > 0) frame.to_world = {v.x / speed, v.y / speed};
  };
  for (std::size_t end = grid.last();; end -= 2) {
    const Vec3 v = Slope(grid, end);
    if (std::hypot(v.x, v.y) >= least_step) {
      frame.stable = end == grid.last();
      return turn_to(v);
    }
    if (end < 3) break;
  }
  turn_to(grid.p.back() - grid.p[grid.oldest()]);
}

float Bounded(double x) { return static_cast<float>(std::clamp(x, -kMostInput, kMostInput)); }

// What step i (from point i - 1 to point i) says; the rest of `out` is zero already.
void WriteStep(const Grid& grid, std::size_t i, const PlusFrame& frame, bool positions,
               std::span<float> out) {
  std::size_t at = 0;
  const auto put = [&](const Vec3& v) {
    out[at] = Bounded(v.x), out[at + 1] = Bounded(v.y), out[at + 2] = Bounded(v.z);
  };
  const bool known = grid.Known(i), moved = known && grid.Known(i - 1);
  const double unit = 1 / frame.scale;
  if (moved) put(frame.to_world.Inverse() * (grid.p[i] - grid.p[i - 1]) * unit);
  at += 3;
  if (positions) {
    if (known) put(frame.ToFrame(grid.p[i]) * (1 / kPositionUnit));
    at += 3;
  }
  out[at] = known ? 1.f : 0.f;
  out[at + 1] = moved ? 1.f : 0.f;
}

}  // namespace

double MeanStep(std::span<const Vec3> points, std::span<const std::uint8_t> present) {
  const Grid grid = {points, present};
  double sum = 0;
  int pairs = 0;
  for (std::size_t i = kScaleLag; i < grid.p.size(); ++i) {
    if (!grid.Known(i) || !grid.Known(i - kScaleLag)) continue;
    sum += SquaredNorm(grid.p[i] - grid.p[i - kScaleLag]);
    ++pairs;
  }
  if (pairs > 0) return std::sqrt(sum / pairs) / kScaleLag;
  const std::size_t oldest = grid.oldest();
  if (oldest == grid.last()) return 0;
  return Norm(grid.p.back() - grid.p[oldest]) / static_cast<double>(grid.last() - oldest);
}

PlusFrame PlusFeatures(std::span<const Vec3> points, std::span<const std::uint8_t> present,
                       double noise_m, const PlusSpec& spec, std::span<float> tokens) {
  const auto patch = static_cast<std::size_t>(spec.patch);
  const auto inputs = static_cast<std::size_t>(spec.inputs());
  AEROCAST_CHECK(points.size() == static_cast<std::size_t>(spec.steps) + 1 &&
                 present.size() == points.size() && present.back() != 0 &&
                 tokens.size() == static_cast<std::size_t>(spec.tokens()) * inputs);
  const Grid grid = {points, present};
  PlusFrame frame;
  frame.origin = points.back();
  frame.known = static_cast<int>(std::count(present.begin(), present.end(), 1));
  frame.scale = std::max({MeanStep(points, present), kLeastScale, noise_m});
  std::fill(tokens.begin(), tokens.end(), 0.f);
  const auto before = present.subspan(present.size() - 1 - std::min(kRecent, present.size() - 1));
  if (std::count(before.begin(), before.end(), 1) < 2) return frame;
  FindHeading(grid, std::max(kMovingShare * frame.scale, 0.5 * noise_m), frame);

  const std::size_t first = grid.oldest() / patch;
  frame.seen = spec.tokens() - static_cast<int>(first);
  // From a thousandth of a step to a step, about -1.5 ... 1.5.
  const double noise = noise_m > 0 ? std::log10(noise_m / frame.scale) + 1.5 : 0;
  const bool told = frame.scale >= spec.told_least_m && frame.scale <= spec.told_most_m;
  const std::array<float, PlusSpec::kOfWhole> whole = {
      static_cast<float>(std::clamp(noise, -2.5, 1.5)), noise_m > 0 ? 1.f : 0.f,
      frame.stable ? 1.f : 0.f, told ? static_cast<float>(4 * std::log10(frame.scale / 0.07)) : 0.f,
      told ? 1.f : 0.f};
  const auto each = static_cast<std::size_t>(spec.each());
  for (std::size_t t = first; t < static_cast<std::size_t>(spec.tokens()); ++t) {
    const std::span<float> token = tokens.subspan(t * inputs, inputs);
    for (std::size_t j = 0; j < patch; ++j) {
      WriteStep(grid, t * patch + j + 1, frame, spec.positions, token.subspan(j * each, each));
    }
    std::copy(whole.begin(), whole.end(), token.end() - whole.size());
  }
  return frame;
}

void HideScale(const PlusSpec& spec, std::span<float> tokens) {
  const auto inputs = static_cast<std::size_t>(spec.inputs());
  for (std::size_t end = inputs; end <= tokens.size(); end += inputs) {
    tokens[end - 2] = tokens[end - 1] = 0;
  }
}

}  // namespace aerocast
