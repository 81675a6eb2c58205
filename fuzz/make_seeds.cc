// SPDX-License-Identifier: BSD-3-Clause
//
//   make_seeds GOLDEN OUT
//
// Writes what the fuzzers begin with: OUT/NAME/ has valid inputs, among them the networks of the
// golden files in GOLDEN, and OUT/model_file-malformed/ every way of being wrong that the tests
// know.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "aerocast/recording.h"
#include "src/base/check.h"
#include "src/model/malformed_testing.h"
#include "src/report/forecast_lines.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  explicit Folder(const fs::path& path) : path_(path) { fs::create_directories(path); }
  void Add(std::string_view bytes) {
    std::ofstream out(path_ / std::to_string(++count_), std::ios::binary);
    AEROCAST_CHECK(out << bytes);
  }

 private:
  fs::path path_;
  int count_ = 0;
};

// The network of a golden file (docs/model_format.md), if it has a whole one.
std::optional<Model> ModelOfGolden(const fs::path& file) {
  const Result<TensorFile> golden = ReadTensorFile(file);
  AEROCAST_CHECK(golden.ok());
  const auto config = golden->metadata.find("config");
  if (config == golden->metadata.end()) return std::nullopt;
  const Result<ModelConfig> parsed = ModelConfigFromJson(config->second, file.string());
  if (!parsed.ok()) return std::nullopt;
  Model model;
  model.name = file.stem().string();
  model.config = *parsed;
  for (const TensorSpec& spec : TensorsOf(model.config)) {
    const Tensor* tensor = golden->Find("weights." + spec.name);
    if (tensor == nullptr) return std::nullopt;
    model.tensors.push_back({spec.name, spec.shape, tensor->data});
  }
  return model;
}

void WriteModels(const fs::path& golden, const fs::path& out) {
  Folder valid(out / "model_file"), malformed(out / "model_file-malformed");
  std::vector<Model> models;
  for (const auto architecture : {Architecture::kTransformer, Architecture::kGru,
                                  Architecture::kLstm, Architecture::kBiGru, Architecture::kMlp}) {
    models.push_back(TinyModel(architecture));
  }
  for (const auto& entry : fs::directory_iterator(golden)) {
    if (std::optional<Model> model = ModelOfGolden(entry.path())) models.push_back(*model);
  }
  for (const Model& model : models) {
    valid.Add(EncodeModel(model, "seed").value());
    valid.Add(EncodeModel(model, "seed", WeightStorage::kHalf).value());
  }
  const MalformedModels wrong;
  for (const Malformed& c : wrong.all()) malformed.Add(c.bytes);
}

void WriteRecordings(const fs::path& out) {
  Folder folder(out / "recording");
  Recording recording;
  recording.id = "gull-17", recording.category = "circle", recording.noise_m = 0.02;
  for (int i = 0; i < 4; ++i) recording.samples.push_back({i * 10'000'000, {1.5 + i, -2, 20}});
  folder.Add(FormatRecording(recording));
  for (const Observation& sample : recording.samples) recording.truth.push_back(sample.p_world);
  recording.source = Source::kSynthetic;
  folder.Add(FormatRecording(recording));
  folder.Add("\xEF\xBB\xBFz,x,t,y,more\r\n1,2,1772682400.399300007,4,5\r\n\r\n1,2,1.8e9,4,\r\n");
}

void WriteForecasts(const fs::path& out) {
  Folder folder(out / "forecast_lines");
  const auto line = [](int steps, int modes, int components, int levels) {
    Forecast f;
    f.Reset({.steps = steps,
             .modes = modes,
             .displacement_components = components,
             .conformal_levels = levels},
            "7", 1'500'000'000, 0.1);
    for (int k = 0; k < modes; ++k) {
      f.weight(k) = 1.0 / modes;
      for (int i = 0; i < steps; ++i) f.cov(k, i) = Cov3::Isotropic(0.5);
    }
    for (double& w : f.displacement.weight) w = 1.0 / components;
    for (Vec3& s : f.displacement.sigma) s = {0.1, 0.2, 0.3};
    for (double& l : f.conformal.level) l = 0.5;
    return FormatForecast(f);
  };
  Forecast none;
  none.MakeNone("7", 1'500'000'000);
  folder.Add(FormatForecast(none));
  folder.Add(line(1, 0, 0, 0));
  folder.Add(line(2, 1, 0, 0));
  folder.Add(line(2, 2, 2, 0));
  folder.Add(line(3, 1, 1, 2) + "\n" + line(1, 1, 0, 1) + "\n");
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_seeds GOLDEN OUT\n");
    return 2;
  }
  aerocast::WriteModels(argv[1], argv[2]);
  aerocast::WriteRecordings(argv[2]);
  aerocast::WriteForecasts(argv[2]);
  return 0;
}
