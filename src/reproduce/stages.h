// SPDX-License-Identifier: BSD-3-Clause
//
// Work in stages that is done once. A stage reads the output of others and some files, and writes a
// directory of its own; what was made from the same inputs by the same commands is not made again.
//
//   OUT/NAME/          what the stage wrote
//   OUT/NAME/log.txt   what its commands said
//   OUT/NAME/begun     while it is made: the key of what is being made
//   OUT/NAME/stage.json  last, when everything is there: the key, the commands, the time it took
//   OUT/lock           held by the one process that may work in OUT
//
// The key is a hash of the commands, the content of the files, and the outputs of the stages it
// needs. An attempt that was cut short is resumed only under the key it was begun with. So deleting
// one output redoes that stage, and those behind it where it came out otherwise.
//
// An archive keeps what is small, for other machines and later days: the record of every stage and
// the files that it names (numbers and curves, not corpora or large networks). A stage whose key it
// knows is not made again while no other needs the files that it lacks.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

// Arguments of one call of the program. "{NAME}" in them is the directory of that stage, "{}" the
// stage's own, "{file0}" the first of its files: where things lie is not part of the key.
using StageCommand = std::vector<std::string>;

struct Stage {
  std::string name;                          // "train/gru"
  std::vector<std::string> needs;            // stages before it in the list
  std::vector<std::filesystem::path> files;  // outside of OUT: files, or directories as a whole
  std::vector<StageCommand> commands;
  // In place of the commands when an earlier attempt was cut short and left `resumes` (a path
  // below the stage's directory). Without it a new attempt starts from nothing.
  std::filesystem::path resumes;
  StageCommand resume_command;
  std::vector<std::filesystem::path> scratch;  // below its directory, removed when it is done
  // Instead of commands: writes into the directory. An exception becomes an error.
  std::function<Status(const std::filesystem::path& out, const std::filesystem::path& own)> work;
  std::vector<std::filesystem::path> kept;  // files below its directory that go into an archive
  bool repeatable = false;  // comes out the same to the byte whenever it is made (a corpus)
  bool reads_kept = false;  // kept files are all it reads of the stages it needs
  std::string facts;        // whatever else the output depends on: part of the key
  double expected_s = 5;
  bool alone = false;  // nothing else runs meanwhile: it measures time
};

struct StageReport {
  std::string name;
  bool cached = false;
  double seconds = 0;
};

struct StageOptions {
  std::filesystem::path out, program;
  std::filesystem::path archive;  // empty: none. Read, and added to after every stage that is made
  // Called before a stage that has work to do: its number, how many there are, and how long it and
  // all after it are expected to take.
  std::function<void(const Stage& stage, std::size_t number, std::size_t of, double left_s)> begin;
  int jobs = 1;                             // stages that run at once, where they can
  const std::atomic<bool>* stop = nullptr;  // set: the running commands get SIGTERM, none follows
};

// Says what is wrong with the list: a name twice, a need that does not come before.
Status CheckStages(std::span<const Stage> stages);

// The stages named by `only`, and all they need; empty: all. Patterns are names, or names up to a
// '*' at their end. Errors: a pattern that fits none.
Result<std::vector<Stage>> SelectStages(std::span<const Stage> stages,
                                        std::span<const std::string> only);

// Runs what is not there, in order, and `jobs` at a time. Errors: the first command that fails,
// with the end of its log (what runs beside it is finished, and what does not depend on it may be
// left); a directory that another process works in.
Result<std::vector<StageReport>> RunStages(std::span<const Stage> stages,
                                           const StageOptions& options);

}  // namespace aerocast
