// SPDX-License-Identifier: BSD-3-Clause
//
// A training run as its file in configs/ states it: which network, and how it is trained. Lengths
// of time inside a run (warm-up, restarts, patience) are shares of the run, so that a 20-minute run
// and a 10-hour run are both well-shaped; the paper's run is 300 epochs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "aerocast/result.h"
#include "src/model/config.h"

namespace aerocast {

enum class ScheduleKind { kCosine, kWarmRestarts, kConstant };

struct TrainConfig {
  // How long, unless the command line says otherwise.
  double epochs = 300;
  int batch = 128;  // windows per step, over all processes

  // AdamW.
  double lr = 1e-4;
  double lr_min = 1e-6;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 1e-5;
  double clip_norm = 0.5;  // 0: off
  double ema = 0;          // decay per step of the averaged weights; 0: off

  // Learning rate over the run.
  ScheduleKind schedule = ScheduleKind::kCosine;
  double lr_warmup = 0;               // share of the run with rising rate, before the schedule
  double restart_first = 20.0 / 300;  // warm restarts: share of the first cycle,
  double restart_factor = 2;          // and how much longer each next one is

  // Objective.
  double mse_weight = 0.15;  // of the heaviest component's squared error
  double dropout = 0.1;

  // Curriculum: for the first share of the run the network sees the last few tokens only, and
  // observed positions are disturbed. 0: off.
  double curriculum = 20.0 / 300;
  int curriculum_least = 5;       // tokens at the start
  double augment_noise_m = 0.02;  // standard deviation on observed positions
  double augment_scale = 0.05;    // the whole window is scaled by U[1 - a, 1 + a]

  // Validation, on the validation side's windows.
  double patience = 120.0 / 300;  // share of the run without improvement that ends it; 0: off
  int validations = 20;           // per run, evenly
  int validation_windows = 512;   // evenly thinned to at most this many

  friend bool operator==(const TrainConfig&, const TrainConfig&) = default;
};

struct RunConfig {
  std::string name;         // short, unique, for tables and files: letters, digits, - and _
  std::string description;  // one line for people
  ModelConfig model;
  TrainConfig train;

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

// TOML: name, description, [model], [train]; every key is a field above, absent ones keep their
// default. Unknown and ill-typed keys and values out of range are refused by name, with file and
// line. `overrides` are "train.lr=3e-4" from the command line, applied last.
Result<RunConfig> ReadRunConfig(const std::filesystem::path& file,
                                std::span<const std::string> overrides = {});
Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view where,
                                 std::span<const std::string> overrides = {});

// Every field this network and run have, as TOML that ParseRunConfig reads back to an equal config.
std::string ToToml(const RunConfig& config);

}  // namespace aerocast
