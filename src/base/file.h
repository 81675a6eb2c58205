// SPDX-License-Identifier: BSD-3-Clause
//
// Whole files in and out. Every message names the file and what the system said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "aerocast/result.h"
#include "src/base/byte_source.h"

namespace aerocast {

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  int fd() const { return fd_; }

 private:
  int fd_;
};

// An open file: its size is the one it had then.
class FileSource final : public ByteSource {
 public:
  // Refuses what is no regular file (a pipe could make us wait for ever).
  static Result<FileSource> Open(const std::filesystem::path& file);

  std::uint64_t size() const override { return size_; }
  Status Read(std::uint64_t offset, void* to, std::size_t bytes) const override;

 private:
  FileSource(Descriptor in, std::uint64_t size) : in_(std::move(in)), size_(size) {}

  Descriptor in_;
  std::uint64_t size_;
};

// Refuses what FileSource refuses, and files larger than `limit` bytes.
Result<std::string> ReadFile(const std::filesystem::path& file,
                             std::uint64_t limit = std::uint64_t{1} << 31);

// The file holds the old or the new content at every moment, also when the power goes: written
// beside it, synced, renamed over it, directory synced. A link is followed, an existing file keeps
// its permissions, and what is no regular file (a pipe, a terminal) is written to, not replaced.
Status WriteFileAtomically(const std::filesystem::path& file, std::string_view content);

// The same for content that comes in pieces: Append as often as there is more, then Commit.
// Without Commit() nothing of it stays.
class StagedFile {
 public:
  static Result<StagedFile> Create(const std::filesystem::path& file);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  Status Append(std::string_view content);
  Status Commit();

 private:
  StagedFile() = default;
  std::filesystem::path file_, target_;  // as the user named it, and where links lead
  std::filesystem::path staging_;        // empty: written to directly
  int fd_ = -1;
};

// Removes what writers that have died in the middle left in this directory.
void RemovePartialFiles(const std::filesystem::path& directory);

// A directory that appears whole or not at all: files are written into `path()`, a hidden sibling
// of the target, and Commit() renames it. Without Commit() everything written is removed.
class StagedDirectory {
 public:
  // Refuses a target that exists and is not empty, unless `replace`. Without `replace` Commit()
  // refuses one that has come into being meanwhile. Leftovers of dead processes are removed.
  static Result<StagedDirectory> Create(const std::filesystem::path& target, bool replace);
  StagedDirectory(StagedDirectory&& other) noexcept;
  StagedDirectory& operator=(StagedDirectory&&) = delete;
  ~StagedDirectory();

  const std::filesystem::path& path() const { return staging_; }
  Status Commit();

 private:
  StagedDirectory() = default;
  std::filesystem::path target_, staging_;
  bool replace_ = false;
};

// Removes everything that is staged and not committed: for programs that are told to stop.
void RemoveStaged();

}  // namespace aerocast
