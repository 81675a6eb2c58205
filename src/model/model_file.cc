// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/model_file.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>

#include "src/base/text.h"
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

constexpr std::string_view kFormat = "aerocast-model";
constexpr std::size_t kMaxName = 64;

bool IsModelName(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  return !name.empty() && name.size() <= kMaxName && std::all_of(name.begin(), name.end(), good);
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t d : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + ")";
}

// What differs from TensorsOf(config), if anything does.
std::string TensorComplaint(const ModelConfig& config, const std::vector<Tensor>& tensors) {
  const std::vector<TensorSpec> specs = TensorsOf(config);
  std::set<std::string_view> wanted, found;
  for (const TensorSpec& spec : specs) wanted.insert(spec.name);
  for (const Tensor& tensor : tensors) {
    if (!wanted.contains(tensor.name)) {
      return "tensor '" + tensor.name + "' is no part of a network of architecture " +
             std::string(ArchitectureName(config.architecture)) + " with this config";
    }
    if (!found.insert(tensor.name).second) return "tensor '" + tensor.name + "' is there twice";
  }
  for (std::size_t n = 0; n < specs.size(); ++n) {
    const std::string what = "tensor '" + specs[n].name + "' ";
    if (!found.contains(specs[n].name)) return what + "is missing";
    const Tensor& tensor = tensors[n];
    if (tensor.name != specs[n].name) {
      return what + "is expected where '" + tensor.name + "' stands";
    }
    if (tensor.shape != specs[n].shape) {
      return what + "has shape " + ShapeText(tensor.shape) + ", expected " +
             ShapeText(specs[n].shape);
    }
    if (tensor.data.size() != specs[n].size()) {
      return what + "has " + std::to_string(tensor.data.size()) + " numbers, expected " +
             std::to_string(specs[n].size());
    }
  }
  return "";
}

std::string ProvenanceComplaint(const Provenance& provenance) {
  if (!std::isfinite(provenance.epochs_seen)) return "'epochs_seen' is not finite";
  for (const auto& [name, value] : provenance.metrics) {
    if (!std::isfinite(value)) return "metric '" + Printable(name) + "' is not finite";
  }
  return "";
}

// Keys are short and without spaces: one line of text, much shorter than a list.
std::string JoinKeys(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : " ") + key;
  return text;
}

std::vector<std::string> SplitKeys(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string ToJson(const Provenance& provenance) {
  const Json json = {{"training", provenance.training},
                     {"corpus_name", provenance.corpus_name},
                     {"corpus_hash", provenance.corpus_hash},
                     {"split", provenance.split},
                     {"split_hash", provenance.split_hash},
                     {"seed", provenance.seed},
                     {"train_flights", JoinKeys(provenance.train_flights)},
                     {"windows_seen", provenance.windows_seen},
                     {"epochs_seen", provenance.epochs_seen},
                     {"version", provenance.version},
                     {"metrics", provenance.metrics}};
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Result<Provenance> ProvenanceFromJson(std::string_view text, const std::string& where) {
  const Result<Json> json = ParseStrictJson(text, where);
  if (!json.ok()) return json.error();
  JsonFields fields(*json, where);
  Provenance provenance;
  provenance.training = fields.Text("training");
  provenance.corpus_name = fields.Text("corpus_name");
  provenance.corpus_hash = fields.Text("corpus_hash");
  provenance.split = fields.Text("split");
  provenance.split_hash = fields.Text("split_hash");
  provenance.train_flights = SplitKeys(fields.Text("train_flights"));
  provenance.seed = fields.Count("seed");
  provenance.windows_seen = fields.Count("windows_seen");
  provenance.epochs_seen = fields.Number("epochs_seen");
  provenance.version = fields.Text("version");
  const Json& metrics = fields.Object("metrics");
  JsonFields values(metrics, where + ": metrics");
  for (const auto& [name, value] : metrics.items()) {
    provenance.metrics[name] = values.Number(name);
  }
  for (JsonFields* part : {&fields, &values}) {
    if (const Status status = part->Finish(); !status.ok()) return status.error();
  }
  return provenance;
}

// Format and version first: a newer file may differ in everything else.
Status CheckFormat(const std::map<std::string, std::string>& metadata, const std::string& where) {
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::kBadFormat, where + ": " + message};
  };
  const auto text = [&](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? "missing" : "'" + Printable(found->second.substr(0, 60)) + "'";
  };
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != kFormat) {
    return bad("metadata 'format' is " + text("format") + ", expected 'aerocast-model'");
  }
  const auto version = metadata.find("format_version");
  const std::string known = std::to_string(kModelFormatVersion);
  if (version != metadata.end() && version->second == known) return {};
  return bad("metadata 'format_version' is " + text("format_version") + ", expected '" + known +
             "', the only one this program knows");
}

Result<Model> ModelFromTensorFile(TensorFile file, const std::string& where) {
  if (const Status status = CheckFormat(file.metadata, where); !status.ok()) return status.error();
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::kBadFormat, where + ": " + message};
  };
  std::map<std::string, std::string> metadata = std::move(file.metadata);
  for (const char* key : {"name", "config", "provenance"}) {
    if (!metadata.contains(key)) return bad("metadata '" + std::string(key) + "' is missing");
  }
  if (!IsModelName(metadata["name"])) {
    return bad("metadata 'name' is '" + Printable(metadata["name"].substr(0, 60)) +
               "', expected up to 64 letters, digits, - and _");
  }
  const Result<ModelConfig> config = ModelConfigFromJson(metadata["config"], where + ": config");
  if (!config.ok()) return config.error();
  const Result<Provenance> provenance =
      ProvenanceFromJson(metadata["provenance"], where + ": provenance");
  if (!provenance.ok()) return provenance.error();
  const std::string complaint = TensorComplaint(*config, file.tensors);
  if (!complaint.empty()) return bad(complaint);

  Model model{metadata["name"], *config, *provenance, std::move(file.tensors),
              metadata["data_sha256"]};
  for (const char* key : {"format", "format_version", "name", "config", "provenance", "data_sha256",
                          "header_sha256"}) {
    metadata.erase(key);
  }
  if (metadata.empty()) return model;
  return bad("metadata '" + metadata.begin()->first + "' is not known here");
}

}  // namespace

Status WriteModel(const std::filesystem::path& file, const Model& model) {
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::kInvalidArgument,
                 file.string() + ": " + message + "; nothing was written"};
  };
  if (!IsModelName(model.name)) {
    return bad("the model's name is '" + Printable(model.name.substr(0, 60)) +
               "', expected up to 64 letters, digits, - and _");
  }
  if (const Status valid = Validate(model.config); !valid.ok()) return bad(valid.error().message);
  for (const std::string& complaint :
       {TensorComplaint(model.config, model.tensors), ProvenanceComplaint(model.provenance)}) {
    if (!complaint.empty()) return bad(complaint);
  }
  const std::map<std::string, std::string> metadata = {
      {"format", std::string(kFormat)},
      {"format_version", std::to_string(kModelFormatVersion)},
      {"name", model.name},
      {"config", aerocast::ToJson(model.config)},
      {"provenance", ToJson(model.provenance)}};
  std::vector<TensorView> views;
  for (const Tensor& tensor : model.tensors) {
    views.push_back({tensor.name, tensor.shape, tensor.data});
  }
  return WriteTensorFile(file, metadata, views);
}

Result<Model> ReadModel(const std::filesystem::path& file) {
  Result<TensorFile> tensors = ReadTensorFile(file);
  if (!tensors.ok()) return tensors.error();
  return ModelFromTensorFile(std::move(*tensors), file.string());
}

}  // namespace aerocast
