// SPDX-License-Identifier: BSD-3-Clause
//
// What the paper concludes, and whether it held here. Judged by rules that were written before the
// results were there: on the networks of a quarter of the width, over at least two seeds; ablations
// against the full model at the same budget. Nothing is held or not held
// by networks that were still learning (GainedAtTheEnd): that is undecided.
#pragma once

#include <string>
#include <vector>

#include "src/reproduce/document.h"
#include "src/reproduce/findings.h"

namespace aerocast {

enum class Verdict { kHeld, kNotHeld, kUndecided, kNotTestable };
std::string VerdictName(Verdict verdict);  // "held", "not held", "undecided", "not testable"

struct Conclusion {
  std::string claim;  // the paper's, in one sentence
  std::string rule;   // what had to be seen
  Verdict verdict = Verdict::kNotTestable;
  std::string evidence;
};

std::vector<Conclusion> JudgeConclusions(const Findings& findings);
void AddConclusionsSection(const std::vector<Conclusion>& conclusions, Document& document);

}  // namespace aerocast
