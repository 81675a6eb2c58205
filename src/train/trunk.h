// SPDX-License-Identifier: BSD-3-Clause
//
// Inside of network.h: what lies between tokens and heads, one function per family.
#pragma once

#include <torch/types.h>

#include <string>

#include "src/train/network.h"

namespace aerocast {

// tokens (B, T, inputs) -> context (B, C).
torch::Tensor Trunk(const Network& network, const torch::Tensor& tokens,
                    const torch::Tensor& positions, const ForwardOptions& options);

torch::Tensor TransformerTrunk(const Network& network, const torch::Tensor& tokens,
                               const torch::Tensor& positions, const ForwardOptions& options);
torch::Tensor RecurrentTrunk(const Network& network, const torch::Tensor& tokens,
                             const ForwardOptions& options);
torch::Tensor MlpTrunk(const Network& network, const torch::Tensor& tokens,
                       const ForwardOptions& options);

// x (N, inputs) -> (N, outputs), with the parameters name.{weight,bias}.
torch::Tensor Linear(const Network& network, const std::string& name, const torch::Tensor& x);
// Over the last dimension, epsilon 1e-5, with the parameters name.{weight,bias}.
torch::Tensor LayerNorm(const Network& network, const std::string& name, const torch::Tensor& x);

// The options' dropout, or the plain operation when there is none.
torch::Tensor Drop(const ForwardOptions& options, const torch::Tensor& x, int site,
                   const MaskPart& part = {});
torch::Tensor DropRelu(const ForwardOptions& options, const torch::Tensor& x, int site,
                       const MaskPart& part = {});
torch::Tensor DropAdd(const ForwardOptions& options, const torch::Tensor& residual,
                      const torch::Tensor& x, int site, const MaskPart& part = {});

void Trace(const ForwardOptions& options, const std::string& name, const torch::Tensor& value);

// Tokens the options let the network see.
std::int64_t Seen(const Network& network, const ForwardOptions& options);

}  // namespace aerocast
