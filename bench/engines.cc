// SPDX-License-Identifier: BSD-3-Clause
//
// Forward passes of the same weights on the same tokens by several engines, in one run: ONNX
// Runtime on the graphs of `aerocast export`, libtorch where the trainer is built, and our own.
// Engines take turns in short blocks, each round in another order, so that whatever else the
// machine does hits all alike; ratios are taken within a round.
//
//   bench_engines MODEL.safetensors... [--threads 1,2] [--batch 1,64] [--rounds 15]
//                 [--block-ms 50] [--json FILE]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/engine.h"
#include "bench/work.h"
#include "src/base/file.h"
#include "src/eval/made_up_tokens.h"
#include "src/export/onnx.h"
#include "src/export/parity.h"
#include "src/kernels/kernels.h"
#include "src/model/packed_network.h"
#include "src/report/table.h"

namespace aerocast {
namespace {

struct Flags {
  std::vector<std::string> models;
  std::vector<int> threads = {1, 2}, batches = {1, 64};
  int rounds = 15;
  double block_ms = 50;
  std::string json, runtime = AEROCAST_SOURCE_DIR "/tools/onnx";
};

// What one engine did in one case.
struct Timed {
  std::unique_ptr<Engine> engine;
  int runs = 1;                 // per block
  std::vector<double> seconds;  // of all runs
  std::vector<double> blocks;   // median of each block
  double difference = 0;        // of its heads from the baseline's, relative
};

// The first is the baseline: ONNX Runtime on the plain graph. The second costs what a call costs.
constexpr std::size_t kBaseline = 0, kEmpty = 1;

struct Case {
  const Model* model = nullptr;
  int threads = 1, batch = 1;
  std::vector<Timed> engines;
};

// `values` need not be sorted.
double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

class OurEngine : public LocalEngine {
 public:
  OurEngine(std::string name, std::unique_ptr<PackedNetwork> network, int threads)
      : LocalEngine(std::move(name), true, network->config()),
        network_(std::move(network)),
        scratch_(network_->MakeScratch(threads)) {}

 private:
  void Run(const float* tokens, int windows, float* heads) override {
    const ModelConfig& config = network_->config();
    const std::size_t n = static_cast<std::size_t>(windows);
    network_->Forward({tokens, n * static_cast<std::size_t>(config.tokens() * config.inputs())},
                      windows, *scratch_, {heads, n * static_cast<std::size_t>(config.outputs())});
  }

  std::unique_ptr<PackedNetwork> network_;
  std::unique_ptr<PackedNetwork::Scratch> scratch_;
};

Status AddOurEngines(const Model& model, int threads, std::vector<Timed>& engines) {
  for (const WeightStorage storage : {WeightStorage::kSingle, WeightStorage::kHalf}) {
    auto network = PackedNetwork::Make(model, storage, *FindKernels(""));
    if (!network.ok()) return network.error();
    engines.emplace_back().engine = std::make_unique<OurEngine>(
        storage == WeightStorage::kHalf ? "aerocast, half precision" : "aerocast",
        std::move(*network), threads);
  }
  return {};
}

void AddTorchEngines([[maybe_unused]] const Model& model, [[maybe_unused]] int threads,
                     [[maybe_unused]] std::vector<Timed>& engines) {
#ifdef AEROCAST_BENCH_TORCH
  for (const bool pruned : {false, true}) {
    engines.emplace_back().engine = MakeTorchEngine(model, threads, pruned);
  }
#endif
}

Status AddOnnxEngines(const Model& model, int threads, OnnxRuntime& runtime,
                      std::vector<Timed>& engines) {
  const auto add = [&](const char* name, const char* session, bool pruned,
                       const std::string& onnx) -> Status {
    const std::string unique = fmt::format("{}_{}_{}", session, model.name, threads);
    if (Status loaded = runtime.Load(unique, onnx, threads); !loaded.ok()) return loaded;
    engines.emplace_back().engine = std::make_unique<OnnxEngine>(name, pruned, unique, runtime);
    return {};
  };
  const Result<std::string> plain = ExportOnnx(model);
  if (!plain.ok()) return plain.error();
  if (Status s = add("ONNX Runtime", "plain", false, *plain); !s.ok()) return s;
  if (Status s = add("ONNX Runtime, empty graph", "empty", true, EmptyOnnx(model)); !s.ok()) {
    return s;
  }
  if (ForwardFlop(model.config, true) == ForwardFlop(model.config, false)) return {};
  const Result<std::string> pruned = ExportOnnx(model, {.pruned = true});
  if (!pruned.ok()) return pruned.error();
  return add("ONNX Runtime, pruned graph", "pruned", true, *pruned);
}

// Feeds every engine, compares what they say and chooses how many runs make a block.
Status Prepare(Case& test, double block_ms) {
  const std::vector<float> tokens = MadeUpTokens(test.model->config, 1, test.batch);
  std::vector<float> baseline;
  for (std::size_t i = 0; i < test.engines.size(); ++i) {
    Timed& timed = test.engines[i];
    if (Status fed = timed.engine->Feed(tokens, test.batch); !fed.ok()) return fed;
    const Result<std::vector<float>> heads = timed.engine->Heads();
    if (!heads.ok()) return heads.error();
    if (i == kBaseline) baseline = *heads;
    timed.difference = Compare(*heads, baseline, test.batch).relative();
    const Result<std::vector<double>> first = timed.engine->Time(3);
    if (!first.ok()) return first.error();
    timed.runs = std::clamp(static_cast<int>(block_ms * 1e-3 / Quantile(*first, 0.5)), 1, 10000);
  }
  return {};
}

Status TimeBlock(Timed& timed) {
  const Result<std::vector<double>> seconds = timed.engine->Time(timed.runs + 1);
  if (!seconds.ok()) return seconds.error();
  const std::vector<double> kept(seconds->begin() + 1, seconds->end());
  timed.seconds.insert(timed.seconds.end(), kept.begin(), kept.end());
  timed.blocks.push_back(Quantile(kept, 0.5));
  return {};
}

Status TimeCase(Case& test, const Flags& flags) {
  if (Status s = Prepare(test, flags.block_ms); !s.ok()) return s;
  const std::size_t n = test.engines.size();
  for (int round = 0; round < flags.rounds; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      Timed& next = test.engines[(i + static_cast<std::size_t>(round)) % n];
      if (Status s = TimeBlock(next); !s.ok()) return s;
    }
  }
  return {};
}

// Median over rounds of the baseline's time by this engine's, both less `fixed` seconds of theirs.
double Speedup(const Case& test, const Timed& timed, double baseline_fixed, double own_fixed) {
  std::vector<double> ratios;
  const std::vector<double>& baseline = test.engines[kBaseline].blocks;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    ratios.push_back((baseline[i] - baseline_fixed) / (timed.blocks[i] - own_fixed));
  }
  return Quantile(ratios, 0.5);
}

struct Line {
  std::string engine;
  double median = 0, p10 = 0, p90 = 0;  // seconds
  double speedup = 0, net_speedup = 0;  // to the baseline; net: without the cost of a call of it
  double gflops = 0, peak_share = 0;    // of the products it has to compute
  double difference = 0;
};

Line Summarise(const Case& test, std::size_t i, double peak) {
  const Timed& timed = test.engines[i];
  const double fixed = Quantile(test.engines[kEmpty].seconds, 0.5);
  const bool is_onnx = dynamic_cast<const OnnxEngine*>(timed.engine.get()) != nullptr;
  Line line;
  line.engine = timed.engine->name();
  line.median = Quantile(timed.seconds, 0.5);
  line.p10 = Quantile(timed.seconds, 0.1), line.p90 = Quantile(timed.seconds, 0.9);
  line.speedup = line.net_speedup = std::numeric_limits<double>::quiet_NaN();
  line.gflops = line.peak_share = line.difference = line.speedup;
  if (i == kEmpty) return line;
  line.speedup = Speedup(test, timed, 0, 0);
  line.net_speedup = Speedup(test, timed, fixed, is_onnx ? fixed : 0);
  const double flop = test.batch * ForwardFlop(test.model->config, timed.engine->pruned());
  line.gflops = 1e-9 * flop / line.median;
  if (peak > 0) line.peak_share = flop / line.median / peak;
  line.difference = timed.difference;
  return line;
}

std::string Shown(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

void Print(const Case& test, const std::vector<Line>& lines) {
  const ModelConfig& config = test.model->config;
  fmt::print(
      "\n{} ({}, {} parameters, {:.1f} MFLOP a window, {:.1f} pruned), {} thread{}, batch {}\n",
      test.model->name, ArchitectureName(config.architecture), ParameterCount(config),
      1e-6 * ForwardFlop(config, false), 1e-6 * ForwardFlop(config, true), test.threads,
      test.threads == 1 ? "" : "s", test.batch);
  TextTable table;
  table.AddColumn("engine", TextTable::Align::kLeft);
  for (const char* header :
       {"median, us", "p10", "p90", "speed", "net speed", "GFLOP/s", "of peak", "differs"}) {
    table.AddColumn(header);
  }
  for (const Line& line : lines) {
    table.AddRow({line.engine, Shown(1e6 * line.median, "{:.0f}"), Shown(1e6 * line.p10, "{:.0f}"),
                  Shown(1e6 * line.p90, "{:.0f}"), Shown(line.speedup, "x {:.2f}"),
                  Shown(line.net_speedup, "x {:.2f}"), Shown(line.gflops, "{:.1f}"),
                  Shown(100 * line.peak_share, "{:.0f} %"), Shown(line.difference, "{:.1e}")});
  }
  fmt::print("{}", table.Render());
}

nlohmann::json ToJson(const Case& test, const std::vector<Line>& lines) {
  nlohmann::json json = {{"model", test.model->name},
                         {"sha256", test.model->sha256},
                         {"threads", test.threads},
                         {"batch", test.batch},
                         {"flop", ForwardFlop(test.model->config, false)},
                         {"flop_pruned", ForwardFlop(test.model->config, true)},
                         {"engines", nlohmann::json::array()}};
  for (const Line& line : lines) {
    json["engines"].push_back({{"engine", line.engine},
                               {"median_s", line.median},
                               {"p10_s", line.p10},
                               {"p90_s", line.p90},
                               {"speed", line.speedup},
                               {"net_speed", line.net_speedup},
                               {"gflops", line.gflops},
                               {"peak_share", line.peak_share},
                               {"difference", line.difference}});
  }
  return json;
}

// All batch sizes of one model and thread count.
Status Measure(const Model& model, int threads, double peak, const Flags& flags,
               OnnxRuntime& runtime, nlohmann::json& cases) {
  Case test;
  test.model = &model, test.threads = threads;
  if (Status s = AddOnnxEngines(model, threads, runtime, test.engines); !s.ok()) return s;
  AddTorchEngines(model, threads, test.engines);
  if (Status s = AddOurEngines(model, threads, test.engines); !s.ok()) return s;
  for (const int batch : flags.batches) {
    test.batch = batch;
    for (Timed& timed : test.engines) timed.seconds.clear(), timed.blocks.clear();
    if (Status s = TimeCase(test, flags); !s.ok()) return s;
    std::vector<Line> lines;
    for (std::size_t i = 0; i < test.engines.size(); ++i) lines.push_back(Summarise(test, i, peak));
    Print(test, lines);
    cases.push_back(ToJson(test, lines));
  }
  return {};
}

Status Run(const Flags& flags) {
  const Result<std::unique_ptr<OnnxRuntime>> runtime = OnnxRuntime::Start(flags.runtime);
  if (!runtime.ok()) return runtime.error();
  nlohmann::json json = {{"format", "aerocast-engines"}, {"version", 1}, {"rounds", flags.rounds}};
  std::vector<double> peaks;
  for (const int threads : flags.threads) {
    peaks.push_back(MeasurePeakFlops(threads));
    fmt::print("peak of {} thread{}: {:.1f} GFLOP/s (AVX2, in L1)\n", threads,
               threads == 1 ? "" : "s", 1e-9 * peaks.back());
    json["peaks"].push_back({{"threads", threads}, {"flops", peaks.back()}});
  }
  for (const std::string& file : flags.models) {
    const Result<Model> model = ReadModel(file);
    if (!model.ok()) return model.error();
    for (std::size_t i = 0; i < flags.threads.size(); ++i) {
      Status s = Measure(*model, flags.threads[i], peaks[i], flags, **runtime, json["cases"]);
      if (!s.ok()) return s;
    }
  }
  return flags.json.empty() ? Status() : WriteFileAtomically(flags.json, json.dump(1) + "\n");
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app{"Times forward passes of the same networks by several engines."};
  app.add_option("models", flags.models, "Model files")->required();
  app.add_option("--threads", flags.threads, "Thread counts")->delimiter(',');
  app.add_option("--batch", flags.batches, "Windows per forward pass")->delimiter(',');
  app.add_option("--rounds", flags.rounds, "Rounds over all engines")->check(CLI::Range(1, 100000));
  app.add_option("--block-ms", flags.block_ms, "How long an engine's turn is");
  app.add_option("--json", flags.json, "Write the results to this file");
  app.add_option("--onnxruntime", flags.runtime, "Folder of run.mjs");
  CLI11_PARSE(app, argc, argv);
  const Status status = Run(flags);
  if (status.ok()) return 0;
  fmt::print(stderr, "bench_engines: {}\n", status.error().message);
  return 1;
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) { return aerocast::Main(argc, argv); }
