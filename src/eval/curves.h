// SPDX-License-Identifier: BSD-3-Clause
//
// How a training went: one point per validation. The trainer writes curves.json, the report draws
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

struct CurvePoint {
  std::uint64_t windows = 0;  // seen so far
  double epochs = 0;          // windows over the train side's windows
  double seconds = 0;         // of training, over all resumes
  double lr = 0;
  int history = 0;        // tokens seen (curriculum)
  double train_loss = 0;  // means since the last point, lambda units, per step
  double train_nll = 0;
  double validation_nll = 0;  // lambda units, per step
  double validation_ade_m = 0;
  double validation_ade_short_m = 0;  // plus: by two seconds of history; 0: not measured
  bool best = false;                  // the weights that are kept so far

  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

struct TrainingCurve {
  std::string name;  // the run's
  std::string note;  // why it ended, one sentence; empty while it goes on
  std::uint64_t parameters = 0;
  std::uint64_t train_windows = 0;  // in one epoch
  std::vector<CurvePoint> points;

  friend bool operator==(const TrainingCurve&, const TrainingCurve&) = default;
};

// The text of curves.json (docs/results_format.md). Numbers must be finite: others become `null`,
// which the reader refuses.
std::string CurveToJson(const TrainingCurve& curve);
// Refuses unknown keys and points that go back in windows or seconds. `where` stands for the file
// in messages, which also name the field.
Result<TrainingCurve> CurveFromJson(std::string_view json, std::string_view where);

}  // namespace aerocast
