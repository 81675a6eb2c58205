// SPDX-License-Identifier: BSD-3-Clause
//
// What is written down of a stage that is complete (stages.h), and the files it speaks of.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

// In a stage's directory; none of them is output. `begun` holds the key of an attempt that is under
// way, so that no other goes on from it.
inline constexpr char kRecord[] = "stage.json", kLog[] = "log.txt", kBegun[] = "begun";

// Hashes of the files below a directory, by name.
using FileHashes = std::map<std::string, std::string>;
Result<FileHashes> HashesOf(const std::filesystem::path& directory);

// Every file below a directory by name and content, or one file's content.
Result<std::string> HashOf(const std::filesystem::path& path);

// What stage.json says of an output that is complete.
struct Record {
  std::string key;
  FileHashes files;
  double seconds = 0;

  std::string output() const;  // one hash of all files
};

// Nothing where there is no record, or one that is damaged or names files outside of its directory.
std::optional<Record> ReadRecord(const std::filesystem::path& directory);

// Whether a directory holds all of a record's files, or those of them that are `kept`.
bool Holds(const std::filesystem::path& directory, const Record& record,
           const std::vector<std::filesystem::path>* kept = nullptr);

// `to` holds those of the files that `from` has, and nothing else.
Status CopyFiles(const std::filesystem::path& from, const std::filesystem::path& to,
                 const std::vector<std::filesystem::path>& names);

}  // namespace aerocast
