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

  double dropout = 0.1;

  // Objective of the paper's family (loss.h).
  double mse_weight = 0.15;  // of the heaviest component's squared error

  // Objective of plus (plus_loss.h): beside the distance of the point path, which counts once.
  double mode_weight = 0.5;       // of the modes' likelihood
  double logit_weight = 0.3;      // of the modes' weights
  double beta = 0.5;              // of the beta-likelihood
  double assign_temperature = 4;  // in mean steps, at the start
  double assign_until = 0.6;      // share of the run after which the nearest mode takes all
  double sigma_gradient = 0.1;    // share of the spreads' gradient that reaches the trunk
  double speed_power = 0;         // a window counts as its mean step to this power

  // Curriculum of the paper's family: for the first share of the run the network sees the last few
  // tokens only, and observed positions are disturbed. 0: off.
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

// How plus draws its samples (plus_samples.h). Lengths are in units of the window's own mean step,
// so that every flier is disturbed alike.
struct SamplerConfig {
  double generated = 0.5;        // share of samples from generated flights, the rest is the corpus'
  int generated_flights = 2000;  // drawn once, from the seed
  double fliers = 0.3;     // share of them that are fast: fliers, and the nine shapes out of doors
  double stop_and_go = 0;  // share of them that stop at waypoints (src/sim/stop_and_go.h)
  // Share of the corpus' samples that are from its flights flown again, at other speeds and sizes,
  // by a simulated Crazyflie (src/sim/refly.h); flights of other speeds than the arena's are not.
  double reflown = 0;
  // Share of samples that are flown faster or slower by e^U(-a, a), and mirrored half of the time;
  // the others are flown as they were.
  double warped = 0.5, time_scale = 0.3;
  double clean = 0.4;                             // share of samples without added noise
  double noise_least = 0.0015, noise_most = 0.7;  // else log-uniform
  double noise_unstated = 0.25;  // share of samples whose noise the network is not told
  double untold = 0.3;           // share of samples whose speed the network is not told
  double drop = 0.3;             // of half of the samples, up to this share of points is missing
  double outliers = 0.01;        // share of points that are elsewhere
  // How much history a batch sees: everything, the paper's two seconds, else any number of tokens.
  double whole_history = 0.4, short_history = 0.25;

  friend bool operator==(const SamplerConfig&, const SamplerConfig&) = default;
};

struct RunConfig {
  std::string name;         // short, unique, for tables and files: letters, digits, - and _
  std::string description;  // one line for people
  ModelConfig model;
  TrainConfig train;
  SamplerConfig sampler;  // of plus

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

// TOML: name, description, [model], [train] and, for plus, [sampler]; every key is a field above,
// absent ones keep their default. Unknown and ill-typed keys and values out of range are refused by
// name, with file and line. `overrides` are "train.lr=3e-4" from the command line, applied last.
Result<RunConfig> ReadRunConfig(const std::filesystem::path& file,
                                std::span<const std::string> overrides = {});
Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view where,
                                 std::span<const std::string> overrides = {});

// Every field this network and run have, as TOML that ParseRunConfig reads back to an equal config.
std::string ToToml(const RunConfig& config);

}  // namespace aerocast
