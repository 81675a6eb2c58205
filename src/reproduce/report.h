// SPDX-License-Identifier: BSD-3-Clause
//
// The last stage of `aerocast reproduce`: every table and figure of the paper, ours beside the
// paper's, from what the stages before left behind.
//
//   OUT/report/tables.md      the tables, figures linked
//   OUT/report/figures/*.svg
//   OUT/report/report.html    the same as one self-contained page
//   OUT/report/summary.json   every cell of the tables, every metric as a number, machine, budget
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "aerocast/result.h"
#include "src/reproduce/plan.h"

namespace aerocast {

// Who made it, for the head of the report.
struct ReportFacts {
  std::string commit;   // of the sources; may be empty
  std::string machine;  // DescribeMachine()
  int jobs = 1;         // stages that ran at once
};

// The stage that needs all others. Its key covers options, facts and the program that writes it.
Stage ReportStage(std::span<const Stage> stages, const PlanOptions& options,
                  const ReportFacts& facts);

// From these stages of OUT alone.
Status WriteReproduction(const std::filesystem::path& out, const std::filesystem::path& own,
                         std::span<const std::string> stages, const PlanOptions& options,
                         const ReportFacts& facts);

}  // namespace aerocast
