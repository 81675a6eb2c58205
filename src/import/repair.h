// SPDX-License-Identifier: BSD-3-Clause
//
// Rows as a sensor logged them to recordings as AeroCast wants them: stamps strictly increasing,
// no gap longer than a limit. What can be repaired is, with a note; what would need a guess is not.
#pragma once

#include <string>
#include <vector>

#include "aerocast/recording.h"
#include "src/import/table.h"

namespace aerocast {

struct RepairOptions {
  double max_gap_s = 1.0;      // a longer gap ends the flight; what follows is another part
  double min_duration_s = 0;   // shorter parts are dropped
  double max_bad_share = 0.1;  // of rows whose stamp another row has for another position
};

// `description` is a recording with everything but samples. One result, or several with ids
// "<id>-part1", "<id>-part2" ... when the flight has gaps. At least one.
Result<std::vector<Recording>> Repair(Table table, const Recording& description,
                                      const std::string& name, const RepairOptions& options,
                                      std::vector<ImportNote>& notes);

// The flight that a part is of: "gull-part2" and "gull" are both of "gull".
std::string FlightOf(const std::string& id);

}  // namespace aerocast
