// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/packed_network.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/model/trunk.h"

namespace aerocast {
namespace {

// Padding makes a network of very small heads grow; a file must not ask for any amount of memory.
constexpr std::size_t kMostGrowth = 3, kSmall = std::size_t{16} << 20;

std::size_t Size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

std::unique_ptr<Trunk> MakeTrunk(const ModelConfig& config, Packer& packer) {
  switch (config.architecture) {
    case Architecture::kTransformer:
      return MakeTransformerTrunk(config, packer);
    case Architecture::kMlp:
      return MakeMlpTrunk(config, packer);
    case Architecture::kGru:
    case Architecture::kLstm:
    case Architecture::kBiGru:
      break;
  }
  return MakeRecurrentTrunk(config, packer);
}

PackedMatrix MakeHeads(const ModelConfig& config, Packer& packer) {
  MatrixLayout layout;
  for (const HeadSpec& head : HeadsOf(config)) {
    layout.weights.push_back("heads." + std::string(head.name) + ".weight");
    layout.biases.push_back("heads." + std::string(head.name) + ".bias");
  }
  return packer.Matrix(layout);
}

}  // namespace

void Pass::Multiply(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c) const {
  Multiply(a, rows, w, epilogue, c, 0, w.panel_count());
}

void Pass::Multiply(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c,
                    int first, int last) const {
  const Share share = MyShare(last - first);
  kernels.multiply(a, rows, w, epilogue, c, first + share.first, first + share.last);
}

void Pass::Norm(ConstRows x, int rows, int columns, const float* gain, const float* shift,
                bool relu, Rows y) const {
  const Share share = MyShare(rows);
  kernels.layer_norm({x.data + share.first * x.stride, x.stride}, share.last - share.first, columns,
                     gain, shift, relu, {y.data + share.first * y.stride, y.stride});
}

void Pass::Trace(const std::string& name, ConstRows x, const TraceShape& shape) const {
  if (tracer == nullptr || worker != 0) return;
  std::vector<float> values;
  for (int window = 0; window < windows; ++window) {
    for (int token = 0; token < shape.tokens; ++token) {
      const float* row =
          x.data + (window * shape.window_rows + token * shape.token_rows) * x.stride;
      for (int i = 0; i < shape.columns; ++i) {
        const int block = shape.block;
        values.push_back(row[block == 0 ? i : i / block * PaddedTo16(block) + i % block]);
      }
    }
  }
  (*tracer)(name, shape.tokens, shape.columns, values);
}

PackedNetwork::Scratch::Scratch(const std::vector<std::size_t>& buffers, int threads)
    : team_(threads) {
  const auto padded = [](std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; };
  std::size_t total = 0;
  for (const std::size_t n : buffers) total += padded(n);
  arena_ = Arena(Size(threads) * total * sizeof(float));
  float* at = reinterpret_cast<float*>(arena_.data());
  buffers_.resize(Size(threads));
  for (auto& own : buffers_) {
    for (const std::size_t n : buffers) own.push_back(at), at += padded(n);
  }
}

PackedNetwork::PackedNetwork(const ModelConfig& config, const Kernels& kernels)
    : config_(config), kernels_(kernels) {}
PackedNetwork::~PackedNetwork() = default;

Result<std::unique_ptr<PackedNetwork>> PackedNetwork::Make(const Model& model,
                                                           WeightStorage storage,
                                                           const Kernels& kernels) {
  Packer measure(model, storage, nullptr);
  MakeTrunk(model.config, measure);
  MakeHeads(model.config, measure);

  if (measure.bytes() > kMostGrowth * sizeof(float) * ParameterCount(model.config) + kSmall) {
    return Error{ErrorCode::kBadFormat,
                 "model '" + model.name + "' would take " + std::to_string(measure.bytes() >> 20) +
                     " MB with its heads padded to 16 numbers, expected at most " +
                     std::to_string(kMostGrowth) + " times its weights"};
  }
  std::unique_ptr<PackedNetwork> network(new PackedNetwork(model.config, kernels));
  network->arena_ = Arena(measure.bytes());
  Packer packer(model, storage, network->arena_.data());
  network->trunk_ = MakeTrunk(model.config, packer);
  network->heads_ = MakeHeads(model.config, packer);
  AEROCAST_CHECK(packer.bytes() == measure.bytes());
  if (!packer.beyond_half().empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "tensor '" + packer.beyond_half() + "' of model '" + model.name +
                     "' has a weight beyond half precision's range; load it in single precision"};
  }
  return network;
}

std::unique_ptr<PackedNetwork::Scratch> PackedNetwork::MakeScratch(int threads) const {
  std::vector<std::size_t> buffers = trunk_->Buffers(threads);
  buffers.push_back(Size(trunk_->batch()) * Size(ActivationStride(heads_.outputs)));
  return std::unique_ptr<Scratch>(new Scratch(buffers, threads));
}

void PackedNetwork::Forward(std::span<const float> tokens, int windows, int seen, Scratch& scratch,
                            std::span<float> heads, const Tracer* tracer) const noexcept {
  const std::size_t inputs = Size(config_.tokens() * config_.inputs());
  const std::size_t outputs = Size(config_.outputs());
  AEROCAST_CHECK(tokens.size() == Size(windows) * inputs);
  AEROCAST_CHECK(heads.size() == Size(windows) * outputs);
  AEROCAST_CHECK(seen >= 1 && seen <= config_.tokens());
  const int threads = scratch.team_.size(), most = trunk_->batch();
  const bool together = threads == 1 || windows <= most;
  const int each = together ? 1 : threads;  // passes are a multiple of it, so that all end at once
  const int passes = (windows + each * most - 1) / (each * most) * each;
  scratch.team_.Run([&](int worker) {
    for (int i = together ? 0 : worker; i < passes; i += each) {
      const Share share = ShareOf(windows, i, passes);
      const std::size_t first = Size(share.first), n = Size(share.last - share.first);
      if (n == 0) continue;
      RunPass(tokens.subspan(first * inputs, n * inputs), static_cast<int>(n), seen,
              together && threads > 1 ? &scratch.team_ : nullptr, worker,
              scratch.buffers_[together ? 0 : Size(worker)],
              heads.subspan(first * outputs, n * outputs), tracer);
    }
  });
}

std::vector<float> PackedNetwork::Heads(std::span<const float> tokens, int windows,
                                        int threads) const {
  std::vector<float> heads(Size(windows) * Size(config_.outputs()));
  Forward(tokens, windows, *MakeScratch(threads), heads);
  return heads;
}

void PackedNetwork::RunPass(std::span<const float> tokens, int windows, int seen, Team* team,
                            int worker, std::span<float* const> buffers, std::span<float> heads,
                            const Tracer* tracer) const noexcept {
  const Pass pass = {kernels_, team, worker, windows, seen, tokens, buffers, tracer};
  const ConstRows context = trunk_->Forward(pass);
  pass.Barrier();
  pass.Trace("context", context, {1, config_.context(), 1, 1});
  const Rows out = {buffers.back(), ActivationStride(heads_.outputs)};
  pass.Multiply(context, windows, heads_, Epilogue::kStore, out);
  pass.Barrier();
  const std::size_t outputs = Size(config_.outputs());
  const Share share = pass.MyShare(windows);
  for (int window = share.first; window < share.last; ++window) {
    std::copy_n(out.data + window * out.stride, outputs, heads.data() + Size(window) * outputs);
  }
  pass.Barrier();  // before the next pass overwrites what others still copy
}

}  // namespace aerocast
