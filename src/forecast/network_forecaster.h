// SPDX-License-Identifier: BSD-3-Clause
//
// What every network shares around its forward pass: history to tokens, and the heads' numbers to a
// forecast in the world. Trainer, libtorch adapter and runtime all go through these, so they cannot
// drift apart. What only the plus family has is in plus.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aerocast/forecaster.h"
#include "src/data/plus_features.h"
#include "src/model/config.h"

namespace aerocast {

// tokens is (T, inputs). `grid` is (history_steps + 1) positions, oldest first, the last one at t0.
void PaperTokens(std::span<const Vec3> grid, const ModelConfig& config, std::span<float> tokens);

// The same for either family, of a grid without holes; plus is told the noise.
void WholeTokens(std::span<const Vec3> grid, double noise_m, const ModelConfig& config,
                 std::span<float> tokens);

// heads is outputs() numbers: mean (S, K, 3) and log sigma (S, K, 3) in lambda units, weight logits
// (S, K). Writes the displacement mixture, the position mode and the point path by the rule in
// aerocast/forecast.h, all sums in double. sigma = max(exp(log sigma), floor), at most 1e6 m: any
// finite heads give a valid forecast. `forecast` has the shape NetworkShape(config).
void DecodeHeads(std::span<const float> heads, const ModelConfig& config, const Vec3& anchor,
                 Forecast& forecast);

ForecastShape NetworkShape(const ModelConfig& config);

// softmax(logits) in double.
void Softmax(std::span<const float> logits, std::span<double> weights);

// A forecaster whose answer is one forward pass. As many seconds are looked at as the tokens span.
// A history with a missing grid point cannot be answered by the paper's family, one with a single
// known point not by plus, nor one whose heads are not finite: it falls back to the held position,
// flagged, in the network's units. Plus says short_history when less than two seconds are known, or
// less than half of what lies between the oldest point and now.
class NetworkForecaster : public Forecaster {
 public:
  const ModelConfig& config() const { return config_; }

 protected:
  class NetworkWorkspace : public Workspace {
   public:
    NetworkWorkspace(const ModelConfig& config, int batch);

   private:
    friend class NetworkForecaster;
    std::vector<Vec3> grid_;             // (history_steps + 1)
    std::vector<std::uint8_t> present_;  // (history_steps + 1)
    std::vector<PlusFrame> frames_;      // (batch)
    std::vector<float> tokens_, heads_;  // (batch, T, inputs), (batch, outputs)
  };

  // `batch` windows go through the network at once, at most.
  NetworkForecaster(std::string name, std::string description, std::string fingerprint,
                    const ModelConfig& config, int batch);

 private:
  // A workspace derived from NetworkWorkspace, for networks that need scratch memory.
  std::unique_ptr<Workspace> DoMakeWorkspace(int threads) const override;
  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept final;
  void DoPredictTasks(std::span<Task> tasks, Workspace& workspace) const noexcept final;
  // History to tokens, and what is known of it to `frame`. False: no answer.
  bool Featurize(Task& task, NetworkWorkspace& scratch, std::span<float> tokens,
                 PlusFrame& frame) const noexcept;
  // tokens (windows, T, inputs), of which the last `seen` of each window count -> heads (windows,
  // outputs)
  virtual void Forward(std::span<const float> tokens, int windows, int seen, Workspace& workspace,
                       std::span<float> heads) const noexcept = 0;

  ModelConfig config_;
};

}  // namespace aerocast
