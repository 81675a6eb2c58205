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
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCheckpointExtension = ".safetensors";

constexpr std::uint64_t kRunVersion = 1;

// The fields of run.json behind its version, for the writer and the reader alike.
template <typename Facts, typename Visitor>
void VisitFacts(Facts& facts, Visitor visit) {
  visit("seed", facts.seed);
  visit("corpus", facts.corpus);
  visit("corpus_name", facts.corpus_name);
  visit("corpus_hash", facts.corpus_hash);
  visit("split", facts.split);
  visit("split_hash", facts.split_hash);
  visit("start_hash", facts.start_hash);
  visit("windows", facts.length.windows);
  visit("budget_s", facts.length.budget_s);
  visit("clock", facts.length.clock);
  visit("threads", facts.threads);
  visit("processes", facts.processes);
  visit("version", facts.version);
  visit("blas", facts.blas);
}

}  // namespace

std::string FactsToJson(const RunFacts& facts) {
  nlohmann::ordered_json json = {{"run_version", kRunVersion}};
  VisitFacts(facts, [&](const char* key, const auto& value) { json[key] = value; });
  return json.dump(2) + "\n";
}

Result<RunFacts> FactsFromJson(const std::string& text, const std::string& where) {
  const Result<JsonValue> json = ParseStrictJson(text, where);
  if (!json.ok()) return json.error();
  JsonFields fields(*json, where);
  if (fields.Count("run_version") != kRunVersion) fields.Refuse("run_version", "1");
  RunFacts facts;
  VisitFacts(facts, [&](const char* key, auto& value) { fields.Read(key, value); });
  if (facts.length.clock != "wall" && facts.length.clock != "cpu") {
    fields.Refuse("clock", "wall or cpu");
  }
  if (Status s = fields.Finish(); !s.ok()) return s.error();
  return facts;
}

Result<RunDirectory> RunDirectory::Create(const fs::path& path, const RunConfig& config,
                                          const RunFacts& facts, const Model* start) {
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
  if (start != nullptr) {
    if (Status s = WriteModel(run.start_file(), *start, start->stored); !s.ok()) return s.error();
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
