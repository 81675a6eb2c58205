// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "src/base/file.h"
#include "src/base/json_field.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCheckpointExtension = ".safetensors";

}  // namespace

std::string FactsToJson(const RunFacts& facts) {
  nlohmann::ordered_json json;
  json["run_version"] = 1;
  json["seed"] = facts.seed;
  json["corpus"] = facts.corpus;
  json["corpus_name"] = facts.corpus_name;
  json["corpus_hash"] = facts.corpus_hash;
  json["split"] = facts.split;
  json["split_hash"] = facts.split_hash;
  json["windows"] = facts.length.windows;
  json["budget_s"] = facts.length.budget_s;
  json["threads"] = facts.threads;
  json["processes"] = facts.processes;
  json["version"] = facts.version;
  json["blas"] = facts.blas;
  return json.dump(2) + "\n";
}

Result<RunFacts> FactsFromJson(const std::string& text, const std::string& where) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{ErrorCode::kBadFormat, where + ": not JSON"};
  try {
    const Field root(json, where);
    if ((root / "run_version").Integer() != 1) (root / "run_version").Fail("expected 1");
    RunFacts facts;
    facts.seed = (root / "seed").json().get<std::uint64_t>();
    facts.corpus = (root / "corpus").Text();
    facts.corpus_name = (root / "corpus_name").Text();
    facts.corpus_hash = (root / "corpus_hash").Text();
    facts.split = (root / "split").Text();
    facts.split_hash = (root / "split_hash").Text();
    facts.length.windows = static_cast<std::uint64_t>((root / "windows").Integer());
    facts.length.budget_s = (root / "budget_s").Number();
    facts.threads = static_cast<int>((root / "threads").Integer());
    facts.processes = static_cast<int>((root / "processes").Integer());
    facts.version = (root / "version").Text();
    facts.blas = (root / "blas").Text();
    return facts;
  } catch (const std::exception& error) {  // JsonError, and nlohmann's own of a wrong type
    return Error{ErrorCode::kBadFormat, error.what()};
  }
}

Result<RunDirectory> RunDirectory::Create(const fs::path& path, const RunConfig& config,
                                          const RunFacts& facts) {
  std::error_code code;
  if (fs::exists(path / "run.json", code)) {
    return Error{ErrorCode::kExists,
                 fmt::format("{} holds a run already; '--resume {}' goes on with it", path.string(),
                             path.string())};
  }
  if (fs::exists(path, code) && (!fs::is_directory(path, code) || !fs::is_empty(path, code))) {
    return Error{ErrorCode::kExists,
                 path.string() + " is there and not an empty directory; choose another --out"};
  }
  fs::create_directories(path / "checkpoints", code);
  if (code) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot make this directory: {}", path.string(), code.message())};
  }
  RunDirectory run;
  run.path_ = path, run.config_ = config;
  if (Status s = run.Lock(); !s.ok()) return s.error();
  if (Status s = WriteFileAtomically(path / "config.toml", ToToml(config)); !s.ok()) {
    return s.error();
  }
  if (Status s = run.SetFacts(facts); !s.ok()) return s.error();
  return run;
}

Result<RunDirectory> RunDirectory::Open(const fs::path& path) {
  std::error_code code;
  if (!fs::exists(path / "run.json", code)) {
    return Error{ErrorCode::kNotFound,
                 path.string() + ": no run here (there is no run.json in it)"};
  }
  RunDirectory run;
  run.path_ = path;
  if (Status s = run.Lock(); !s.ok()) return s.error();
  RemovePartialFiles(path);
  RemovePartialFiles(path / "checkpoints");
  Result<RunConfig> config = ReadRunConfig(path / "config.toml");
  if (!config.ok()) return config.error();
  run.config_ = std::move(*config);
  const Result<std::string> text = ReadFile(path / "run.json");
  if (!text.ok()) return text.error();
  Result<RunFacts> facts = FactsFromJson(*text, (path / "run.json").string());
  if (!facts.ok()) return facts.error();
  run.facts_ = std::move(*facts);
  return run;
}

void RunDirectory::CloseFile::operator()(const int* fd) const {
  close(*fd);
  delete fd;
}

Status RunDirectory::Lock() {
  const fs::path file = path_ / "lock";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot write: {}", file.string(), std::strerror(errno))};
  }
  lock_.reset(new int(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  return Error{ErrorCode::kExists,
               path_.string() + ": another process is training in this directory"};
}

Status RunDirectory::SetFacts(const RunFacts& facts) {
  facts_ = facts;
  return WriteFileAtomically(path_ / "run.json", FactsToJson(facts));
}

Status RunDirectory::WriteCurve(const TrainingCurve& curve) const {
  return WriteFileAtomically(path_ / "curves.json", CurveToJson(curve));
}

void RunDirectory::Log(const std::string& line) const {
  if (std::FILE* log = std::fopen((path_ / "log.txt").c_str(), "a")) {
    fmt::print(log, "{:%Y-%m-%d %H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), line);
    std::fclose(log);
  }
}

std::vector<fs::path> RunDirectory::Checkpoints() const {
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(path_ / "checkpoints", code)) {
    const std::string name = entry.path().filename().string();
    if (name.front() != '.' && entry.path().extension() == kCheckpointExtension) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.rbegin(), files.rend());
  return files;
}

fs::path RunDirectory::CheckpointFile(std::uint64_t windows) const {
  return path_ / "checkpoints" / fmt::format("{:012}{}", windows, kCheckpointExtension);
}

void RunDirectory::RemoveOldCheckpoints(std::size_t keep) const {
  const std::vector<fs::path> files = Checkpoints();
  std::error_code code;
  for (std::size_t i = keep; i < files.size(); ++i) fs::remove(files[i], code);
}

}  // namespace aerocast
