// SPDX-License-Identifier: BSD-3-Clause
//
// The paper's input: T tokens of displacement and velocity in the world frame, and its targets.
//
// Differences from the text (method: docs/design.md, "What the paper leaves open"): displacements
// are backward differences, so no future sample is needed; velocity is the centred difference
// inside the window and one-sided at its end; the Gaussian (sigma = dt / 2) is truncated to the
// past. The paper's own formula uses one sample behind the window; `leaked_next` brings it back,
// for measuring what that leak is worth and for nothing else.
#pragma once

#include <span>

#include "aerocast/geometry.h"

namespace aerocast {

inline constexpr double kPaperLambda = 2.5;  // metres

// grid is (T + 1) positions, oldest first; tokens is (T, 6): displacement / lambda, velocity m/s.
void PaperFeatures(std::span<const Vec3> grid, double dt_s, double lambda_m,
                   std::span<float> tokens, const Vec3* leaked_next = nullptr);

// displacement i is targets[i] - targets[i-1] (targets[-1] = last), divided by lambda: (S, 3).
void PaperTargets(const Vec3& last, std::span<const Vec3> targets, double lambda_m,
                  std::span<float> displacements);

}  // namespace aerocast
