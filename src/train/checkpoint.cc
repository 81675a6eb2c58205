// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/checkpoint.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "src/base/json_field.h"
#include "src/model/tensor_file.h"

namespace aerocast {
namespace {

constexpr char kFormat[] = "aerocast-checkpoint";
constexpr TensorFileLimits kLimits = {.header_bytes = 16 << 20,
                                      .tensors = 8,
                                      .rank = 1,
                                      .dimension = std::int64_t{1} << 31,
                                      .file_bytes = std::uint64_t{1} << 36};

struct NamedArray {
  const char* name;
  torch::Tensor TrainState::*array;
  bool optional;
};
constexpr NamedArray kArrays[] = {{"weights", &TrainState::weights, false},
                                  {"first_moment", &TrainState::first_moment, false},
                                  {"second_moment", &TrainState::second_moment, false},
                                  {"average", &TrainState::average, true},
                                  {"best", &TrainState::best, true}};

// Numbers as text that reads back to the same bits.
std::string CountersToJson(const TrainState& state) {
  nlohmann::ordered_json json;
  json["windows"] = state.windows;
  json["steps"] = state.steps;
  json["clock_s"] = state.clock_s;
  json["validations"] = state.validations;
  json["best_loss"] = state.best_loss;
  json["best_ade_m"] = state.best_ade_m;
  json["best_progress"] = state.best_progress;
  json["best_windows"] = state.best_windows;
  json["loss_sum"] = state.loss_sum;
  json["nll_sum"] = state.nll_sum;
  json["summed"] = state.summed;
  return json.dump();
}

Status CountersFromJson(const std::string& text, const std::string& where, TrainState& state) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    const Field root(json, where);
    const auto count = [&](const char* key) { return (root / key).Count(); };
    state.windows = count("windows");
    state.steps = (root / "steps").Integer();
    state.clock_s = (root / "clock_s").Number();
    state.validations = static_cast<int>((root / "validations").Integer());
    state.best_loss = (root / "best_loss").Number();
    state.best_ade_m = (root / "best_ade_m").Number();
    state.best_progress = (root / "best_progress").Number();
    state.best_windows = count("best_windows");
    state.loss_sum = (root / "loss_sum").Number();
    state.nll_sum = (root / "nll_sum").Number();
    state.summed = count("summed");
  } catch (const JsonError& error) {
    return Error{ErrorCode::kBadFormat, error.what()};
  }
  return {};
}

}  // namespace

Status WriteCheckpoint(const std::filesystem::path& file, const TrainState& state,
                       const std::string& run) {
  std::vector<TensorView> views;
  for (const NamedArray& named : kArrays) {
    const torch::Tensor& array = state.*named.array;
    if (!array.defined() || array.numel() == 0) continue;
    if (!torch::isfinite(array).all().item<bool>()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{}: not written, {} is not finite", file.string(), named.name)};
    }
    views.push_back({named.name,
                     {array.numel()},
                     {array.data_ptr<float>(), static_cast<std::size_t>(array.numel())}});
  }
  TrainingCurve curve;
  curve.points = state.points;
  return WriteTensorFile(file,
                         {{"format", kFormat},
                          {"run", run},
                          {"counters", CountersToJson(state)},
                          {"curve", CurveToJson(curve)}},
                         views, kLimits.header_bytes);
}

Result<TrainState> ReadCheckpoint(const std::filesystem::path& file, std::int64_t parameters,
                                  const std::string& run) {
  Result<TensorFile> content = ReadTensorFile(file, kLimits);
  if (!content.ok()) return content.error();
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::kBadFormat, file.string() + ": " + why};
  };
  if (content->metadata["format"] != kFormat) return refuse("not a checkpoint of AeroCast");
  if (content->metadata["run"] != run) {
    return refuse("belongs to another run (config, corpus or seed differ)");
  }
  TrainState state;
  if (Status s = CountersFromJson(content->metadata["counters"], file.string(), state); !s.ok()) {
    return s.error();
  }
  Result<TrainingCurve> curve = CurveFromJson(content->metadata["curve"], file.string());
  if (!curve.ok()) return curve.error();
  state.points = std::move(curve->points);
  for (const NamedArray& named : kArrays) {
    const Tensor* tensor = content->Find(named.name);
    if (tensor == nullptr && named.optional) continue;
    if (tensor == nullptr || static_cast<std::int64_t>(tensor->data.size()) != parameters) {
      return refuse(fmt::format("{} should have {} numbers", named.name, parameters));
    }
    torch::Tensor array = torch::empty({parameters}, torch::kFloat32);
    std::memcpy(array.data_ptr<float>(), tensor->data.data(), tensor->data.size() * sizeof(float));
    state.*named.array = array;
  }
  return state;
}

}  // namespace aerocast
