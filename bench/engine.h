// SPDX-License-Identifier: BSD-3-Clause
//
// One way of computing a network's heads, to be timed beside others on the same weights and tokens.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aerocast/result.h"
#include "src/export/onnx_runtime.h"
#include "src/model/model_file.h"

namespace aerocast {

class Engine {
 public:
  Engine(std::string name, bool pruned) : name_(std::move(name)), pruned_(pruned) {}
  virtual ~Engine() = default;

  const std::string& name() const { return name_; }
  bool pruned() const { return pruned_; }  // whether the last layer is computed for one token only

  // The tokens (windows, T, inputs) of the runs that follow; warms up.
  virtual Status Feed(std::span<const float> tokens, int windows) = 0;
  // (windows, outputs) of the tokens that were fed.
  virtual Result<std::vector<float>> Heads() = 0;
  // Seconds of each of `runs` runs. The caller throws the first away: caches are others' then.
  virtual Result<std::vector<double>> Time(int runs) = 0;

 private:
  std::string name_;
  bool pruned_;
};

// An engine within this process: all it needs is one function.
class LocalEngine : public Engine {
 public:
  LocalEngine(std::string name, bool pruned, const ModelConfig& config)
      : Engine(std::move(name), pruned), outputs_(static_cast<std::size_t>(config.outputs())) {}

  Status Feed(std::span<const float> tokens, int windows) override {
    tokens_.assign(tokens.begin(), tokens.end());
    windows_ = windows;
    heads_.resize(static_cast<std::size_t>(windows) * outputs_);
    for (int i = 0; i < 3; ++i) Run(tokens_.data(), windows_, heads_.data());
    return {};
  }
  Result<std::vector<float>> Heads() override {
    Run(tokens_.data(), windows_, heads_.data());
    return heads_;
  }
  Result<std::vector<double>> Time(int runs) override {
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      const auto start = std::chrono::steady_clock::now();
      Run(tokens_.data(), windows_, heads_.data());
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return seconds;
  }

 private:
  virtual void Run(const float* tokens, int windows, float* heads) = 0;

  std::size_t outputs_;
  std::vector<float> tokens_, heads_;
  int windows_ = 0;
};

// A graph in ONNX Runtime, in a node process shared by several; times are taken inside it.
class OnnxEngine : public Engine {
 public:
  OnnxEngine(std::string name, bool pruned, std::string session, OnnxRuntime& runtime)
      : Engine(std::move(name), pruned), session_(std::move(session)), runtime_(runtime) {}

  Status Feed(std::span<const float> tokens, int windows) override {
    windows_ = windows;
    return runtime_.Feed(session_, tokens, windows);
  }
  Result<std::vector<float>> Heads() override { return runtime_.Run(session_, windows_); }
  Result<std::vector<double>> Time(int runs) override {
    return runtime_.Time(session_, windows_, runs);
  }

 private:
  std::string session_;
  OnnxRuntime& runtime_;
  int windows_ = 0;
};

// libtorch, where it is built in (torch_engine.cc); the model outlives it.
std::unique_ptr<Engine> MakeTorchEngine(const Model& model, int threads, bool pruned);

}  // namespace aerocast
