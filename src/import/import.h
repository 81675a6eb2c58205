// SPDX-License-Identifier: BSD-3-Clause
//
// Files and directories to a set of distinct flights: what `aerocast import` does before it writes
// a corpus.
//
//   ImportOptions options;
//   options.format.format = Format::kNanobench;
//   Result<ImportResult> r = Import({"flights/"}, options);
//   if (!r.ok()) return r.error();
//   for (const ImportNote& note : r->notes) Print(Sentence(note));
//   WriteCorpus("corpus", r->recordings, {.name = "flights", .dropped = r->dropped});
#pragma once

#include <filesystem>
#include <vector>

#include "src/import/dedupe.h"
#include "src/import/formats.h"

namespace aerocast {

struct ImportOptions {
  FormatOptions format;
  bool dedupe = true;
  // NanoBench flew one vehicle at a time, so there clocks alone decide, whatever this says.
  DedupeOptions dedupe_options;
  int threads = 0;  // 0: one per core; the result does not depend on it
};

struct ImportResult {
  std::vector<Recording> recordings;      // distinct flights, in natural order of their ids
  std::vector<ImportNote> notes;          // what was repaired or assumed, by file
  std::vector<DroppedRecording> dropped;  // duplicates
  std::vector<Error> refused;             // files that could not be read, each naming its place
  std::size_t files = 0;                  // that were looked at
};

// The files of a format in a directory and everything below it, in natural order. Hidden ones are
// left out, and so is a corpus further down: it holds what an import wrote, unless it is named
// itself. A path that is a file stands for itself. A directory without any is an error.
Result<std::vector<std::filesystem::path>> FindFiles(const std::filesystem::path& path,
                                                     Format format);

// A refused file does not stop the others: the caller decides whether a set with holes is wanted.
// An error when nothing at all could be imported. Ids that would clash get their directory's name.
Result<ImportResult> Import(const std::vector<std::filesystem::path>& paths,
                            const ImportOptions& options);

}  // namespace aerocast
