// SPDX-License-Identifier: BSD-3-Clause
//
// Everything a training goes on from. Random numbers are drawn by hashing what they are for, so no
// generator has a state to keep.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "aerocast/result.h"
#include "src/eval/curves.h"

namespace aerocast {

struct TrainState {
  // Flat arrays in the order of TensorsOf(config).
  torch::Tensor weights, first_moment, second_moment;
  torch::Tensor average;  // empty: no averaging
  torch::Tensor best;     // empty: not validated yet

  std::uint64_t windows = 0;  // seen
  std::int64_t steps = 0;     // of the optimiser
  double clock_s = 0;         // of training, over all resumes
  int validations = 0;        // done
  double best_loss = 0, best_progress = 0;
  std::uint64_t best_windows = 0;
  double loss_sum = 0, nll_sum = 0;  // since the last validation
  std::uint64_t summed = 0;          // windows in these sums
  std::vector<CurvePoint> points;
};

// `run` names what the state belongs to (config, corpus, seed); reading refuses another's.
// Refuses weights that are not finite: they never replace good ones.
Status WriteCheckpoint(const std::filesystem::path& file, const TrainState& state,
                       const std::string& run);
Result<TrainState> ReadCheckpoint(const std::filesystem::path& file, std::int64_t parameters,
                                  const std::string& run);

}  // namespace aerocast
