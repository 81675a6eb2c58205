// SPDX-License-Identifier: BSD-3-Clause
//
// Which windows a verb works on: a corpus, one side of one of its splits, and a window spec.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "src/data/windows.h"
#include "src/import/corpus.h"
#include "src/sim/disturbance.h"

namespace aerocast::cli {

// A corpus in memory with the windows of one of its sides.
struct LoadedSide {
  Corpus corpus;
  std::string split, side;
  WindowSpec spec;
  std::vector<FlightWindows> flights;  // those with at least one window

  double min_z() const { return corpus.manifest.min_z.value_or(kNoMinZ); }
  // The windows of another side of the same split.
  Result<std::vector<FlightWindows>> Cut(const std::string& other_side) const;
  // The windows of this side with its flights disturbed; the corpus stays as it is.
  Result<DisturbedFlights> Disturbed(const Disturbance& disturbance) const;
  // Small strata that the split could not spread over all sides, as the manifest notes them.
  std::vector<std::string> split_notes() const;
  std::string split_hash() const;  // empty without a split
};

// --noise, --noise-unstated, --outliers, --drop, --yaw, --scale, --time-scale, --disturbance-seed
struct DisturbanceFlags {
  Disturbance disturbance;
  bool noise_unstated = false;

  void Add(CLI::App& verb);
  Result<Disturbance> Resolve() const;
};

struct CorpusFlags {
  std::string directory, split = "flight", side;
  WindowFlags window;

  // `default_side` is "test" for verbs that score, "all" for verbs that describe.
  void Add(CLI::App& verb, const std::string& default_side);
  // Refuses a side without a single window.
  Result<LoadedSide> Load() const;
};

}  // namespace aerocast::cli
