// SPDX-License-Identifier: BSD-3-Clause
//
// Inside of aerocast/load.h, for models that are in memory already.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "aerocast/load.h"
#include "src/model/model_file.h"

namespace aerocast {

// Which flights a forecaster has learnt from.
struct ModelOrigin {
  Provenance provenance;                         // of the weights
  std::optional<CalibrationOrigin> calibration;  // of the calibration it uses
};
ModelOrigin OriginOf(const Model& model, const LoadOptions& options);

// LoadForecaster, which also tells where weights and calibration came from.
Result<std::unique_ptr<Forecaster>> LoadForecaster(const std::filesystem::path& file,
                                                   const LoadOptions& options, ModelOrigin& origin);

// Throws std::bad_alloc.
Result<std::unique_ptr<Forecaster>> MakePackedForecaster(const Model& model,
                                                         const LoadOptions& options = {});

}  // namespace aerocast
