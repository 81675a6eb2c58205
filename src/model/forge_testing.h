// SPDX-License-Identifier: BSD-3-Clause
//
// What a hostile writer can make: model files with any header and any data whose length and hashes
// are nevertheless right. For tests and fuzzers.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/sha256.h"
#include "src/model/model_file.h"

namespace aerocast {

// The smallest network there is, with numbers that half precision holds exactly.
inline Model TinyModel(Architecture architecture = Architecture::kMlp) {
  Model model;
  model.name = "tiny";
  model.config.architecture = architecture;
  model.config.history_steps = model.config.horizon_steps = model.config.components = 1;
  model.config.velocity = false;
  if (architecture == Architecture::kMlp) {
    model.config.hidden = {1};
  } else {
    model.config.width = model.config.layers = 1;
  }
  if (architecture == Architecture::kTransformer)
    model.config.heads = model.config.feed_forward = 1;
  model.provenance.train_flights = {"0123456789ab", "ba9876543210"};
  model.provenance.metrics = {{"validation_ade_m", 0.25}};
  model.provenance.version = "0.1.0";
  float value = -2;
  for (const TensorSpec& spec : TensorsOf(model.config)) {
    Tensor& tensor = model.tensors.emplace_back();
    tensor.name = spec.name, tensor.shape = spec.shape;
    for (std::size_t i = 0; i < spec.size(); ++i) tensor.data.push_back(value += 0.125f);
  }
  return model;
}

// A file that is nothing but length, header, data: nothing repaired.
inline std::string Raw(std::string_view header, std::string_view data = "") {
  const std::uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes.append(header).append(data);
}

struct HeaderAndData {
  std::string header, data;
};

// Nothing when the length is beyond the file.
inline std::optional<HeaderAndData> Cut(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) return std::nullopt;
  return HeaderAndData{std::string(bytes.substr(8, length)), std::string(bytes.substr(8 + length))};
}

// Writes `hash` where the header has 64 characters for `key`; false when it has not.
inline bool PutHash(std::string& header, const std::string& key, const std::string& hash) {
  const std::string begin = "\"" + key + "\":\"";
  const std::size_t at = header.find(begin);
  if (at == std::string::npos || header.size() < at + begin.size() + 65) return false;
  if (header[at + begin.size() + 64] != '"') return false;
  header.replace(at + begin.size(), 64, hash);
  return true;
}

// The file with length, padding and both hashes right, as far as the header has a place for them.
inline std::string Forge(std::string header, std::string_view data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  PutHash(header, "data_sha256", Sha256Hex(data));
  if (PutHash(header, "header_sha256", std::string(64, '0'))) {
    PutHash(header, "header_sha256", Sha256Hex(header));
  }
  return Raw(header, data);
}

}  // namespace aerocast
