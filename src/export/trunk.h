// SPDX-License-Identifier: BSD-3-Clause
//
// Inside of onnx.h: what lies between tokens and heads, one function per family. The twins of
// src/train/{transformer,recurrent,trunk}.cc.
#pragma once

#include <string>

#include "src/export/graph.h"

namespace aerocast {

// tokens (B, T, inputs) -> context (B, C); the name of the result.
std::string TransformerTrunk(Graph& graph, const std::string& tokens, bool pruned);
std::string RecurrentTrunk(Graph& graph, const std::string& tokens, bool pruned);
std::string MlpTrunk(Graph& graph, const std::string& tokens);

}  // namespace aerocast
