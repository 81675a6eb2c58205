// SPDX-License-Identifier: BSD-3-Clause
//
// How a recording is cut into questions: "you saw this much, what comes next?"
//
// A window is a pair (recording, t0) and owns no data. Its history is every sample in
// [t0 - history_s, t0] and the one before them, so that the oldest grid point lies between two
// samples (a Forecaster takes that one when it is at most 1 s older); its targets are the positions
// at t0 + i * dt_s, i = 1 ... S. t0 is always the stamp of a sample. History on a grid
// (`ResampleHistory` in src/data) is interpolated only between two samples that are not later than
// t0 and at most max_gap_s apart, else it is masked; only targets may use later samples.
#pragma once

#include <cmath>

#include "aerocast/result.h"

namespace aerocast {

struct WindowSpec {
  double history_s = 2.0;  // how far back a forecaster looks (and one sample more, above)
  // A window needs this much recording before t0, whether or not a forecaster looks at it: two
  // specs that differ in history_s only have the same windows.
  double min_history_s = 2.0;
  double horizon_s = 5.0;   // how far ahead targets go
  double dt_s = 0.1;        // spacing of history grid and targets
  int stride = 1;           // windows start every stride * dt_s
  double max_gap_s = 0.25;  // longest gap that may be interpolated

  // S, the number of future steps.
  int horizon_steps() const { return static_cast<int>(std::lround(horizon_s / dt_s)); }
  // T, the number of history steps; the grid has T + 1 positions, the last one at t0.
  int history_steps() const { return static_cast<int>(std::lround(history_s / dt_s)); }

  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

// The paper's protocol, which is also the default: 21 + 50 positions at 10 Hz, stride one.
inline WindowSpec PaperWindows() { return {}; }

// Says which field is out of range, if one is: lengths positive, history and horizon whole
// multiples of dt_s, at most 1,000 steps each, stride at least 1.
Status Validate(const WindowSpec& spec);

}  // namespace aerocast
