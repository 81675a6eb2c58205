// SPDX-License-Identifier: BSD-3-Clause
//
// Trained networks: a model file becomes a Forecaster (forecaster.h) that runs without any other
// library, on the best instructions this CPU has.
//
//   auto forecaster = LoadForecaster("paper.safetensors");
//   if (!forecaster.ok()) { std::cerr << forecaster.error().message; return 1; }
//   auto workspace = (*forecaster)->MakeWorkspace();
//
// The file is read once, checked completely (docs/model_format.md) and copied into memory of our
// own, already laid out for the CPU: what happens to the file afterwards does not matter.
//
// The same model gives the same bits for any number of threads, any batch and on every CPU with
// fused multiply-add; without it (SSE4) forecasts differ by rounding.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aerocast/forecaster.h"
#include "aerocast/result.h"

namespace aerocast {

// How weights are kept, in memory or in a file. Sums are single precision either way; half
// precision halves the memory a forecast has to stream, and rounds each weight to 11 bits.
enum class WeightStorage { kSingle, kHalf };

struct LoadOptions {
  WeightStorage weights = WeightStorage::kSingle;
  std::string name;        // for tables; empty: the model's own
  bool calibrated = true;  // false: as the network gave it, whatever the file says
  int newest_tokens = 0;   // > 0: look at no more than so many, to study what history is worth
  std::string target;      // instructions to use, one of SimdTargets(); empty: the best
};

// Refuses whatever is not a whole, known, finite model, in one sentence that says what is wrong.
Result<std::unique_ptr<Forecaster>> LoadForecaster(const std::filesystem::path& file,
                                                   const LoadOptions& options = {});

// The instruction sets this CPU can run the networks with, best first ("AVX2", "SSE4", ...). The
// last is always "scalar": the plain loops that the others are compared with.
std::vector<std::string> SimdTargets();

}  // namespace aerocast
