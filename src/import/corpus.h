// SPDX-License-Identifier: BSD-3-Clause
//
// A corpus: a directory of recordings with a manifest that names, hashes and splits them.
//
//   Result<Corpus> corpus = LoadCorpus("corpus");
//   if (!corpus.ok()) return corpus.error();
//   Result<std::vector<const Recording*>> train = Side(*corpus, "flight", "train");
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"
#include "src/import/manifest.h"

namespace aerocast {

struct CorpusOptions {
  std::string name;             // empty: the directory's name
  std::optional<double> min_z;  // the airborne filter that windows of this corpus use
  std::uint64_t split_seed = 1;
  std::map<std::string, std::string> provenance;
  std::vector<DroppedRecording> dropped;  // for the record
  bool replace = false;                   // an existing corpus may be replaced, nothing else
  int threads = 0;                        // 0: one per core; the bytes do not depend on it
};

// Writes recordings, splits and manifest. The directory appears whole or not at all. Refuses an
// empty set, repeated or unprintable ids, recordings without samples, a directory that holds
// anything else than an old corpus.
Status WriteCorpus(const std::filesystem::path& directory, const std::vector<Recording>& recordings,
                   const CorpusOptions& options);

struct Corpus {
  Manifest manifest;
  std::vector<Recording> recordings;  // recordings[i] is manifest.flights[i]
};

struct LoadCorpusOptions {
  bool verify = true;  // compare every file with its hash
  int threads = 0;     // 0: one per core
};

// Errors name the manifest's field, or the file that is missing, changed or unreadable.
Result<Corpus> LoadCorpus(const std::filesystem::path& directory,
                          const LoadCorpusOptions& options = {});

// The recordings on one side of a split, in corpus order; side "all" gives all, under any split of
// the corpus or "none". An unknown name lists the known ones. The corpus outlives the result.
Result<std::vector<const Recording*>> Side(const Corpus& corpus, std::string_view split,
                                           std::string_view side);

}  // namespace aerocast
