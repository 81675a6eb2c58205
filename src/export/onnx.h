// SPDX-License-Identifier: BSD-3-Clause
//
// A network of the paper's family as a plain ONNX graph, for other runtimes (docs/onnx.md):
//
//   tokens (batch, T, inputs) -> mean (batch, S, K, 3), log_sigma (batch, S, K, 3),
//                                logit (batch, S, K)
//
// all float, in the network's own units: what the heads give, before DecodeHeads
// (src/forecast/network_forecaster.h). Only standard operators of opset 17; nothing is rounded or
// rearranged beyond what another order of the same sums brings.
#pragma once

#include <string>

#include "aerocast/result.h"
#include "src/model/model_file.h"

namespace aerocast {

struct OnnxOptions {
  // The last layer computes only what the last token needs, which is all that the heads read. The
  // same answer with less work; without it the graph is the one a framework's exporter would write.
  // Makes no difference to gru, lstm and mlp.
  bool pruned = false;
  bool dynamic_batch = true;  // false: the batch is 1
};

// The bytes of an .onnx file; the same model gives the same bytes. Refuses a model whose tensors
// are not those of its config. Passed by ONNX's own checker.
Result<std::string> ExportOnnx(const Model& model, const OnnxOptions& options = {});

// The input and outputs of `model`'s graph with no arithmetic between them: what a call of a
// runtime costs before the network begins.
std::string EmptyOnnx(const Model& model);

}  // namespace aerocast
