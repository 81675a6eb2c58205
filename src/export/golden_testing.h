// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: the committed golden files (docs/model_format.md) as models with the answers that
// libtorch gave.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "src/model/model_file.h"

namespace aerocast {

inline constexpr const char* kGoldenNetworks[] = {"transformer", "gru", "lstm",
                                                  "bigru",       "mlp", "plus"};

struct Golden {
  Model model;
  int windows = 0;
  std::vector<float> tokens;  // (windows, T, inputs)
  std::vector<float> heads;   // (windows, outputs), as PackedNetwork::Forward lays them out
};

inline Golden ReadGolden(const std::string& name) {
  const auto path = std::filesystem::path(AEROCAST_SOURCE_DIR) / "tests" / "golden";
  const Result<TensorFile> file = ReadTensorFile(path / (name + ".safetensors"));
  if (!file.ok()) return ADD_FAILURE() << file.error().message, Golden{};
  Golden golden;
  golden.model.name = name;
  golden.model.config = *ModelConfigFromJson(file->metadata.at("config"), name);
  for (const TensorSpec& spec : TensorsOf(golden.model.config)) {
    golden.model.tensors.push_back(*file->Find("weights." + spec.name));
    golden.model.tensors.back().name = spec.name;
  }
  const Tensor& tokens = *file->Find("tokens");
  golden.windows = static_cast<int>(tokens.shape[0]);
  golden.tokens = tokens.data;
  for (int w = 0; w < golden.windows; ++w) {
    for (const HeadSpec& head : HeadsOf(golden.model.config)) {
      const std::vector<float>& data = file->Find("heads." + std::string(head.name))->data;
      const auto size = static_cast<std::ptrdiff_t>(data.size()) / golden.windows;
      golden.heads.insert(golden.heads.end(), data.begin() + w * size,
                          data.begin() + (w + 1) * size);
    }
  }
  return golden;
}

}  // namespace aerocast
