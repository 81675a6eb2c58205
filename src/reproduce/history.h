// SPDX-License-Identifier: BSD-3-Clause
//
// The paper's untested hypothesis: early history matters before manoeuvres, and self-attention
// carries it further than recurrence. Measured as what a network loses without its oldest tokens
// before manoeuvres, less what it loses elsewhere.
#pragma once

#include <string>

#include "src/reproduce/findings.h"

namespace aerocast {

// More ADE without the older tokens, metres: before manoeuvres, elsewhere, and the former less the
// latter with its 95 % interval over flights. NaN: not made, or too few flights.
struct HistoryLoss {
  double before, elsewhere, difference, low, high;
};

// A trained network (seed 1) that sees its newest `tokens` only.
HistoryLoss LossOfCutting(const Findings& findings, const std::string& network, int tokens);
// A network that was trained with `tokens`, against one that has all.
HistoryLoss LossOfTraining(const Findings& findings, const std::string& network, int tokens);
// How much larger `network`'s difference (cut to `tokens`) is than that of `other`: only
// `difference` and its interval.
HistoryLoss LossBeyond(const Findings& findings, const std::string& network,
                       const std::string& other, int tokens);

// "+0.012 [0.003, 0.021] m"
std::string DifferenceText(const HistoryLoss& loss);

}  // namespace aerocast
