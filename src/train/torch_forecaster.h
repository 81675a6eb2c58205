// SPDX-License-Identifier: BSD-3-Clause
//
// A network of libtorch as a Forecaster, so that evaluation, metrics and the leak test apply to it;
// the reference that the runtime is compared with.
#pragma once

#include <memory>
#include <string>

#include "aerocast/forecaster.h"
#include "src/model/model_file.h"

namespace aerocast {

// `name` empty: the model's own. The forecaster's fingerprint is the model's hash.
std::unique_ptr<Forecaster> MakeTorchForecaster(const Model& model, const std::string& name = "");

}  // namespace aerocast
