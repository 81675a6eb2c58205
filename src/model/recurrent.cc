// SPDX-License-Identifier: BSD-3-Clause
//
// GRU, LSTM and bidirectional GRU. Rows of activations are (token, window), so that one step's rows
// lie side by side. A layer first takes the products with its input for all steps at once; then
// each worker computes all gates of its own units, so that one barrier per step is enough.
#include <algorithm>

#include "src/model/trunk.h"

namespace aerocast {
namespace {

constexpr int kMostRows = 320;  // bounds the memory of a pass
constexpr int kMostWindows = 16;

std::size_t Size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

class RecurrentTrunk final : public Trunk {
 public:
  RecurrentTrunk(const ModelConfig& config, Packer& packer)
      : config_(config),
        lstm_(config.architecture == Architecture::kLstm),
        directions_(config.architecture == Architecture::kBiGru ? 2 : 1),
        unit_(PaddedTo16(config.width)) {
    for (int i = 0; i < config.layers; ++i) {
      for (int direction = 0; direction < directions_; ++direction) {
        scans_.push_back(MakeScan(packer, i, direction));
      }
    }
    project_ = packer.Linear("project", config.width);
  }

  int batch() const override { return std::clamp(kMostRows / config_.tokens(), 1, kMostWindows); }

  std::vector<std::size_t> Buffers(int) const override {
    const std::size_t windows = Size(batch()), rows = windows * Size(config_.tokens());
    const std::size_t state = windows * Size(state_stride());
    const std::size_t gates = Size(directions_) * rows * Size(gate_stride());
    return {rows * Size(input_stride()),
            rows * Size(state_stride()),
            rows * Size(state_stride()),
            gates,
            Size(directions_) * windows * Size(gate_stride()),
            state,
            state,
            windows * Size(ActivationStride(project_.outputs))};
  }

  ConstRows Forward(const Pass& pass) const noexcept override {
    const Activations a = {{pass.buffers[1], state_stride()}, {pass.buffers[2], state_stride()},
                           {pass.buffers[3], gate_stride()},  {pass.buffers[4], gate_stride()},
                           {pass.buffers[5], state_stride()}, {pass.buffers[6], state_stride()}};
    ConstRows x = TimeMajor(pass);
    for (int layer = 0; layer < config_.layers; ++layer) {
      const Rows y = layer % 2 == 0 ? a.even : a.odd;
      RunLayer(pass, layer, x, a, y);
      x = y;
    }
    const ConstRows last = At(x, pass.seen - 1, pass.windows);
    const Rows context = {pass.buffers[7], ActivationStride(project_.outputs)};
    pass.Multiply(last, pass.windows, project_, Epilogue::kRelu, context);
    return context;
  }

 private:
  // One direction of one layer.
  struct Scan {
    PackedMatrix input, hidden;
  };
  struct Activations {
    Rows even, odd;      // outputs of a layer, (T, windows), directions side by side
    Rows input, hidden;  // products: all steps of each direction; one step of each
    Rows zero;           // the state before the first step
    Rows cell;           // LSTM
  };

  Scan MakeScan(Packer& packer, int layer, int direction) const {
    const std::string name = "layers." + std::to_string(layer) + (direction == 1 ? ".reverse" : "");
    const int input_block = layer == 0 ? 0 : config_.width;
    return {packer.Matrix({{name + ".weight_ih"}, {name + ".bias_ih"}, input_block, config_.width}),
            packer.Matrix({{name + ".weight_hh"}, {name + ".bias_hh"}, 0, config_.width})};
  }

  int input_stride() const { return PaddedTo16(config_.inputs()); }
  int gates() const { return lstm_ ? 4 : 3; }
  int gate_stride() const { return ActivationStride(gates() * unit_); }
  int state_stride() const { return ActivationStride(directions_ * unit_); }

  static Rows At(Rows x, int step, int windows) {
    return {x.data + std::ptrdiff_t{step} * windows * x.stride, x.stride};
  }
  static ConstRows At(ConstRows x, int step, int windows) {
    return {x.data + std::ptrdiff_t{step} * windows * x.stride, x.stride};
  }

  // The tokens that are seen, by time, then window.
  ConstRows TimeMajor(const Pass& pass) const {
    const int inputs = config_.inputs(), unseen = config_.tokens() - pass.seen;
    if (pass.windows == 1) return {pass.tokens.data() + unseen * inputs, inputs};
    const Share share = pass.MyShare(pass.windows);
    for (int window = share.first; window < share.last; ++window) {
      for (int t = 0; t < pass.seen; ++t) {
        std::copy_n(pass.tokens.data() + (window * config_.tokens() + unseen + t) * inputs, inputs,
                    pass.buffers[0] + (t * pass.windows + window) * input_stride());
      }
    }
    pass.Barrier();
    return {pass.buffers[0], input_stride()};
  }

  void RunLayer(const Pass& pass, int layer, ConstRows x, const Activations& a, Rows y) const {
    const bool last = layer + 1 == config_.layers;
    for (int direction = 0; direction < directions_; ++direction) {
      // Backwards, the last layer's output at the last token has seen that token alone.
      const bool one = last && direction == 1;
      const int first = one ? pass.seen - 1 : 0;
      const Rows product = At(Input(a, direction), first, pass.windows);
      pass.Multiply(At(x, first, pass.windows), (pass.seen - first) * pass.windows,
                    scan(layer, direction).input, Epilogue::kStore, product);
    }
    pass.Barrier();
    for (int step = 0; step < pass.seen; ++step) {
      Step(pass, scan(layer, 0), a, 0, step, step - 1, y);
      if (directions_ == 2 && !(last && step > 0)) {
        const int t = pass.seen - 1 - step;
        Step(pass, scan(layer, 1), a, 1, t, t + 1, y);
      }
      pass.Barrier();
    }
    if (pass.tracer == nullptr) return;
    const int width = directions_ * config_.width;
    const ConstRows traced = last ? At(y, pass.seen - 1, pass.windows) : y;
    pass.Trace("layers." + std::to_string(layer), traced,
               {last ? 1 : pass.seen, width, 1, pass.windows, config_.width});
  }

  const Scan& scan(int layer, int direction) const {
    return scans_[Size(layer * directions_ + direction)];
  }
  Rows Input(const Activations& a, int direction) const {
    return {a.input.data + direction * batch() * config_.tokens() * a.input.stride, a.input.stride};
  }

  // The state at token t from the one at `before`, for this worker's units.
  void Step(const Pass& pass, const Scan& scan, const Activations& a, int direction, int t,
            int before, Rows y) const {
    const int windows = pass.windows, panels = unit_ / kLanes;
    const Share share = pass.MyShare(panels);
    const bool start = before < 0 || before >= pass.seen;
    const auto state = [&](int at) {
      const Rows rows = At(y, at, windows);
      return Rows{rows.data + direction * unit_, rows.stride};
    };
    const ConstRows from = start ? ConstRows(a.zero) : ConstRows(state(before));
    const Rows input = At(Input(a, direction), t, windows);
    const Rows hidden = {a.hidden.data + direction * batch() * a.hidden.stride, a.hidden.stride};
    const Rows product = lstm_ ? input : hidden;  // an LSTM needs the sum only
    for (int gate = 0; gate < gates(); ++gate) {
      const int first = gate * panels + share.first, last = gate * panels + share.last;
      if (start) {
        AddBias(scan.hidden.bias, windows, first * kLanes, last * kLanes, product);
      } else {
        pass.kernels.multiply(from, windows, scan.hidden, lstm_ ? Epilogue::kAdd : Epilogue::kStore,
                              product, first, last);
      }
    }
    const int first = share.first * kLanes, last = share.last * kLanes;
    if (lstm_) {
      if (start) Clear(a.cell, windows, first, last);
      pass.kernels.lstm(input, windows, unit_, first, last, a.cell, state(t));
    } else {
      pass.kernels.gru(input, hidden, windows, unit_, first, last, from, state(t));
    }
  }

  // The product with a zero state.
  void AddBias(const float* bias, int rows, int first, int last, Rows product) const {
    for (int row = 0; row < rows; ++row) {
      float* const out = product.data + row * product.stride;
      for (int i = first; i < last; ++i) out[i] = lstm_ ? out[i] + bias[i] : bias[i];
    }
  }

  static void Clear(Rows x, int rows, int first, int last) {
    for (int row = 0; row < rows; ++row) {
      std::fill(x.data + row * x.stride + first, x.data + row * x.stride + last, 0.f);
    }
  }

  const ModelConfig config_;
  const bool lstm_;
  const int directions_;
  const int unit_;  // numbers of one state, padded
  std::vector<Scan> scans_;
  PackedMatrix project_;
};

}  // namespace

std::unique_ptr<Trunk> MakeRecurrentTrunk(const ModelConfig& config, Packer& packer) {
  return std::make_unique<RecurrentTrunk>(config, packer);
}

}  // namespace aerocast
