// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a small untrained network, for tests that need any model file at all:
//   make_tiny_model FILE.safetensors [transformer|gru|lstm|bigru|mlp]
// The same architecture gives the same bytes.
#include <cstdio>
#include <string>

#include "aerocast/version.h"
#include "src/model/random_model.h"

namespace aerocast {
namespace {

ModelConfig TinyConfig(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.components = 3;
  if (architecture == Architecture::kMlp) {
    config.hidden = {16, 8};
  } else {
    config.width = 16;
    config.layers = 1;
  }
  if (architecture == Architecture::kTransformer) config.heads = 2, config.feed_forward = 24;
  return config;
}

Model TinyModel(Architecture architecture) {
  Model model = RandomModel(TinyConfig(architecture), 1);
  model.name = "tiny-" + std::string(ArchitectureName(architecture));
  model.provenance.version = Version();
  return model;
}

int Fail(const std::string& message, int code) {
  std::fprintf(stderr, "make_tiny_model: %s\n", message.c_str());
  return code;
}

int Main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return Fail("usage: make_tiny_model FILE [ARCHITECTURE]", 2);
  const auto architecture = ArchitectureFromName(argc == 3 ? argv[2] : "transformer");
  if (!architecture.ok()) return Fail(architecture.error().message, 2);
  const Status written = WriteModel(argv[1], TinyModel(*architecture));
  return written.ok() ? 0 : Fail(written.error().message, 1);
}

}  // namespace
}  // namespace aerocast

int main(int argc, char** argv) { return aerocast::Main(argc, argv); }
