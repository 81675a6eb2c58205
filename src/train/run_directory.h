// SPDX-License-Identifier: BSD-3-Clause
//
// What a training leaves behind, in one directory:
//
//   config.toml      the resolved config
//   start.safetensors  the network it began with, if it began with one
//   run.json         seed, corpus and its hash, length of the run, threads, libraries
//   log.txt          one line per event, with time stamps
//   curves.json      one point per validation (src/eval/curves.h)
//   checkpoints/     the last three states it can go on from (docs/training.md)
//   model.safetensors  the result, when the run has ended
//
// Every file is written whole or not at all; the log is appended to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aerocast/result.h"
#include "src/eval/curves.h"
#include "src/model/model_file.h"
#include "src/train/config.h"

namespace aerocast {

// Either a number of windows, which makes a run repeatable to the bit, or an amount of training
// time, which the schedule follows.
struct RunLength {
  std::uint64_t windows = 0;
  double budget_s = 0;  // > 0: this counts
  // Whose seconds: those on the wall, or those that the training thread computed ("cpu"), so that
  // whoever shares the machine does not make the run shorter.
  std::string clock = "wall";

  friend bool operator==(const RunLength&, const RunLength&) = default;
};

// What config.toml does not say about a run.
struct RunFacts {
  std::uint64_t seed = 1;
  std::string corpus;  // directory
  std::string corpus_name, corpus_hash, split, split_hash;
  std::string start_hash;  // of the weights it began with; empty: drawn from the seed
  RunLength length;
  int threads = 0, processes = 1;
  std::string version, blas;  // what computed it

  friend bool operator==(const RunFacts&, const RunFacts&) = default;
};

std::string FactsToJson(const RunFacts& facts);
Result<RunFacts> FactsFromJson(const std::string& json, const std::string& where);

class RunDirectory {
 public:
  // Refuses a directory that is not empty. `start`, if any, is what the run begins with. run.json
  // is written last: a directory that has one can be resumed.
  static Result<RunDirectory> Create(const std::filesystem::path& path, const RunConfig& config,
                                     const RunFacts& facts, const Model* start = nullptr);
  // Refuses a directory that is no run, and one that another process is at work in. What a process
  // that was killed left half-written is removed.
  static Result<RunDirectory> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const RunConfig& config() const { return config_; }
  const RunFacts& facts() const { return facts_; }
  std::filesystem::path model_file() const { return path_ / "model.safetensors"; }
  std::filesystem::path start_file() const { return path_ / "start.safetensors"; }

  Status SetFacts(const RunFacts& facts);  // rewrites run.json
  Status WriteCurve(const TrainingCurve& curve) const;
  // Appends to log.txt; a log that cannot be written never stops a training.
  void Log(const std::string& line) const;

  // Checkpoints by the number of windows seen, newest first.
  std::vector<std::filesystem::path> Checkpoints() const;
  std::filesystem::path CheckpointFile(std::uint64_t windows) const;
  void RemoveOldCheckpoints(std::size_t keep) const;

 private:
  RunDirectory() = default;
  Status Lock();  // for as long as this object lives

  struct CloseFile {
    void operator()(const int* fd) const;
  };
  std::unique_ptr<const int, CloseFile> lock_;
  std::filesystem::path path_;
  RunConfig config_;
  RunFacts facts_;
};

}  // namespace aerocast
