// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/plus_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "src/base/check.h"
#include "src/base/rng.h"
#include "src/data/resample.h"
#include "src/forecast/plus.h"
#include "src/sim/generate.h"
#include "src/sim/kinds.h"
#include "src/sim/refly.h"

namespace aerocast {
namespace {

// Keep draws for different purposes apart.
constexpr std::uint64_t kSampling = 0x706c75732d736d70, kLengths = 0x706c75732d6c656e,
                        kReflying = 0x706c75732d726566;
constexpr double kGeneratedS = 40;          // how long a generated flight is
constexpr std::size_t kGeneratedEvery = 2;  // of its samples at 100 Hz are kept
constexpr double kSlowest = 0.3;  // a track that is too short is flown no slower than this
constexpr int kTries = 20;
constexpr int kReflights = 12;  // of each track of the corpus

std::size_t Size(int n) { return static_cast<std::size_t>(n); }

int ShortTokens(const ModelConfig& model) {
  const int steps = static_cast<int>(std::lround(2 / model.dt_s));
  return std::min((steps + model.patch - 1) / model.patch, model.tokens());
}

// The stretches of a flight that are airborne, without gaps and at least `least_s` long.
void CutTracks(const Recording& flight, double min_z, double least_s, std::size_t every,
               std::vector<Track>& tracks) {
  const WindowSpec spec;
  Track track;
  const auto finish = [&] {
    if (track.t_s.size() > 1 && track.duration_s() >= least_s) tracks.push_back(track);
    track = {};
  };
  const TimeNs start = flight.samples.empty() ? 0 : flight.samples.front().t_ns;
  for (std::size_t i = 0; i < flight.samples.size(); i += every) {
    const double t = DurationS(flight.samples[i].t_ns - start);
    const bool airborne = flight.target(i).z > min_z;
    if (!airborne || (!track.t_s.empty() && t - track.t_s.back() > spec.max_gap_s)) finish();
    if (!airborne) continue;
    track.t_s.push_back(t);
    track.p.push_back(flight.target(i));
  }
  finish();
}

// Positions at times that rise or fall: remembers where it was.
class Reader {
 public:
  Reader(const Track& track, double t)
      : track_(track),
        at_(std::clamp<std::size_t>(
            static_cast<std::size_t>(std::lower_bound(track.t_s.begin(), track.t_s.end(), t) -
                                     track.t_s.begin()),
            1, track.t_s.size() - 1)) {}

  Vec3 operator()(double t) {
    while (at_ + 1 < track_.t_s.size() && track_.t_s[at_] < t) ++at_;
    while (at_ > 1 && track_.t_s[at_ - 1] > t) --at_;
    const double a = track_.t_s[at_ - 1], b = track_.t_s[at_];
    const double share = std::clamp((t - a) / (b - a), 0.0, 1.0);
    return track_.p[at_ - 1] + (track_.p[at_] - track_.p[at_ - 1]) * share;
  }

 private:
  const Track& track_;
  std::size_t at_;  // the sample behind t
};

// Every track flown again kReflights times, each with draws of its own.
std::vector<Track> ReflyTracks(std::span<const Track> tracks, std::uint64_t seed,
                               std::uint64_t& number, double least_s) {
  std::vector<Track> reflown;
  for (const Track& track : tracks) {
    Reader read(track, track.t_s.front());
    std::vector<Vec3> flown(static_cast<std::size_t>(track.duration_s() / kSimStepS) + 1);
    for (std::size_t i = 0; i < flown.size(); ++i) {
      flown[i] = read(track.t_s.front() + static_cast<double>(i) * kSimStepS);
    }
    for (int n = 0; n < kReflights; ++n) {
      Rng rng(seed ^ kReflying, number++);
      const std::optional<std::vector<Vec3>> again = ReflySomehow(flown, rng);
      if (!again) continue;
      Track made;
      for (std::size_t i = 0; i < again->size(); i += kGeneratedEvery) {
        made.t_s.push_back(static_cast<double>(i) * kSimStepS);
        made.p.push_back((*again)[i]);
      }
      if (made.duration_s() >= least_s) reflown.push_back(std::move(made));
    }
  }
  return reflown;
}

// About so many flights of a kind or group, equally many of each kind, added to `tracks` kind by
// kind.
Status Generate(const std::string& name, std::optional<Regime> regime, double flights,
                std::uint64_t seed, int threads, double least_s,
                std::vector<std::vector<Track>>& tracks) {
  const Result<std::vector<int>> kinds = KindsFromNames({name});
  AEROCAST_CHECK(kinds.ok());
  GenerateOptions options;
  options.regime = regime;
  options.duration_s = kGeneratedS;
  options.seed = seed;
  options.noise_m = 0;
  options.threads = threads;
  options.flights_per_category =
      static_cast<int>(std::ceil(flights / static_cast<double>(kinds->size())));
  if (options.flights_per_category == 0) return {};
  for (const int kind : *kinds) {  // one after the other: less memory
    options.categories = {std::string(kFlightKinds[Size(kind)].name)};
    Result<std::vector<Recording>> made = GenerateFlights(options);
    if (!made.ok()) return made.error();
    std::vector<Track>& own = tracks.emplace_back();
    for (const Recording& flight : *made) CutTracks(flight, kNoMinZ, least_s, kGeneratedEvery, own);
  }
  return {};
}

// What a sensor does to the points of a window. The newest and the oldest stay.
class Sensor {
 public:
  Sensor(std::span<Vec3> grid, std::span<std::uint8_t> present, std::size_t oldest, double step,
         const SamplerConfig& config, Rng& rng)
      : grid_(grid), present_(present), oldest_(oldest), step_(step), config_(config), rng_(rng) {}

  // Returns the noise that is stated, 0 when none is.
  double Observe() {
    const double noise = AddNoise();
    AddOutliers();
    Drop();
    return rng_.Chance(config_.noise_unstated) ? 0 : noise;
  }

 private:
  Vec3 Normal() {
    const double x = rng_.Normal(), y = rng_.Normal(), z = rng_.Normal();
    return {x, y, z};
  }

  double AddNoise() {
    if (rng_.Chance(config_.clean)) {
      return step_ * rng_.LogUniform(0.1 * config_.noise_least, config_.noise_least);
    }
    const double sigma = step_ * rng_.LogUniform(config_.noise_least, config_.noise_most);
    for (std::size_t i = oldest_; i < grid_.size(); ++i) grid_[i] += sigma * Normal();
    return sigma;
  }

  void AddOutliers() {
    for (std::size_t i = oldest_; i + 1 < grid_.size(); ++i) {
      if (!rng_.Chance(config_.outliers)) continue;
      const Vec3 way = Normal();
      grid_[i] += (step_ * rng_.LogUniform(3, 40) / (Norm(way) + 1e-9)) * way;
    }
  }

  // A single missing point is interpolated, as ResampleHistory does; longer holes stay.
  void Drop() {
    if (rng_.Chance(0.5)) return;
    const double rate = rng_.Uniform(0, config_.drop);
    for (std::size_t i = oldest_ + 1; i + 1 < grid_.size(); ++i) {
      if (rng_.Chance(rate)) present_[i] = 0;
    }
    for (std::size_t i = oldest_ + 1; i + 1 < grid_.size(); ++i) {
      if (present_[i] != 0) continue;
      if (present_[i - 1] == 1 && present_[i + 1] == 1) {
        grid_[i] = 0.5 * (grid_[i - 1] + grid_[i + 1]);
        present_[i] = 2;  // not a neighbour for the next hole
      }
    }
    for (std::uint8_t& known : present_) known = known != 0 ? 1 : 0;
    for (std::size_t i = 0; i < grid_.size(); ++i) {
      if (present_[i] == 0) grid_[i] = {};
    }
  }

  std::span<Vec3> grid_;
  std::span<std::uint8_t> present_;
  const std::size_t oldest_;
  const double step_;
  const SamplerConfig& config_;
  Rng& rng_;
};

void WriteTargets(std::span<const Vec3> future, const PlusFrame& frame, std::span<float> targets) {
  for (std::size_t i = 0; i < future.size(); ++i) {
    const Vec3 p = frame.ToFrame(future[i]);
    targets[3 * i] = static_cast<float>(p.x);
    targets[3 * i + 1] = static_cast<float>(p.y);
    targets[3 * i + 2] = static_cast<float>(p.z);
  }
  targets[3 * future.size()] = static_cast<float>(frame.scale);
}

}  // namespace

int PlusHistory(const RunConfig& config, std::uint64_t seed, std::uint64_t sample) {
  Rng rng(seed ^ kLengths, sample);
  const double draw = rng.Uniform();
  const SamplerConfig& sampler = config.sampler;
  if (draw < sampler.whole_history) return config.model.tokens();
  if (draw < sampler.whole_history + sampler.short_history) return ShortTokens(config.model);
  return 1 + static_cast<int>(rng.Below(static_cast<std::uint64_t>(config.model.tokens())));
}

PlusSamples::PlusSamples(const RunConfig& config, std::uint64_t seed)
    : model_(config.model),
      sampler_(config.sampler),
      seed_(seed),
      grid_(Size(model_.history_steps) + 1),
      future_(Size(model_.horizon_steps)),
      present_(grid_.size()) {}

Result<std::unique_ptr<PlusSamples>> PlusSamples::Make(std::span<const Recording* const> flights,
                                                       double min_z, const RunConfig& config,
                                                       std::uint64_t seed, int threads) {
  std::unique_ptr<PlusSamples> samples(new PlusSamples(config, seed));
  const ModelConfig& model = config.model;
  const double least_s = (model.horizon_steps + model.patch) * model.dt_s;
  std::map<std::string, std::vector<Track>> by_category;
  for (const Recording* flight : flights) {
    std::vector<Track> tracks;
    CutTracks(*flight, min_z, least_s, 1, tracks);
    for (Track& track : tracks) {
      samples->epoch_ += static_cast<std::size_t>((track.duration_s() - least_s) / model.dt_s) + 1;
      by_category[flight->category].push_back(std::move(track));
    }
  }
  for (auto& [category, tracks] : by_category) samples->corpus_.push_back(std::move(tracks));
  if (samples->corpus_.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("none of {} flights is in the air for {:g} s without a gap, expected "
                             "at least one",
                             flights.size(), least_s)};
  }
  const SamplerConfig& sampler = config.sampler;
  if (sampler.reflown > 0) {
    std::uint64_t number = 0;
    for (const std::vector<Track>& tracks : samples->corpus_) {
      std::vector<Track> reflown = ReflyTracks(tracks, seed, number, least_s);
      if (!reflown.empty()) samples->reflown_.push_back(std::move(reflown));
    }
  }
  if (sampler.generated == 0) return samples;
  const double fast = sampler.generated_flights * sampler.fliers;
  const double stopping = sampler.generated_flights * sampler.stop_and_go;
  const auto generate = [&](const std::string& name, std::optional<Regime> regime, double count,
                            Tracks& tracks) {
    return Generate(name, regime, count, seed ^ kSampling, threads, least_s, tracks);
  };
  for (const Status& made :
       {generate("nine", Regime::kArena, sampler.generated_flights - fast - stopping,
                 samples->nine_),
        generate("nine", Regime::kFast, fast / 2, samples->fliers_),
        generate("fliers", std::nullopt, fast / 2, samples->fliers_),
        generate("stop_and_go", std::nullopt, stopping, samples->stop_and_go_)}) {
    if (!made.ok()) return made.error();
  }
  return samples;
}

const PlusSamples::Tracks& PlusSamples::Generated(double draw) const {
  if (draw < sampler_.fliers) return fliers_;
  return draw < sampler_.fliers + sampler_.stop_and_go ? stop_and_go_ : nine_;
}

PlusSamples::Flown PlusSamples::Draw(int steps, Rng& rng) const {
  const Tracks* source = &corpus_;
  if (rng.Chance(sampler_.generated)) {
    source = &Generated(rng.Uniform());
  } else if (!reflown_.empty() && rng.Chance(sampler_.reflown)) {
    source = &reflown_;
  }
  Flown flown;
  const bool warped = rng.Chance(sampler_.warped);
  const double needed_s = (steps + model_.horizon_steps) * model_.dt_s;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<Track>& group = (*source)[rng.Below(source->size())];
    if (group.empty()) continue;
    flown.track = &group[rng.Below(group.size())];
    const double draw = rng.Uniform(-sampler_.time_scale, sampler_.time_scale);
    flown.speed = std::min(warped ? std::exp(draw) : 1, flown.track->duration_s() / needed_s);
    if (flown.speed >= kSlowest) break;
  }
  AEROCAST_CHECK(flown.track != nullptr);
  const double dt = model_.dt_s * flown.speed;
  const double earliest = flown.track->t_s.front() + steps * dt;
  flown.t0 = rng.Uniform(earliest,
                         std::max(earliest, flown.track->t_s.back() - model_.horizon_steps * dt));
  flown.mirrored = warped && rng.Chance(0.5);
  return flown;
}

void PlusSamples::Fly(const Flown& flown, int steps) {
  auto at = [&, read = Reader(*flown.track, flown.t0)](double step) mutable {
    Vec3 p = read(flown.t0 + step * model_.dt_s * flown.speed);
    if (flown.mirrored) p.y = -p.y;
    return p;
  };
  std::fill(grid_.begin(), grid_.end(), Vec3{});
  std::fill(present_.begin(), present_.end(), std::uint8_t{0});
  for (int i = 0; i <= steps; ++i) {
    const std::size_t point = grid_.size() - 1 - Size(i);
    grid_[point] = at(-i);
    present_[point] = 1;
  }
  for (std::size_t i = 0; i < future_.size(); ++i) future_[i] = at(static_cast<double>(i + 1));
}

void PlusSamples::Write(std::uint64_t sample, const BatchRequest& request, std::span<float> tokens,
                        std::span<float> targets) {
  Rng rng(seed_ ^ kSampling, sample);
  const int seen = std::clamp(request.history, 1, model_.tokens());
  const int inside = rng.Chance(0.5) ? 0 : static_cast<int>(rng.Below(Size(model_.patch)));
  const int steps = std::max(seen * model_.patch - inside, 1);
  Fly(Draw(steps, rng), steps);
  const double step = std::max(MeanStep(grid_, present_), 1e-3);
  const std::size_t oldest = grid_.size() - 1 - Size(steps);
  const double noise = Sensor(grid_, present_, oldest, step, sampler_, rng).Observe();
  const PlusSpec spec = PlusSpecOf(model_);
  const PlusFrame frame = PlusFeatures(grid_, present_, noise, spec, tokens);
  if (rng.Chance(sampler_.untold)) HideScale(spec, tokens);
  WriteTargets(future_, frame, targets);
}

Result<std::vector<ValidationSet>> PlusValidation(std::span<const FlightWindows> flights,
                                                  const ModelConfig& model, std::size_t most) {
  WindowSpec spec;
  spec.dt_s = model.dt_s;
  spec.history_s = model.history_steps * model.dt_s;
  spec.horizon_s = model.horizon_steps * model.dt_s;
  std::size_t windows = 0;
  for (const FlightWindows& f : flights) windows += f.t0.size();
  const std::size_t every = std::max<std::size_t>(1, (windows + most - 1) / most);

  const PlusSpec plus = PlusSpecOf(model);
  std::vector<Vec3> grid(Size(model.history_steps) + 1), future(Size(model.horizon_steps));
  std::vector<std::uint8_t> present(grid.size());
  std::vector<float> tokens(Size(plus.tokens() * plus.inputs())), targets(3 * future.size() + 1);
  std::vector<ValidationSet> sets(2);
  sets[0].history = model.tokens(), sets[1].history = ShortTokens(model);
  std::size_t n = 0;
  for (const FlightWindows& f : flights) {
    for (const std::uint32_t t0 : f.t0) {
      if (n++ % every != 0 || !TargetsAt(*f.flight, t0, spec, future)) continue;
      for (ValidationSet& set : sets) {
        const double seconds = set.history * model.patch * model.dt_s;
        const History history = HistoryAt(*f.flight, t0, seconds);
        ResampleHistory(history, model.dt_s, spec.max_gap_s, grid, present);
        const std::size_t unseen = grid.size() - 1 - Size(set.history * model.patch);
        std::fill_n(present.begin(), unseen, std::uint8_t{0});  // the sample before the oldest
        const PlusFrame frame = PlusFeatures(grid, present, history.noise_m, plus, tokens);
        WriteTargets(future, frame, targets);
        set.tokens.insert(set.tokens.end(), tokens.begin(), tokens.end());
        set.targets.insert(set.targets.end(), targets.begin(), targets.end());
        ++set.windows;
      }
    }
  }
  if (sets[0].windows > 0) return sets;
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("no validation window has {:g} s of history and {:g} s of targets",
                           spec.history_s, spec.horizon_s)};
}

}  // namespace aerocast
