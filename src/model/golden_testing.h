// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: golden files (docs/model_format.md), networks with inputs and the answers that
// libtorch gave, layer by layer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "src/model/packed_network.h"

namespace aerocast {

inline constexpr const char* kGoldenNetworks[] = {"transformer", "gru", "lstm",
                                                  "bigru",       "mlp", "plus"};

// max|a - b| / max(1, max|b|)
inline double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0, largest = 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double apart = std::abs(double{a[i]} - b[i]);
    most = std::isfinite(apart) ? std::max(most, apart) : INFINITY;
    largest = std::max(largest, std::abs(double{b[i]}));
  }
  return most / largest;
}

struct Golden {
  TensorFile file;
  Model model;
  int windows = 0;
  std::vector<float> tokens;  // (windows, T, inputs)
  std::vector<float> heads;   // (windows, outputs), as PackedNetwork::Forward lays them out
};

inline Golden ReadGoldenFile(const std::filesystem::path& path) {
  Result<TensorFile> file = ReadTensorFile(path);
  if (!file.ok()) return ADD_FAILURE() << file.error().message, Golden{};
  const auto config = ModelConfigFromJson(file->metadata.at("config"), path.string());
  if (!config.ok()) return ADD_FAILURE() << config.error().message, Golden{};
  Golden golden;
  golden.model.name = path.stem().string();
  golden.model.config = *config;
  for (const TensorSpec& spec : TensorsOf(*config)) {
    golden.model.tensors.push_back(
        {spec.name, spec.shape, file->Find("weights." + spec.name)->data});
  }
  const Tensor& tokens = *file->Find("tokens");
  golden.windows = static_cast<int>(tokens.shape[0]);
  golden.tokens = tokens.data;
  for (int w = 0; w < golden.windows; ++w) {
    for (const HeadSpec& head : HeadsOf(*config)) {
      const std::vector<float>& data = file->Find("heads." + std::string(head.name))->data;
      const auto size = static_cast<std::ptrdiff_t>(data.size()) / golden.windows;
      golden.heads.insert(golden.heads.end(), data.begin() + w * size,
                          data.begin() + (w + 1) * size);
    }
  }
  golden.file = std::move(*file);
  return golden;
}

// A committed one, by name.
inline Golden ReadGolden(const std::string& name) {
  return ReadGoldenFile(std::filesystem::path(AEROCAST_SOURCE_DIR) / "tests/golden" /
                        (name + ".safetensors"));
}

// The last of the tokens of each window: values is (windows, all, columns).
inline std::vector<float> LastTokens(const std::vector<float>& values, int windows, int columns) {
  std::vector<float> last;
  const std::size_t per_window = values.size() / static_cast<std::size_t>(windows);
  for (int w = 1; w <= windows; ++w) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(per_window) * w;
    last.insert(last.end(), end - columns, end);
  }
  return last;
}

// Runs the network on these kernels and compares every intermediate result, and the heads.
inline void ExpectEveryLayer(const Golden& golden, const Kernels& kernels, double bound) {
  const auto network = *PackedNetwork::Make(golden.model, WeightStorage::kSingle, kernels);
  std::vector<std::string> seen;
  const Tracer tracer = [&](const std::string& name, int tokens, int columns,
                            const std::vector<float>& values) {
    const Tensor* expected = golden.file.Find("activations." + name);
    ASSERT_NE(expected, nullptr) << name;
    seen.push_back(name);
    const bool all = expected->data.size() == values.size();
    EXPECT_TRUE(all || tokens == 1) << name;
    EXPECT_LE(Difference(values, all ? expected->data
                                     : LastTokens(expected->data, golden.windows, columns)),
              bound)
        << kernels.name << " " << name;
  };
  std::vector<float> heads(golden.heads.size());
  network->Forward(golden.tokens, golden.windows, *network->MakeScratch(1), heads, &tracer);
  EXPECT_LE(Difference(heads, golden.heads), bound) << kernels.name;
  const auto activations =
      std::count_if(golden.file.tensors.begin(), golden.file.tensors.end(),
                    [](const Tensor& t) { return t.name.starts_with("activations."); });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(seen.size()), activations) << "every one of the file's";
}

}  // namespace aerocast
