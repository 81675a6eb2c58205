// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "aerocast/classical.h"
#include "aerocast/version.h"
#include "apps/cli/corpus_flags.h"
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/eval/curves.h"
#include "src/eval/fit_classical.h"
#include "src/eval/manoeuvres.h"
#include "src/forecast/replay.h"
#include "src/report/forecast_lines.h"
#include "src/report/html.h"
#include "src/report/results.h"
#include "src/report/tables.h"

namespace aerocast::cli {
namespace {

struct EvaluateFlags {
  CorpusFlags corpus;
  DisturbanceFlags disturbance;
  LoadModel load;
  std::vector<std::string> models, forecasts;
  std::string fit = "train", fit_corpus, subset = "all", cluster = "flight", json, report;
  EvaluationOptions options;
  BootstrapOptions bootstrap;
  int examples = 9, newest_tokens = 0;
  bool by_default = false;  // the models are the default ones
  bool half = false, libtorch = false, uncalibrated = false;
};

// The forecasters under evaluation and the sources that serve them.
struct Contestants {
  std::vector<std::unique_ptr<Forecaster>> forecasters;
  std::vector<std::unique_ptr<ForecastSource>> sources;
  std::vector<TrainingCurve> curves;  // of the networks, where they are known
};

Error BadValue(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

bool NamesClassical(const EvaluateFlags& flags) {
  return !std::all_of(flags.models.begin(), flags.models.end(), IsModelFile);
}

// Scoring a method on what it was fitted on would flatter it; test flights are for scoring alone.
Status CheckFit(const EvaluateFlags& flags) {
  const std::string &side = flags.corpus.side, &fit = flags.fit;
  if (fit == "none") return {};
  if (fit != "train" && fit != "validation" && fit != "calibration") {
    return BadValue(fmt::format(
        "--fit is '{}', expected train, validation, calibration or none: nothing is fitted on test "
        "flights",
        fit));
  }
  if (!flags.fit_corpus.empty()) return {};  // CheckFitUnseen looks at the flights
  if (!NamesClassical(flags) || (side != "all" && side != fit)) return {};
  return BadValue(fmt::format(
      "side '{}' holds the flights that forecasters are fitted on; choose another --side, or "
      "--fit none for generic spreads (then without ridge and knn)",
      side));
}

FitOptions FitOptionsFor(const EvaluateFlags& flags, const LoadedSide& loaded) {
  FitOptions options;
  options.spec = loaded.spec;
  options.threads = flags.options.threads;
  options.by_configuration = loaded.split == "configuration";
  return options;
}

// Flights to be scored that are among `keys`, and the first of them. Disturbed ones keep their id.
struct SeenFlights {
  std::size_t known = 0;
  std::string first;
};
SeenFlights FindSeen(const std::vector<std::string>& keys, const LoadedSide& loaded,
                     std::span<const FlightWindows> scored) {
  std::set<std::string> ids;
  for (const FlightWindows& flight : scored) ids.insert(flight.flight->id);
  const std::set<std::string> seen(keys.begin(), keys.end());
  SeenFlights found;
  for (const FlightEntry& entry : loaded.corpus.manifest.flights) {
    if (!ids.contains(entry.id) || !seen.contains(RecordingKey(entry.sha256))) continue;
    if (++found.known == 1) found.first = entry.id;
  }
  return found;
}

// A network scored on flights it has learnt from would be flattered, whatever corpus they are in.
Status CheckUnseen(const std::string& file, const Provenance& provenance, const LoadedSide& loaded,
                   std::span<const FlightWindows> scored) {
  const auto [known, first] = FindSeen(provenance.train_flights, loaded, scored);
  const bool unlisted = provenance.train_flights.empty();  // too many to list
  if (unlisted && (provenance.corpus_hash != loaded.corpus.manifest.hash ||
                   provenance.split_hash != loaded.split_hash() || loaded.side == "train")) {
    return BadValue(
        fmt::format("{}: does not say which flights it was trained on; score it on "
                    "another side than train of split '{}' of corpus '{}' itself",
                    file, provenance.split, provenance.corpus_name));
  }
  if (known == 0) return {};
  return BadValue(fmt::format(
      "{}: was trained on {} of the {} to be scored ({} is one); choose another side of the "
      "split it was trained with ('{}' of corpus '{}')",
      file, known, Count(scored.size(), "flight"), first, provenance.split,
      provenance.corpus_name));
}

// So would a calibration.
Status CheckCalibrationUnseen(const std::string& file,
                              const std::optional<CalibrationOrigin>& origin,
                              const LoadedSide& loaded, std::span<const FlightWindows> scored) {
  if (!origin) return {};
  const auto [known, first] = FindSeen(origin->flights, loaded, scored);
  const bool unlisted = origin->flights.empty();  // too many to list
  const bool same_side = origin->split == loaded.split && origin->side == loaded.side;
  if (unlisted && (origin->corpus_hash != loaded.corpus.manifest.hash || same_side)) {
    return BadValue(
        fmt::format("{}: does not say which flights it was calibrated on; score it on another side "
                    "than '{}' of "
                    "split '{}' of corpus '{}' itself, or --uncalibrated",
                    file, origin->side, origin->split, origin->corpus_name));
  }
  if (known == 0) return {};
  return BadValue(fmt::format(
      "{}: was calibrated on {} of the {} to be scored ({} is one); choose another side of split "
      "'{}' of corpus '{}', or --uncalibrated",
      file, known, Count(loaded.flights.size(), "flight"), first, origin->split,
      origin->corpus_name));
}

// The trainer leaves curves.json beside the model; a model elsewhere has none.
void AddCurve(const std::filesystem::path& model, const std::string& name, Contestants& all) {
  const std::filesystem::path file = model.parent_path() / "curves.json";
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return;
  const Result<std::string> text = ReadFile(file);
  Result<TrainingCurve> curve =
      text.ok() ? CurveFromJson(*text, file.string()) : Result<TrainingCurve>(text.error());
  if (!curve.ok()) return Warn(curve.error().message + "; the report has no curve of " + name);
  curve->name = name;
  all.curves.push_back(std::move(*curve));
}

// "FILE" or "NAME=FILE"; a name is of letters, digits, - and _.
std::pair<std::string, std::string> SplitName(const std::string& model) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const std::size_t end = model.find_first_not_of(kLetters);
  std::error_code code;
  if (end == 0 || end == model.npos || model[end] != '=' || std::filesystem::exists(model, code)) {
    return {"", model};
  }
  return {model.substr(0, end), model.substr(end + 1)};
}

Status AddNetwork(const EvaluateFlags& flags, const std::string& model, const LoadedSide& loaded,
                  std::span<const FlightWindows> scored, Contestants& all) {
  const auto [name, file] = SplitName(model);
  LoadOptions options;
  options.name = name;
  if (flags.half) options.weights = WeightStorage::kHalf;
  options.calibrated = !flags.uncalibrated;
  options.newest_tokens = flags.newest_tokens;
  Result<LoadedModel> network = flags.load(file, options);
  if (!network.ok()) return network.error();
  const ModelOrigin& origin = network->origin;
  if (Status s = CheckUnseen(file, origin.provenance, loaded, scored); !s.ok()) return s;
  if (Status s = CheckCalibrationUnseen(file, origin.calibration, loaded, scored); !s.ok())
    return s;
  const ForecasterInfo& info = network->forecaster->info();
  if (info.shape.steps != loaded.spec.horizon_steps() || info.dt_s != loaded.spec.dt_s) {
    return BadValue(fmt::format("{}: forecasts {:g} s in steps of {:g} s, asked for are {:g} s",
                                file, info.shape.steps * info.dt_s, info.dt_s,
                                loaded.spec.horizon_s));
  }
  AddCurve(file, info.name, all);
  all.sources.push_back(MakeForecasterSource(*network->forecaster, "train"));
  all.forecasters.push_back(std::move(network->forecaster));
  return {};
}

// Where classical forecasters are fitted: a side of the corpus that is scored, or of another one.
Result<LoadedSide> LoadFitCorpus(const EvaluateFlags& flags) {
  CorpusFlags other = flags.corpus;
  other.directory = flags.fit_corpus, other.side = flags.fit;
  return other.Load();
}

// A flight may be in two corpora.
Status CheckFitUnseen(const EvaluateFlags& flags, const LoadedSide& fitted,
                      const LoadedSide& loaded, std::span<const FlightWindows> scored) {
  std::set<std::string> ids;
  for (const FlightWindows& flight : fitted.flights) ids.insert(flight.flight->id);
  std::vector<std::string> keys;
  for (const FlightEntry& entry : fitted.corpus.manifest.flights) {
    if (ids.contains(entry.id)) keys.push_back(RecordingKey(entry.sha256));
  }
  const auto [known, first] = FindSeen(keys, loaded, scored);
  if (known == 0) return {};
  return BadValue(fmt::format(
      "--fit-corpus {}: {} of the {} to be scored are on its side '{}' ({} is one); choose other "
      "flights to fit on",
      flags.fit_corpus, known, Count(scored.size(), "flight"), flags.fit, first));
}

// For the results: the side, and its corpus where that is another one.
std::string FittedOn(const EvaluateFlags& flags) {
  if (flags.fit == "none") return "";
  if (flags.fit_corpus.empty()) return flags.fit;
  return fmt::format(
      "{} of {}", flags.fit,
      std::filesystem::path(flags.fit_corpus).lexically_normal().filename().string());
}

// What is fitted is fitted on undisturbed flights.
Status AddModels(const EvaluateFlags& flags, const LoadedSide& loaded,
                 std::span<const FlightWindows> scored, Contestants& all) {
  const bool fit = flags.fit != "none";
  std::optional<LoadedSide> other;
  std::vector<FlightWindows> train;
  if (fit && NamesClassical(flags) && !flags.fit_corpus.empty()) {
    Result<LoadedSide> fitted = LoadFitCorpus(flags);
    if (!fitted.ok()) return fitted.error();
    if (Status s = CheckFitUnseen(flags, *fitted, loaded, scored); !s.ok()) return s;
    other = std::move(*fitted);
    train = std::move(other->flights);
  } else if (fit && NamesClassical(flags)) {
    Result<std::vector<FlightWindows>> cut = loaded.Cut(flags.fit);
    if (!cut.ok()) return cut.error();
    train = std::move(*cut);
  }
  Progress progress("fitting", flags.models.size());
  for (const std::string& model : flags.models) {
    if (IsModelFile(model)) {
      Status added = AddNetwork(flags, model, loaded, scored, all);
      if (!added.ok() && !flags.by_default) return added;
      if (!added.ok()) Warn(added.error().message + "; left out");
      continue;
    }
    Result<std::unique_ptr<Forecaster>> made =
        fit ? FitClassical(model, train, FitOptionsFor(flags, loaded))
            : MakeClassical(model, loaded.spec.horizon_steps(), loaded.spec.dt_s);
    if (!made.ok()) return made.error();
    all.forecasters.push_back(std::move(*made));
    all.sources.push_back(MakeForecasterSource(*all.forecasters.back(), FittedOn(flags)));
    progress.Advance();
  }
  return {};
}

Status AddRecorded(const EvaluateFlags& flags, std::span<const FlightWindows> scored,
                   const WindowSpec& spec, Contestants& all) {
  for (const std::string& file : flags.forecasts) {
    auto source = RecordedForecasts::Open(file, scored, spec);
    if (!source.ok()) return source.error();
    all.sources.push_back(std::move(*source));
  }
  return {};
}

Status CheckNames(const Contestants& all) {
  std::set<std::string> names;
  for (const auto& source : all.sources) {
    if (names.insert(source->info().name).second) continue;
    return BadValue(
        fmt::format("two models are named '{0}'; name a model file by --models "
                    "OTHER=FILE, or rename the file of forecasts",
                    source->info().name));
  }
  return {};
}

Protocol DescribeProtocol(const LoadedSide& loaded, const Disturbance& disturbance) {
  Protocol protocol;
  protocol.disturbance = disturbance;
  protocol.corpus_name = loaded.corpus.manifest.name;
  protocol.corpus_hash = loaded.corpus.manifest.hash;
  protocol.corpus_flights = static_cast<std::int64_t>(loaded.corpus.recordings.size());
  protocol.min_z = loaded.corpus.manifest.min_z;
  protocol.split = loaded.side == "all" ? "none" : loaded.split;
  protocol.side = loaded.side;
  protocol.split_hash = loaded.split_hash();
  return protocol;
}

Result<Results> EvaluateAll(EvaluateFlags& flags, std::span<const FlightWindows> scored,
                            const Protocol& protocol, const Contestants& all) {
  Progress progress("evaluating", all.sources.size() * scored.size());
  flags.options.progress = [&](std::size_t, std::size_t) { progress.Advance(); };
  std::vector<ModelEvaluation> evaluations;
  std::vector<const ForecastSource*> sources;
  for (const auto& source : all.sources) {
    Result<ModelEvaluation> evaluation = Evaluate(*source, scored, flags.options);
    if (!evaluation.ok()) return evaluation.error();
    evaluations.push_back(std::move(*evaluation));
    sources.push_back(source.get());
  }
  Results results =
      MakeResults(protocol, flags.options, flags.bootstrap, std::move(evaluations),
                  MakeExamples(sources, scored, flags.options.window, flags.examples), true);
  results.curves = all.curves;
  return results;
}

Status WriteReport(const std::string& file, const std::string& json) {
  const Result<std::string> page = EmbedResults(ReportTemplate(), json);
  if (!page.ok()) return page.error();
  return WriteOutput(file, *page);
}

// What can be refused before minutes of work.
Status CheckFlags(const EvaluateFlags& flags) {
  for (const std::string& target : {flags.json, flags.report}) {
    if (target.empty()) continue;
    if (Status s = CheckOutput(target, flags.corpus.directory); !s.ok()) return s;
  }
  if (!flags.json.empty() && flags.json == flags.report) {
    return BadValue("--json and --report name the same file");
  }
  std::set<std::string> names;
  for (const std::string& name : flags.models) {
    if (!names.insert(name).second) return BadValue("--models names '" + name + "' twice");
    const std::vector<std::string_view> unfitted = ClassicalNames(), all = AllForecasterNames();
    const bool known = std::count(all.begin(), all.end(), name) > 0;
    if (flags.fit == "none" && known && std::count(unfitted.begin(), unfitted.end(), name) == 0) {
      return BadValue(name + " has to be fitted, so it does not go with --fit none");
    }
  }
  return CheckFit(flags);
}

// The bundled network and everything classical that differs on this much history.
void AddDefaultModels(EvaluateFlags& flags) {
  flags.by_default = true;
  flags.models.emplace_back(kBundled[0]);
  for (const std::string_view name :
       flags.fit == "none" ? ClassicalNames() : AllForecasterNames()) {
    if (name == "replay" && flags.corpus.window.spec.history_s < kReplayNeedsS) continue;  // ctrv
    flags.models.emplace_back(name);
  }
}

Status ResolveModels(std::vector<std::string>& models) {
  for (std::string& model : models) {
    Result<std::string> file = ResolveModel(model);
    if (!file.ok()) return file.error();
    model = std::move(*file);
  }
  return {};
}

Status RunEvaluate(EvaluateFlags& flags) {
  if (flags.models.empty() && flags.forecasts.empty()) AddDefaultModels(flags);
  if (Status s = ResolveModels(flags.models); !s.ok()) return s;
  const Result<Cluster> cluster = ClusterFromName(flags.cluster);
  if (!cluster.ok()) return cluster.error();
  flags.bootstrap.cluster = *cluster;
  if (Status s = CheckFlags(flags); !s.ok()) return s;
  const Result<Disturbance> disturbance = flags.disturbance.Resolve();
  if (!disturbance.ok()) return disturbance.error();
  const Result<LoadedSide> loaded = flags.corpus.Load();
  if (!loaded.ok()) return loaded.error();
  Result<DisturbedFlights> scored = loaded->Disturbed(*disturbance);
  if (!scored.ok()) return scored.error();
  if (flags.subset == "before-manoeuvres") scored->windows = BeforeManoeuvres(scored->windows);
  if (flags.subset == "other") scored->windows = NotBeforeManoeuvres(scored->windows);
  flags.options.window = loaded->spec;
  Contestants all;
  if (Status s = AddModels(flags, *loaded, scored->windows, all); !s.ok()) return s;
  if (Status s = AddRecorded(flags, scored->windows, loaded->spec, all); !s.ok()) return s;
  if (Status s = CheckNames(all); !s.ok()) return s;
  Protocol protocol = DescribeProtocol(*loaded, *disturbance);
  if (flags.subset == "before-manoeuvres") protocol.subset = "before manoeuvres";
  if (flags.subset == "other") protocol.subset = "not before manoeuvres";
  const Result<Results> results = EvaluateAll(flags, scored->windows, protocol, all);
  if (!results.ok()) return results.error();

  if (flags.json != "-") {
    fmt::print("{}", EvaluationReport(*results));
    for (const std::string& note : loaded->split_notes()) fmt::print("note: {}\n", note);
  }
  const std::string json = ResultsToJson(*results);
  if (!flags.json.empty()) {
    if (Status s = WriteOutput(flags.json, json); !s.ok()) return s;
  }
  if (flags.report.empty()) return {};
  if (Status s = WriteReport(flags.report, json); !s.ok()) return s;
  if (flags.json != "-") fmt::print("\nreport: {}\n", flags.report);
  return {};
}

}  // namespace

Run AddEvaluate(CLI::App& verb, LoadModel load) {
  auto flags = std::make_shared<EvaluateFlags>();
  flags->load = std::move(load);
  flags->corpus.Add(verb, "test");
  flags->disturbance.Add(verb);
  verb.add_option(
          "--models", flags->models,
          "Forecasters, separated by commas: plus, plus-small, hold, cv, ca, ctrv, imm, replay, "
          "ridge, knn, and model files as FILE.safetensors or NAME=FILE.safetensors (default: plus "
          "and the classical ones, or none with --forecasts)")
      ->delimiter(',');
  verb.add_option("--forecasts", flags->forecasts,
                  "Also score forecasts another tool wrote (docs/forecast_format.md)")
      ->type_name("FILE");
  verb.add_flag("--allow-missing", flags->options.allow_missing,
                "Count windows that a forecast file leaves out instead of refusing it");
  verb.add_option("--fit", flags->fit, "Side that forecasters are fitted on, or none")
      ->capture_default_str();
  verb.add_option("--fit-corpus", flags->fit_corpus,
                  "Fit on that side of another corpus (default: of the corpus that is scored)")
      ->type_name("DIR")
      ->check(NotEmpty());
  verb.add_option("--draws", flags->options.draws,
                  "Draws per step for energy score, regions and sharpness")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  verb.add_option("--paths", flags->options.path_samples,
                  "Joint paths for the best-of-samples metrics")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  verb.add_option("--seed", flags->options.seed, "Seed of the draws")->capture_default_str();
  verb.add_option("--cluster", flags->cluster, "Intervals over flights or configurations")
      ->capture_default_str();
  verb.add_option("--replicates", flags->bootstrap.replicates, "Bootstrap replicates")
      ->check(CLI::Range(100, 100000))
      ->capture_default_str();
  AddJsonFlag(verb, flags->json);
  verb.add_option("--report", flags->report, "Write the report page, one self-contained file")
      ->type_name("FILE.html")
      ->check(NotEmpty());
  verb.add_option("--examples", flags->examples, "Windows to draw in the report")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  verb.add_option("--subset", flags->subset,
                  "all windows, before-manoeuvres (the tenth whose turn rate changes most in the "
                  "second after t0), or the other nine tenths")
      ->check(CLI::IsMember({"all", "before-manoeuvres", "other"}))
      ->capture_default_str();
  verb.add_option("--newest-tokens", flags->newest_tokens,
                  "Let networks see only so many of their newest tokens (default: all)")
      ->check(CLI::Range(1, 1000));
  verb.add_flag("--half", flags->half, "Keep the networks' weights in 16 bits");
  verb.add_flag("--uncalibrated", flags->uncalibrated,
                "Score networks without the calibration in their files");
  verb.add_flag("--libtorch", flags->libtorch,
                "Run the networks in libtorch, the reference (needs the trainer)");
  AddThreadsFlag(verb, flags->options.threads);
  verb.footer(
      "Examples:\n  aerocast evaluate corpus/nanobench --report report.html\n"
      "  aerocast evaluate corpus/nanobench --side all --fit none --models hold,cv,ctrv\n"
      "  aerocast evaluate corpus/nanobench --models ridge,knn,runs/paper/model.safetensors\n"
      "  aerocast evaluate corpus/nanobench --split configuration --cluster configuration\n"
      "  aerocast evaluate corpus/nanobench --noise 0.02 --drop 0.3");
  return [flags] { return RunEvaluate(*flags); };
}

}  // namespace aerocast::cli
