// SPDX-License-Identifier: BSD-3-Clause
//
// What the paper concludes, and whether it held here. Judged by rules that were written before the
// results were there: on the networks of a quarter of the width, over their seeds, where they were
// trained to the end; ablations on the paper's own sizes at their budget.
#pragma once

#include <string>
#include <vector>

#include "src/reproduce/sections.h"

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
