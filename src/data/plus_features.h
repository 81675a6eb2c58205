// SPDX-License-Identifier: BSD-3-Clause
//
// The input of the plus family: a history of any length up to the grid's, with holes, as patches of
// steps. Nothing in it depends on where the object is, which way it flies or how fast: positions
// are looked at along the heading and divided by the history's own mean step.
//
//   p_world = frame.ToWorld(p)       p in units of the frame's scale, x along the heading, z up
//
// A token is `patch` steps. Of each step: displacement (3), with `positions` also where it ends,
// relative to the newest point (3), whether that point is known, whether the displacement is. Then
// five numbers that are the same in every token: log10 of the noise in units of the scale, whether
// the noise is stated, whether the heading is that of the newest motion, log10 of the scale,
// whether that is told. It is told within a range of scales only, where the network knows fliers by
// their size; everywhere else nothing depends on it.
#pragma once

#include <cstdint>
#include <span>

#include "aerocast/geometry.h"

namespace aerocast {

struct PlusSpec {
  int steps = 100;  // T * patch
  int patch = 5;
  bool positions = true;
  double told_least_m = 0, told_most_m = 0;  // the range, metres per step; empty: never told

  int tokens() const { return steps / patch; }
  int each() const { return positions ? 8 : 5; }            // numbers per step
  int inputs() const { return patch * each() + kOfWhole; }  // numbers per token

  static constexpr int kOfWhole = 5;
};

struct PlusFrame {
  Vec3 origin;          // the newest point
  Yaw to_world;         // rotates heading axes to world axes
  double scale = 1;     // metres: MeanStep of the history, at least the noise and 1 mm
  bool stable = false;  // the heading is that of the newest motion
  int known = 0;        // grid points that are known
  int seen = 0;  // tokens from the oldest known step on; 0: no point but the newest in a second

  Vec3 ToFrame(const Vec3& p_world) const {
    return to_world.Inverse() * (p_world - origin) * (1 / scale);
  }
  Vec3 ToWorld(const Vec3& p) const { return to_world * (p * scale) + origin; }
};

// The mean step of a history: root mean square of the way between known points half a second apart,
// per step; 0 when there is but one point. In metres, without the floors that the frame's scale
// has.
double MeanStep(std::span<const Vec3> grid, std::span<const std::uint8_t> present);

// grid is (steps + 1) positions, oldest first, the last one at t0 and known; present says which are
// (ResampleHistory). noise_m: standard deviation per axis, 0 when it is not known. tokens is
// (tokens, inputs); those before the last `seen` are zeros.
PlusFrame PlusFeatures(std::span<const Vec3> grid, std::span<const std::uint8_t> present,
                       double noise_m, const PlusSpec& spec, std::span<float> tokens);

// Takes the scale out of the tokens again, as if it had not been told.
void HideScale(const PlusSpec& spec, std::span<float> tokens);

}  // namespace aerocast
