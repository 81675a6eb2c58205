// SPDX-License-Identifier: BSD-3-Clause
//
// A training curve as a part of a larger JSON file: without format and version, which are the
// file's.
#pragma once

#include <nlohmann/json.hpp>

#include "src/base/json_field.h"
#include "src/eval/curves.h"

namespace aerocast {

nlohmann::ordered_json CurveJson(const TrainingCurve& curve);
// Ignores unknown keys; throws JsonError.
TrainingCurve ReadCurve(const Field& field);

}  // namespace aerocast
