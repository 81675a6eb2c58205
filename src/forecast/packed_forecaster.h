// SPDX-License-Identifier: BSD-3-Clause
//
// Inside of aerocast/load.h, for models that are in memory already.
#pragma once

#include <filesystem>
#include <memory>

#include "aerocast/load.h"
#include "src/model/model_file.h"

namespace aerocast {

// LoadForecaster, which also tells where the weights came from.
Result<std::unique_ptr<Forecaster>> LoadForecaster(const std::filesystem::path& file,
                                                   const LoadOptions& options,
                                                   Provenance& provenance);

// Throws std::bad_alloc.
Result<std::unique_ptr<Forecaster>> MakePackedForecaster(const Model& model,
                                                         const LoadOptions& options = {});

}  // namespace aerocast
