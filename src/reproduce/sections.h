// SPDX-License-Identifier: BSD-3-Clause
//
// The sections of the report; each reads what it needs and says in its text what was not there.
#pragma once

#include "src/reproduce/document.h"
#include "src/reproduce/findings.h"

namespace aerocast {

// sections_tables.cc: what was scored.
void AddCorpusSection(const Findings& findings, Document& document);
void AddComparisonSection(const Findings& findings, Document& document);
void AddCategorySection(const Findings& findings, Document& document);
void AddLongHistorySection(const Findings& findings, Document& document);
void AddShiftSection(const Findings& findings, Document& document);

// sections_training.cc: how networks were trained, and what they cost.
void AddConvergenceSection(const Findings& findings, Document& document);
void AddEqualTrainingSection(const Findings& findings, Document& document);
void AddAblationSection(const Findings& findings, Document& document);
void AddComplexitySection(const Findings& findings, Document& document);

// sections_figures.cc
void AddHorizonSection(const Findings& findings, Document& document);
void AddExamplesSection(const Findings& findings, Document& document);
void AddCalibrationSection(const Findings& findings, Document& document);

// sections_history.cc. The paper's untested hypothesis: does early history matter before
// manoeuvres?
void AddHistorySection(const Findings& findings, Document& document);

// contradictions.cc
void AddContradictionsSection(Document& document);

}  // namespace aerocast
