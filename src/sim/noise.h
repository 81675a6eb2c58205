// SPDX-License-Identifier: BSD-3-Clause
//
// What a sensor makes of the true positions: independent Gaussian errors whose size changes slowly
// (heteroscedastic). The size of the error at a sample is level * m, where m has an RMS of one over
// the flight and follows two things: how far the object is from a sensor standing beside the
// scene, and a slow wander (lighting, occlusion, number of cameras).
#pragma once

#include <span>
#include <vector>

#include "aerocast/geometry.h"
#include "src/base/rng.h"

namespace aerocast {

inline constexpr double kLeastNoiseM = 5e-5, kMostNoiseM = 0.05;  // motion capture to radio

// The multipliers m, one per sample.
std::vector<double> DrawNoiseShape(std::span<const Vec3> truth, Rng& rng);

// Observed positions: truth + level_m * m * three standard normals.
std::vector<Vec3> Observe(std::span<const Vec3> truth, double level_m, Rng& rng);

}  // namespace aerocast
