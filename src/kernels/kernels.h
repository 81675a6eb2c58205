// SPDX-License-Identifier: BSD-3-Clause
//
// The arithmetic of the networks, once per instruction set: kernels.cc is compiled for each of them
// (Google Highway), scalar.cc says the same in plain loops.
//
// Every number has one order of operations that no tile, batch, thread or vector width changes:
//   - an output of Multiply starts at its bias and adds a[0] w[0], a[1] w[1], ... by fused
//     multiply-add, in that order;
//   - a sum over a row (norm, softmax) is 16 partial sums, element i in partial i % 16, which are
//     then added in halves: 8 + 8, 4 + 4, 2 + 2, 1 + 1.
// NaN goes through everything. So all sets that are `fused` give the same bits as the scalar twin.
// SSE4 has no fused multiply-add and rounds once more per step.
//
// Rows. A matrix of activations has rows of `stride` numbers, a multiple of 16, aligned to 64
// bytes; what is beyond its columns up to the next multiple of 16 may be written and is finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "aerocast/load.h"

namespace aerocast {

inline constexpr int kLanes = 16;  // columns of a panel
inline constexpr std::size_t kKernelAlign = 64;

constexpr int PaddedTo16(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

// The weights of a linear layer, (outputs, inputs) in the model file, as panels of 16 outputs: for
// each panel, for each input, the 16 outputs' weights side by side; outputs beyond the last are
// zero. `bias` is padded alike.
struct PackedMatrix {
  int inputs = 0, outputs = 0;
  WeightStorage storage = WeightStorage::kSingle;
  const void* panels = nullptr;
  const float* bias = nullptr;  // nullptr: zero

  int panel_count() const { return PaddedTo16(outputs) / kLanes; }
};

// Bytes of the panels: a multiple of kKernelAlign.
std::size_t PanelBytes(int inputs, int outputs, WeightStorage storage);
// `weights` is (outputs, inputs) row major, rows `row_stride` apart.
void PackPanels(const float* weights, std::ptrdiff_t row_stride, int inputs, int outputs,
                WeightStorage storage, void* panels);
// The same of the transposed matrix: `weights` is (inputs, outputs).
void PackPanelsTransposed(const float* weights, std::ptrdiff_t row_stride, int inputs, int outputs,
                          float* panels);

enum class Epilogue {
  kStore,  // c = a w + b
  kRelu,   // c = max(a w + b, 0)
  kAdd,    // c = c + (a w + b)
};

struct Rows {
  float* data = nullptr;
  std::ptrdiff_t stride = 0;
};
struct ConstRows {
  const float* data = nullptr;
  std::ptrdiff_t stride = 0;
  ConstRows(const float* d, std::ptrdiff_t s) : data(d), stride(s) {}
  ConstRows(Rows r) : data(r.data), stride(r.stride) {}  // NOLINT: a view of the same
};

struct Kernels {
  std::string_view name;  // "AVX2", ..., "scalar"
  bool fused = true;

  // c (rows, outputs) from a (rows, inputs), for the panels first ... last - 1. Neither is c.
  void (*multiply)(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c,
                   int first, int last);
  // y = (x - mean) / sqrt(variance + 1e-5) * gain + shift over `columns`; with relu, at least 0.
  void (*layer_norm)(ConstRows x, int rows, int columns, const float* gain, const float* shift,
                     bool relu, Rows y);
  // x = softmax(x * scale) over `columns`, in place.
  void (*softmax)(Rows x, int rows, int columns, float scale);
  // One step of torch's GRU for the units first ... last - 1, multiples of 16: input is
  // W_ih x + b_ih and hidden W_hh h + b_hh, each the gates r, z, n, `gate` numbers apart.
  void (*gru)(ConstRows input, ConstRows hidden, int rows, int gate, int first, int last,
              ConstRows before, Rows after);
  // The same of its LSTM: gates i, f, g, o, each the sum of both products; `cell` is updated.
  void (*lstm)(ConstRows gates, int rows, int gate, int first, int last, Rows cell, Rows after);
  void (*exp)(const float* x, int n, float* y);  // for tests: the exp the others use
};

// Those this CPU can run, best first; the last is the scalar twin.
std::span<const Kernels> AllKernels();
// By name, nullptr when this CPU has none of it; "" is the best.
const Kernels* FindKernels(std::string_view name);
const Kernels& ScalarKernels();

}  // namespace aerocast
