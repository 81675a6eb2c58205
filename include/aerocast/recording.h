// SPDX-License-Identifier: BSD-3-Clause
//
// One flight of one object, as it was tracked. The file format is CSV, described in
// docs/recording_format.md:
//
//   # id: gull-17
//   # category: circle
//   t,x,y,z
//   0.00,1.2,3.4,20.0
//   0.01,...
//
// Stamps are seconds, positions metres in the world frame. Optional columns x_true,y_true,z_true
// hold the position without sensor noise; targets, metrics and statistics use them where they are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/history.h"
#include "aerocast/result.h"

namespace aerocast {

enum class Source { kReal, kSynthetic };

std::string_view SourceName(Source source);  // "real", "synthetic"
std::optional<Source> SourceFromName(std::string_view name);

struct Recording {
  std::string id;             // unique within a corpus; the file's stem when not stated
  std::string category;       // free text; the benchmark's nine are listed in src/data/category.h
  std::string configuration;  // flights of one configuration are repetitions of one another
  std::string object;         // what flew, free text ("Crazyflie 2.1", "gull")
  std::string frame;          // name of the world frame, free text
  Source source = Source::kReal;
  double noise_m = 0;  // sigma of an observation per axis; 0: unknown

  std::vector<Observation> samples;  // strictly increasing stamps, finite positions
  std::vector<Vec3> truth;           // empty, or one noise-free position per sample

  bool has_truth() const { return !truth.empty(); }
  // The best known position at sample i: truth where it is recorded, else the observation.
  const Vec3& target(std::size_t i) const { return truth.empty() ? samples[i].p_world : truth[i]; }
  double duration_s() const {
    return samples.empty() ? 0 : DurationS(samples.back().t_ns - samples.front().t_ns);
  }
};

// Reads a recording file. Refuses, with file and line: a missing column, a field that is not a
// number, NaN or infinity, a stamp that repeats or goes backwards, no samples, a file cut off in
// the middle of a line. `aerocast import` repairs what can be repaired; this function never
// guesses.
Result<Recording> ReadRecording(const std::filesystem::path& file);

// The same from text; `name` stands for the file in messages, and its stem is the default id.
Result<Recording> ParseRecording(std::string_view text, const std::string& name);

// Writes stamps to the nanosecond (trailing zeros dropped) and positions to 0.1 micrometre: equal
// recordings give equal bytes, and a recording with no finer digits reads back as it was written.
// The file appears whole or not at all.
Status WriteRecording(const Recording& recording, const std::filesystem::path& file);
std::string FormatRecording(const Recording& recording);

}  // namespace aerocast
