// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/file.h"
#include "src/base/text.h"

namespace aerocast {
namespace {

constexpr std::uint64_t kLargestFile = 1 << 20;

// ---- What can be set: the one table of keys that reading, checking and writing go through.

using Member =
    std::variant<std::string RunConfig::*, Family ModelConfig::*, Architecture ModelConfig::*,
                 int ModelConfig::*, double ModelConfig::*, bool ModelConfig::*,
                 std::vector<int> ModelConfig::*, ScheduleKind TrainConfig::*, int TrainConfig::*,
                 double TrainConfig::*, int SamplerConfig::*, double SamplerConfig::*>;

enum Networks : unsigned {
  kTransformerOnly = 1u << static_cast<int>(Architecture::kTransformer),
  kMlpOnly = 1u << static_cast<int>(Architecture::kMlp),
  kAllNetworks = ~0u,
  kAllButMlp = kAllNetworks & ~kMlpOnly,
};

enum class Of { kBoth, kPaper, kPlus };  // families

// Ranges of [model] are those of Validate(ModelConfig): a network need not come from a file here.
constexpr double kAnything = std::numeric_limits<double>::infinity();

struct Field {
  std::string_view table;  // "" for the top
  std::string_view key;
  Member member;
  double low = -kAnything, high = kAnything;
  Networks networks = kAllNetworks;  // that have it
  Of families = Of::kBoth;           // that have it
};

// A number of one family.
template <typename Number>
Field Own(Of family, std::string_view table, std::string_view key, Number member,
          double low = -kAnything, double high = kAnything) {
  return {table, key, member, low, high, kAllNetworks, family};
}

const std::vector<Field>& Fields() {
  using M = ModelConfig;
  using T = TrainConfig;
  using S = SamplerConfig;
  constexpr Of kPaper = Of::kPaper, kPlus = Of::kPlus;
  static const std::vector<Field> kFields = {
      {"", "name", &RunConfig::name, 1, 40},
      {"", "description", &RunConfig::description, 0, 200},

      {"model", "family", &M::family},
      {"model", "architecture", &M::architecture},
      {"model", "history_steps", &M::history_steps},
      {"model", "horizon_steps", &M::horizon_steps},
      {"model", "dt_s", &M::dt_s},
      Own(kPaper, "model", "lambda_m", &M::lambda_m),
      Own(kPaper, "model", "velocity", &M::velocity),
      Own(kPlus, "model", "patch", &M::patch),
      Own(kPlus, "model", "positions", &M::positions),
      Own(kPlus, "model", "told_least_m", &M::told_least_m),
      Own(kPlus, "model", "told_most_m", &M::told_most_m),
      {"model", "width", &M::width, -kAnything, kAnything, kAllButMlp},
      {"model", "layers", &M::layers, -kAnything, kAnything, kAllButMlp},
      {"model", "heads", &M::heads, -kAnything, kAnything, kTransformerOnly},
      {"model", "feed_forward", &M::feed_forward, -kAnything, kAnything, kTransformerOnly},
      {"model", "positional_encoding", &M::positional_encoding, 0, 1, kTransformerOnly},
      {"model", "hidden", &M::hidden, -kAnything, kAnything, kMlpOnly},
      {"model", "components", &M::components},
      Own(kPaper, "model", "sigma_min_m", &M::sigma_min_m),

      {"train", "epochs", &T::epochs, 1e-6, 1e6},
      {"train", "batch", &T::batch, 1, 65536},
      {"train", "lr", &T::lr, 1e-9, 1},
      {"train", "lr_min", &T::lr_min, 0, 1},
      {"train", "beta1", &T::beta1, 0, 0.999999},
      {"train", "beta2", &T::beta2, 0, 0.999999},
      {"train", "epsilon", &T::epsilon, 1e-16, 1},
      {"train", "weight_decay", &T::weight_decay, 0, 10},
      {"train", "clip_norm", &T::clip_norm, 0, 1e6},
      {"train", "ema", &T::ema, 0, 0.999999},
      {"train", "schedule", &T::schedule},
      {"train", "lr_warmup", &T::lr_warmup, 0, 0.9},
      {"train", "restart_first", &T::restart_first, 0.001, 1},
      {"train", "restart_factor", &T::restart_factor, 1, 100},
      {"train", "dropout", &T::dropout, 0, 0.9},
      Own(kPaper, "train", "mse_weight", &T::mse_weight, 0, 1e6),
      Own(kPlus, "train", "mode_weight", &T::mode_weight, 0, 1e3),
      Own(kPlus, "train", "logit_weight", &T::logit_weight, 0, 1e3),
      Own(kPlus, "train", "beta", &T::beta, 0, 1),
      Own(kPlus, "train", "assign_temperature", &T::assign_temperature, 0, 1e3),
      Own(kPlus, "train", "assign_until", &T::assign_until, 0, 1),
      Own(kPlus, "train", "sigma_gradient", &T::sigma_gradient, 0, 1),
      Own(kPlus, "train", "speed_power", &T::speed_power, 0, 1),
      Own(kPaper, "train", "curriculum", &T::curriculum, 0, 1),
      Own(kPaper, "train", "curriculum_least", &T::curriculum_least, 1, 1000),
      Own(kPaper, "train", "augment_noise_m", &T::augment_noise_m, 0, 100),
      Own(kPaper, "train", "augment_scale", &T::augment_scale, 0, 0.9),
      {"train", "patience", &T::patience, 0, 1},
      {"train", "validations", &T::validations, 1, 10'000},
      {"train", "validation_windows", &T::validation_windows, 1, 10'000'000},

      Own(kPlus, "sampler", "generated", &S::generated, 0, 1),
      Own(kPlus, "sampler", "generated_flights", &S::generated_flights, 0, 100'000),
      Own(kPlus, "sampler", "fliers", &S::fliers, 0, 1),
      Own(kPlus, "sampler", "stop_and_go", &S::stop_and_go, 0, 1),
      Own(kPlus, "sampler", "reflown", &S::reflown, 0, 1),
      Own(kPlus, "sampler", "warped", &S::warped, 0, 1),
      Own(kPlus, "sampler", "time_scale", &S::time_scale, 0, 1),
      Own(kPlus, "sampler", "clean", &S::clean, 0, 1),
      Own(kPlus, "sampler", "noise_least", &S::noise_least, 1e-6, 10),
      Own(kPlus, "sampler", "noise_most", &S::noise_most, 1e-6, 10),
      Own(kPlus, "sampler", "noise_unstated", &S::noise_unstated, 0, 1),
      Own(kPlus, "sampler", "untold", &S::untold, 0, 1),
      Own(kPlus, "sampler", "drop", &S::drop, 0, 0.9),
      Own(kPlus, "sampler", "outliers", &S::outliers, 0, 0.5),
      Own(kPlus, "sampler", "whole_history", &S::whole_history, 0, 1),
      Own(kPlus, "sampler", "short_history", &S::short_history, 0, 1),
  };
  return kFields;
}

constexpr std::array<std::pair<ScheduleKind, std::string_view>, 3> kSchedules = {
    {{ScheduleKind::kCosine, "cosine"},
     {ScheduleKind::kWarmRestarts, "warm_restarts"},
     {ScheduleKind::kConstant, "constant"}}};

template <typename Run, typename T>
auto& At(Run& run, T RunConfig::*member) {
  return run.*member;
}
template <typename Run, typename T>
auto& At(Run& run, T ModelConfig::*member) {
  return run.model.*member;
}
template <typename Run, typename T>
auto& At(Run& run, T TrainConfig::*member) {
  return run.train.*member;
}

template <typename Run, typename T>
auto& At(Run& run, T SamplerConfig::*member) {
  return run.sampler.*member;
}

std::string FullKey(std::string_view table, std::string_view key) {
  return table.empty() ? std::string(key) : fmt::format("{}.{}", table, key);
}
std::string FullKey(const Field& field) { return FullKey(field.table, field.key); }

bool Has(const ModelConfig& model, const Field& field) {
  const bool family = field.families == Of::kBoth || (field.families == Of::kPlus) == model.plus();
  return family && (field.networks & (1u << static_cast<int>(model.architecture))) != 0;
}

bool IsTable(std::string_view key) { return key == "model" || key == "train" || key == "sampler"; }

bool IsText(const Field& field) {
  return std::holds_alternative<std::string RunConfig::*>(field.member) ||
         std::holds_alternative<Family ModelConfig::*>(field.member) ||
         std::holds_alternative<Architecture ModelConfig::*>(field.member) ||
         std::holds_alternative<ScheduleKind TrainConfig::*>(field.member);
}

// ---- Reading.

// A value that a file or the command line gives to a key.
struct Entry {
  std::string table, key;
  const toml::node* value = nullptr;
  std::string where;  // "configs/x.toml:12", "--set train.lr=1"
};

Error Refuse(std::string_view where, std::string_view message) {
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {}", where, message)};
}

// What stands there, for messages.
std::string Describe(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (node.is_string()) return "a string";
  if (node.is_array()) return "a list";
  return node.is_table() ? "a table" : "a date or time";
}

std::string InRange(std::string_view what, double low, double high) {
  if (low == -kAnything) return std::string(what);
  return fmt::format("{} from {} to {}", what, low, high);
}

// Each Set gives nothing when the value was taken, else what is found and what was expected.
struct Mismatch {
  std::string found, expected;
};
using Taken = std::optional<Mismatch>;

int AsInt(std::int64_t value) {  // what does not fit is out of every range, too
  return static_cast<int>(std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(),
                                                   std::numeric_limits<int>::max()));
}

Taken Set(const toml::node& node, const Field& field, int& out) {
  const auto value = node.value_exact<std::int64_t>();
  const double real = value ? static_cast<double>(*value) : 0;
  if (!value || real < field.low || real > field.high) {
    return Mismatch{Describe(node), InRange("a whole number", field.low, field.high)};
  }
  out = AsInt(*value);
  return {};
}

Taken Set(const toml::node& node, const Field& field, double& out) {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !(*value >= field.low && *value <= field.high)) {
    return Mismatch{Describe(node), InRange("a number", field.low, field.high)};
  }
  out = *value;
  return {};
}

Taken Set(const toml::node& node, const Field&, bool& out) {
  const auto value = node.value_exact<bool>();
  if (!value) return Mismatch{Describe(node), "true or false"};
  out = *value;
  return {};
}

Taken Set(const toml::node& node, const Field&, std::vector<int>& out) {
  const toml::array* list = node.as_array();
  if (!list || !std::ranges::all_of(*list, [](const toml::node& n) { return n.is_integer(); })) {
    return Mismatch{list ? "a list of other things" : Describe(node), "a list of whole numbers"};
  }
  out.clear();
  for (const toml::node& n : *list) out.push_back(AsInt(*n.value_exact<std::int64_t>()));
  return {};
}

std::string Quoted(std::string_view text) {
  return fmt::format("'{}'", Printable(text.substr(0, 60)));
}

Taken Set(const toml::node& node, const Field& field, std::string& out) {
  const auto value = node.value_exact<std::string_view>();
  const auto length = value ? static_cast<double>(value->size()) : -1;
  if (length < field.low || length > field.high || Printable(*value) != *value) {
    return Mismatch{value ? Quoted(*value) : Describe(node),
                    fmt::format("one line of {} to {} characters", field.low, field.high)};
  }
  out = *value;
  return {};
}

template <typename Choice, std::size_t n>
Taken SetChoice(const toml::node& node,
                const std::array<std::pair<Choice, std::string_view>, n>& choices, Choice& out) {
  const auto value = node.value_exact<std::string_view>();
  std::vector<std::string_view> names;
  for (const auto& [choice, name] : choices) {
    if (value == name) return out = choice, std::nullopt;
    names.push_back(name);
  }
  return Mismatch{value ? Quoted(*value) : Describe(node), "one of " + JoinNames(names)};
}

Taken Set(const toml::node& node, const Field&, Family& out) {
  constexpr std::array kChoices = {std::pair(Family::kPaper, std::string_view("paper")),
                                   std::pair(Family::kPlus, std::string_view("plus"))};
  return SetChoice(node, kChoices, out);
}

Taken Set(const toml::node& node, const Field&, Architecture& out) {
  constexpr int kCount = static_cast<int>(Architecture::kMlp) + 1;
  std::array<std::pair<Architecture, std::string_view>, kCount> choices;
  for (int i = 0; i < kCount; ++i) {
    const auto architecture = static_cast<Architecture>(i);
    choices[static_cast<std::size_t>(i)] = {architecture, ArchitectureName(architecture)};
  }
  return SetChoice(node, choices, out);
}

Taken Set(const toml::node& node, const Field&, ScheduleKind& out) {
  return SetChoice(node, kSchedules, out);
}

const Field* FindField(std::string_view table, std::string_view key) {
  const auto found = std::ranges::find_if(
      Fields(), [&](const Field& f) { return f.table == table && f.key == key; });
  return found == Fields().end() ? nullptr : &*found;
}

// How many letters must be put in, left out or changed to turn one into the other.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// The keys that could have been meant, and the nearest of them if it is near.
Error UnknownKey(const Entry& entry, const ModelConfig& model) {
  std::vector<std::string_view> known;
  for (const Field& field : Fields()) {
    if (field.table == entry.table && Has(model, field)) known.push_back(field.key);
  }
  if (entry.table.empty()) known.insert(known.end(), {"model", "train", "sampler"});
  const std::string key = Printable(std::string_view(entry.key).substr(0, 60));
  std::string message = fmt::format("there is no key {}", FullKey(entry.table, key));
  if (known.empty())
    return Refuse(entry.where, message + ", expected [model], [train] or [sampler]");
  const auto nearest = std::ranges::min_element(
      known, {}, [&](std::string_view candidate) { return EditDistance(candidate, key); });
  if (EditDistance(*nearest, key) <= std::max<std::size_t>(2, key.size() / 3)) {
    message += fmt::format(" (nearest: {})", *nearest);
  }
  return Refuse(entry.where, message + "; expected one of " + JoinNames(known));
}

Status Apply(const Entry& entry, RunConfig& run) {
  const Field* field = FindField(entry.table, entry.key);
  if (field == nullptr) return UnknownKey(entry, run.model);
  if (!Has(run.model, *field)) {
    const bool family = field->families != Of::kBoth;
    return Refuse(entry.where, fmt::format("{} does not belong to {} {}", FullKey(*field),
                                           family ? "family" : "architecture",
                                           family ? FamilyName(run.model.family)
                                                  : ArchitectureName(run.model.architecture)));
  }
  const Taken taken = std::visit(
      [&](auto member) { return Set(*entry.value, *field, At(run, member)); }, field->member);
  if (!taken) return {};
  return Refuse(entry.where, fmt::format("{} is {}, expected {}", FullKey(*field), taken->found,
                                         taken->expected));
}

Result<toml::table> ParseToml(std::string_view text, std::string_view where, bool with_line) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    const std::string place =
        with_line ? fmt::format("{}:{}", where, e.source().begin.line) : std::string(where);
    return Error{ErrorCode::kBadFormat,
                 fmt::format("{}: not TOML: {}", place, Printable(e.description()))};
  }
}

// The document as a flat list: keys of the top and of the tables.
Result<std::vector<Entry>> Flatten(const toml::table& document, std::string_view where) {
  std::vector<Entry> entries;
  const auto add = [&](std::string_view table, const toml::key& key, const toml::node& value) {
    entries.push_back({std::string(table), std::string(key.str()), &value,
                       fmt::format("{}:{}", where, key.source().begin.line)});
  };
  for (const auto& [key, value] : document) {
    if (!IsTable(key.str())) {
      add("", key, value);
      continue;
    }
    const toml::table* table = value.as_table();
    if (table == nullptr) {
      return Refuse(fmt::format("{}:{}", where, key.source().begin.line),
                    fmt::format("{} is {}, expected a table", key.str(), Describe(value)));
    }
    for (const auto& [inner, node] : *table) add(key.str(), inner, node);
  }
  return entries;
}

// "train.lr=3e-4" into an entry whose value lives in `documents`. Texts need no quotes.
Result<Entry> ParseOverride(const std::string& text, std::vector<toml::table>& documents) {
  const std::string where = "--set " + Printable(std::string_view(text).substr(0, 80));
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return Refuse(where, "there is no '=' in it, expected a setting such as train.lr=3e-4");
  }
  const std::string_view path = Trim(std::string_view(text).substr(0, equals));
  const std::string_view value = Trim(std::string_view(text).substr(equals + 1));
  const std::size_t dot = path.find('.');
  Entry entry;
  entry.where = where;
  entry.key = dot == std::string_view::npos ? path : path.substr(dot + 1);
  if (dot != std::string_view::npos) entry.table = path.substr(0, dot);

  const Field* field = FindField(entry.table, entry.key);
  if (field != nullptr && IsText(*field) && !value.starts_with('"') && !value.starts_with('\'')) {
    documents.push_back(toml::table{{"value", value}});
  } else {
    Result<toml::table> parsed = ParseToml(fmt::format("value = {}", value), where, false);
    if (!parsed.ok()) return parsed.error();
    if (parsed->size() != 1) return Refuse(where, "it has several lines, expected one value");
    documents.push_back(std::move(*parsed));
  }
  entry.value = documents.back().get("value");
  return entry;
}

// Later ones win. Family and architecture go first: they say which keys there are.
Status ApplyAll(std::vector<Entry> entries, RunConfig& run) {
  const auto same_key = [](const Entry& a) {
    return [&a](const Entry& b) { return a.table == b.table && a.key == b.key; };
  };
  for (auto e = entries.begin(); e != entries.end();) {
    e = std::any_of(e + 1, entries.end(), same_key(*e)) ? entries.erase(e) : e + 1;
  }
  std::ranges::stable_partition(
      entries, [](const Entry& e) { return e.key == "family" || e.key == "architecture"; });
  for (const Entry& entry : entries) {
    if (const Status status = Apply(entry, run); !status.ok()) return status;
  }
  return {};
}

// What no single value can get wrong alone, and what is missing.
Status CheckWhole(const RunConfig& run, std::string_view where) {
  constexpr std::string_view kNameLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  if (run.name.empty()) return Refuse(where, "name is missing, expected 1 to 40 characters");
  if (run.name.find_first_not_of(kNameLetters) != std::string::npos) {
    return Refuse(
        where, fmt::format("name is {}, expected letters, digits, '-' and '_'", Quoted(run.name)));
  }
  if (run.train.lr_min > run.train.lr) {
    return Refuse(where, fmt::format("train.lr_min is {}, expected at most train.lr, which is {}",
                                     run.train.lr_min, run.train.lr));
  }
  const SamplerConfig& sampler = run.sampler;
  if (sampler.noise_least > sampler.noise_most) {
    return Refuse(where, "sampler.noise_least is above sampler.noise_most");
  }
  if (sampler.whole_history + sampler.short_history > 1) {
    return Refuse(where, "sampler.whole_history and sampler.short_history add up to more than 1");
  }
  if (sampler.fliers + sampler.stop_and_go > 1) {
    return Refuse(where, "sampler.fliers and sampler.stop_and_go add up to more than 1");
  }
  if (sampler.generated > 0 && sampler.generated_flights == 0) {
    return Refuse(where, "sampler.generated_flights is 0, expected some or sampler.generated = 0");
  }
  return {};
}

// The ranges of src/model/config.cc, with the line of the field they speak of where it has one.
Status CheckModel(const ModelConfig& model, const std::vector<Entry>& entries,
                  std::string_view where) {
  const Status valid = Validate(model);
  if (valid.ok()) return {};
  std::string_view place = where;
  for (const Entry& e : entries) {
    const bool spoken_of = valid.error().message.starts_with(fmt::format("field '{}' ", e.key));
    if (e.table == "model" && spoken_of) place = e.where;
  }
  return Refuse(place, fmt::format("[model]: {}", valid.error().message));
}

// ---- Writing.

std::string Written(int value) { return fmt::format("{}", value); }
std::string Written(double value) {
  return fmt::format("{}", value);
}  // the shortest that is exact
std::string Written(bool value) { return value ? "true" : "false"; }
std::string Written(const std::vector<int>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}
std::string Written(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}
std::string Written(const std::string& text) { return Written(std::string_view(text)); }
std::string Written(Family value) { return Written(FamilyName(value)); }
std::string Written(Architecture value) { return Written(ArchitectureName(value)); }
std::string Written(ScheduleKind value) {
  return Written(kSchedules[static_cast<std::size_t>(value)].second);
}

}  // namespace

Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view where,
                                 std::span<const std::string> overrides) {
  const Result<toml::table> document = ParseToml(toml, where, true);
  if (!document.ok()) return document.error();
  Result<std::vector<Entry>> entries = Flatten(*document, where);
  if (!entries.ok()) return entries.error();
  std::vector<toml::table> values;  // of the overrides
  values.reserve(overrides.size());
  for (const std::string& text : overrides) {
    Result<Entry> entry = ParseOverride(text, values);
    if (!entry.ok()) return entry.error();
    entries->push_back(std::move(*entry));
  }
  RunConfig run;
  if (const Status status = ApplyAll(*entries, run); !status.ok()) return status.error();
  if (const Status status = CheckWhole(run, where); !status.ok()) return status.error();
  if (const Status status = CheckModel(run.model, *entries, where); !status.ok()) {
    return status.error();
  }
  return run;
}

Result<RunConfig> ReadRunConfig(const std::filesystem::path& file,
                                std::span<const std::string> overrides) {
  const Result<std::string> text = ReadFile(file, kLargestFile);
  if (!text.ok()) return text.error();
  return ParseRunConfig(*text, file.string(), overrides);
}

std::string ToToml(const RunConfig& config) {
  std::string out = "# A training run of AeroCast, every setting of it (docs/training.md).\n";
  std::string_view table;
  for (const Field& field : Fields()) {
    if (!Has(config.model, field)) continue;
    if (field.table != table) out += fmt::format("\n[{}]\n", field.table);
    table = field.table;
    out += std::visit(
        [&](auto member) {
          return fmt::format("{} = {}\n", field.key, Written(At(config, member)));
        },
        field.member);
  }
  return out;
}

}  // namespace aerocast
