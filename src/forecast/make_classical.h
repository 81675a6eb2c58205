// SPDX-License-Identifier: BSD-3-Clause
//
// The classical forecasters with a spread of the caller's: how the laboratory makes fitted ones.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "aerocast/classical.h"
#include "src/forecast/spread.h"

namespace aerocast {

// One generic spread per mode of the forecaster called `name`.
std::vector<Spread> GenericSpreads(std::string_view name);

// How far back the forecaster called `name` looks.
double LongestHistoryS(std::string_view name);

// `spread` has one entry per mode: three for imm, one for the others. Name, description and number
// of modes of `info` are filled in.
Result<std::unique_ptr<Forecaster>> MakeClassical(std::string_view name, ForecasterInfo info,
                                                  std::vector<Spread> spread);

}  // namespace aerocast
