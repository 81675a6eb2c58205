// SPDX-License-Identifier: BSD-3-Clause
//
// One foreign file to recordings. docs/recording_format.md lists what is repaired and refused.
//
//   csv        a header line that names time and position; also our own recordings, with their
//              "# key: value" lines and truth columns
//   nanobench  CSV of the NanoBench data set with <stem>_metadata.yaml beside it
//   tum        timestamp tx ty tz qx qy qz qw, blanks, '#' comments, no header line
//   euroc      EuRoC MAV ground truth, .../MH_01_easy/mav0/state_groundtruth_estimate0/data.csv
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"
#include "src/import/note.h"
#include "src/import/repair.h"

namespace aerocast {

enum class Format { kCsv, kNanobench, kTum, kEuroc };

std::string_view FormatName(Format format);  // "csv", "nanobench", "tum", "euroc"
std::vector<std::string_view> FormatNames();
Result<Format> FormatFromName(std::string_view name);  // an unknown name lists the known ones

struct FormatOptions {
  Format format = Format::kCsv;
  RepairOptions repair;
  double max_bad_share = 0.1;  // more unusable rows than this and a file is refused

  // What is said of flights whose files do not say it themselves.
  std::string category = "unlabelled";
  std::string configuration;
  std::string object;
  std::string frame;
  Source source = Source::kReal;
  double noise_m = 0;
};

// All recordings of one file: one, or the parts of a flight with gaps. Notes are appended, also
// when the file is refused.
Result<std::vector<Recording>> ReadForeign(const std::filesystem::path& file,
                                           const FormatOptions& options,
                                           std::vector<ImportNote>& notes);

// The same from text. `file` gives the id, stands in messages, and is where metadata is looked for.
Result<std::vector<Recording>> ParseForeign(std::string_view text,
                                            const std::filesystem::path& file,
                                            const FormatOptions& options,
                                            std::vector<ImportNote>& notes);

// The text with everything that may hurt in a file name (all but letters, digits, '.', '_', '-' in
// ASCII) replaced by '_'; never empty, never hidden.
std::string SafeName(std::string_view text);

}  // namespace aerocast
