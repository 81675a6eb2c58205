// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/stage_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/file.h"
#include "src/base/sha256.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Error Failed(const std::string& sentence) { return {ErrorCode::kIo, sentence}; }

std::string OneHash(const FileHashes& hashes) {
  Sha256 hash;
  for (const auto& [name, own] : hashes) hash.Update(name + '\n' + own + '\n');
  return hash.Hex();
}

// An archive may come from anywhere: its names lead nowhere else.
bool StaysBelow(const fs::path& name) {
  return !name.empty() && name.is_relative() &&
         std::find(name.begin(), name.end(), "..") == name.end();
}

}  // namespace

Result<FileHashes> HashesOf(const fs::path& directory) {
  std::error_code code;
  FileHashes hashes;
  for (fs::recursive_directory_iterator at(directory, code), end; at != end; at.increment(code)) {
    if (!at->is_regular_file(code)) continue;
    const std::string name = fs::relative(at->path(), directory, code).string();
    if (name == kRecord || name == kLog || name == kBegun) continue;
    const Result<std::string> content = ReadFile(at->path());
    if (!content.ok()) return content.error();
    hashes[name] = Sha256Hex(*content);
  }
  if (code) return Failed(fmt::format("{}: {}", directory.string(), code.message()));
  return hashes;
}

Result<std::string> HashOf(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    const Result<FileHashes> hashes = HashesOf(path);
    if (!hashes.ok()) return hashes.error();
    return OneHash(*hashes);
  }
  const Result<std::string> content = ReadFile(path);
  if (!content.ok()) return content.error();
  return Sha256Hex(*content);
}

std::string Record::output() const { return OneHash(files); }

std::optional<Record> ReadRecord(const fs::path& directory) {
  const Result<std::string> text = ReadFile(directory / kRecord);
  if (!text.ok()) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("format") || json["format"] != "aerocast-stage" ||
      !json.contains("files") || !json["files"].is_object()) {
    return std::nullopt;
  }
  if (!json.contains("key") || !json["key"].is_string() || !json.contains("seconds") ||
      !json["seconds"].is_number()) {
    return std::nullopt;
  }
  Record record{json["key"], {}, json["seconds"]};
  for (const auto& [name, hash] : json["files"].items()) {
    if (!hash.is_string() || !StaysBelow(name)) return std::nullopt;
    record.files[name] = hash;
  }
  return record;
}

bool Holds(const fs::path& directory, const Record& record, const std::vector<fs::path>* kept) {
  for (const auto& [name, hash] : record.files) {
    if (kept != nullptr && std::find(kept->begin(), kept->end(), name) == kept->end()) continue;
    const Result<std::string> content = ReadFile(directory / name);
    if (!content.ok() || Sha256Hex(*content) != hash) return false;
  }
  return true;
}

Status CopyFiles(const fs::path& from, const fs::path& to, const std::vector<fs::path>& names) {
  std::error_code code;
  fs::remove_all(to, code);
  fs::create_directories(to, code);
  for (const fs::path& name : names) {
    if (!fs::exists(from / name, code)) continue;
    fs::create_directories((to / name).parent_path(), code);
    fs::copy_file(from / name, to / name, fs::copy_options::overwrite_existing, code);
    if (code) return Failed(fmt::format("{}: {}", (to / name).string(), code.message()));
  }
  return {};
}

}  // namespace aerocast
