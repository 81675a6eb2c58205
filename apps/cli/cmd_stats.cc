// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/corpus_flags.h"
#include "src/base/text.h"
#include "src/eval/stats.h"
#include "src/report/tables.h"

namespace aerocast::cli {
namespace {

struct StatsFlags {
  CorpusFlags corpus;
  std::string json;
  int threads = 0;
};

nlohmann::json ToJson(const StatsRow& row) {
  return {{"category", row.name},           {"recordings", row.recordings},
          {"windows", row.windows},         {"mean_rms_speed", row.mean_speed},
          {"max_speed", row.highest_speed}, {"real_share", row.real_share()}};
}

std::string ToJson(const LoadedSide& loaded, const CorpusStats& stats) {
  const Manifest& manifest = loaded.corpus.manifest;
  nlohmann::json json = {{"format", "aerocast-stats"},
                         {"version", 1},
                         {"corpus", {{"name", manifest.name}, {"hash", manifest.hash}}},
                         {"split", loaded.split},
                         {"side", loaded.side},
                         {"categories", nlohmann::json::array()},
                         {"total", ToJson(stats.total)}};
  for (const StatsRow& row : stats.categories) json["categories"].push_back(ToJson(row));
  return json.dump(1) + "\n";
}

Status RunStats(const StatsFlags& flags) {
  const Result<LoadedSide> loaded = flags.corpus.Load();
  if (!loaded.ok()) return loaded.error();
  const CorpusStats stats = ComputeStats(loaded->flights, loaded->spec, flags.threads);
  if (flags.json != "-") {
    const Manifest& manifest = loaded->corpus.manifest;
    fmt::print("{}: {} recordings, corpus {}, {} dropped as duplicates\n", Printable(manifest.name),
               manifest.flights.size(), manifest.hash.substr(0, 12), manifest.dropped.size());
    if (manifest.min_z) fmt::print("windows wholly above {} m only\n", *manifest.min_z);
    fmt::print("\n{}", StatsTable(stats));
    for (const std::string& note : loaded->split_notes()) fmt::print("note: {}\n", note);
  }
  return flags.json.empty() ? Status() : WriteOutput(flags.json, ToJson(*loaded, stats));
}

}  // namespace

Run AddStats(CLI::App& verb) {
  auto flags = std::make_shared<StatsFlags>();
  flags->corpus.Add(verb, "all");
  AddJsonFlag(verb, flags->json);
  AddThreadsFlag(verb, flags->threads);
  verb.footer("Example:\n  aerocast stats corpus/nanobench");
  return [flags] { return RunStats(*flags); };
}

}  // namespace aerocast::cli
