// SPDX-License-Identifier: BSD-3-Clause
//
// The Pre-LN Transformer. Rows of activations are tokens, a window's one after the other; in the
// last layer only the last token of each window goes on after keys and values.
#include <algorithm>
#include <cmath>

#include "src/model/trunk.h"

namespace aerocast {
namespace {

constexpr int kMostRows = 120;  // their activations stay in L2
constexpr int kMostWindows = 16;

std::size_t Size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

class TransformerTrunk final : public Trunk {
 public:
  TransformerTrunk(const ModelConfig& config, Packer& packer)
      : config_(config), head_(config.width / config.heads), head_padded_(PaddedTo16(head_)) {
    const float scale = std::sqrt(static_cast<float>(config.width));
    embed_ = packer.Matrix({{"embed.weight"}, {"embed.bias"}, 0, 0, scale});
    positions_ = packer.Table(config.tokens(), config.width, PositionTable(config));
    for (int i = 0; i < config.layers; ++i) {
      const std::string name = "layers." + std::to_string(i);
      Layer& layer = layers_.emplace_back();
      layer.norm1 = MakeNorm(packer, name + ".norm1");
      layer.in = packer.Linear(name + ".attention.in", 0, head_);
      layer.out = packer.Linear(name + ".attention.out", head_);
      layer.norm2 = MakeNorm(packer, name + ".norm2");
      layer.expand = packer.Linear(name + ".ff.in");
      layer.contract = packer.Linear(name + ".ff.out");
    }
    norm_ = MakeNorm(packer, "norm");
  }

  int batch() const override { return std::clamp(kMostRows / config_.tokens(), 1, kMostWindows); }

  std::vector<std::size_t> Buffers(int workers) const override {
    const std::size_t rows = Size(batch() * config_.tokens());
    return {rows * Size(x_stride()),     rows * Size(x_stride()),
            rows * Size(qkv_stride()),   rows * Size(attention_stride()),
            rows * Size(inner_stride()), Size(workers) * worker_size()};
  }

  ConstRows Forward(const Pass& pass) const noexcept override {
    const Activations a = {
        {pass.buffers[0], x_stride()},     {pass.buffers[1], x_stride()},
        {pass.buffers[2], qkv_stride()},   {pass.buffers[3], attention_stride()},
        {pass.buffers[4], inner_stride()}, pass.buffers[5] + Size(pass.worker) * worker_size()};
    Embed(pass, a.x);
    for (int i = 0; i + 1 < config_.layers; ++i) RunLayer(pass, i, a, false);
    RunLayer(pass, config_.layers - 1, a, true);
    // Only the last tokens are left, one row of each window.
    const ConstRows last = LastTokens(pass, a.x);
    const Rows context = {a.norm.data, a.norm.stride};
    pass.Norm(last, pass.windows, config_.width, norm_.gain, norm_.shift, false, context);
    return context;
  }

 private:
  struct Norm {
    const float *gain, *shift;
  };
  struct Layer {
    Norm norm1, norm2;
    PackedMatrix in, out, expand, contract;
  };
  struct Activations {
    Rows x, norm, qkv, attention, inner;
    float* worker;  // this worker's own
  };

  static Norm MakeNorm(Packer& packer, const std::string& name) {
    return {packer.Vector(name + ".weight"), packer.Vector(name + ".bias")};
  }

  int x_stride() const { return ActivationStride(config_.width); }
  int attention_width() const { return config_.heads * head_padded_; }
  int qkv_stride() const { return ActivationStride(3 * attention_width()); }
  int attention_stride() const { return ActivationStride(attention_width()); }
  int inner_stride() const { return ActivationStride(config_.feed_forward); }
  // Keys and values of one head as panels, and its scores.
  std::size_t worker_size() const {
    const std::size_t tokens = Size(config_.tokens()), padded = Size(PaddedTo16(config_.tokens()));
    return Size(head_padded_) * padded * 2 + tokens * padded;
  }

  // The rows of the last tokens, as a matrix with one row per window.
  static Rows LastTokens(const Pass& pass, Rows x) {
    return {x.data + (pass.seen - 1) * x.stride, pass.seen * x.stride};
  }

  // The last token has the last position, however many are seen.
  void Embed(const Pass& pass, Rows x) const {
    const int rows = pass.windows * pass.seen, unseen = config_.tokens() - pass.seen;
    const Share share = pass.MyShare(rows);
    for (int row = share.first; row < share.last; ++row) {
      std::copy_n(positions_.data + (unseen + row % pass.seen) * positions_.stride,
                  positions_.stride, x.data + row * x.stride);
    }
    pass.Barrier();
    for (int window = 0; window < pass.windows; ++window) {
      const int first = window * config_.tokens() + unseen;
      pass.Multiply({pass.tokens.data() + first * config_.inputs(), config_.inputs()}, pass.seen,
                    embed_, Epilogue::kAdd, {x.data + window * pass.seen * x.stride, x.stride});
    }
    pass.Barrier();
    pass.Trace("embed", x, {pass.seen, config_.width, pass.seen, 1});
  }

  // With `last`, everything after keys and values is computed for the last tokens alone.
  void RunLayer(const Pass& pass, int index, const Activations& a, bool last) const {
    const Layer& layer = layers_[Size(index)];
    const int width = config_.width, all = pass.windows * pass.seen;
    pass.Norm(a.x, all, width, layer.norm1.gain, layer.norm1.shift, false, a.norm);
    pass.Barrier();
    const int query_panels = attention_width() / kLanes;
    if (last) {
      pass.Multiply(LastTokens(pass, a.norm), pass.windows, layer.in, Epilogue::kStore,
                    LastTokens(pass, a.qkv), 0, query_panels);
      pass.Multiply(a.norm, all, layer.in, Epilogue::kStore, a.qkv, query_panels, 3 * query_panels);
    } else {
      pass.Multiply(a.norm, all, layer.in, Epilogue::kStore, a.qkv);
    }
    pass.Barrier();
    Attend(pass, a, last);
    pass.Barrier();

    // From here on `rows` rows matter: all, or one per window.
    const int rows = last ? pass.windows : all;
    const auto pick = [&](Rows r) { return last ? LastTokens(pass, r) : r; };
    pass.Multiply(pick(a.attention), rows, layer.out, Epilogue::kAdd, pick(a.x));
    pass.Barrier();
    TraceLayer(pass, index, ".norm1", a.norm, width, false);
    TraceLayer(pass, index, ".attention", pick(a.attention), width, last, head_);
    TraceLayer(pass, index, ".middle", pick(a.x), width, last);
    if (pass.tracer != nullptr) pass.Barrier();  // norm is traced before it is written again
    pass.Norm(pick(a.x), rows, width, layer.norm2.gain, layer.norm2.shift, false, pick(a.norm));
    pass.Barrier();
    pass.Multiply(pick(a.norm), rows, layer.expand, Epilogue::kRelu, pick(a.inner));
    pass.Barrier();
    pass.Multiply(pick(a.inner), rows, layer.contract, Epilogue::kAdd, pick(a.x));
    pass.Barrier();
    TraceLayer(pass, index, ".norm2", pick(a.norm), width, last);
    TraceLayer(pass, index, ".ff", pick(a.inner), config_.feed_forward, last);
    TraceLayer(pass, index, "", pick(a.x), width, last);
    if (pass.tracer != nullptr) pass.Barrier();
  }

  // softmax(q k' / sqrt(d)) v, head by head.
  void Attend(const Pass& pass, const Activations& a, bool last) const {
    const Share share = pass.MyShare(pass.windows * config_.heads);
    for (int i = share.first; i < share.last; ++i) {
      AttendHead(pass, a, i / config_.heads, i % config_.heads, last);
    }
  }

  void AttendHead(const Pass& pass, const Activations& a, int window, int head, bool last) const {
    const int tokens = pass.seen, tokens_padded = PaddedTo16(tokens);
    const std::ptrdiff_t row = std::ptrdiff_t{window} * tokens;
    const float* const qkv = a.qkv.data + row * a.qkv.stride + head * head_padded_;
    const std::ptrdiff_t first = last ? tokens - 1 : 0;  // query
    const int queries = last ? 1 : tokens;
    float* const keys = a.worker;
    float* const values = keys + head_padded_ * tokens_padded;
    const Rows scores = {values + head_padded_ * tokens_padded, tokens_padded};

    PackPanels(qkv + attention_width(), a.qkv.stride, head_padded_, tokens, WeightStorage::kSingle,
               keys);
    PackPanelsTransposed(qkv + 2 * attention_width(), a.qkv.stride, tokens, head_padded_, values);
    const PackedMatrix by_key = {head_padded_, tokens, WeightStorage::kSingle, keys, nullptr};
    const PackedMatrix by_value = {tokens, head_padded_, WeightStorage::kSingle, values, nullptr};
    pass.kernels.multiply({qkv + first * a.qkv.stride, a.qkv.stride}, queries, by_key,
                          Epilogue::kStore, scores, 0, by_key.panel_count());
    pass.kernels.softmax(scores, queries, tokens, 1 / std::sqrt(static_cast<float>(head_)));
    pass.kernels.multiply(
        scores, queries, by_value, Epilogue::kStore,
        {a.attention.data + (row + first) * a.attention.stride + head * head_padded_,
         a.attention.stride},
        0, by_value.panel_count());
  }

  // `x` has one row per window when `last`, whatever its stride.
  void TraceLayer(const Pass& pass, int index, const char* part, ConstRows x, int columns,
                  bool last, int block = 0) const {
    if (pass.tracer == nullptr) return;
    pass.Trace("layers." + std::to_string(index) + part, x,
               {last ? 1 : pass.seen, columns, last ? 1 : pass.seen, 1, block});
  }

  const ModelConfig config_;
  const int head_, head_padded_;
  PackedMatrix embed_;
  Rows positions_;
  std::vector<Layer> layers_;
  Norm norm_;
};

}  // namespace

std::unique_ptr<Trunk> MakeTransformerTrunk(const ModelConfig& config, Packer& packer) {
  return std::make_unique<TransformerTrunk>(config, packer);
}

}  // namespace aerocast
