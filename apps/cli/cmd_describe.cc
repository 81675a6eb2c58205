// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "src/base/text.h"
#include "src/report/table.h"

namespace aerocast::cli {
namespace {

struct DescribeFlags {
  std::string file, json;
};

std::string TrunkOf(const ModelConfig& c) {
  if (c.architecture == Architecture::kMlp) {
    return fmt::format("hidden layers of {}", fmt::join(c.hidden, ", "));
  }
  std::string text =
      fmt::format("{}, width {}", Count(static_cast<std::size_t>(c.layers), "layer"), c.width);
  if (c.architecture != Architecture::kTransformer) return text;
  return text +
         fmt::format(", {} heads, feed-forward {}, {}", c.heads, c.feed_forward,
                     c.positional_encoding ? "positional encoding" : "no positional encoding");
}

std::string InputOf(const ModelConfig& c) {
  if (c.plus()) {
    return fmt::format(
        "up to {:g} s of history, {} tokens of {} steps of {:g} s, with holes and stated noise: "
        "displacement{} along the heading, in units of the mean step",
        c.history_steps * c.dt_s, c.tokens(), c.patch, c.dt_s, c.positions ? " and position" : "");
  }
  return fmt::format("{} tokens, {:g} s apart ({:g} s): displacement in units of {:g} m{}",
                     c.history_steps, c.dt_s, c.history_steps * c.dt_s, c.lambda_m,
                     c.velocity ? ", velocity in m/s" : "");
}

std::string OutputOf(const ModelConfig& c) {
  if (c.plus()) {
    return fmt::format(
        "{} steps, {:g} s apart ({:g} s): a point path and {} with spreads along, across and up",
        c.horizon_steps, c.dt_s, c.horizon_steps * c.dt_s,
        Count(static_cast<std::size_t>(c.components), "trajectory mode"));
  }
  return fmt::format(
      "{} steps, {:g} s apart ({:g} s): mixture of {} over each step's displacement, sigma at "
      "least {:g} m",
      c.horizon_steps, c.dt_s, c.horizon_steps * c.dt_s,
      Count(static_cast<std::size_t>(c.components), "Gaussian"), c.sigma_min_m);
}

std::string Named(const std::string& name, const std::string& hash) {
  return hash.empty() ? name : fmt::format("{}, hash {}", name, hash.substr(0, 12));
}

std::string FlightsOf(const Provenance& p) {
  if (p.corpus_hash.empty()) return "not recorded";
  if (p.train_flights.empty()) return fmt::format("more than {}", kMostRecordingKeys);
  return Count(p.train_flights.size(), "recording");
}

int BitsOf(const Model& model) { return model.stored == WeightStorage::kHalf ? 16 : 32; }

// What people read: a name and a text per row.
std::string Table(const Model& model, std::uintmax_t bytes) {
  const ModelConfig& c = model.config;
  const Provenance& p = model.provenance;
  const auto count = [](auto n) { return FormatCount(static_cast<long long>(n)); };
  std::vector<std::pair<std::string, std::string>> rows = {
      {"name", model.name},
      {"network", fmt::format("{} family, {}: {}", FamilyName(c.family),
                              ArchitectureName(c.architecture), TrunkOf(c))},
      {"parameters", fmt::format("{} in {} tensors, {} bits each", count(ParameterCount(c)),
                                 model.tensors.size(), BitsOf(model))},
      {"file", fmt::format("{} bytes, format version {}", count(bytes), kModelFormatVersion)},
      {"input", InputOf(c)},
      {"output", OutputOf(c)},
      {"corpus", Named(p.corpus_name, p.corpus_hash)},
      {"split", Named(p.split, p.split_hash)},
      {"trained on", FlightsOf(p)},
      {"training", fmt::format("{} windows seen, {:.2f} epochs, seed {}", count(p.windows_seen),
                               p.epochs_seen, p.seed)},
  };
  for (const auto& [name, value] : p.metrics) rows.emplace_back(name, fmt::format("{:.4g}", value));
  rows.emplace_back("made by", "AeroCast " + p.version);
  rows.emplace_back("structure SHA-256", StructureHash(model.config));
  rows.emplace_back("data SHA-256", model.sha256);
  std::string text;
  for (const auto& [name, value] : rows) {
    text += fmt::format("{:<18} {}\n", Printable(name), Printable(value));
  }
  return text;
}

std::string ToJson(const Model& model, std::uintmax_t bytes) {
  const Provenance& p = model.provenance;
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const Tensor& t : model.tensors) tensors.push_back({{"name", t.name}, {"shape", t.shape}});
  const nlohmann::ordered_json json = {
      {"format", "aerocast-description"},
      {"version", 1},
      {"name", model.name},
      {"format_version", kModelFormatVersion},
      {"bytes", bytes},
      {"parameters", ParameterCount(model.config)},
      {"bits", BitsOf(model)},
      {"structure_sha256", StructureHash(model.config)},
      {"data_sha256", model.sha256},
      {"config", nlohmann::ordered_json::parse(aerocast::ToJson(model.config))},
      {"provenance",
       {{"corpus_name", p.corpus_name},
        {"corpus_hash", p.corpus_hash},
        {"split", p.split},
        {"split_hash", p.split_hash},
        {"train_flights", p.train_flights},
        {"seed", p.seed},
        {"windows_seen", p.windows_seen},
        {"epochs_seen", p.epochs_seen},
        {"metrics", p.metrics},
        {"version", p.version},
        {"training", p.training}}},
      {"tensors", tensors}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status RunDescribe(const DescribeFlags& flags) {
  if (!flags.json.empty()) {
    if (Status s = CheckOutput(flags.json); !s.ok()) return s;
  }
  const Result<Model> model = ReadModel(flags.file);
  if (!model.ok()) return model.error();
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(flags.file, code);
  if (flags.json != "-") fmt::print("{}", Table(*model, bytes));
  return flags.json.empty() ? Status() : WriteOutput(flags.json, ToJson(*model, bytes));
}

}  // namespace

Run AddDescribe(CLI::App& verb) {
  auto flags = std::make_shared<DescribeFlags>();
  verb.add_option("file", flags->file, "A model file (docs/model_format.md)")->required();
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Examples:\n  aerocast describe runs/paper/model.safetensors\n"
      "  aerocast describe model.safetensors --json -   # also tensors and training config");
  return [flags] { return RunDescribe(*flags); };
}

}  // namespace aerocast::cli
