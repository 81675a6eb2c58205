// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "src/base/file.h"
#include "src/data/resample.h"
#include "src/data/windows.h"
#include "src/eval/made_up_tokens.h"
#include "src/export/onnx.h"
#include "src/export/onnx_runtime.h"
#include "src/export/parity.h"
#include "src/forecast/network_forecaster.h"
#include "src/import/corpus.h"
#include "src/kernels/kernels.h"
#include "src/model/packed_network.h"

namespace aerocast::cli {
namespace {

constexpr double kTolerance = 1e-4;  // of the largest head; float forward passes differ by rounding
constexpr int kMadeUpWindows = 64;
constexpr std::size_t kCorpusWindows = 256;

struct ExportFlags {
  std::string model, out, json, corpus;
  std::string runtime = AEROCAST_SOURCE_DIR "/tools/onnx";
  OnnxOptions options;
  bool fixed_batch = false, check = false;
};

// A set of windows and how far ONNX Runtime is from us on it.
struct CheckRow {
  std::string windows;
  Parity parity;
};

// Tokens of windows spread evenly over all flights of a corpus, at most kCorpusWindows.
Result<std::vector<float>> CorpusTokens(const std::string& directory, const ModelConfig& config) {
  const Result<Corpus> corpus = LoadCorpus(directory);
  if (!corpus.ok()) return corpus.error();
  const Result<std::vector<const Recording*>> flights = Side(*corpus, "flight", "all");
  if (!flights.ok()) return flights.error();
  WindowSpec spec;
  spec.history_s = spec.min_history_s = config.history_steps * config.dt_s;
  std::vector<std::pair<const Recording*, std::uint32_t>> windows;
  const std::vector<FlightWindows> cut =
      CutFlights(*flights, spec, corpus->manifest.min_z.value_or(kNoMinZ));
  for (const FlightWindows& flight : cut) {
    for (const std::uint32_t t0 : flight.t0) windows.emplace_back(flight.flight, t0);
  }
  const std::size_t points = static_cast<std::size_t>(config.history_steps) + 1;
  const std::size_t size = static_cast<std::size_t>(config.tokens() * config.inputs());
  const std::size_t wanted = std::min(windows.size(), kCorpusWindows);
  std::vector<Vec3> grid(points);
  std::vector<std::uint8_t> present(points);
  std::vector<float> tokens;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto& [flight, t0] = windows[i * windows.size() / wanted];
    const int known = ResampleHistory(HistoryAt(*flight, t0, spec.history_s), config.dt_s,
                                      spec.max_gap_s, grid, present);
    if (known != static_cast<int>(points)) continue;
    tokens.resize(tokens.size() + size);
    WholeTokens(grid, flight->noise_m, config, std::span(tokens).last(size));
  }
  if (!tokens.empty()) return tokens;
  return Error{ErrorCode::kNotFound,
               fmt::format("{}: no window of {} s history", directory, spec.history_s)};
}

// What ONNX Runtime says to tokens (windows, T, inputs), `batch` windows at a time.
Result<std::vector<float>> TheirHeads(OnnxRuntime& runtime, std::span<const float> tokens,
                                      int windows, int batch) {
  std::vector<float> heads;
  const std::size_t size = tokens.size() / static_cast<std::size_t>(windows / batch);
  for (; !tokens.empty(); tokens = tokens.subspan(size)) {
    if (Status fed = runtime.Feed("exported", tokens.first(size), batch); !fed.ok()) {
      return fed.error();
    }
    const Result<std::vector<float>> part = runtime.Run("exported", batch);
    if (!part.ok()) return part.error();
    heads.insert(heads.end(), part->begin(), part->end());
  }
  return heads;
}

Result<CheckRow> CheckWindows(const std::string& what, const std::vector<float>& tokens,
                              const Model& model, OnnxRuntime& runtime, bool one_by_one) {
  const int windows =
      static_cast<int>(tokens.size()) / (model.config.tokens() * model.config.inputs());
  const Result<std::vector<float>> theirs =
      TheirHeads(runtime, tokens, windows, one_by_one ? 1 : windows);
  if (!theirs.ok()) return theirs.error();
  const auto ours = PackedNetwork::Make(model, WeightStorage::kSingle, *FindKernels(""));
  if (!ours.ok()) return ours.error();
  return CheckRow{what, Compare(*theirs, (*ours)->Heads(tokens, windows), windows)};
}

Result<std::vector<CheckRow>> Check(const ExportFlags& flags, const Model& model,
                                    const std::string& onnx) {
  const Result<std::unique_ptr<OnnxRuntime>> runtime = OnnxRuntime::Start(flags.runtime);
  if (!runtime.ok()) return runtime.error();
  if (Status loaded = (*runtime)->Load("exported", onnx, 1); !loaded.ok()) return loaded.error();
  std::vector<std::pair<std::string, std::vector<float>>> sets;
  sets.emplace_back("made up", MadeUpTokens(model.config, 1, kMadeUpWindows));
  if (!flags.corpus.empty()) {
    const Result<std::vector<float>> tokens = CorpusTokens(flags.corpus, model.config);
    if (!tokens.ok()) return tokens.error();
    sets.emplace_back(flags.corpus, *tokens);
  }
  std::vector<CheckRow> rows;
  for (const auto& [what, tokens] : sets) {
    const Result<CheckRow> row = CheckWindows(what, tokens, model, **runtime, flags.fixed_batch);
    if (!row.ok()) return row.error();
    rows.push_back(*row);
  }
  return rows;
}

bool Agrees(const CheckRow& row) { return row.parity.relative() <= kTolerance; }

std::string ToJson(const ExportFlags& flags, const Model& model, std::size_t bytes,
                   const std::vector<CheckRow>& rows) {
  nlohmann::json json = {{"format", "aerocast-export"},
                         {"version", 1},
                         {"model", {{"name", model.name}, {"sha256", model.sha256}}},
                         {"file", flags.out},
                         {"bytes", bytes},
                         {"pruned", flags.options.pruned},
                         {"checks", nlohmann::json::array()}};
  for (const CheckRow& row : rows) {
    json["checks"].push_back({{"windows", row.windows},
                              {"count", row.parity.windows},
                              {"largest_head", row.parity.largest},
                              {"absolute", row.parity.absolute},
                              {"relative", row.parity.relative()},
                              {"agrees", Agrees(row)}});
  }
  return json.dump(1) + "\n";
}

void Print(const ExportFlags& flags, const Model& model, std::size_t bytes,
           const std::vector<CheckRow>& rows) {
  fmt::print("{} ({}, {} parameters) -> {}, {:.1f} MB{}\n", model.name,
             ArchitectureName(model.config.architecture), ParameterCount(model.config), flags.out,
             1e-6 * static_cast<double>(bytes), flags.options.pruned ? ", pruned" : "");
  for (const CheckRow& row : rows) {
    fmt::print(
        "ONNX Runtime against ours, {} ({}): differs by at most {:.2g}, {:.2g} of the "
        "largest head\n",
        Count(static_cast<std::size_t>(row.parity.windows), "window"), row.windows,
        row.parity.absolute, row.parity.relative());
  }
}

Status RunExport(const ExportFlags& flags) {
  if (!flags.corpus.empty() && !flags.check) {
    return Error{ErrorCode::kInvalidArgument, "--corpus is for --check"};
  }
  if (flags.out == "-") {
    return Error{ErrorCode::kInvalidArgument, "--out is '-', expected a file: ONNX is binary"};
  }
  for (const std::string& file : {flags.out, flags.json}) {
    if (file.empty()) continue;
    if (Status writable = CheckOutput(file); !writable.ok()) return writable;
  }
  const Result<std::string> file = ResolveModel(flags.model);
  if (!file.ok()) return file.error();
  const Result<Model> model = ReadModel(*file);
  if (!model.ok()) return model.error();
  OnnxOptions options = flags.options;
  options.dynamic_batch = !flags.fixed_batch;
  const Result<std::string> onnx = ExportOnnx(*model, options);
  if (!onnx.ok()) return onnx.error();
  std::vector<CheckRow> rows;
  if (flags.check) {
    Result<std::vector<CheckRow>> checked = Check(flags, *model, *onnx);
    if (!checked.ok()) return checked.error();
    rows = std::move(*checked);
  }
  for (const CheckRow& row : rows) {
    if (Agrees(row)) continue;
    return Error{
        ErrorCode::kBadFormat,
        fmt::format("{}: ONNX Runtime differs by {:.2g} of the largest head ({}), expected "
                    "at most {:.0e}; nothing was written",
                    flags.model, row.parity.relative(), row.windows, kTolerance)};
  }
  if (Status written = WriteFileAtomically(flags.out, *onnx); !written.ok()) return written;
  if (flags.json != "-") Print(flags, *model, onnx->size(), rows);
  return flags.json.empty() ? Status()
                            : WriteOutput(flags.json, ToJson(flags, *model, onnx->size(), rows));
}

}  // namespace

Run AddExport(CLI::App& verb) {
  auto flags = std::make_shared<ExportFlags>();
  verb.add_option("model", flags->model, "plus, plus-small, or a model file of 'aerocast train'")
      ->type_name("NAME|FILE.safetensors")
      ->required();
  verb.add_option("--out", flags->out, "The ONNX file to write")->required()->check(NotEmpty());
  verb.add_flag("--pruned", flags->options.pruned,
                "Compute only what the last token needs in the last layer; the same answers");
  verb.add_flag("--fixed-batch", flags->fixed_batch,
                "One window at a time, for runtimes that "
                "want fixed shapes");
  verb.add_flag("--check", flags->check,
                "Run it in ONNX Runtime (needs Node.js) and compare with our own answers first");
  verb.add_option("--corpus", flags->corpus, "Check on windows of this corpus as well");
  verb.add_option("--onnxruntime", flags->runtime,
                  "Folder with run.mjs and its node_modules, tools/onnx in the sources");
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Example:\n  aerocast export runs/paper/model.safetensors --out paper.onnx --check\n"
      "The graph's input and outputs: docs/onnx.md.");
  return [flags] { return RunExport(*flags); };
}

}  // namespace aerocast::cli
