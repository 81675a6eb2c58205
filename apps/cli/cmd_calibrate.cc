// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "aerocast/version.h"
#include "apps/cli/corpus_flags.h"
#include "src/base/text.h"
#include "src/eval/fit_calibration.h"
#include "src/eval/redraw.h"
#include "src/eval/summary.h"
#include "src/report/table.h"

namespace aerocast::cli {
namespace {

struct CalibrateFlags {
  std::string model, out, json;
  CorpusFlags corpus;
  const CLI::Option* history = nullptr;
  std::vector<double> histories_s;  // what every window is forecast by
  std::vector<double> levels = {0.5, 0.8, 0.9};
  std::size_t windows = 3000;
  int redraws = 0, threads = 0;
  std::uint64_t seed = 1;
  bool half = false;
};

Error Refuse(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

Status CheckFlags(CalibrateFlags& flags) {
  if (!IsModelFile(flags.model)) {
    return Refuse(fmt::format("{}: no model file, expected *{}", flags.model, kModelExtension));
  }
  std::sort(flags.levels.begin(), flags.levels.end());
  flags.levels.erase(std::unique(flags.levels.begin(), flags.levels.end()), flags.levels.end());
  if (flags.levels.size() > kMostConformalLevels) {
    return Refuse(fmt::format("--levels has {} levels, expected at most {}", flags.levels.size(),
                              kMostConformalLevels));
  }
  if (flags.corpus.side == "train" || flags.corpus.side == "all") {
    return Refuse(fmt::format(
        "--side is {}, expected calibration (or validation, test): a network is not calibrated on "
        "flights it was trained on",
        flags.corpus.side));
  }
  for (const std::string& target : {flags.out, flags.json}) {
    if (target.empty()) continue;
    if (Status s = CheckOutput(target, flags.corpus.directory); !s.ok()) return s;
  }
  return {};
}

// Without --history, a network is calibrated for all that it takes, and for two seconds when that
// is less.
void ChooseHistories(const ModelConfig& config, CalibrateFlags& flags) {
  double& history_s = flags.corpus.window.spec.history_s;
  const double usual_s = history_s;
  if (flags.history->count() == 0) history_s = config.history_steps * config.dt_s;
  flags.histories_s = {history_s};
  if (flags.history->count() == 0 && usual_s < history_s) flags.histories_s.push_back(usual_s);
}

const FlightEntry& EntryOf(const LoadedSide& loaded, const FlightWindows& flight) {
  return loaded.corpus.manifest
      .flights[static_cast<std::size_t>(flight.flight - loaded.corpus.recordings.data())];
}

// Errors on flights that were learnt from are smaller than on new ones.
Status CheckUntrained(const std::string& file, const Provenance& p, const LoadedSide& loaded,
                      std::span<const FlightWindows> flights) {
  const std::set<std::string> seen(p.train_flights.begin(), p.train_flights.end());
  if (seen.empty() &&
      (p.corpus_hash != loaded.corpus.manifest.hash || p.split_hash != loaded.split_hash())) {
    return Refuse(fmt::format(
        "{}: does not say which flights it was trained on; calibrate it on a side of split '{}' of "
        "corpus '{}' itself",
        file, p.split, p.corpus_name));
  }
  for (const FlightWindows& flight : flights) {
    const FlightEntry& entry = EntryOf(loaded, flight);
    if (!seen.contains(RecordingKey(entry.sha256))) continue;
    return Refuse(
        fmt::format("{}: was trained on flight {}; calibrate it on a side of the split it "
                    "was trained with ('{}' of corpus '{}')",
                    file, entry.id, p.split, p.corpus_name));
  }
  return {};
}

Status CheckSteps(const std::string& file, const ModelConfig& config, const WindowSpec& spec) {
  if (config.horizon_steps == spec.horizon_steps() && config.dt_s == spec.dt_s) return {};
  return Refuse(fmt::format("{}: forecasts {:g} s in steps of {:g} s, asked for are {:g} s", file,
                            config.horizon_steps * config.dt_s, config.dt_s, spec.horizon_s));
}

Result<std::unique_ptr<Forecaster>> Pack(const Model& model, bool half, bool calibrated) {
  LoadOptions options;
  options.calibrated = calibrated;
  if (half) options.weights = WeightStorage::kHalf;
  return MakePackedForecaster(model, options);
}

CalibrationOrigin OriginOf(const LoadedSide& loaded, const CalibrationWindows& windows) {
  CalibrationOrigin origin;
  origin.corpus_name = loaded.corpus.manifest.name;
  origin.corpus_hash = loaded.corpus.manifest.hash;
  origin.split = loaded.split, origin.split_hash = loaded.split_hash(), origin.side = loaded.side;
  origin.flight_count = windows.flights.size(),
  origin.windows = windows.windows.size() / windows.histories_s.size();
  origin.histories_s = windows.histories_s;
  origin.version = Version();
  // Those without an answered window as well: their side was set aside for calibration.
  for (const FlightWindows& flight : loaded.flights) {
    origin.flights.push_back(RecordingKey(EntryOf(loaded, flight).sha256));
  }
  std::sort(origin.flights.begin(), origin.flights.end());
  if (origin.flights.size() > kMostRecordingKeys) origin.flights.clear();
  return origin;
}

// --- tables

struct Side {
  std::string name;
  GroupSummary summary;
};

Result<Side> Score(const std::string& name, const Forecaster& forecaster, const LoadedSide& loaded,
                   const CalibrateFlags& flags) {
  std::vector<FlightWindows> thin;
  for (const FlightWindows& flight : loaded.flights) {
    thin.push_back(ThinFlight(flight, flags.windows / loaded.flights.size()));
  }
  EvaluationOptions options;
  options.window = loaded.spec;
  options.threads = flags.threads, options.path_samples = 0;
  const Result<ModelEvaluation> evaluation =
      Evaluate(*MakeForecasterSource(forecaster), thin, options);
  if (!evaluation.ok()) return evaluation.error();
  BootstrapOptions bootstrap;
  bootstrap.replicates = 100;
  return Side{name, Summarize(*evaluation, bootstrap).at(0)};
}

// Mean over the whole seconds of the mixture's own regions.
double Coverage(const GroupSummary& s, std::size_t level) {
  double sum = 0;
  for (const HorizonSummary& h : s.horizons) sum += h.region.empty() ? 0 : h.region[level];
  return sum / static_cast<double>(std::max<std::size_t>(1, s.horizons.size()));
}

double ValueOf(const GroupSummary& s, Metric m) {
  return s.metrics[static_cast<std::size_t>(m)].value;
}

std::string BeforeAfter(const std::vector<Side>& sides) {
  TextTable table;
  table.AddColumn("", TextTable::Align::kLeft);
  for (const char* name :
       {"CRPS, m", "NLL, nats", "50 % holds", "80 % holds", "90 % holds", "ECE", "radius 90, m"}) {
    table.AddColumn(name);
  }
  for (const Side& side : sides) {
    const GroupSummary& s = side.summary;
    table.AddRow({side.name, FormatNumber(ValueOf(s, Metric::kCrpsPosition)),
                  FormatNumber(ValueOf(s, Metric::kNllPosition)),
                  fmt::format("{:.1f} %", 100 * Coverage(s, 0)),
                  fmt::format("{:.1f} %", 100 * Coverage(s, 1)),
                  fmt::format("{:.1f} %", 100 * Coverage(s, 2)),
                  FormatNumber(ValueOf(s, Metric::kEcePosition)),
                  FormatNumber(ValueOf(s, Metric::kSharpness90))});
  }
  return table.Render();
}

std::string LevelLines(const Calibration& c, const std::vector<double>& asked) {
  std::string text;
  for (const double level : asked) {
    const bool kept = std::count(c.level.begin(), c.level.end(), level) > 0;
    text += fmt::format(
        "  {:g} %: {}\n", 100 * level,
        kept ? "kept" : fmt::format("left out, it needs {} flights", FlightsNeeded(level)));
  }
  return text;
}

void PrintFit(const Calibration& c, const CalibrateFlags& flags, const std::vector<Side>& sides) {
  fmt::print("Fitted on {} windows of {} (side '{}' of split '{}'), by {:g} s of history.\n",
             c.origin.windows, Count(c.origin.flight_count, "flight"), c.origin.side,
             c.origin.split, fmt::join(c.origin.histories_s, " s and "));
  fmt::print(
      "\nOn the same flights by {:g} s of history, so flattering (in-sample; judge by `aerocast "
      "evaluate` on the test side):\n\n{}",
      c.origin.histories_s.front(), BeforeAfter(sides));
  fmt::print("\nConformal levels, {} behind them:\n{}", Count(c.origin.flight_count, "flight"),
             LevelLines(c, flags.levels));
}

nlohmann::ordered_json ToJson(const Side& side) {
  const GroupSummary& s = side.summary;
  nlohmann::ordered_json json = {{"name", side.name}};
  for (const Metric m : {Metric::kCrpsPosition, Metric::kNllPosition, Metric::kEcePosition,
                         Metric::kCoverage90, Metric::kSharpness90}) {
    json[std::string(Info(m).key)] = ValueOf(s, m);
  }
  json["coverage_50"] = Coverage(s, 0), json["coverage_80"] = Coverage(s, 1);
  return json;
}

// --- redraws

// Every flight of the corpus that the network was not trained on.
Result<std::vector<FlightWindows>> Untrained(const std::string& file, const Provenance& p,
                                             const LoadedSide& loaded) {
  std::vector<FlightWindows> all;
  for (const char* side : {"validation", "calibration", "test"}) {
    Result<std::vector<FlightWindows>> cut = loaded.Cut(side);
    if (!cut.ok()) return cut.error();
    for (FlightWindows& flight : *cut) all.push_back(std::move(flight));
  }
  if (Status s = CheckUntrained(file, p, loaded, all); !s.ok()) return s.error();
  return all;
}

std::string RedrawTable(const RedrawResult& result) {
  TextTable table;
  table.AddColumn("", TextTable::Align::kLeft);
  for (const char* name : {"by", "at", "mean", "sd", "5 %", "95 %"}) table.AddColumn(name);
  std::vector<RedrawSeries> rows = result.series;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a.key, a.history_s) < std::pair(b.key, b.history_s);
  });
  for (const RedrawSeries& row : rows) {
    table.AddRow({row.key, fmt::format("{:g} s", row.history_s),
                  row.t_s > 0 ? fmt::format("{:g} s", row.t_s) : "",
                  fmt::format("{:.3f}", row.Mean()), fmt::format("{:.3f}", row.Deviation()),
                  fmt::format("{:.3f}", row.Quantile(0.05)),
                  fmt::format("{:.3f}", row.Quantile(0.95))});
  }
  return table.Render();
}

nlohmann::ordered_json ToJson(const RedrawResult& result, const RedrawOptions& options) {
  nlohmann::ordered_json series = nlohmann::ordered_json::array();
  for (const RedrawSeries& s : result.series) {
    series.push_back({{"key", s.key},
                      {"history_s", s.history_s},
                      {"t_s", s.t_s},
                      {"mean", s.Mean()},
                      {"sd", s.Deviation()},
                      {"values", s.values}});
  }
  return {{"redraws", options.redraws},
          {"seed", options.seed},
          {"level", options.level},
          {"flights", result.flights},
          {"calibration_flights", result.calibration_flights},
          {"windows", result.windows},
          {"series", series}};
}

Result<nlohmann::ordered_json> Redraw(const CalibrateFlags& flags, const Model& model,
                                      const Forecaster& raw, const LoadedSide& loaded) {
  const Result<std::vector<FlightWindows>> flights =
      Untrained(flags.model, model.provenance, loaded);
  if (!flights.ok()) return flights.error();
  CalibrationWindowOptions cut;
  cut.spec = loaded.spec, cut.histories_s = flags.histories_s;
  cut.most = std::min<std::size_t>(flags.windows, 2000) * flags.histories_s.size();
  cut.threads = flags.threads;
  const CalibrationWindows windows = ForecastWindows(raw, *flights, cut);
  RedrawOptions options;
  options.redraws = flags.redraws, options.seed = flags.seed, options.threads = flags.threads;
  options.calibration_flights = loaded.flights.size();
  if (options.calibration_flights >= windows.flights.size()) {
    return Refuse(
        fmt::format("--redraws needs flights beside the {} of side '{}' that the network "
                    "was not trained on, there are none",
                    loaded.flights.size(), loaded.side));
  }
  Progress progress("redrawing", static_cast<std::size_t>(flags.redraws));
  options.progress = [&] { progress.Advance(); };
  const RedrawResult result = RunRedraws(windows, options);
  if (flags.json != "-") {
    fmt::print(
        "\n{} redraws of {} for calibration out of {} not trained on, {} windows, level "
        "{:g} %; every flight counts the same:\n\n{}",
        flags.redraws, Count(result.calibration_flights, "flight"), result.flights, result.windows,
        100 * options.level, RedrawTable(result));
  }
  return ToJson(result, options);
}

// --- the verb

Result<Calibration> Fit(const CalibrateFlags& flags, const Forecaster& raw,
                        const LoadedSide& loaded) {
  Progress progress("forecasting", loaded.flights.size());
  CalibrationWindowOptions cut;
  cut.spec = loaded.spec, cut.histories_s = flags.histories_s;
  cut.most = flags.windows * flags.histories_s.size(), cut.threads = flags.threads;
  cut.progress = [&] { progress.Advance(); };
  const CalibrationWindows windows = ForecastWindows(raw, loaded.flights, cut);
  CalibrationFitOptions options;
  options.levels = flags.levels, options.threads = flags.threads;
  Result<Calibration> calibration = FitCalibration(windows, options);
  if (calibration.ok()) calibration->origin = OriginOf(loaded, windows);
  return calibration;
}

Status RunCalibrate(CalibrateFlags& flags) {
  if (Status s = CheckFlags(flags); !s.ok()) return s;
  Result<Model> model = ReadModel(flags.model);
  if (!model.ok()) return model.error();
  ChooseHistories(model->config, flags);
  const Result<LoadedSide> loaded = flags.corpus.Load();
  if (!loaded.ok()) return loaded.error();
  if (Status s = CheckSteps(flags.model, model->config, loaded->spec); !s.ok()) return s;
  if (Status s = CheckUntrained(flags.model, model->provenance, *loaded, loaded->flights);
      !s.ok()) {
    return s;
  }
  const Result<std::unique_ptr<Forecaster>> raw = Pack(*model, flags.half, false);
  if (!raw.ok()) return raw.error();
  Result<Calibration> calibration = Fit(flags, **raw, *loaded);
  if (!calibration.ok())
    return Error{calibration.error().code, flags.model + ": " + calibration.error().message};
  model->calibration = std::move(*calibration);
  const Result<std::unique_ptr<Forecaster>> after = Pack(*model, flags.half, true);
  if (!after.ok()) return after.error();
  std::vector<Side> sides;
  for (const auto& [name, forecaster] :
       {std::pair("before", raw->get()), {"after", after->get()}}) {
    Result<Side> side = Score(name, *forecaster, *loaded, flags);
    if (!side.ok()) return side.error();
    sides.push_back(std::move(*side));
  }
  if (flags.json != "-") PrintFit(*model->calibration, flags, sides);
  nlohmann::ordered_json json = {
      {"format", "aerocast-calibration"},
      {"version", 1},
      {"calibration", nlohmann::ordered_json::parse(aerocast::ToJson(*model->calibration))},
      {"in_sample", {ToJson(sides[0]), ToJson(sides[1])}}};
  if (flags.redraws > 0) {
    const Result<nlohmann::ordered_json> redraw = Redraw(flags, *model, **raw, *loaded);
    if (!redraw.ok()) return redraw.error();
    json["redraw"] = *redraw;
  }
  const std::string& target = flags.out.empty() ? flags.model : flags.out;
  if (Status s = WriteModel(target, *model, flags.half ? WeightStorage::kHalf : model->stored);
      !s.ok()) {
    return s;
  }
  if (flags.json != "-") fmt::print("\nwritten: {}\n", target);
  return flags.json.empty() ? Status() : WriteOutput(flags.json, json.dump(1) + "\n");
}

}  // namespace

Run AddCalibrate(CLI::App& verb) {
  auto flags = std::make_shared<CalibrateFlags>();
  flags->corpus.side = "calibration", flags->corpus.window.spec.stride = 1;
  verb.add_option("model", flags->model, "A model file; an older calibration in it is replaced")
      ->required();
  verb.add_option("--corpus", flags->corpus.directory,
                  "Directory made by 'aerocast import' or 'generate'")
      ->required();
  verb.add_option("--split", flags->corpus.split, "flight or configuration")->capture_default_str();
  verb.add_option("--side", flags->corpus.side, "Side to fit on: flights not trained on")
      ->capture_default_str();
  verb.add_option("--out", flags->out, "Write the model here instead of over itself")
      ->type_name("FILE")
      ->check(NotEmpty());
  flags->corpus.window.Add(verb);
  flags->history = verb.get_option("--history")
                       ->description(
                           "Seconds the network may look back (default: all that it takes "
                           "and, when that is more, two seconds as well)")
                       ->default_str("");
  verb.add_option("--levels", flags->levels, "Conformal levels, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 0.9999))
      ->capture_default_str();
  verb.add_option("--windows", flags->windows,
                  "Windows to fit on at most by each history, flights thinned evenly")
      ->check(CLI::Range(100, 100000))
      ->capture_default_str();
  verb.add_flag("--half", flags->half, "Fit on, and write, weights in 16 bits");
  verb.add_option("--redraws", flags->redraws,
                  "Also divide the flights not trained on this many times into calibration and "
                  "test, and show how much the coverage varies")
      ->check(CLI::Range(2, 10000));
  verb.add_option("--seed", flags->seed, "Seed of the redraws")->capture_default_str();
  AddJsonFlag(verb, flags->json);
  AddThreadsFlag(verb, flags->threads);
  verb.footer(
      "Examples:\n  aerocast calibrate runs/paper/model.safetensors --corpus corpus/mine\n"
      "  aerocast calibrate model.safetensors --corpus corpus/mine --out calibrated.safetensors\n"
      "  aerocast calibrate model.safetensors --corpus corpus/mine --redraws 200 --json "
      "study.json\n"
      "  aerocast evaluate corpus/mine --models model.safetensors    # judged on the test side");
  return [flags] { return RunCalibrate(*flags); };
}

}  // namespace aerocast::cli
