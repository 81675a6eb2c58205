// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "apps/cli/corpus_flags.h"
#include "src/report/window_lines.h"

namespace aerocast::cli {
namespace {

struct WindowsFlags {
  CorpusFlags corpus;
  DisturbanceFlags disturbance;
  std::string out;
};

Status RunWindows(const WindowsFlags& flags) {
  const Result<Disturbance> disturbance = flags.disturbance.Resolve();
  if (!disturbance.ok()) return disturbance.error();
  const Result<LoadedSide> loaded = flags.corpus.Load();
  if (!loaded.ok()) return loaded.error();
  const Result<DisturbedFlights> disturbed = loaded->Disturbed(*disturbance);
  if (!disturbed.ok()) return disturbed.error();
  const std::vector<FlightWindows>& flights = disturbed->windows;
  if (Status s = WriteWindows(flights, loaded->spec, flags.out); !s.ok()) return s;
  fmt::print("{} of {} -> {}/inputs.jsonl, {}/targets.jsonl\n",
             Count(CountWindows(flights), "window"), Count(flights.size(), "flight"), flags.out,
             flags.out);
  return {};
}

}  // namespace

Run AddWindows(CLI::App& verb) {
  auto flags = std::make_shared<WindowsFlags>();
  flags->corpus.Add(verb, "test");
  flags->disturbance.Add(verb);
  verb.add_option("--out", flags->out, "New directory for inputs.jsonl and targets.jsonl")
      ->required();
  verb.footer(
      "Example:\n  aerocast windows corpus/nanobench --out windows\n"
      "  your-tool < windows/inputs.jsonl > forecasts.jsonl\n"
      "  aerocast evaluate corpus/nanobench --models knn --forecasts forecasts.jsonl\n"
      "The formats: docs/forecast_format.md.");
  return [flags] { return RunWindows(*flags); };
}

}  // namespace aerocast::cli
