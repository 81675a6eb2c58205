// SPDX-License-Identifier: BSD-3-Clause
//
// Observations as JSON lines: how a live stream of positions comes in (docs/predict.md).
//
//   {"id":"7","t":12.30,"p":[1.0,2.0,30.0],"sigma":0.02,"v":[5.0,0.0,0.1]}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aerocast/history.h"
#include "aerocast/result.h"

namespace aerocast {

inline constexpr std::size_t kMostObservationBytes = 4096;  // of a line

struct ObservationLine {
  std::string id;
  Observation observation;
  std::optional<double> sigma_m;  // of the position, per axis
  std::optional<Vec3> v_world;    // velocity, m/s
};

// The stamp is read digit by digit, to the nanosecond. Other keys are ignored. Refuses, in one
// sentence that names the field: text that is no JSON object, a key twice, a field that is missing
// or of another kind, an id that is empty or longer than 64 bytes.
Result<ObservationLine> ParseObservation(std::string_view line);

}  // namespace aerocast
