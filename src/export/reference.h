// SPDX-License-Identifier: BSD-3-Clause
//
// The forward pass in plain loops and double precision, slow and short: what runtimes are measured
// against, each of which rounds in its own way.
#pragma once

#include <span>
#include <vector>

#include "src/model/model_file.h"

namespace aerocast {

// tokens (windows, T, inputs) -> heads (windows, outputs): mean, log sigma and logit of a window
// one after the other. The model's tensors are those of its config.
std::vector<float> ReferenceHeads(const Model& model, std::span<const float> tokens, int windows);

}  // namespace aerocast
