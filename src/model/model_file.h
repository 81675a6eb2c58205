// SPDX-License-Identifier: BSD-3-Clause
//
// One artifact: everything a forecast depends on travels in one model file. A tensor file whose
// metadata holds the network's config and where it came from (docs/model_format.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"
#include "src/model/calibration.h"
#include "src/model/config.h"
#include "src/model/tensor_file.h"

namespace aerocast {

inline constexpr int kModelFormatVersion = 1;
inline constexpr std::string_view kModelExtension = ".safetensors";

// Where the weights came from. Nothing here depends on the clock, so that the same training gives
// the same file.
struct Provenance {
  std::string training;     // resolved training config, TOML text
  std::string corpus_name;  // as its manifest says
  std::string corpus_hash;
  std::string split;  // e.g. "flight"
  std::string split_hash;
  // RecordingKey of every recording trained on, sorted, so that no table scores a network
  // on what it has seen. Empty when there were more than kMostRecordingKeys.
  std::vector<std::string> train_flights;
  std::uint64_t seed = 0;
  std::uint64_t windows_seen = 0;  // by the weights in this file
  double epochs_seen = 0;
  std::string version;                    // of AeroCast
  std::map<std::string, double> metrics;  // finite; e.g. validation_nll, validation_ade_m

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

inline constexpr std::size_t kMostRecordingKeys = 1000;
// The first twelve digits of a recording's SHA-256, as the corpus manifest states it.
inline std::string RecordingKey(std::string_view sha256) {
  return std::string(sha256.substr(0, 12));
}
// Keys are short and without spaces: one line of text, much shorter than a list.
std::string JoinKeys(const std::vector<std::string>& keys);
std::vector<std::string> SplitKeys(std::string_view text);

struct Model {
  std::string name;  // for tables, "paper": up to 64 letters, digits, - and _
  ModelConfig config;
  Provenance provenance;
  std::vector<Tensor> tensors;  // exactly TensorsOf(config), in that order
  std::string sha256;           // of the tensors' data as the file has it; set by reading
  WeightStorage stored = WeightStorage::kSingle;  // how the file has it; set by reading
  std::optional<Calibration> calibration = {};    // none: the network as it was trained
};

// Refuses what ReadModel would refuse: an invalid config, tensors that are not TensorsOf(config), a
// calibration that does not fit the network, numbers that are not finite or do not fit into
// `weights`, a provenance too long for the header. Nothing is written then. Half precision halves
// the file and rounds each number to 11 bits.
Status WriteModel(const std::filesystem::path& file, const Model& model,
                  WeightStorage weights = WeightStorage::kSingle);
// Refuses whatever is not a whole, known, finite model, by name of what is wrong. A model has one
// form: what is accepted gives the same bytes when it is written again. The model is a copy, so
// what happens to the file afterwards does not matter; running out of memory is an error too.
Result<Model> ReadModel(const std::filesystem::path& file);

// The same, bytes in memory; `where` begins every message.
Result<std::string> EncodeModel(const Model& model, std::string_view where,
                                WeightStorage weights = WeightStorage::kSingle);
Result<Model> DecodeModel(std::string_view bytes, std::string_view where);

}  // namespace aerocast
