// SPDX-License-Identifier: BSD-3-Clause
//
// Repeats the track's own past: finds the earlier two seconds that look most like the last two,
// moved and yawed onto them, and goes on as the track went on from there; beyond the present, as
// this forecast goes on. Where nothing in the past is alike, it answers as CTRV does. Formulas:
// docs/forecasters.md.
#pragma once

#include <memory>

#include "aerocast/forecaster.h"
#include "src/forecast/spread.h"

namespace aerocast {

inline constexpr double kReplaySegmentS = 2;     // what is compared
inline constexpr double kReplayLeastLagS = 0.5;  // closer to the present, everything is alike
// With less history it is ctrv.
inline constexpr double kReplayNeedsS = kReplaySegmentS + kReplayLeastLagS;

class ReplayForecaster final : public Forecaster {
 public:
  // Looks back as far as info.history_s says.
  ReplayForecaster(ForecasterInfo info, Spread spread)
      : Forecaster(std::move(info)), spread_(std::move(spread)) {}

 private:
  std::unique_ptr<Workspace> DoMakeWorkspace(int threads) const override;
  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept override;

  Spread spread_;
};

}  // namespace aerocast
