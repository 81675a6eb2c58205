// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace aerocast {
namespace fs = std::filesystem;
namespace {

Error SystemError(const fs::path& file, const std::string& what, int code) {
  return {code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          file.string() + ": " + what + ": " + std::strerror(code)};
}

// A file descriptor that closes itself.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

Status WriteAndSync(const fs::path& file, std::string_view content) {
  const Descriptor out{open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (out.fd < 0) return SystemError(file, "cannot create", errno);
  while (!content.empty()) {
    const ssize_t n = write(out.fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(file, "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  if (fsync(out.fd) != 0) return SystemError(file, "cannot sync", errno);
  return {};
}

void SyncDirectory(const fs::path& directory) {
  const Descriptor dir{open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC)};
  if (dir.fd >= 0) (void)fsync(dir.fd);
}

fs::path Sibling(const fs::path& target) {
  fs::path name = target.filename();
  name += ".partial-" + std::to_string(getpid());
  return target.parent_path() / name;
}

}  // namespace

Result<std::string> ReadFile(const fs::path& file, std::uint64_t limit) {
  const Descriptor in{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (in.fd < 0) return SystemError(file, "cannot open", errno);
  struct stat info;
  if (fstat(in.fd, &info) != 0) return SystemError(file, "cannot read", errno);
  if (S_ISDIR(info.st_mode)) return SystemError(file, "expected a file", EISDIR);
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(in.fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(file, "cannot read", errno);
    if (n == 0) return content;
    if (content.size() + static_cast<std::uint64_t>(n) > limit) {
      return Error{ErrorCode::kBadFormat, file.string() + ": larger than the limit of " +
                                              std::to_string(limit) + " bytes"};
    }
    content.append(buffer, static_cast<std::size_t>(n));
  }
}

Status WriteFileAtomically(const fs::path& file, std::string_view content) {
  const fs::path temporary = Sibling(file);
  Status written = WriteAndSync(temporary, content);
  if (written.ok() && rename(temporary.c_str(), file.c_str()) != 0) {
    written = SystemError(file, "cannot replace", errno);
  }
  if (!written.ok()) {
    (void)unlink(temporary.c_str());
    return written;
  }
  SyncDirectory(file.parent_path());
  return {};
}

Result<StagedDirectory> StagedDirectory::Create(const fs::path& target, bool replace) {
  std::error_code code;
  const bool exists = fs::exists(target, code);
  if (exists && !fs::is_directory(target, code)) {
    return Error{ErrorCode::kExists, target.string() + ": exists and is not a directory"};
  }
  if (exists && !replace && !fs::is_empty(target, code)) {
    return Error{ErrorCode::kExists, target.string() +
                                         ": already holds files; name a new directory, or give "
                                         "--force to replace it"};
  }
  StagedDirectory staged;
  // "corpus/" and "corpus" are the same place.
  staged.target_ = target.has_filename() ? target : target.parent_path();
  staged.staging_ = Sibling(staged.target_);
  fs::remove_all(staged.staging_, code);
  if (!fs::create_directories(staged.staging_, code)) {
    const Error error = SystemError(staged.staging_, "cannot create directory", code.value());
    staged.staging_.clear();
    return error;
  }
  return staged;
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : target_(std::move(other.target_)), staging_(std::move(other.staging_)) {
  other.staging_.clear();
}

StagedDirectory::~StagedDirectory() {
  std::error_code code;
  if (!staging_.empty()) fs::remove_all(staging_, code);
}

Status StagedDirectory::Commit() {
  std::error_code code;
  fs::path old;
  if (fs::exists(target_, code)) {
    old = Sibling(target_);
    old += "-old";
    fs::rename(target_, old, code);
    if (code) return SystemError(target_, "cannot replace", code.value());
  }
  fs::rename(staging_, target_, code);
  if (code) {
    const Error error = SystemError(target_, "cannot create", code.value());
    if (!old.empty()) fs::rename(old, target_, code);
    return error;
  }
  staging_.clear();
  SyncDirectory(target_.parent_path());
  if (!old.empty()) fs::remove_all(old, code);
  return {};
}

}  // namespace aerocast
