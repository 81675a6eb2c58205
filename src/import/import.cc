// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "src/base/parallel.h"
#include "src/base/text.h"
#include "src/import/manifest.h"
#include "src/import/natural.h"

namespace aerocast {
namespace fs = std::filesystem;
namespace {

// What one file gave; filled by one thread.
struct FileResult {
  std::vector<Recording> recordings;
  std::vector<ImportNote> notes;
  std::vector<Error> refused;
};

bool IsCandidate(const fs::path& file, Format format) {
  const std::string extension = Lower(file.extension().string());
  switch (format) {
    case Format::kTum:
      return extension == ".txt" || extension == ".tum";
    case Format::kEuroc:  // a sequence holds camera and IMU tables as well, all named data.csv
      return extension == ".csv" &&
             (file.stem() != "data" ||
              file.parent_path().filename().string().find("groundtruth") != std::string::npos);
    case Format::kNanobench:
      return extension == ".csv";
    case Format::kCsv:
      return extension == ".csv" || extension == ".tsv";
  }
  return false;
}

// Hidden directories, and corpora: what was imported before is not imported again from there. A
// staging directory that a killed run left behind counts as hidden.
bool IsPassedOver(const fs::path& directory) {
  const std::string name = directory.filename().string();
  std::error_code ignored;
  return name.starts_with('.') || name.find(".partial-") != std::string::npos ||
         fs::exists(directory / kManifestFile, ignored);
}

Result<std::vector<fs::path>> ListDirectory(const fs::path& directory, Format format) {
  std::vector<fs::path> files;
  std::error_code code;
  fs::recursive_directory_iterator it(directory, code);
  for (; !code && it != fs::recursive_directory_iterator(); it.increment(code)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (IsPassedOver(it->path())) it.disable_recursion_pending();
    } else if (!it->path().filename().string().starts_with('.') && it->is_regular_file(ignored) &&
               IsCandidate(it->path(), format)) {
      files.push_back(it->path());
    }
  }
  if (code) {
    return Error{ErrorCode::kIo, directory.string() + ": cannot list: " + code.message()};
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return NaturalLess(a.string(), b.string());
  });
  return files;
}

Result<std::vector<fs::path>> FindAll(const std::vector<fs::path>& paths, Format format) {
  std::vector<fs::path> files;
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    Result<std::vector<fs::path>> found = FindFiles(path, format);
    if (!found.ok()) return found.error();
    for (const fs::path& file : *found) {
      std::error_code ignored;
      if (seen.insert(fs::weakly_canonical(file, ignored)).second) files.push_back(file);
    }
  }
  return files;
}

FileResult ReadOne(const fs::path& file, const FormatOptions& options) {
  FileResult result;
  Result<std::vector<Recording>> recordings = ReadForeign(file, options, result.notes);
  if (recordings.ok()) {
    result.recordings = std::move(*recordings);
  } else {
    result.refused.push_back(recordings.error());
  }
  return result;
}

void Rename(FileResult& file, const std::string& name, const std::string& id) {
  const std::string old = FlightOf(file.recordings[0].id);
  for (Recording& part : file.recordings) part.id = id + part.id.substr(old.size());
  file.notes.push_back(
      {name, 0, 1, fmt::format("another file has the id '{}' too, so this one is '{}'", old, id)});
}

// Two files of one name in two directories are two flights until their content says otherwise.
void MakeIdsUnique(std::vector<FileResult>& files, const std::vector<fs::path>& paths) {
  std::map<std::string, std::size_t> uses;
  for (const FileResult& file : files) {
    if (!file.recordings.empty()) ++uses[FlightOf(file.recordings[0].id)];
  }
  std::set<std::string> taken;
  for (const auto& [id, count] : uses) {
    if (count == 1) taken.insert(id);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].recordings.empty()) continue;
    const std::string id = FlightOf(files[i].recordings[0].id);
    if (uses[id] == 1) continue;
    const std::string directory = paths[i].parent_path().filename().string();
    const std::string base = directory.empty() ? id : SafeName(directory) + "_" + id;
    std::string unique = base;
    for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}_{}", base, n);
    if (unique != id) Rename(files[i], paths[i].string(), unique);
  }
}

template <typename T>
void Append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<std::vector<fs::path>> FindFiles(const fs::path& path, Format format) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) {
    return Error{ErrorCode::kNotFound, path.string() + ": no such file or directory"};
  }
  if (!fs::is_directory(status)) return std::vector<fs::path>{path};
  Result<std::vector<fs::path>> files = ListDirectory(path, format);
  if (files.ok() && files->empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: no {} in this directory", path.string(),
                             format == Format::kTum     ? ".txt or .tum files"
                             : format == Format::kEuroc ? "ground truth .csv files"
                                                        : ".csv files")};
  }
  return files;
}

Result<ImportResult> Import(const std::vector<fs::path>& paths, const ImportOptions& options) {
  const Result<std::vector<fs::path>> files = FindAll(paths, options.format.format);
  if (!files.ok()) return files.error();
  std::vector<FileResult> read(files->size());
  ParallelFor(read.size(), options.threads,
              [&](std::size_t i, int) { read[i] = ReadOne((*files)[i], options.format); });
  MakeIdsUnique(read, *files);

  ImportResult result;
  result.files = files->size();
  for (FileResult& file : read) {
    Append(result.recordings, file.recordings);
    Append(result.notes, file.notes);
    Append(result.refused, file.refused);
  }
  if (result.recordings.empty()) {
    if (result.refused.empty()) return Error{ErrorCode::kInvalidArgument, "no files to import"};
    Error first = result.refused[0];
    if (result.refused.size() > 1) {
      first.message += fmt::format(" (and {} more files were refused)", result.refused.size() - 1);
    }
    return first;
  }
  DedupeOptions dedupe = options.dedupe_options;
  if (options.format.format == Format::kNanobench) {
    dedupe.same_place_m = std::numeric_limits<double>::infinity();
  }
  if (options.dedupe) {
    DedupeResult distinct = Dedupe(std::move(result.recordings), dedupe);
    result.recordings = std::move(distinct.kept);
    result.dropped = std::move(distinct.dropped);
  }
  return result;
}

}  // namespace aerocast
