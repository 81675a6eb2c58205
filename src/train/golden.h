// SPDX-License-Identifier: BSD-3-Clause
//
// Golden files: what a network of libtorch says, layer by layer, for readers that do not have
// libtorch. A tensor file (src/model/tensor_file.h) with
//
//   metadata    format "aerocast-golden", config (ToJson of the network's)
//   tokens      (B, T, inputs)
//   weights.*   the model file's tensors
//   activations.*  every intermediate result, batch first: those of a transformer for all tokens,
//               also in the last layer, of which the network needs the last token's only
//                 transformer  embed; layers.N.{norm1,attention,middle,norm2,ff}, layers.N; context
//                 others       layers.N; context
//               attention is before its output projection, middle after the first residual sum, ff
//               behind the ReLU; layers.N is the layer's output, context what the heads read
//   heads.*     mean (B, S, K, 3), log_sigma (B, S, K, 3), logit (B, S, K)
#pragma once

#include <cstdint>
#include <filesystem>

#include "aerocast/result.h"
#include "src/train/network.h"

namespace aerocast {

// `batch` windows of made-up curved flight, the same for the same seed.
Status WriteGolden(const std::filesystem::path& file, const Network& network, std::uint64_t seed,
                   int batch);

}  // namespace aerocast
