// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/model_file.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "src/base/file.h"
#include "src/base/out_of_memory.h"
#include "src/base/text.h"
#include "src/model/json_object.h"
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

constexpr std::string_view kFormat = "aerocast-model";
constexpr std::size_t kMaxName = 64;
constexpr const char* kResiduals = "calibration.residuals";

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
  for (const std::string& key : provenance.train_flights) {
    if (key.empty() || key.find(' ') != key.npos) {
      return "'train_flights' has " + ("'" + Printable(key) + "', expected keys without spaces");
    }
  }
  if (!std::isfinite(provenance.epochs_seen)) return "'epochs_seen' is not finite";
  for (const auto& [name, value] : provenance.metrics) {
    if (!std::isfinite(value)) return "metric '" + Printable(name) + "' is not finite";
  }
  return "";
}

std::string ToJson(const Provenance& provenance) {
  JsonObject json, metrics;
  for (const auto& [name, value] : provenance.metrics) metrics.Add(name, value);
  json.Add("corpus_hash", provenance.corpus_hash);
  json.Add("corpus_name", provenance.corpus_name);
  json.Add("epochs_seen", provenance.epochs_seen);
  json.AddJson("metrics", metrics.text());
  json.Add("seed", provenance.seed);
  json.Add("split", provenance.split);
  json.Add("split_hash", provenance.split_hash);
  json.Add("train_flights", JoinKeys(provenance.train_flights));
  json.Add("training", provenance.training);
  json.Add("version", provenance.version);
  json.Add("windows_seen", provenance.windows_seen);
  return json.text();
}

Result<Provenance> ProvenanceFromJson(std::string_view text, const std::string& where) {
  const Result<JsonValue> json = ParseStrictJson(text, where);
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
  const JsonValue& metrics = fields.Object("metrics");
  JsonFields values(metrics, where + ": metrics");
  for (const JsonMember& metric : *metrics.As<JsonValue::Object>()) {
    provenance.metrics[metric.key] = values.Number(metric.key);
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

// Everything that becomes a tensor of the file: the network's, then the calibration's.
std::vector<TensorView> ViewsOf(const Model& model) {
  std::vector<TensorView> views;
  views.reserve(model.tensors.size() + 1);
  for (const Tensor& t : model.tensors) views.push_back({t.name, t.shape, t.data});
  if (model.calibration && model.calibration->residual_paths > 0) {
    views.push_back({kResiduals,
                     {model.calibration->residual_paths, model.config.horizon_steps, 3},
                     model.calibration->residuals});
  }
  return views;
}

std::map<std::string, std::string> MetadataOf(const Model& model) {
  std::map<std::string, std::string> metadata = {
      {"format", std::string(kFormat)},
      {"format_version", std::to_string(kModelFormatVersion)},
      {"name", model.name},
      {"config", aerocast::ToJson(model.config)},
      {"provenance", ToJson(model.provenance)}};
  if (model.calibration) metadata["calibration"] = aerocast::ToJson(*model.calibration);
  return metadata;
}

std::string ComplaintOf(const Calibration& calibration, const ModelConfig& config) {
  const std::string complaint =
      CalibrationComplaint(calibration, config.horizon_steps, config.modes());
  return complaint.empty() ? "" : "calibration: " + complaint;
}

// Reads the calibration and takes its tensor out of the file's.
Result<Calibration> TakeCalibration(TensorFile& file, const ModelConfig& config,
                                    const std::string& where) {
  Result<Calibration> calibration =
      CalibrationFromJson(file.metadata["calibration"], where + ": calibration");
  if (!calibration.ok()) return calibration;
  if (calibration->residual_paths > 0) {
    const std::vector<std::int64_t> shape = {calibration->residual_paths, config.horizon_steps, 3};
    const auto bad = [&](const std::string& message) {
      return Error{ErrorCode::kBadFormat, where + ": tensor '" + kResiduals + "' " + message};
    };
    if (file.tensors.empty() || file.tensors.back().name != kResiduals) {
      return bad("is missing at the end");
    }
    if (file.tensors.back().shape != shape) {
      return bad("has shape " + ShapeText(file.tensors.back().shape) + ", expected " +
                 ShapeText(shape));
    }
    calibration->residuals = std::move(file.tensors.back().data);
    file.tensors.pop_back();
  }
  const std::string complaint = ComplaintOf(*calibration, config);
  if (!complaint.empty()) return Error{ErrorCode::kBadFormat, where + ": " + complaint};
  return calibration;
}

// The header is, to the byte, the one that this model is written with.
bool HeaderIsOurs(const Model& model, const std::string& header_sha256) {
  std::map<std::string, std::string> metadata = MetadataOf(model);
  metadata["data_sha256"] = model.sha256;
  return HeaderSha256(metadata, ViewsOf(model), model.stored) == header_sha256;
}

Result<Model> ModelFromTensorFile(TensorFile file, const std::string& where) {
  if (const Status status = CheckFormat(file.metadata, where); !status.ok()) return status.error();
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::kBadFormat, where + ": " + message};
  };
  std::map<std::string, std::string>& metadata = file.metadata;
  const std::set<std::string_view> known = {"format",      "format_version", "name",
                                            "config",      "provenance",     "calibration",
                                            "data_sha256", "header_sha256"};
  for (const auto& [key, value] : metadata) {
    if (!known.contains(key)) return bad("metadata '" + key + "' is not known here");
  }
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
  std::optional<Calibration> calibration;
  if (metadata.contains("calibration")) {
    Result<Calibration> read = TakeCalibration(file, *config, where);
    if (!read.ok()) return read.error();
    calibration = std::move(*read);
  }
  const std::string complaint = TensorComplaint(*config, file.tensors);
  if (!complaint.empty()) return bad(complaint);

  Model model{metadata["name"],        *config,      *provenance,           std::move(file.tensors),
              metadata["data_sha256"], file.weights, std::move(calibration)};
  if (HeaderIsOurs(model, metadata["header_sha256"])) return model;
  return bad(
      "header says it in other words, expected fields, numbers and spaces as they are written");
}

}  // namespace

std::string JoinKeys(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : " ") + key;
  return text;
}

std::vector<std::string> SplitKeys(std::string_view text) {
  std::vector<std::string> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) keys.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return keys;
}

Result<std::string> EncodeModel(const Model& model, std::string_view where, WeightStorage weights) {
  const auto bad = [&](const std::string& message) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(where) + ": " + message + "; nothing was written"};
  };
  if (!IsModelName(model.name)) {
    return bad("the model's name is '" + Printable(model.name.substr(0, 60)) +
               "', expected up to 64 letters, digits, - and _");
  }
  if (const Status valid = Validate(model.config); !valid.ok()) return bad(valid.error().message);
  for (const std::string& complaint :
       {TensorComplaint(model.config, model.tensors), ProvenanceComplaint(model.provenance),
        model.calibration ? ComplaintOf(*model.calibration, model.config) : ""}) {
    if (!complaint.empty()) return bad(complaint);
  }
  return EncodeChecked(where, MetadataOf(model), ViewsOf(model), TensorFileLimits{}.header_bytes,
                       weights);
}

Result<Model> DecodeModel(std::string_view bytes, std::string_view where) {
  Result<TensorFile> tensors = DecodeTensorFile(bytes, where);
  if (!tensors.ok()) return tensors.error();
  return ModelFromTensorFile(std::move(*tensors), std::string(where));
}

Status WriteModel(const std::filesystem::path& file, const Model& model, WeightStorage weights) {
  const Result<std::string> bytes = EncodeModel(model, file.native(), weights);
  if (!bytes.ok()) return bytes.error();
  return WriteFileAtomically(file, *bytes);
}

Result<Model> ReadModel(const std::filesystem::path& file) {
  return CatchOutOfMemory(file.native(), [&]() -> Result<Model> {
    Result<TensorFile> tensors = ReadTensorFile(file);
    if (!tensors.ok()) return tensors.error();
    return ModelFromTensorFile(std::move(*tensors), file.native());
  });
}

}  // namespace aerocast
