// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "aerocast/version.h"
#include "apps/cli/command.h"
#include "src/data/category.h"
#include "src/import/corpus.h"
#include "src/report/table.h"
#include "src/sim/generate.h"
#include "src/sim/preset.h"

namespace aerocast::cli {
namespace {

constexpr double kMinZ = 0.3;

struct GenerateFlags {
  std::string out, preset, real, regime, name;
  bool force = false;
  GenerateOptions options;
};

Error BadValue(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

void PrintSummary(const PresetSummary& summary) {
  TextTable table;
  table.AddColumn("category", TextTable::Align::kLeft);
  for (const char* header :
       {"recordings", "windows", "mean RMS m/s", "paper's", "max m/s", "paper's", "real"}) {
    table.AddColumn(header);
  }
  const auto add = [&](const PresetRow& row, std::string paper_mean, std::string paper_max) {
    const FlightSpeeds all = row.all();
    table.AddRow(
        {std::string(row.category),
         FormatCount(static_cast<long long>(row.real_recordings + row.generated_recordings)),
         FormatCount(static_cast<long long>(all.windows)), fmt::format("{:.3f}", all.mean_rms()),
         std::move(paper_mean), fmt::format("{:.3f}", all.max), std::move(paper_max),
         FormatPercent(static_cast<double>(row.real.windows) /
                       static_cast<double>(std::max<std::size_t>(1, all.windows)))});
  };
  for (std::size_t i = 0; i < summary.rows.size(); ++i) {
    add(summary.rows[i], fmt::format("{:.2f}", kPaperTable[i].mean_rms),
        fmt::format("{:.2f}", kPaperTable[i].max));
  }
  table.AddRule();
  add(summary.Total(), "0.69", "");
  fmt::print("{}", table.Render());
}

void SayLeftOut(const Recording& recording) {
  fmt::print("left out: {}, {}\n", recording.id,
             CategoryIndex(recording.category) < 0
                 ? "whose category '" + recording.category + "' is none of the nine"
                 : "which has no airborne window");
}

// The real flights a preset is filled up from, with what was left out said aloud.
Result<std::vector<Recording>> TakeReal(const std::string& directory) {
  Result<Corpus> corpus = LoadCorpus(directory);
  if (!corpus.ok()) return corpus.error();
  std::vector<const Recording*> all;
  for (const Recording& recording : corpus->recordings) all.push_back(&recording);
  std::vector<Recording> kept;
  std::size_t next = 0;
  for (const std::size_t i : KeptReal(all, kMinZ)) {
    for (; next < i; ++next) SayLeftOut(*all[next]);
    next = i + 1;
    kept.push_back(std::move(corpus->recordings[i]));
  }
  for (; next < all.size(); ++next) SayLeftOut(*all[next]);
  return kept;
}

Result<std::vector<Recording>> MakePreset(const GenerateFlags& flags) {
  const std::optional<Preset> preset = PresetFromName(flags.preset);
  if (!preset) {
    return BadValue(fmt::format("--preset is '{}', expected paper or balanced", flags.preset));
  }
  std::vector<Recording> recordings;
  if (!flags.real.empty()) {
    Result<std::vector<Recording>> real = TakeReal(flags.real);
    if (!real.ok()) return real.error();
    recordings = std::move(*real);
  }
  std::vector<const Recording*> real;
  for (const Recording& recording : recordings) real.push_back(&recording);
  Result<PresetResult> made = GeneratePreset(*preset, real,
                                             {.seed = flags.options.seed,
                                              .threads = flags.options.threads,
                                              .min_z = kMinZ,
                                              .noise_m = flags.options.noise_m});
  if (!made.ok()) return made.error();
  PrintSummary(made->summary);
  for (Recording& generated : made->generated) recordings.push_back(std::move(generated));
  return recordings;
}

Result<std::vector<Recording>> Make(GenerateFlags& flags) {
  if (!flags.preset.empty()) return MakePreset(flags);
  if (!flags.real.empty()) return BadValue("--real goes with --preset paper or balanced");
  if (!flags.regime.empty()) {
    flags.options.regime = RegimeFromName(flags.regime);
    if (!flags.options.regime) {
      return BadValue(fmt::format("--regime is '{}', expected arena or fast", flags.regime));
    }
  }
  return GenerateFlights(flags.options);
}

Status RunGenerate(GenerateFlags& flags) {
  const Result<std::vector<Recording>> recordings = Make(flags);
  if (!recordings.ok()) return recordings.error();
  CorpusOptions corpus;
  corpus.name = flags.name;
  corpus.min_z = kMinZ;
  corpus.replace = flags.force;
  corpus.threads = flags.options.threads;
  corpus.provenance = {{"program", fmt::format("aerocast {}", Version())},
                       {"preset", flags.preset.empty() ? "none" : flags.preset},
                       {"seed", std::to_string(flags.options.seed)}};
  if (Status s = WriteCorpus(flags.out, *recordings, corpus); !s.ok()) return s;
  fmt::print("{} -> {}\n", Count(recordings->size(), "recording"), flags.out);
  return {};
}

}  // namespace

Run AddGenerate(CLI::App& verb) {
  auto flags = std::make_shared<GenerateFlags>();
  GenerateOptions& options = flags->options;
  verb.add_option("--out", flags->out, "Directory of the new corpus")->required();
  auto* category = verb.add_option("--category", options.categories,
                                   "Separated by commas: any of the nine categories, bird, "
                                   "soaring, racing, fixed_wing, fork, stop_and_go; or nine, "
                                   "fliers for all of these (default: nine)")
                       ->delimiter(',');
  auto* flights = verb.add_option("--flights", options.flights_per_category, "Flights per category")
                      ->capture_default_str();
  auto* duration = verb.add_option("--duration", options.duration_s, "Seconds per flight")
                       ->capture_default_str();
  auto* regime = verb.add_option("--regime", flags->regime,
                                 "Of the nine: arena (a motion-capture room; the default), or fast "
                                 "(out of doors, up to 20 m/s)");
  auto* fork = verb.add_option("--fork-probability", options.fork_probability,
                               "Of a fork to turn left (default: 0.5)");
  verb.add_option("--noise", options.noise_m,
                  "Sensor noise in metres for every flight (default: 0.05 mm to 5 cm, drawn)");
  verb.add_option("--seed", options.seed, "Same seed, same bytes")->capture_default_str();
  verb.add_option("--preset", flags->preset,
                  "paper (its Table II: 113 recordings, 90,116 windows) or balanced (57 % real)")
      ->excludes(category, flights, duration, regime, fork);
  verb.add_option("--real", flags->real, "With --preset: corpus of real flights, counted first")
      ->type_name("CORPUS");
  verb.add_option("--name", flags->name, "Name of the corpus (default: the directory's)");
  verb.add_flag("--force", flags->force, "Replace an existing corpus");
  AddThreadsFlag(verb, options.threads);
  verb.footer(
      "Examples:\n  aerocast generate --category circle,star --flights 20 --out corpus/small\n"
      "  aerocast generate --category fliers --flights 50 --duration 60 --out corpus/fliers\n"
      "  aerocast generate --preset paper --real corpus/nanobench --out corpus/paper");
  return [flags] { return RunGenerate(*flags); };
}

}  // namespace aerocast::cli
