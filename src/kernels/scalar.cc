// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels in plain loops: what they mean, to the bit. Every SIMD version is compared with it.
#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/half.h"
#include "src/kernels/order.h"

namespace aerocast {
namespace {

float Weight(const PackedMatrix& w, std::ptrdiff_t index) {
  return w.storage == WeightStorage::kHalf
             ? FloatFromHalf(static_cast<const std::uint16_t*>(w.panels)[index])
             : static_cast<const float*>(w.panels)[index];
}

void Multiply(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c, int first,
              int last) {
  for (int row = 0; row < rows; ++row) {
    const float* in = a.data + row * a.stride;
    float* out = c.data + row * c.stride;
    for (int j = first * kLanes; j < last * kLanes; ++j) {
      const std::ptrdiff_t panel = std::ptrdiff_t{j / kLanes} * w.inputs * kLanes;
      float sum = w.bias != nullptr ? w.bias[j] : 0.f;
      for (int k = 0; k < w.inputs; ++k) {
        sum = std::fma(in[k], Weight(w, panel + k * kLanes + j % kLanes), sum);
      }
      if (epilogue == Epilogue::kRelu) sum = std::max(sum, 0.f);
      out[j] = epilogue == Epilogue::kAdd ? out[j] + sum : sum;
    }
  }
}

// The sum of term(i, partial) in the order of kernels.h.
template <typename Term>
float OrderedSum(int n, const Term& term) {
  std::array<float, kLanes> partial = {};
  for (int i = 0; i < n; ++i) partial[i % kLanes] = term(i, partial[i % kLanes]);
  return AddHalves(partial.data());
}

void LayerNorm(ConstRows x, int rows, int columns, const float* gain, const float* shift, bool relu,
               Rows y) {
  const float n = static_cast<float>(columns);
  for (int row = 0; row < rows; ++row) {
    const float* in = x.data + row * x.stride;
    float* out = y.data + row * y.stride;
    const float mean = OrderedSum(columns, [&](int i, float s) { return s + in[i]; }) / n;
    const float variance =
        OrderedSum(columns,
                   [&](int i, float s) { return std::fma(in[i] - mean, in[i] - mean, s); }) /
        n;
    const float scale = 1.f / std::sqrt(variance + kNormEpsilon);
    for (int i = 0; i < columns; ++i) {
      const float normed = std::fma((in[i] - mean) * scale, gain[i], shift[i]);
      out[i] = relu ? std::max(normed, 0.f) : normed;
    }
    std::fill(out + columns, out + PaddedTo16(columns), 0.f);
  }
}

float Exp(float x) {
  using namespace exp_constants;
  if (x != x) return x;
  x = std::min(std::max(x, kLeast), kMost);
  const float n = std::nearbyint(x * kLog2E);
  const float r = std::fma(n, -kLn2Low, std::fma(n, -kLn2High, x));
  float p = kC7;
  for (const float c : {kC6, kC5, kC4, kC3, kC2}) p = std::fma(p, r, c);
  p = std::fma(p * r, r, r) + 1.f;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

float Sigmoid(float x) { return 1.f / (1.f + Exp(0.f - x)); }
float Tanh(float x) { return 1.f - 2.f / (Exp(x + x) + 1.f); }

void Softmax(Rows x, int rows, int columns, float scale) {
  for (int row = 0; row < rows; ++row) {
    float* data = x.data + row * x.stride;
    float most = data[0] * scale;
    for (int i = 0; i < columns; ++i) most = std::max(most, data[i] * scale);
    const float sum = OrderedSum(columns, [&](int i, float s) {
      data[i] = Exp(data[i] * scale - most);
      return s + data[i];
    });
    const float share = 1.f / sum;
    for (int i = 0; i < columns; ++i) data[i] *= share;
    std::fill(data + columns, data + PaddedTo16(columns), 0.f);
  }
}

void Gru(ConstRows input, ConstRows hidden, int rows, int gate, int first, int last,
         ConstRows before, Rows after) {
  for (int row = 0; row < rows; ++row) {
    const float* in = input.data + row * input.stride;
    const float* hid = hidden.data + row * hidden.stride;
    const float* old = before.data + row * before.stride;
    float* state = after.data + row * after.stride;
    for (int i = first; i < last; ++i) {
      const float r = Sigmoid(in[i] + hid[i]), z = Sigmoid(in[gate + i] + hid[gate + i]);
      const float n = Tanh(std::fma(r, hid[2 * gate + i], in[2 * gate + i]));
      state[i] = std::fma(z, old[i] - n, n);
    }
  }
}

void Lstm(ConstRows gates, int rows, int gate, int first, int last, Rows cell, Rows after) {
  for (int row = 0; row < rows; ++row) {
    const float* in = gates.data + row * gates.stride;
    float* cells = cell.data + row * cell.stride;
    float* state = after.data + row * after.stride;
    for (int i = first; i < last; ++i) {
      const float write = Sigmoid(in[i]), keep = Sigmoid(in[gate + i]);
      const float value = Tanh(in[2 * gate + i]), out = Sigmoid(in[3 * gate + i]);
      cells[i] = std::fma(keep, cells[i], write * value);
      state[i] = out * Tanh(cells[i]);
    }
  }
}

void ExpOf(const float* x, int n, float* y) { std::transform(x, x + n, y, Exp); }

}  // namespace

const Kernels& ScalarKernels() {
  static constexpr Kernels kernels = {"scalar", true, Multiply, LayerNorm,
                                      Softmax,  Gru,  Lstm,     ExpOf};
  return kernels;
}

}  // namespace aerocast
