// SPDX-License-Identifier: BSD-3-Clause
//
// Corpora made to measure: real flights filled up with generated ones.
//
//   paper     the paper's data set by numbers (its Table II): 113 recordings, 90,116 windows, each
//             category with its window count, mean and maximum speed. Real windows count first,
//             the rest is generated; without real flights everything is.
//   balanced  as many generated windows as make 43 % of the whole: a category without real flights
//             gets a ninth of the total, the others are filled up evenly from the bottom. Flights
//             are as long as real ones (up to 45 s). Speeds aim at Table II as well.
//
// How speeds are hit: every flight gets a target (spread evenly around what its category still
// needs), and its nominal speed is searched with the tracking loop itself until the flight's mean
// RMS speed is the target; geometry that would exceed the table's maximum is drawn again. Where no
// real flight comes near the maximum, one generated flight is tuned to have it as its peak.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"
#include "aerocast/result.h"
#include "src/data/speeds.h"

namespace aerocast {

enum class Preset { kPaper, kBalanced };

std::optional<Preset> PresetFromName(std::string_view name);  // "paper", "balanced"

// Table II of the paper, in the order of kCategories.
struct PaperCategory {
  std::size_t windows;
  double mean_rms, max;  // m/s
};
inline constexpr std::array<PaperCategory, 9> kPaperTable = {{{10248, 0.78, 1.43},
                                                              {10062, 0.79, 1.37},
                                                              {9874, 0.74, 1.77},
                                                              {10136, 0.79, 1.57},
                                                              {10410, 0.71, 1.90},
                                                              {9748, 0.73, 1.34},
                                                              {9512, 0.50, 0.88},
                                                              {10286, 0.65, 1.36},
                                                              {9840, 0.55, 1.04}}};
inline constexpr std::size_t kPaperRecordings = 113;

struct PresetOptions {
  std::uint64_t seed = 1;
  int threads = 0;                               // 0: one per core
  double min_z = 0.3;                            // the corpus' airborne filter; at most 0.5
  std::optional<double> noise_m = std::nullopt;  // as in GenerateOptions
};

// One category of the finished corpus.
struct PresetRow {
  std::string_view category;
  std::size_t real_recordings = 0, generated_recordings = 0;
  FlightSpeeds real, generated;  // windows and speeds

  FlightSpeeds all() const { return FlightSpeeds(real) += generated; }
};

struct PresetSummary {
  std::array<PresetRow, 9> rows;
  PresetRow Total() const;  // speeds over all windows; category "total"
};

struct PresetResult {
  std::vector<Recording> generated;  // to be added to the kept real recordings
  PresetSummary summary;
};

// Which real recordings belong into a preset's corpus: those of the nine categories with at least
// one airborne window. Indices into `real`, rising.
std::vector<std::size_t> KeptReal(std::span<const Recording* const> real, double min_z);

// `real` may hold recordings that are not kept; they are not counted. Refuses options out of range,
// and `balanced` without a real window. With so many real recordings that fewer than one per needy
// category would remain of the paper's 113, each of those still gets one, and the total is larger.
Result<PresetResult> GeneratePreset(Preset preset, std::span<const Recording* const> real,
                                    const PresetOptions& options = {});

}  // namespace aerocast
