// SPDX-License-Identifier: BSD-3-Clause
//
// The training loop: batches in, a model file out.
//
// Two lengths. With a number of windows a run is repeatable to the bit on the same CPU, threads and
// BLAS, whatever interrupts it. With a budget, learning rate and curriculum follow the training
// clock (counted over all resumes), so that any budget gives a well-shaped run.
//
// Several processes share every batch: each takes a slice, gradients are summed, all hold the same
// weights. Rank 0 alone reads and writes the run directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "aerocast/result.h"
#include "src/eval/curves.h"
#include "src/model/model_file.h"
#include "src/train/batches.h"
#include "src/train/config.h"
#include "src/train/peers.h"
#include "src/train/run_directory.h"

namespace aerocast {

// How it goes, for people; given after every step.
struct TrainProgress {
  double progress = 0;  // 0 ... 1
  std::uint64_t windows = 0;
  double epochs = 0;
  double windows_per_s = 0;               // of this process group, lately
  double loss = 0;                        // of this step
  double seconds_left = 0;                // an estimate when the length is a number of windows
  const CurvePoint* validated = nullptr;  // set when this step ended in a validation
};

struct TrainOptions {
  RunConfig config;
  RunFacts facts;                           // seed, length, what the model file says of the corpus
  std::vector<std::string> train_flights;   // keys for the model file
  std::optional<Model> start;               // whose weights to begin with; rank 0's
  double checkpoint_every_s = 300;          // 0: after every step
  bool log_steps = false;                   // every step's loss, with all its digits
  const std::atomic<bool>* stop = nullptr;  // ends the run at the next step, with a checkpoint
  std::function<void(const TrainProgress&)> progress;
  std::function<void(const std::string& sentence)> warn;
};

enum class TrainEnd { kFinished, kEarly, kInterrupted };

struct TrainSummary {
  TrainEnd end = TrainEnd::kFinished;
  std::uint64_t windows = 0;
  double epochs = 0, seconds = 0;
  double windows_per_s = 0;  // over this process's life, validation and checkpoints included
  double waited_s = 0;       // for batches
  CurvePoint best;           // the validation of the weights that are kept
};

// Trains to the end, or until stopped, from the newest whole checkpoint of `run` if there is one.
// `run` is rank 0's and null elsewhere. Errors: a loss that is not finite, a checkpoint that cannot
// be written, a lost peer; what was good is kept, and the message says where.
Result<TrainSummary> Train(const TrainOptions& options, Lesson& lesson, RunDirectory* run,
                           Peers& peers);

// A validation's distances in words.
std::string ShownAde(const CurvePoint& point);

// Denormals flushed, `threads` for libtorch and BLAS (0: one per core). Call before anything else
// of libtorch. Returns what computes matrix products, for the record.
std::string PrepareMath(int threads);

}  // namespace aerocast
