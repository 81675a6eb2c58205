// SPDX-License-Identifier: BSD-3-Clause
//
// What the plus family does around its forward pass: a history to tokens, and the heads' numbers to
// a forecast in the world. Trainer, libtorch adapter and runtime all go through these.
//
// Heads (HeadsOf, src/model/config.h), in units of the frame's scale, at step i (from 1):
//   point path   PlusMeanCurve(i) * point(i)
//   mode k       point path + PlusMeanCurve(i) * mean(k, i), weight softmax(logit)(k)
//   spread       PlusSigmaCurve(i) * exp(log_sigma(k, i)) along, across and above the mode's own
//                direction of motion there
#pragma once

#include <array>
#include <span>

#include "aerocast/forecast.h"
#include "src/data/plus_features.h"
#include "src/model/config.h"

namespace aerocast {

PlusSpec PlusSpecOf(const ModelConfig& config);

// exp(log_sigma) is kept within e^-6 ... e^5, so that any finite heads give a valid forecast.
inline constexpr double kLeastLogSigma = -6, kMostLogSigma = 5;
// A mode that hardly moves has the heading's direction: this much of it, in scales per two steps,
// is added to the way from the step before to the step after.
inline constexpr double kHeadingShare = 0.02;

// `forecast` has the shape NetworkShape(config).
void DecodePlus(std::span<const float> heads, const ModelConfig& config, const PlusFrame& frame,
                Forecast& forecast);

}  // namespace aerocast
