// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/checkpoint.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "src/model/strict_json.h"
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

// Everything of a state but its arrays and its curve, for the writer and the reader alike.
template <typename State, typename Visitor>
void VisitCounters(State& state, Visitor visit) {
  visit("windows", state.windows);
  visit("steps", state.steps);
  visit("clock_s", state.clock_s);
  visit("validations", state.validations);
  visit("best_loss", state.best_loss);
  visit("best_progress", state.best_progress);
  visit("best_windows", state.best_windows);
  visit("loss_sum", state.loss_sum);
  visit("nll_sum", state.nll_sum);
  visit("summed", state.summed);
}

// Numbers as text that reads back to the same bits.
std::string CountersToJson(const TrainState& state) {
  nlohmann::ordered_json json;
  VisitCounters(state, [&](const char* key, const auto& value) { json[key] = value; });
  return json.dump();
}

Status CountersFromJson(const std::string& text, const std::string& where, TrainState& state) {
  const Result<JsonValue> json = ParseStrictJson(text, where);
  if (!json.ok()) return json.error();
  JsonFields fields(*json, where);
  VisitCounters(state, [&](const char* key, auto& value) { fields.Read(key, value); });
  return fields.Finish();
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
