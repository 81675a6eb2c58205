// SPDX-License-Identifier: BSD-3-Clause
//
// ONNX Runtime in a process of its own: Node.js with the package onnxruntime-node, started as
// tools/onnx/run.mjs --serve, spoken to in lines. For checking and timing exported graphs, not for
// flying. One caller at a time.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

class OnnxRuntime {
 public:
  // `folder` holds run.mjs and its node_modules. Says what to install when something is missing.
  static Result<std::unique_ptr<OnnxRuntime>> Start(const std::filesystem::path& folder);
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;
  ~OnnxRuntime();

  // A session, called `name` (no spaces), of the bytes of an .onnx file.
  Status Load(const std::string& name, std::string_view onnx, int threads);
  // The windows that `name` is run on, as a batch; several sizes can be kept. Warms it up.
  Status Feed(const std::string& name, std::span<const float> tokens, int windows);
  // heads (windows, outputs), as PackedNetwork::Forward lays them out.
  Result<std::vector<float>> Run(const std::string& name, int windows);
  // Seconds of each of `runs` runs, measured inside.
  Result<std::vector<double>> Time(const std::string& name, int windows, int runs);

 private:
  OnnxRuntime() = default;
  Result<std::string> Ask(const std::string& line);  // what follows "ok"
  std::filesystem::path File(const std::string& name) const { return scratch_ / name; }

  std::filesystem::path scratch_;  // removed at the end
  pid_t process_ = -1;
  int socket_ = -1;
  std::string received_;
};

}  // namespace aerocast
