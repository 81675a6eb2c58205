// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include "apps/cli/corpus_flags.h"
#include "apps/train/train.h"
#include "src/data/resample.h"
#include "src/eval/manoeuvres.h"
#include "src/forecast/network_forecaster.h"
#include "src/report/table.h"
#include "src/train/network.h"
#include "src/train/trainer.h"

namespace aerocast::cli {
namespace {

struct AttentionFlags {
  CorpusFlags corpus;
  std::string model, json;
  int windows = 1000;
};

// What the newest token attends to in each layer, mean over windows and heads: (layers, T), rows
// sum to 1.
struct Attention {
  std::vector<std::vector<double>> by_layer;
  std::size_t windows = 0;
};

// At most `most` windows, evenly taken.
Attention Measure(const Network& network, std::span<const FlightWindows> flights,
                  std::size_t most) {
  const torch::NoGradGuard no_grad;
  const ModelConfig& config = network.config();
  const auto tokens = static_cast<std::size_t>(config.tokens());
  Attention attention;
  attention.by_layer.assign(static_cast<std::size_t>(config.layers), std::vector<double>(tokens));
  std::vector<Vec3> grid(static_cast<std::size_t>(config.history_steps) + 1);
  std::vector<std::uint8_t> present(grid.size());
  std::vector<float> input(tokens * static_cast<std::size_t>(config.inputs()));
  const std::size_t every = CountWindows(flights) / most + 1;
  std::size_t n = 0, layer = 0;
  ForwardOptions options;
  options.attention = [&](const torch::Tensor& weights) {
    const torch::Tensor newest =
        weights.select(2, weights.size(2) - 1).mean(1).squeeze(0).contiguous();  // (T)
    for (std::size_t t = 0; t < tokens; ++t) {
      attention.by_layer[layer][t] += static_cast<double>(newest.data_ptr<float>()[t]);
    }
    ++layer;
  };
  for (const FlightWindows& f : flights) {
    for (const std::uint32_t t0 : f.t0) {
      if (n++ % every != 0) continue;
      const History history = HistoryAt(*f.flight, t0, config.history_steps * config.dt_s);
      const int known =
          ResampleHistory(history, config.dt_s, WindowSpec{}.max_gap_s, grid, present);
      if (known != static_cast<int>(grid.size())) continue;
      WholeTokens(grid, history.noise_m, config, input);
      layer = 0;
      network.Forward(torch::from_blob(input.data(), {1, config.tokens(), config.inputs()}),
                      options);
      ++attention.windows;
    }
  }
  for (auto& row : attention.by_layer) {
    for (double& share : row)
      share /= static_cast<double>(std::max<std::size_t>(1, attention.windows));
  }
  return attention;
}

std::string Table(const ModelConfig& config, const Attention& before, const Attention& other) {
  TextTable table;
  table.AddColumn("seconds ago", TextTable::Align::kLeft);
  for (int i = 0; i < config.layers; ++i) {
    table.AddColumn(fmt::format("layer {}: before", i + 1));
    table.AddColumn("other");
  }
  for (int t = 0; t < config.tokens(); ++t) {
    std::vector<std::string> row = {
        fmt::format("{:.1f}", (config.tokens() - 1 - t) * config.patch * config.dt_s)};
    for (std::size_t i = 0; i < before.by_layer.size(); ++i) {
      row.push_back(fmt::format("{:.3f}", before.by_layer[i][static_cast<std::size_t>(t)]));
      row.push_back(fmt::format("{:.3f}", other.by_layer[i][static_cast<std::size_t>(t)]));
    }
    table.AddRow(std::move(row));
  }
  return table.Render();
}

Status RunAttention(const AttentionFlags& flags) {
  if (!flags.json.empty()) {
    if (Status s = CheckOutput(flags.json, flags.corpus.directory); !s.ok()) return s;
  }
  const Result<std::string> file = ResolveModel(flags.model);
  if (!file.ok()) return file.error();
  const Result<Model> model = ReadModel(*file);
  if (!model.ok()) return model.error();
  if (model->config.architecture != Architecture::kTransformer) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: is a {}, expected a transformer: nothing else attends", *file,
                             ArchitectureName(model->config.architecture))};
  }
  const Result<LoadedSide> loaded = flags.corpus.Load();
  if (!loaded.ok()) return loaded.error();
  PrepareMath(1);
  Network network(model->config, 0);
  network.Load(model->tensors);
  const auto most = static_cast<std::size_t>(flags.windows);
  const Attention before = Measure(network, BeforeManoeuvres(loaded->flights), most);
  const Attention other = Measure(network, NotBeforeManoeuvres(loaded->flights), most);
  if (flags.json != "-") {
    fmt::print(
        "Attention of the newest token, mean over heads: {} windows before manoeuvres, {} "
        "others\n\n{}",
        before.windows, other.windows, Table(model->config, before, other));
  }
  if (flags.json.empty()) return {};
  const auto part = [](const Attention& a) {
    return nlohmann::ordered_json{{"windows", a.windows}, {"layers", a.by_layer}};
  };
  const nlohmann::ordered_json json = {{"format", "aerocast-attention"},
                                       {"version", 1},
                                       {"model", model->name},
                                       {"dt_s", model->config.patch * model->config.dt_s},
                                       {"before_manoeuvres", part(before)},
                                       {"other", part(other)}};
  return WriteOutput(flags.json, json.dump(1) + "\n");
}

}  // namespace

Run AddAttention(CLI::App& verb) {
  auto flags = std::make_shared<AttentionFlags>();
  verb.add_option("model", flags->model, "plus, plus-small, or the file of a Transformer")
      ->required()
      ->type_name("NAME|FILE.safetensors");
  verb.add_option("--corpus", flags->corpus.directory,
                  "Directory made by 'aerocast import' or 'generate'")
      ->required();
  verb.add_option("--split", flags->corpus.split, "flight, configuration, or paper (85/15)")
      ->capture_default_str();
  flags->corpus.side = "test";
  verb.add_option("--side", flags->corpus.side, "train, validation, calibration, test or all")
      ->capture_default_str();
  flags->corpus.window.Add(verb);
  verb.add_option("--windows", flags->windows, "Windows of either kind at most, evenly taken")
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str();
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Example:\n  aerocast attention runs/paper/model.safetensors --corpus corpus/balanced");
  return [flags] { return RunAttention(*flags); };
}

}  // namespace aerocast::cli
