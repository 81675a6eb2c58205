// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>

#include "aerocast/version.h"
#include "apps/cli/command.h"
#include "src/import/corpus.h"
#include "src/import/import.h"

namespace aerocast::cli {
namespace {

struct ImportFlags {
  std::vector<std::string> paths;
  std::string out, format = "csv", name, source = "real";
  std::optional<double> min_z;
  std::uint64_t seed = 1;
  bool keep_duplicates = false, force = false, allow_refused = false;
  ImportOptions options;
};

// NanoBench records standing on the floor, take-off and landing; only flight is wanted.
constexpr double kNanobenchMinZ = 0.3;

void Report(const ImportResult& result, const ImportFlags& flags) {
  for (const ImportNote& note : result.notes) fmt::print("note: {}\n", Sentence(note));
  for (const DroppedRecording& dropped : result.dropped) fmt::print("{}\n", Sentence(dropped));
  fmt::print("{}, {}, {} dropped, {} refused -> {}\n", Count(result.files, "file"),
             Count(result.recordings.size(), "distinct flight"),
             Count(result.dropped.size(), "duplicate"), result.refused.size(), flags.out);
}

Status RunImport(ImportFlags& flags) {
  const Result<Format> format = FormatFromName(flags.format);
  if (!format.ok()) return format.error();
  const std::optional<Source> source = SourceFromName(flags.source);
  if (!source) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--source is '{}', expected real or synthetic", flags.source)};
  }
  flags.options.format.format = *format;
  flags.options.format.source = *source;
  flags.options.dedupe = !flags.keep_duplicates;
  if (!flags.min_z && *format == Format::kNanobench) flags.min_z = kNanobenchMinZ;

  const std::vector<std::filesystem::path> paths(flags.paths.begin(), flags.paths.end());
  Result<ImportResult> result = Import(paths, flags.options);
  if (!result.ok()) return result.error();
  for (const Error& refused : result->refused) Warn("refused: " + refused.message);
  if (!result->refused.empty() && !flags.allow_refused) {
    return Error{ErrorCode::kBadFormat,
                 fmt::format("{} of {} files were refused, nothing was written; mend them, or give "
                             "--allow-refused to import the others",
                             result->refused.size(), result->files)};
  }
  CorpusOptions corpus;
  corpus.name = flags.name;
  corpus.min_z = flags.min_z;
  corpus.split_seed = flags.seed;
  corpus.dropped = result->dropped;
  corpus.replace = flags.force;
  corpus.provenance = {{"program", fmt::format("aerocast {}", Version())},
                       {"format", flags.format}};
  if (Status s = WriteCorpus(flags.out, result->recordings, corpus); !s.ok()) return s;
  Report(*result, flags);
  return {};
}

}  // namespace

Run AddImport(CLI::App& verb) {
  auto flags = std::make_shared<ImportFlags>();
  FormatOptions& format = flags->options.format;
  verb.add_option("path", flags->paths, "Files, or directories that are searched for files")
      ->required();
  verb.add_option("--out", flags->out, "Directory of the new corpus")->required();
  verb.add_option("--format", flags->format, "csv, nanobench, tum or euroc")->capture_default_str();
  verb.add_option("--name", flags->name, "Name of the corpus (default: the directory's)");
  verb.add_option("--category", format.category, "Category of flights that do not state one");
  verb.add_option("--object", format.object, "What flew, where the files do not say");
  verb.add_option("--source", flags->source, "real or synthetic, where the files do not say")
      ->capture_default_str();
  verb.add_option("--noise", format.noise_m, "Sigma of a position in metres, where unstated")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_option("--min-z", flags->min_z,
                  "Only windows wholly above this height in metres count (nanobench: 0.3)")
      ->check(CLI::Range(-1e6, 1e6));
  verb.add_option("--max-gap", format.repair.max_gap_s, "A longer gap in seconds splits a flight")
      ->check(CLI::Range(1e-3, 1e6))
      ->capture_default_str();
  verb.add_option("--split-seed", flags->seed, "Seed of the splits")->capture_default_str();
  verb.add_flag("--keep-duplicates", flags->keep_duplicates, "Do not look for duplicates");
  verb.add_flag("--allow-refused", flags->allow_refused, "Import the rest when files are refused");
  verb.add_flag("--force", flags->force, "Replace an existing corpus");
  AddThreadsFlag(verb, flags->options.threads);
  verb.footer(
      "Example:\n  aerocast import --format nanobench flights/ --out corpus/nanobench\n"
      "What is repaired and what is refused: docs/recording_format.md.");
  return [flags] { return RunImport(*flags); };
}

}  // namespace aerocast::cli
