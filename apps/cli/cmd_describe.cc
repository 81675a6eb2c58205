// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "src/base/text.h"
#include "src/report/table.h"

namespace aerocast::cli {
namespace {

struct DescribeFlags {
  std::string model{kBundled[0]}, json;
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
        Count(static_cast<std::size_t>(c.modes()), "trajectory mode"));
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

// "0.94 to 1.6", or one number.
std::string RangeOf(const std::vector<double>& numbers) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return *low == *high ? fmt::format("{:.3g}", *low) : fmt::format("{:.3g} to {:.3g}", *low, *high);
}

std::string LevelsOf(const Calibration& c) {
  std::string text;
  for (const double level : c.level) {
    text += fmt::format("{}{:g} %", text.empty() ? "" : ", ", 100 * level);
  }
  if (text.empty()) text = "none";
  text += fmt::format(" ({} behind them", Count(c.origin.flight_count, "flight"));
  for (const double level : {0.9, 0.95, 0.99}) {
    if (EnoughFlights(c.origin.flight_count, level)) continue;
    text += fmt::format("; {:g} % needs {}", 100 * level, FlightsNeeded(level));
  }
  return text + ")";
}

std::string Tilted(const SpreadSlope& s, const std::string& low, const std::string& high) {
  if (s.slope == 0) return "all alike";
  return fmt::format("spread factor {:.3g} for {} to {:.3g} for {}", std::exp(s.LogFactor(s.low)),
                     low, std::exp(s.LogFactor(s.high)), high);
}

std::vector<std::pair<std::string, std::string>> CalibrationRows(const Model& model) {
  if (!model.calibration) return {{"calibration", "none"}};
  const Calibration& c = *model.calibration;
  const CalibrationOrigin& o = c.origin;
  return {
      {"calibrated on",
       fmt::format("{}, {} windows: side {} of split {} of {}", Count(o.flight_count, "flight"),
                   o.windows, o.side, o.split, Named(o.corpus_name, o.corpus_hash))},
      {"spread factors", fmt::format("along {}, across {}, vertical {}", RangeOf(c.scale[0]),
                                     RangeOf(c.scale[1]), RangeOf(c.scale[2]))},
      {"vague forecasts", Tilted(c.vague, "the sharpest", "the vaguest")},
      {"history",
       Tilted(c.seen, "the shortest", "the longest") +
           fmt::format(", fitted by {:g} s", fmt::join(c.origin.histories_s, " s and "))},
      {"mode weights", fmt::format("temperature {:.3g}", c.temperature)},
      {"tails", c.tail_share > 0 ? fmt::format("{:.3g} % of the weight is {:.3g} times as wide",
                                               100 * c.tail_share, c.tail_factor)
                : 2 * model.config.modes() > kMaxModes ? "none: there are too many modes to double"
                                                       : "none"},
      {"conformal levels", LevelsOf(c)},
      {"domain", c.domain_limit > 0
                     ? fmt::format("out_of_domain beyond {:.3g} standard deviations of roughness",
                                   c.domain_limit)
                     : "unlimited"},
      {"joint paths", fmt::format("{} residual paths, step correlation {:.3g}", c.residual_paths,
                                  c.residual_correlation)}};
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
  for (auto& row : CalibrationRows(model)) rows.push_back(std::move(row));
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
  nlohmann::ordered_json json = {
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
  if (model.calibration) {
    json["calibration"] = nlohmann::ordered_json::parse(aerocast::ToJson(*model.calibration));
  }
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status RunDescribe(const DescribeFlags& flags) {
  if (!flags.json.empty()) {
    if (Status s = CheckOutput(flags.json); !s.ok()) return s;
  }
  const Result<std::string> file = ResolveModel(flags.model);
  if (!file.ok()) return file.error();
  const Result<Model> model = ReadModel(*file);
  if (!model.ok()) return model.error();
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(*file, code);
  if (flags.json != "-") fmt::print("{}", Table(*model, bytes));
  return flags.json.empty() ? Status() : WriteOutput(flags.json, ToJson(*model, bytes));
}

}  // namespace

Run AddDescribe(CLI::App& verb) {
  auto flags = std::make_shared<DescribeFlags>();
  verb.add_option("model", flags->model, "plus, plus-small, or a model file (docs/model_format.md)")
      ->type_name("NAME|FILE.safetensors")
      ->capture_default_str()
      ->check(NotEmpty());
  AddJsonFlag(verb, flags->json);
  verb.footer(
      "Examples:\n  aerocast describe\n"
      "  aerocast describe runs/paper/model.safetensors\n"
      "  aerocast describe model.safetensors --json -   # also tensors and training config");
  return [flags] { return RunDescribe(*flags); };
}

}  // namespace aerocast::cli
