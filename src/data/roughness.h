// SPDX-License-Identifier: BSD-3-Clause
//
// How rough a motion is, whatever its size, place and direction: the cheap signal that tells motion
// unlike any that was fitted on. A gliding gull is smooth at every time scale, a drone in a tight
// figure-8 is rough over a second, a random walk is rough over a tenth of one.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "aerocast/geometry.h"

namespace aerocast {

inline constexpr std::array<int, 3> kRoughnessLags = {1, 3, 6};  // steps
inline constexpr int kRoughnessPoints = 21;                      // of the grid, its newest

// For each lag L: log10 of the root mean square of |p(i) - 2 p(i - L) + p(i - 2L)| over L mean
// steps, from -3 on; the part that noise of this standard deviation explains is taken out. `grid`
// and `present` as ResampleHistory leaves them. False when a lag has no three points, or nothing
// moves.
using Roughness = std::array<double, kRoughnessLags.size()>;
bool MeasureRoughness(std::span<const Vec3> grid, std::span<const std::uint8_t> present,
                      double noise_m, Roughness& roughness);

// How much rougher than usual, in standard deviations: length of the parts above the mean. Smoother
// is not strange.
double RougherBy(const Roughness& roughness, const Roughness& mean, const Roughness& sigma);

}  // namespace aerocast
