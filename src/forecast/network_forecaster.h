// SPDX-License-Identifier: BSD-3-Clause
//
// What every network of the paper's family shares around its forward pass: history to tokens, and
// the heads' numbers to a forecast in the world. Trainer, libtorch adapter and runtime all go
// through these, so they cannot drift apart.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aerocast/forecaster.h"
#include "src/model/config.h"

namespace aerocast {

// tokens is (T, inputs). `grid` is (T + 1) positions, oldest first, the last one at t0.
void PaperTokens(std::span<const Vec3> grid, const ModelConfig& config, std::span<float> tokens);

// heads is outputs() numbers: mean (S, K, 3) and log sigma (S, K, 3) in lambda units, weight logits
// (S, K). Writes the displacement mixture, the position modes and the point path by the rule in
// aerocast/forecast.h, all sums in double. sigma = max(exp(log sigma), floor), at most 1e6 m: any
// finite heads give a valid forecast. `forecast` has the shape NetworkShape(config).
void DecodeHeads(std::span<const float> heads, const ModelConfig& config, const Vec3& anchor,
                 Forecast& forecast);

ForecastShape NetworkShape(const ModelConfig& config);

// A forecaster whose answer is one forward pass. A history with a missing grid point cannot be
// answered by this family, nor one whose heads are not finite: it falls back to the held position,
// flagged, in the network's units. As many seconds are looked at as the tokens span.
class NetworkForecaster : public Forecaster {
 public:
  const ModelConfig& config() const { return config_; }

 protected:
  class NetworkWorkspace : public Workspace {
   public:
    NetworkWorkspace(const ModelConfig& config, int batch);

   private:
    friend class NetworkForecaster;
    std::vector<Vec3> grid_;             // (T + 1)
    std::vector<std::uint8_t> present_;  // (T + 1)
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
  // tokens (windows, T, inputs) -> heads (windows, outputs)
  virtual void Forward(std::span<const float> tokens, int windows, Workspace& workspace,
                       std::span<float> heads) const noexcept = 0;

  ModelConfig config_;
};

}  // namespace aerocast
