// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "aerocast/classical.h"
#include "aerocast/load.h"
#include "aerocast/recording.h"
#include "apps/cli/command.h"
#include "apps/cli/forecast_writer.h"
#include "apps/cli/predict_stream.h"
#include "apps/cli/program.h"
#include "src/base/parallel.h"
#include "src/base/text.h"
#include "src/data/windows.h"

namespace aerocast::cli {
namespace {

constexpr double kRecordingEveryS = 1;

struct PredictFlags {
  std::string model{kBundled[0]}, input = "-", out = "-", format = "json", at;
  double every_s = -1;  // < 0: not given
  double stale_s = 0.5;
  bool last = false, half = false;
  int threads = 1;
  StreamOptions stream;
};

Error BadValue(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

// The samples of a recording to forecast from.
Result<std::vector<std::size_t>> ChooseSamples(const PredictFlags& flags,
                                               const std::vector<Observation>& samples,
                                               std::optional<TimeNs> at) {
  if (flags.last) return std::vector{samples.size() - 1};
  if (at) {
    const auto after = std::upper_bound(samples.begin(), samples.end(), *at,
                                        [](TimeNs t, const Observation& o) { return t < o.t_ns; });
    if (after != samples.begin()) {
      return std::vector{static_cast<std::size_t>(after - samples.begin()) - 1};
    }
    std::string begin;
    AppendSeconds(samples.front().t_ns, begin);
    return BadValue(
        fmt::format("--at {} is before the recording begins, at {} s", flags.at, begin));
  }
  const TimeNs every = DurationNs(flags.every_s < 0 ? kRecordingEveryS : flags.every_s);
  std::vector<std::size_t> chosen = {0};
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].t_ns - samples[chosen.back()].t_ns >= every) chosen.push_back(i);
  }
  return chosen;
}

Status PredictRecording(const PredictFlags& flags, std::optional<TimeNs> at,
                        const Forecaster& forecaster, Workspace& workspace,
                        ForecastWriter& writer) {
  const Result<Recording> recording = ReadRecording(flags.input);
  if (!recording.ok()) return recording.error();
  const Result<std::vector<std::size_t>> chosen = ChooseSamples(flags, recording->samples, at);
  if (!chosen.ok()) return chosen.error();
  Forecast forecast(forecaster.info().shape);
  Progress progress("forecasting", chosen->size());
  for (const std::size_t i : *chosen) {
    if (writer.closed()) break;
    const History history = HistoryAt(*recording, i, forecaster.info().history_s);
    forecaster.Predict(history, workspace, forecast);
    if (at) forecast.AskAt(*at, flags.stale_s);
    if (Status s = writer.Write(forecast); !s.ok()) return s;
    progress.Advance();
  }
  return {};
}

Status RunPredict(PredictFlags& flags) {
  const bool is_stream = flags.input == "-";
  std::optional<TimeNs> at;
  if (!flags.at.empty()) {
    if (is_stream) return BadValue("--at is for recordings; a stream ends with --last");
    at = ParseSeconds(flags.at);
    if (!at) return BadValue(fmt::format("--at is '{}', expected seconds", flags.at));
  }
  if (Status s = CheckOutput(flags.out); !s.ok()) return s;
  LoadOptions options;
  if (flags.half) options.weights = WeightStorage::kHalf;
  const Result<std::unique_ptr<Forecaster>> forecaster = OpenForecaster(flags.model, options);
  if (!forecaster.ok()) return forecaster.error();
  const auto workspace = (*forecaster)->MakeWorkspace(ThreadCount(flags.threads));
  const std::atomic<bool>* stop = is_stream ? &StopOnSignals() : nullptr;
  Result<ForecastWriter> writer = ForecastWriter::Create(flags.out, flags.format, stop);
  if (!writer.ok()) return writer.error();

  Status done;
  if (is_stream) {
    if (isatty(STDIN_FILENO) != 0) Warn("reading observations from the terminal, Ctrl-D ends");
    flags.stream.every_s = std::max(0.0, flags.every_s);
    flags.stream.last = flags.last;
    done = PredictStream(STDIN_FILENO, *stop, **forecaster, *workspace, flags.stream, *writer);
  } else {
    done = PredictRecording(flags, at, **forecaster, *workspace, *writer);
  }
  return done.ok() ? writer->Finish() : done;
}

void AddStreamOptions(CLI::App& verb, StreamOptions& stream) {
  verb.add_option(
          "--max-tracks", stream.most_tracks,
          "Objects followed at once, 0.3 MB each; one more replaces the one not heard of for "
          "longest")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group("Streams");
  verb.add_option("--reorder", stream.track.reorder_s,
                  "Seconds by which an observation may be late and is still put in its place")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str()
      ->group("Streams");
}

}  // namespace

Run AddPredict(CLI::App& verb) {
  auto flags = std::make_shared<PredictFlags>();
  flags->stream.track.capacity = 4096;  // 4 s at 1 kHz
  verb.add_option("input", flags->input,
                  "A recording (CSV), or '-': observations as JSON lines from standard input")
      ->capture_default_str();
  verb.add_option("--model", flags->model,
                  "plus, plus-small, a network's file, or hold, cv, ca, ctrv, imm, replay")
      ->type_name("NAME|FILE.safetensors")
      ->capture_default_str()
      ->check(NotEmpty());
  CLI::Option* every = verb.add_option(
      "--every", flags->every_s,
      "Seconds between forecasts of an object (default: recordings 1, streams 0: at every "
      "observation that is newer than all before)");
  every->check(CLI::Range(0.0, 1e6));
  CLI::Option* last =
      verb.add_flag("--last", flags->last, "Only the newest forecast of each object, at the end");
  verb.add_option("--at", flags->at, "Only the forecast known at this second of a recording")
      ->type_name("SECONDS")
      ->excludes(last)
      ->excludes(every);
  last->excludes(every);
  verb.add_option("--stale", flags->stale_s, "With --at: age in seconds beyond which it is stale")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  verb.add_option("--format", flags->format, "json (lines) or csv (a row per step)")
      ->capture_default_str();
  verb.add_option("--out", flags->out, "Write here, whole at the end ('-': standard output)")
      ->type_name("FILE")
      ->check(NotEmpty())
      ->capture_default_str();
  verb.add_flag("--half", flags->half, "Keep a network's weights in 16 bits");
  verb.add_option("--threads", flags->threads,
                  "Threads for a network (0: one per core); forecasts do not depend on it")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  AddStreamOptions(verb, flags->stream);
  verb.footer(
      "Examples:\n  aerocast predict flight.csv\n"
      "  your-tracker | aerocast predict | your-planner\n"
      "  aerocast predict --model imm flight.csv --every 0.5 --format csv\n"
      "  aerocast predict --model model.safetensors flight.csv --at 12.3\n"
      "The formats: docs/predict.md, docs/forecast_format.md.");
  return [flags] { return RunPredict(*flags); };
}

}  // namespace aerocast::cli
