// SPDX-License-Identifier: BSD-3-Clause
//
// What the plus family is trained on: no list of windows but a row of draws. Sample n is a random
// moment of a random flight, of the corpus, one of the corpus flown again or generated, taken as it
// is or somewhat faster or slower and perhaps mirrored, seen through a random sensor: noise, holes,
// outliers. Targets are the flight itself.
//
// A batch sees one length of history, drawn for it: whole, two seconds, or anything. Every draw is
// a hash of (seed, sample).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aerocast/recording.h"
#include "src/base/rng.h"
#include "src/data/windows.h"
#include "src/train/batches.h"
#include "src/train/config.h"

namespace aerocast {

// A stretch of a flight without a gap, wholly in the air.
struct Track {
  std::vector<double> t_s;
  std::vector<Vec3> p;  // truth where it is known

  double duration_s() const { return t_s.back() - t_s.front(); }
};

class PlusSamples final : public Samples {
 public:
  // Tracks long enough for a horizon are taken from `flights` (above min_z); `flights` may go
  // afterwards. Generates config.sampler.generated_flights flights from the seed. Errors: no
  // flight of the corpus is long enough.
  static Result<std::unique_ptr<PlusSamples>> Make(std::span<const Recording* const> flights,
                                                   double min_z, const RunConfig& config,
                                                   std::uint64_t seed, int threads);

  const ModelConfig& config() const override { return model_; }
  std::size_t epoch() const override { return epoch_; }
  std::size_t targets() const override {
    return static_cast<std::size_t>(model_.horizon_steps) * 3 + 1;
  }
  // Targets are positions in the frame of the tokens, then the frame's scale in metres.
  void Write(std::uint64_t sample, const BatchRequest& request, std::span<float> tokens,
             std::span<float> targets) override;

 private:
  using Tracks = std::vector<std::vector<Track>>;  // by category

  // A moment of a track, and how it is flown.
  struct Flown {
    const Track* track = nullptr;
    double speed = 1;  // times the track's own
    double t0 = 0;     // on the track's clock
    bool mirrored = false;
  };

  PlusSamples(const RunConfig& config, std::uint64_t seed);
  const Tracks& Generated(double draw) const;  // those that a draw from [0, 1) falls on
  // With `steps` of history and a horizon around it; a track that is too short is flown slowly.
  Flown Draw(int steps, Rng& rng) const;
  // Fills grid_, present_ and future_.
  void Fly(const Flown& flown, int steps);

  const ModelConfig model_;
  const SamplerConfig sampler_;
  const std::uint64_t seed_;
  std::size_t epoch_ = 0;
  Tracks corpus_, reflown_, nine_, fliers_, stop_and_go_;
  // Scratch.
  std::vector<Vec3> grid_, future_;
  std::vector<std::uint8_t> present_;
};

// Tokens the batch that begins at `sample` sees.
int PlusHistory(const RunConfig& config, std::uint64_t seed, std::uint64_t sample);

// The undisturbed windows twice: with the whole history and with two seconds of it. At most `most`
// windows, evenly chosen. Errors: there is none with a whole history.
Result<std::vector<ValidationSet>> PlusValidation(std::span<const FlightWindows> flights,
                                                  const ModelConfig& model, std::size_t most);

}  // namespace aerocast
