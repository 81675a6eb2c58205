// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <locale>
#include <span>
#include <sstream>

#include "aerocast/forecast.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/model/json_object.h"
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

// In the order of their enumerations.
constexpr std::array<std::string_view, 2> kFamilies = {"paper", "plus"};
constexpr std::array<std::string_view, 5> kArchitectures = {"transformer", "gru", "lstm", "bigru",
                                                            "mlp"};

// With these a model file stays within its own limits: 512 tensors, dimensions up to 65536, 1 GiB.
constexpr int kMaxSteps = 1000;
constexpr int kMaxPatch = 100;
constexpr int kMaxWidth = 8192;
constexpr int kMaxFeedForward = 32768;
constexpr int kMaxLayers = 32;
constexpr std::size_t kMaxHidden = 16;
constexpr std::size_t kMaxParameters = 250'000'000;

bool IsTransformer(const ModelConfig& c) { return c.architecture == Architecture::kTransformer; }
bool IsMlp(const ModelConfig& c) { return c.architecture == Architecture::kMlp; }

std::string Shown(double value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << value;
  return out.str();
}

Error Refusal(std::string_view field, const std::string& found, const std::string& expected) {
  return {ErrorCode::kInvalidArgument,
          "field '" + std::string(field) + "' is " + found + ", expected " + expected};
}

// The place of `name` in `names`.
Result<std::size_t> FindName(std::string_view field, std::span<const std::string_view> names,
                             std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  return Refusal(field, "'" + Printable(name.substr(0, 60)) + "'",
                 "one of " + JoinNames({names.begin(), names.end()}));
}

// Remembers the first field that is out of its range.
class Ranges {
 public:
  void Whole(std::string_view field, int value, int least, int most) {
    if (status_.ok() && (value < least || value > most)) {
      status_ = Refusal(field, std::to_string(value),
                        std::to_string(least) + " to " + std::to_string(most));
    }
  }
  void Real(std::string_view field, double value, double least, double most) {
    if (status_.ok() && !(value >= least && value <= most)) {
      status_ = Refusal(field, Shown(value), Shown(least) + " to " + Shown(most));
    }
  }
  void Require(bool good, std::string_view field, const std::string& found,
               const std::string& expected) {
    if (status_.ok() && !good) status_ = Refusal(field, found, expected);
  }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

void CheckShared(const ModelConfig& config, Ranges& ranges) {
  ranges.Whole("history_steps", config.history_steps, 1, kMaxSteps);
  ranges.Whole("horizon_steps", config.horizon_steps, 1, kMaxSteps);
  ranges.Real("dt_s", config.dt_s, 1e-3, 10);
  ranges.Whole("components", config.components, 1, kMaxModes);
}

// Fields the family has are in range, those it does not have are at their defaults.
void CheckFamily(const ModelConfig& config, Ranges& ranges) {
  const ModelConfig plain;
  const std::string absent =
      "it to be left out in a network of family " + std::string(FamilyName(config.family));
  if (config.plus()) {
    ranges.Require(config.lambda_m == plain.lambda_m, "lambda_m", Shown(config.lambda_m), absent);
    ranges.Require(config.velocity, "velocity", "false", absent);
    ranges.Require(config.sigma_min_m == plain.sigma_min_m, "sigma_min_m",
                   Shown(config.sigma_min_m), absent);
    ranges.Whole("patch", config.patch, 1, kMaxPatch);
    ranges.Real("told_least_m", config.told_least_m, 0, 1e3);
    ranges.Real("told_most_m", config.told_most_m, 0, 1e3);
    ranges.Require(config.patch > 0 && config.history_steps % config.patch == 0, "patch",
                   std::to_string(config.patch),
                   "a divisor of history_steps " + std::to_string(config.history_steps));
  } else {
    ranges.Real("lambda_m", config.lambda_m, 1e-6, 1e6);
    ranges.Real("sigma_min_m", config.sigma_min_m, 1e-6, 1e3);
    ranges.Require(config.patch == plain.patch, "patch", std::to_string(config.patch), absent);
    ranges.Require(config.positions, "positions", "false", absent);
    ranges.Require(config.told_least_m == 0, "told_least_m", Shown(config.told_least_m), absent);
    ranges.Require(config.told_most_m == 0, "told_most_m", Shown(config.told_most_m), absent);
  }
}

// Fields the architecture has are in range, those it does not have are at their defaults.
void CheckTrunk(const ModelConfig& config, Ranges& ranges) {
  const ModelConfig plain;
  const std::string unused =
      " in a network of architecture " + std::string(ArchitectureName(config.architecture));
  const auto unset = [&](std::string_view field, int value, int by_default) {
    ranges.Require(value == by_default, field, std::to_string(value), "it to be left out" + unused);
  };
  if (IsMlp(config)) {
    unset("width", config.width, plain.width);
    unset("layers", config.layers, plain.layers);
    ranges.Require(!config.hidden.empty() && config.hidden.size() <= kMaxHidden, "hidden",
                   "a list of " + std::to_string(config.hidden.size()),
                   "1 to " + std::to_string(kMaxHidden) + " sizes");
    for (const int size : config.hidden) ranges.Whole("hidden", size, 1, kMaxWidth);
  } else {
    ranges.Whole("width", config.width, 1, kMaxWidth);
    ranges.Whole("layers", config.layers, 1, kMaxLayers);
    ranges.Require(config.hidden.empty(), "hidden", "set", "it to be left out" + unused);
  }
  if (IsTransformer(config)) {
    ranges.Whole("heads", config.heads, 1, kMaxWidth);
    ranges.Require(config.heads > 0 && config.width % config.heads == 0, "heads",
                   std::to_string(config.heads),
                   "a divisor of the width " + std::to_string(config.width));
    ranges.Whole("feed_forward", config.feed_forward, 1, kMaxFeedForward);
  } else {
    unset("heads", config.heads, plain.heads);
    unset("feed_forward", config.feed_forward, plain.feed_forward);
    ranges.Require(config.positional_encoding, "positional_encoding", "false",
                   "it to be left out" + unused);
  }
}

// Adds tensors by name, in the order of the file.
class SpecList {
 public:
  void Add(std::string name, std::vector<std::int64_t> shape) {
    specs_.push_back({std::move(name), std::move(shape)});
  }
  void Linear(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    Add(name + ".weight", {outputs, inputs});
    Add(name + ".bias", {outputs});
  }
  void Norm(const std::string& name, std::int64_t size) {
    Add(name + ".weight", {size});
    Add(name + ".bias", {size});
  }
  std::vector<TensorSpec> Take() { return std::move(specs_); }

 private:
  std::vector<TensorSpec> specs_;
};

std::string LayerName(int n) { return "layers." + std::to_string(n); }

void AddTransformer(const ModelConfig& config, SpecList& list) {
  const std::int64_t d = config.width;
  list.Linear("embed", d, config.inputs());
  for (int n = 0; n < config.layers; ++n) {
    const std::string layer = LayerName(n);
    list.Norm(layer + ".norm1", d);
    list.Linear(layer + ".attention.in", 3 * d, d);
    list.Linear(layer + ".attention.out", d, d);
    list.Norm(layer + ".norm2", d);
    list.Linear(layer + ".ff.in", config.feed_forward, d);
    list.Linear(layer + ".ff.out", d, config.feed_forward);
  }
  list.Norm("norm", d);
}

void AddRecurrent(const ModelConfig& config, SpecList& list) {
  const std::int64_t gates =
      (config.architecture == Architecture::kLstm ? 4 : 3) * std::int64_t{config.width};
  const bool both_ways = config.architecture == Architecture::kBiGru;
  for (int n = 0; n < config.layers; ++n) {
    const std::int64_t inputs = n == 0 ? config.inputs() : config.context();
    for (int way = 0; way < (both_ways ? 2 : 1); ++way) {
      const std::string prefix = LayerName(n) + (way == 0 ? "." : ".reverse.");
      list.Add(prefix + "weight_ih", {gates, inputs});
      list.Add(prefix + "weight_hh", {gates, config.width});
      list.Add(prefix + "bias_ih", {gates});
      list.Add(prefix + "bias_hh", {gates});
    }
  }
  list.Linear("project", config.context(), config.context());
}

void AddMlp(const ModelConfig& config, SpecList& list) {
  std::int64_t inputs = std::int64_t{config.tokens()} * config.inputs();
  for (std::size_t n = 0; n < config.hidden.size(); ++n) {
    const std::string layer = LayerName(static_cast<int>(n));
    list.Linear(layer, config.hidden[n], inputs);
    list.Norm(layer + ".norm", config.hidden[n]);
    inputs = config.hidden[n];
  }
}

// A whole number that an int does not hold is out of every range, and is said to be by Validate.
int AsInt(std::int64_t value) {
  constexpr std::int64_t kLeast = std::numeric_limits<int>::min();
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(value, kLeast, kMost));
}

void ReadTrunk(JsonFields& fields, ModelConfig& config) {
  if (IsMlp(config)) {
    for (const std::int64_t size : fields.Integers("hidden")) config.hidden.push_back(AsInt(size));
    return;
  }
  config.width = AsInt(fields.Integer("width"));
  config.layers = AsInt(fields.Integer("layers"));
  if (!IsTransformer(config)) return;
  config.heads = AsInt(fields.Integer("heads"));
  config.feed_forward = AsInt(fields.Integer("feed_forward"));
  config.positional_encoding = fields.Flag("positional_encoding");
}

}  // namespace

std::string_view FamilyName(Family family) { return kFamilies[static_cast<std::size_t>(family)]; }

Result<Family> FamilyFromName(std::string_view name) {
  const Result<std::size_t> found = FindName("family", kFamilies, name);
  if (!found.ok()) return found.error();
  return static_cast<Family>(*found);
}

std::string_view ArchitectureName(Architecture architecture) {
  return kArchitectures[static_cast<std::size_t>(architecture)];
}

Result<Architecture> ArchitectureFromName(std::string_view name) {
  const Result<std::size_t> found = FindName("architecture", kArchitectures, name);
  if (!found.ok()) return found.error();
  return static_cast<Architecture>(*found);
}

int ModelConfig::inputs() const {
  if (plus()) return patch * (positions ? 8 : 5) + 5;
  return velocity ? 6 : 3;
}

int ModelConfig::context() const {
  if (architecture == Architecture::kMlp) return hidden.empty() ? 0 : hidden.back();
  return architecture == Architecture::kBiGru ? 2 * width : width;
}

int ModelConfig::outputs() const {
  const int rows = horizon_steps * components;
  return plus() ? 3 * horizon_steps + 6 * rows + components : 7 * rows;
}

Status Validate(const ModelConfig& config) {
  Ranges ranges;
  CheckShared(config, ranges);
  CheckFamily(config, ranges);
  CheckTrunk(config, ranges);
  if (!ranges.status().ok()) return ranges.status();
  const std::size_t parameters = ParameterCount(config);
  if (parameters <= kMaxParameters) return {};
  return Error{ErrorCode::kInvalidArgument, "the network has " + std::to_string(parameters) +
                                                " parameters, expected at most " +
                                                std::to_string(kMaxParameters)};
}

std::string ToJson(const ModelConfig& config) {
  JsonObject json;
  const auto whole = [&](const char* key, int value) { json.Add(key, std::int64_t{value}); };
  if (config.plus()) json.Add("family", std::string(FamilyName(config.family)));
  json.Add("architecture", std::string(ArchitectureName(config.architecture)));
  whole("history_steps", config.history_steps);
  whole("horizon_steps", config.horizon_steps);
  json.Add("dt_s", config.dt_s);
  if (config.plus()) {
    whole("patch", config.patch);
    json.Add("positions", config.positions);
    json.Add("told_least_m", config.told_least_m);
    json.Add("told_most_m", config.told_most_m);
  } else {
    json.Add("lambda_m", config.lambda_m);
    json.Add("velocity", config.velocity);
  }
  if (IsMlp(config)) {
    json.Add("hidden", std::span<const int>(config.hidden));
  } else {
    whole("width", config.width);
    whole("layers", config.layers);
  }
  if (IsTransformer(config)) {
    whole("heads", config.heads);
    whole("feed_forward", config.feed_forward);
    json.Add("positional_encoding", config.positional_encoding);
  }
  whole("components", config.components);
  if (!config.plus()) json.Add("sigma_min_m", config.sigma_min_m);
  return json.text();
}

Result<ModelConfig> ModelConfigFromJson(std::string_view json, std::string_view where) {
  const Result<JsonValue> parsed = ParseStrictJson(json, where);
  if (!parsed.ok()) return parsed.error();
  JsonFields fields(*parsed, where);
  ModelConfig config;
  if (parsed->Find("family") != nullptr) {  // files of the paper's family do not say so
    config.family = Family::kPlus;
    if (fields.Text("family") != FamilyName(config.family)) {
      fields.Refuse("family", "plus, or none for the paper's");
    }
  }
  const Result<Architecture> architecture = ArchitectureFromName(fields.Text("architecture"));
  if (architecture.ok()) {
    config.architecture = *architecture;
  } else {
    fields.Refuse("architecture", "a known one");
  }
  config.history_steps = AsInt(fields.Integer("history_steps"));
  config.horizon_steps = AsInt(fields.Integer("horizon_steps"));
  config.dt_s = fields.Number("dt_s");
  if (config.plus()) {
    config.patch = AsInt(fields.Integer("patch"));
    config.positions = fields.Flag("positions");
    config.told_least_m = fields.Number("told_least_m");
    config.told_most_m = fields.Number("told_most_m");
  } else {
    config.lambda_m = fields.Number("lambda_m");
    config.velocity = fields.Flag("velocity");
    config.sigma_min_m = fields.Number("sigma_min_m");
  }
  ReadTrunk(fields, config);
  config.components = AsInt(fields.Integer("components"));
  if (const Status read = fields.Finish(); !read.ok()) return read.error();
  if (const Status valid = Validate(config); !valid.ok()) {
    return Error{ErrorCode::kBadFormat, std::string(where) + ": " + valid.error().message};
  }
  return config;
}

std::size_t TensorSpec::size() const {
  std::size_t size = 1;
  for (const std::int64_t n : shape) size *= static_cast<std::size_t>(n);
  return size;
}

std::vector<TensorSpec> TensorsOf(const ModelConfig& config) {
  SpecList list;
  if (IsTransformer(config)) {
    AddTransformer(config, list);
  } else if (IsMlp(config)) {
    AddMlp(config, list);
  } else {
    AddRecurrent(config, list);
  }
  for (const HeadSpec& head : HeadsOf(config)) {
    list.Linear("heads." + std::string(head.name), head.outputs, config.context());
  }
  return list.Take();
}

std::vector<HeadSpec> HeadsOf(const ModelConfig& config) {
  const int rows = config.horizon_steps * config.components;
  std::vector<HeadSpec> heads;
  if (config.plus()) heads.push_back({"point", 3 * config.horizon_steps});
  heads.push_back({"mean", 3 * rows});
  heads.push_back({"log_sigma", 3 * rows});
  heads.push_back({"logit", config.plus() ? config.components : rows});
  return heads;
}

double PlusMeanCurve(int step) { return std::pow(step, 0.75); }
double PlusSigmaCurve(int step) { return 0.1 * std::pow(step, 0.9); }

std::size_t ParameterCount(const ModelConfig& config) {
  std::size_t count = 0;
  for (const TensorSpec& tensor : TensorsOf(config)) count += tensor.size();
  return count;
}

std::vector<float> PositionTable(const ModelConfig& config) {
  std::vector<float> table;
  for (int t = 0; t < config.tokens(); ++t) {
    for (int j = 0; j < config.width; ++j) {
      const double angle = t / std::pow(10000.0, static_cast<double>(j - j % 2) / config.width);
      const double value = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
      table.push_back(config.positional_encoding ? static_cast<float>(value) : 0.f);
    }
  }
  return table;
}

std::string StructureHash(const ModelConfig& config) {
  std::string text = ToJson(config) + "\n";
  for (const TensorSpec& tensor : TensorsOf(config)) {
    text += tensor.name + " " + JsonText(std::span<const std::int64_t>(tensor.shape)) + "\n";
  }
  return Sha256Hex(text);
}

}  // namespace aerocast
