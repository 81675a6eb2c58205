// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/corpus_flags.h"

#include <fmt/format.h>

namespace aerocast::cli {

std::size_t LoadedSide::windows() const {
  std::size_t count = 0;
  for (const FlightWindows& flight : flights) count += flight.t0.size();
  return count;
}

Result<std::vector<FlightWindows>> LoadedSide::Cut(const std::string& other_side) const {
  const Result<std::vector<const Recording*>> recordings = Side(corpus, split, other_side);
  if (!recordings.ok()) return recordings.error();
  return CutFlights(*recordings, spec, min_z());
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
