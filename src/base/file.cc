// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

namespace aerocast {
namespace fs = std::filesystem;
namespace {

Error SystemError(const fs::path& file, const std::string& what, int code) {
  return {code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          file.string() + ": " + what + ": " + std::strerror(code)};
}

// `shown` is the name the user knows; messages use it.
Status WriteAll(int fd, const fs::path& shown, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(shown, "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

void SyncDirectory(const fs::path& directory) {
  const Descriptor dir(open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC));
  if (dir.fd() >= 0) (void)fsync(dir.fd());
}

Result<std::uint64_t> SizeOfRegular(const Descriptor& in, const fs::path& file) {
  if (in.fd() < 0) return SystemError(file, "cannot open", errno);
  struct stat info;
  if (fstat(in.fd(), &info) != 0) return SystemError(file, "cannot read", errno);
  if (S_ISDIR(info.st_mode)) return SystemError(file, "expected a file", EISDIR);
  if (S_ISREG(info.st_mode)) return static_cast<std::uint64_t>(info.st_size);
  return Error{ErrorCode::kBadFormat, file.string() + ": expected a regular file"};
}

constexpr const char* kPartial = ".partial-";

fs::path Sibling(const fs::path& target) {
  fs::path name = target.filename();
  name += kPartial + std::to_string(getpid());
  return target.parent_path() / name;
}

// Where links lead; the path itself when that cannot be told.
fs::path Followed(const fs::path& path) {
  std::error_code code;
  fs::path target = fs::is_symlink(path, code) ? fs::weakly_canonical(path, code) : path;
  return code || target.empty() ? path : target;
}

// Staging directories of processes that were killed while they wrote.
void RemoveLeftovers(const fs::path& directory, const std::string& target) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(directory, code)) {
    const std::string name = entry.path().filename().string();
    const std::size_t at = name.rfind(kPartial);
    if (at == std::string::npos || (!target.empty() && name.substr(0, at) != target)) continue;
    pid_t pid = 0;
    const auto [end, error] =
        std::from_chars(name.data() + at + std::strlen(kPartial), name.data() + name.size(), pid);
    const bool dead = error == std::errc{} && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
    if (dead && end == name.data() + name.size()) fs::remove_all(entry.path(), code);
  }
}

// What RemoveStaged() has to remove.
struct Registry {
  std::mutex mutex;
  std::set<fs::path> paths;
};
Registry& Staged() {
  static Registry registry;
  return registry;
}
void Register(const fs::path& path) {
  const std::lock_guard lock(Staged().mutex);
  Staged().paths.insert(path);
}
void Unregister(const fs::path& path) {
  const std::lock_guard lock(Staged().mutex);
  Staged().paths.erase(path);
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<FileSource> FileSource::Open(const fs::path& file) {
  Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const Result<std::uint64_t> size = SizeOfRegular(in, file);
  if (!size.ok()) return size.error();
  return FileSource(std::move(in), *size);
}

Status FileSource::Read(std::uint64_t offset, void* to, std::size_t bytes) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = pread(in_.fd(), at, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno)};
    if (n == 0) return CutOffWhileRead();
    at += n, offset += static_cast<std::uint64_t>(n), bytes -= static_cast<std::size_t>(n);
  }
  return {};
}

Result<std::string> ReadFile(const fs::path& file, std::uint64_t limit) {
  const Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (const Result<std::uint64_t> size = SizeOfRegular(in, file); !size.ok()) return size.error();
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(in.fd(), buffer, sizeof buffer);
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

Result<StagedFile> StagedFile::Create(const fs::path& file) {
  StagedFile staged;
  staged.file_ = file, staged.target_ = Followed(file);
  struct stat info;
  const bool exists = stat(staged.target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return SystemError(file, "expected a file", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    staged.fd_ = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (staged.fd_ < 0) return SystemError(file, "cannot open", errno);
    return staged;
  }
  const fs::path staging = Sibling(staged.target_);
  Register(staging);
  staged.fd_ = open(staging.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                    exists ? info.st_mode & 0777 : 0644);
  if (staged.fd_ < 0) {
    const int code = errno;
    Unregister(staging);
    return SystemError(file, "cannot create", code);
  }
  staged.staging_ = staging;
  return staged;
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : file_(std::move(other.file_)),
      target_(std::move(other.target_)),
      staging_(std::move(other.staging_)),
      fd_(std::exchange(other.fd_, -1)) {
  other.staging_.clear();
}

StagedFile::~StagedFile() {
  if (fd_ >= 0) close(fd_);
  if (staging_.empty()) return;
  (void)unlink(staging_.c_str());
  Unregister(staging_);
}

Status StagedFile::Append(std::string_view content) { return WriteAll(fd_, file_, content); }

Status StagedFile::Commit() {
  if (staging_.empty()) return {};
  if (fsync(fd_) != 0) return SystemError(file_, "cannot sync", errno);
  if (rename(staging_.c_str(), target_.c_str()) != 0) {
    return SystemError(file_, "cannot replace", errno);
  }
  Unregister(staging_);
  staging_.clear();
  SyncDirectory(target_.parent_path());
  return {};
}

Status WriteFileAtomically(const fs::path& file, std::string_view content) {
  Result<StagedFile> staged = StagedFile::Create(file);
  if (!staged.ok()) return staged.error();
  if (Status s = staged->Append(content); !s.ok()) return s;
  return staged->Commit();
}

Result<StagedDirectory> StagedDirectory::Create(const fs::path& target, bool replace) {
  std::error_code code;
  const bool exists = fs::exists(target, code);
  if (exists && !fs::is_directory(target, code)) {
    return Error{ErrorCode::kExists, target.string() + ": exists and is not a directory"};
  }
  if (exists && !replace && !fs::is_empty(target, code)) {
    return Error{ErrorCode::kExists,
                 target.string() + ": already holds files; name a new directory"};
  }
  StagedDirectory staged;
  // "corpus/" and "corpus" are the same place.
  staged.target_ = Followed(target.has_filename() ? target : target.parent_path());
  staged.replace_ = replace;
  RemoveLeftovers(staged.target_.has_parent_path() ? staged.target_.parent_path() : ".",
                  staged.target_.filename().string());
  const fs::path staging = Sibling(staged.target_);
  fs::remove_all(staging, code);
  if (!fs::create_directories(staging, code)) {
    return SystemError(target, "cannot create directory", code.value());
  }
  staged.staging_ = staging;
  Register(staging);
  return staged;
}

void RemovePartialFiles(const fs::path& directory) { RemoveLeftovers(directory, ""); }

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : target_(std::move(other.target_)),
      staging_(std::move(other.staging_)),
      replace_(other.replace_) {
  other.staging_.clear();
}

StagedDirectory::~StagedDirectory() {
  if (staging_.empty()) return;
  std::error_code code;
  fs::remove_all(staging_, code);
  Unregister(staging_);
}

Status StagedDirectory::Commit() {
  std::error_code code;
  fs::path old;
  // Without leave to replace, the rename itself refuses a directory that holds anything.
  if (replace_ && fs::exists(target_, code)) {
    old = Sibling(target_);
    old += "-old";
    fs::rename(target_, old, code);
    if (code) return SystemError(target_, "cannot replace", code.value());
  }
  fs::rename(staging_, target_, code);
  if (code) {
    Error error = SystemError(target_, "cannot create", code.value());
    if (code == std::errc::directory_not_empty || code == std::errc::file_exists) {
      error = {ErrorCode::kExists, target_.string() + ": another process has written it meanwhile"};
    }
    if (!old.empty()) fs::rename(old, target_, code);
    return error;
  }
  Unregister(staging_);
  staging_.clear();
  SyncDirectory(target_.parent_path());
  if (!old.empty()) fs::remove_all(old, code);
  return {};
}

void RemoveStaged() {
  const std::lock_guard lock(Staged().mutex);
  std::error_code code;
  // Others may still be writing into a directory while it is removed, so it is tried again.
  for (int attempt = 0; attempt < 100; ++attempt) {
    bool left = false;
    for (const fs::path& path : Staged().paths) {
      fs::remove_all(path, code);
      left = left || fs::exists(path, code);
    }
    if (!left) return;
  }
}

}  // namespace aerocast
