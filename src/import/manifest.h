// SPDX-License-Identifier: BSD-3-Clause
//
// corpus.json: what is in a corpus, whence it came and who may learn from it. The format is
// specified in docs/corpus_format.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"
#include "src/import/dedupe.h"

namespace aerocast {

inline constexpr std::string_view kManifestFile = "corpus.json";

struct FlightEntry {
  std::string id;
  std::string file;  // below the corpus directory
  std::string category, configuration, object;
  Source source = Source::kReal;
  double noise_m = 0;
  std::string sha256;  // of the file's bytes
  std::size_t samples = 0;
  double duration_s = 0, start_s = 0, end_s = 0;
  std::map<std::string, std::string> split;  // split name -> side
};

struct SplitEntry {
  std::uint64_t seed = 1;
  std::string hash;                // SplitHash of the flights' sides
  std::vector<std::string> notes;  // strata too small for all sides
};

struct Manifest {
  std::string name;
  std::optional<double> min_z;       // the airborne filter, in metres; none: every height counts
  std::string hash;                  // CorpusHash of the flights
  std::vector<FlightEntry> flights;  // in natural order of their ids
  std::map<std::string, SplitEntry> splits;
  std::vector<DroppedRecording> dropped;
  std::map<std::string, std::string> provenance;  // free: tool, options, licence, address
};

// SHA-256 of the lines "id sha256\n" in byte order: the same for the same flights, wherever they
// lie and whenever they were written.
std::string CorpusHash(const std::vector<FlightEntry>& flights);

std::string FormatManifest(const Manifest& manifest);

// `name` stands for the file in messages, which name the field that is wrong. Refuses repeated ids
// and files, files outside the corpus directory, sides a split does not have, and hashes that do
// not belong to what is listed.
Result<Manifest> ParseManifest(std::string_view text, const std::string& name);

}  // namespace aerocast
