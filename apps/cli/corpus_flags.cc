// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/corpus_flags.h"

#include <fmt/format.h>

namespace aerocast::cli {

Result<std::vector<FlightWindows>> LoadedSide::Cut(const std::string& other_side) const {
  const Result<std::vector<const Recording*>> recordings = Side(corpus, split, other_side);
  if (!recordings.ok()) return recordings.error();
  return CutFlights(*recordings, spec, min_z());
}

Result<DisturbedFlights> LoadedSide::Disturbed(const Disturbance& disturbance) const {
  const Result<std::vector<const Recording*>> recordings = Side(corpus, split, side);
  if (!recordings.ok()) return recordings.error();
  Result<DisturbedFlights> disturbed = DisturbFlights(*recordings, disturbance, spec, min_z());
  if (disturbed.ok() && disturbed->windows.empty()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("no window of {} s history and {} s horizon is left of the flights, {}",
                    spec.min_history_s, spec.horizon_s, Describe(disturbance))};
  }
  return disturbed;
}

std::vector<std::string> LoadedSide::split_notes() const {
  const auto entry = corpus.manifest.splits.find(split);
  return side == "all" || entry == corpus.manifest.splits.end() ? std::vector<std::string>{}
                                                                : entry->second.notes;
}

std::string LoadedSide::split_hash() const {
  const auto entry = corpus.manifest.splits.find(split);
  return side == "all" || entry == corpus.manifest.splits.end() ? "" : entry->second.hash;
}

void DisturbanceFlags::Add(CLI::App& verb) {
  const std::string group = "Shift tests: disturb what forecasters see (docs/shift_tests.md)";
  const auto number = [&](const char* name, double& value, const char* help) {
    verb.add_option(name, value, help)->group(group);
  };
  number("--noise", disturbance.noise_m, "Noise added to observations, sigma per axis, metres");
  verb.add_flag("--noise-unstated", noise_unstated,
                "Do not tell forecasters how large the noise is")
      ->group(group);
  number("--outliers", disturbance.outliers, "Share of observations displaced by 0.5 to 3 m");
  number("--drop", disturbance.drop, "Thin observations to 10 Hz and drop this share of them");
  number("--yaw", disturbance.yaw_deg, "Turn the flights about the vertical, degrees");
  number("--scale", disturbance.scale, "Make the flights this many times as large");
  number("--time-scale", disturbance.time_scale, "Fly the same paths this many times as fast");
  verb.add_option("--disturbance-seed", disturbance.seed, "Seed of noise, outliers and drops")
      ->group(group)
      ->capture_default_str();
}

Result<Disturbance> DisturbanceFlags::Resolve() const {
  Disturbance resolved = disturbance;
  resolved.noise_stated = !noise_unstated;
  if (const Status valid = Validate(resolved); !valid.ok()) return valid.error();
  // A seed that nothing draws from makes no difference, to `compare` neither.
  if (!resolved.random()) resolved.seed = Disturbance{}.seed;
  return resolved;
}

void CorpusFlags::Add(CLI::App& verb, const std::string& default_side) {
  side = default_side;
  verb.add_option("corpus", directory, "Directory made by 'aerocast import' or 'generate'")
      ->required();
  verb.add_option("--split", split, "flight, configuration, or paper (85/15)")
      ->capture_default_str();
  verb.add_option("--side", side, "train, validation, calibration, test or all")
      ->capture_default_str();
  window.Add(verb);
}

Result<LoadedSide> CorpusFlags::Load() const {
  const Result<WindowSpec> spec = window.Resolve();
  if (!spec.ok()) return spec.error();
  Result<Corpus> corpus = LoadCorpus(directory);
  if (!corpus.ok()) return corpus.error();
  LoadedSide loaded{std::move(*corpus), split, side, *spec, {}};
  Result<std::vector<FlightWindows>> flights = loaded.Cut(side);
  if (!flights.ok()) return flights.error();
  loaded.flights = std::move(*flights);
  if (loaded.flights.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: side '{}' of split '{}' has no window of {} s history and {} s "
                             "horizon{}",
                             directory, side, split, spec->min_history_s, spec->horizon_s,
                             loaded.corpus.manifest.min_z
                                 ? fmt::format(" above {} m", *loaded.corpus.manifest.min_z)
                                 : "")};
  }
  return loaded;
}

}  // namespace aerocast::cli
