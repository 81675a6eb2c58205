// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels on Google Highway. This file is compiled once per instruction set: foreach_target.h
// includes it again for each, with other vectors behind the same names.
#include "src/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "src/kernels/order.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace aerocast {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Instructions for the larger of two drop a NaN or keep it, as the CPU likes; these keep it in x.
template <class V>
HWY_INLINE V AtLeast(V low, V x) {
  return hn::IfThenElse(hn::Lt(x, low), low, x);
}
template <class V>
HWY_INLINE V AtMost(V high, V x) {
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

// Max and Min give their second operand when one is no number (x86): what is computed comes second,
// so that NaN goes through and the forecast is seen to be invalid.

// A group of 16 numbers is kVectors vectors.
using D = hn::CappedTag<float, kLanes>;
using V = hn::Vec<D>;
constexpr D d;
constexpr int kVector = static_cast<int>(hn::MaxLanes(d));
constexpr int kVectors = kLanes / kVector;

// Tiles hold as many sums as hide the latency of a fused multiply-add and fit into the registers:
// 16 of them, or 32 with AVX-512 and NEON.
constexpr int kTileRows = kVectors >= 4 && HWY_TARGET != HWY_NEON ? 2 : 6;
constexpr int kTilePanels = kVectors == 1 ? 2 : 1;
constexpr int kOneRowPanels = HWY_MAX(1, 8 / kVectors);

HWY_INLINE V LoadWeights(const float* p) { return hn::Load(d, p); }
HWY_INLINE V LoadWeights(const hwy::float16_t* p) {
  return hn::PromoteTo(d, hn::Load(hn::Rebind<hwy::float16_t, D>(), p));
}

struct Product {
  ConstRows a;
  int inputs;
  const float* bias;
  Epilogue epilogue;
  Rows c;
};

// Weights come from memory once per call and are used by a few tiles only, so the next panel is
// fetched while this one is worked on: one line every kUnroll inputs.
constexpr int kUnroll = 4;
constexpr std::ptrdiff_t kLine = 64;  // bytes

// kRows rows times kPanels panels: every sum stays in its register from the first input to the
// last. `a`, `panel`, `c` and `bias` are those of the tile's first row and panel.
template <int kRows, int kPanels, typename Weight>
struct Tile {
  static constexpr int kColumns = kPanels * kVectors;  // in vectors

  static HWY_INLINE void Step(const float* const* row, const Weight* panel,
                              std::ptrdiff_t panel_stride, std::ptrdiff_t k,
                              V (&sum)[kRows][kColumns]) {
    V w[kColumns];
    for (int v = 0; v < kColumns; ++v) {
      w[v] = LoadWeights(panel + v / kVectors * panel_stride + k * kLanes + v % kVectors * kVector);
    }
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, row[r][k]);
      for (int v = 0; v < kColumns; ++v) sum[r][v] = hn::MulAdd(x, w[v], sum[r][v]);
    }
  }

  static HWY_INLINE void Run(const Product& p, const float* a, const Weight* panel,
                             const float* bias, float* c, const char* ahead, std::ptrdiff_t step) {
    V sum[kRows][kColumns];
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kColumns; ++v) {
        sum[r][v] = bias == nullptr ? hn::Zero(d) : hn::Load(d, bias + v * kVector);
      }
    }
    const float* row[kRows];
    for (int r = 0; r < kRows; ++r) row[r] = a + r * p.a.stride;
    const std::ptrdiff_t panel_stride = std::ptrdiff_t{p.inputs} * kLanes;
    std::ptrdiff_t k = 0;
    for (; k + kUnroll <= p.inputs; k += kUnroll, ahead += step) {
      __builtin_prefetch(ahead, 0, 2);
      for (int i = 0; i < kUnroll; ++i) Step(row, panel, panel_stride, k + i, sum);
    }
    for (; k < p.inputs; ++k) Step(row, panel, panel_stride, k, sum);
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kColumns; ++v) {
        float* out = c + r * p.c.stride + v * kVector;
        V value = sum[r][v];
        if (p.epilogue == Epilogue::kRelu) value = AtLeast(hn::Zero(d), value);
        if (p.epilogue == Epilogue::kAdd) value = hn::Add(hn::Load(d, out), value);
        hn::Store(value, d, out);
      }
    }
  }
};

// All rows of kPanels panels, in tiles of nearly the same number of rows.
template <int kPanels, typename Weight>
HWY_NOINLINE void Panels(const Product& p, int rows, const Weight* panel, const float* bias,
                         float* c) {
  int tiles = (rows + kTileRows - 1) / kTileRows;
  const float* a = p.a.data;
  const std::ptrdiff_t bytes = std::ptrdiff_t{p.inputs} * kPanels * kLanes * sizeof(Weight);
  const char* ahead = reinterpret_cast<const char*>(panel) + bytes;
  const char* const end = ahead + bytes;
  for (int left = rows; left > 0; --tiles) {
    const int n = (left + tiles - 1) / tiles;
    const std::ptrdiff_t step = ahead < end ? kLine : 0;
    const auto run = [&](auto tile) { tile.Run(p, a, panel, bias, c, ahead, step); };
    switch (n) {
      case 1:
        run(Tile<1, kPanels, Weight>());
        break;
      case 2:
        run(Tile<2, kPanels, Weight>());
        break;
      case 3:
        run(Tile<HWY_MIN(3, kTileRows), kPanels, Weight>());
        break;
      case 4:
        run(Tile<HWY_MIN(4, kTileRows), kPanels, Weight>());
        break;
      case 5:
        run(Tile<HWY_MIN(5, kTileRows), kPanels, Weight>());
        break;
      default:
        run(Tile<kTileRows, kPanels, Weight>());
        break;
    }
    left -= n, a += n * p.a.stride, c += n * p.c.stride;
    ahead += step * (p.inputs / kUnroll);
  }
}

template <typename Weight>
void MultiplyPanels(const Product& p, int rows, const Weight* panels, int first, int last) {
  const std::ptrdiff_t panel_stride = std::ptrdiff_t{p.inputs} * kLanes;
  for (int at = first; at < last;) {
    const Weight* panel = panels + at * panel_stride;
    const float* bias = p.bias == nullptr ? nullptr : p.bias + at * kLanes;
    float* c = p.c.data + at * kLanes;
    if (rows == 1 && at + kOneRowPanels <= last) {
      Tile<1, kOneRowPanels, Weight>::Run(p, p.a.data, panel, bias, c,
                                          reinterpret_cast<const char*>(panel), 0);
      at += kOneRowPanels;
    } else if (at + kTilePanels <= last) {
      Panels<kTilePanels>(p, rows, panel, bias, c);
      at += kTilePanels;
    } else {
      Panels<1>(p, rows, panel, bias, c);
      at += 1;
    }
  }
}

void Multiply(ConstRows a, int rows, const PackedMatrix& w, Epilogue epilogue, Rows c, int first,
              int last) {
  const Product p = {a, w.inputs, w.bias, epilogue, c};
  if (w.storage == WeightStorage::kHalf) {
    MultiplyPanels(p, rows, static_cast<const hwy::float16_t*>(w.panels), first, last);
  } else {
    MultiplyPanels(p, rows, static_cast<const float*>(w.panels), first, last);
  }
}

// Calls body(offset, vector of the group) for all numbers of a row, its padding included.
template <typename Body>
HWY_INLINE void ForVectors(int columns, const Body& body) {
  for (int i = 0; i < columns; i += kLanes) {
    for (int v = 0; v < kVectors; ++v) body(i + v * kVector, v);
  }
}

HWY_INLINE hn::Mask<D> Within(int columns, int i) {
  return hn::FirstN(d, static_cast<std::size_t>(std::clamp(columns - i, 0, kVector)));
}

HWY_INLINE float Sum(const V* partial) {
  HWY_ALIGN float lanes[kLanes];
  for (int v = 0; v < kVectors; ++v) hn::Store(partial[v], d, lanes + v * kVector);
  return AddHalves(lanes);
}

void LayerNorm(ConstRows x, int rows, int columns, const float* gain, const float* shift, bool relu,
               Rows y) {
  const float n = static_cast<float>(columns);
  const V least = hn::Set(d, relu ? 0.f : -HUGE_VALF);
  for (int row = 0; row < rows; ++row) {
    const float* in = x.data + row * x.stride;
    float* out = y.data + row * y.stride;
    V partial[kVectors];
    for (V& p : partial) p = hn::Zero(d);
    ForVectors(columns, [&](int i, int v) {
      const V value = hn::IfThenElseZero(Within(columns, i), hn::Load(d, in + i));
      partial[v] = hn::Add(partial[v], value);
    });
    const V mean = hn::Set(d, Sum(partial) / n);
    for (V& p : partial) p = hn::Zero(d);
    ForVectors(columns, [&](int i, int v) {
      const V value = hn::IfThenElseZero(Within(columns, i), hn::Sub(hn::Load(d, in + i), mean));
      partial[v] = hn::MulAdd(value, value, partial[v]);
    });
    const V scale = hn::Set(d, 1.f / std::sqrt(Sum(partial) / n + kNormEpsilon));
    ForVectors(columns, [&](int i, int) {
      const V normed = hn::Mul(hn::Sub(hn::Load(d, in + i), mean), scale);
      const V value = hn::MulAdd(normed, hn::Load(d, gain + i), hn::Load(d, shift + i));
      hn::Store(hn::IfThenElseZero(Within(columns, i), AtLeast(least, value)), d, out + i);
    });
  }
}

HWY_INLINE V Exp(V x) {
  using namespace exp_constants;
  const hn::RebindToSigned<D> di;
  x = AtMost(hn::Set(d, kMost), AtLeast(hn::Set(d, kLeast), x));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, kLog2E)));
  const V r = hn::MulAdd(n, hn::Set(d, -kLn2Low), hn::MulAdd(n, hn::Set(d, -kLn2High), x));
  V p = hn::Set(d, kC7);
  for (const float c : {kC6, kC5, kC4, kC3, kC2}) p = hn::MulAdd(p, r, hn::Set(d, c));
  p = hn::Add(hn::MulAdd(hn::Mul(p, r), r, r), hn::Set(d, 1.f));
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
}

HWY_INLINE V Sigmoid(V x) {
  const V one = hn::Set(d, 1.f);
  return hn::Div(one, hn::Add(one, Exp(hn::Sub(hn::Zero(d), x))));
}

HWY_INLINE V Tanh(V x) {
  const V one = hn::Set(d, 1.f);
  return hn::Sub(one, hn::Div(hn::Set(d, 2.f), hn::Add(Exp(hn::Add(x, x)), one)));
}

void Softmax(Rows x, int rows, int columns, float scale) {
  const V factor = hn::Set(d, scale);
  for (int row = 0; row < rows; ++row) {
    float* data = x.data + row * x.stride;
    V most = hn::Set(d, data[0] * scale);
    ForVectors(columns, [&](int i, int) {
      const V value = hn::Mul(hn::Load(d, data + i), factor);
      most = hn::IfThenElse(Within(columns, i), AtLeast(most, value), most);
    });
    most = hn::MaxOfLanes(d, most);
    V partial[kVectors];
    for (V& p : partial) p = hn::Zero(d);
    ForVectors(columns, [&](int i, int v) {
      const V value = Exp(hn::Sub(hn::Mul(hn::Load(d, data + i), factor), most));
      const V kept = hn::IfThenElseZero(Within(columns, i), value);
      hn::Store(kept, d, data + i);
      partial[v] = hn::Add(partial[v], kept);
    });
    const V share = hn::Set(d, 1.f / Sum(partial));
    ForVectors(columns,
               [&](int i, int) { hn::Store(hn::Mul(hn::Load(d, data + i), share), d, data + i); });
  }
}

void Gru(ConstRows input, ConstRows hidden, int rows, int gate, int first, int last,
         ConstRows before, Rows after) {
  for (int row = 0; row < rows; ++row) {
    const float* in = input.data + row * input.stride;
    const float* hid = hidden.data + row * hidden.stride;
    const float* old = before.data + row * before.stride;
    float* state = after.data + row * after.stride;
    for (int i = first; i < last; i += kVector) {
      const auto load = [&](const float* from, int g) { return hn::Load(d, from + g * gate + i); };
      const V r = Sigmoid(hn::Add(load(in, 0), load(hid, 0)));
      const V z = Sigmoid(hn::Add(load(in, 1), load(hid, 1)));
      const V n = Tanh(hn::MulAdd(r, load(hid, 2), load(in, 2)));
      hn::Store(hn::MulAdd(z, hn::Sub(hn::Load(d, old + i), n), n), d, state + i);
    }
  }
}

void Lstm(ConstRows gates, int rows, int gate, int first, int last, Rows cell, Rows after) {
  for (int row = 0; row < rows; ++row) {
    const float* in = gates.data + row * gates.stride;
    float* cells = cell.data + row * cell.stride;
    float* state = after.data + row * after.stride;
    for (int i = first; i < last; i += kVector) {
      const V write = Sigmoid(hn::Load(d, in + i)), keep = Sigmoid(hn::Load(d, in + gate + i));
      const V value = Tanh(hn::Load(d, in + 2 * gate + i));
      const V out = Sigmoid(hn::Load(d, in + 3 * gate + i));
      const V kept = hn::MulAdd(keep, hn::Load(d, cells + i), hn::Mul(write, value));
      hn::Store(kept, d, cells + i);
      hn::Store(hn::Mul(out, Tanh(kept)), d, state + i);
    }
  }
}

void ExpOf(const float* x, int n, float* y) {
  for (int i = 0; i < n; ++i) y[i] = hn::GetLane(Exp(hn::Set(d, x[i])));
}

}  // namespace

Kernels Make() {
  // SSE4 and older have no fused multiply-add.
  constexpr bool kFused = HWY_TARGET != HWY_SSE4 && HWY_TARGET != HWY_SSSE3;
  return {hwy::TargetName(HWY_TARGET), kFused, Multiply, LayerNorm, Softmax, Gru, Lstm, ExpOf};
}

}  // namespace HWY_NAMESPACE
}  // namespace aerocast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace aerocast {
namespace {

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0  // one target: Highway has no table then

Kernels MakeFor(std::int64_t) { return HWY_STATIC_DISPATCH(Make)(); }

#else

HWY_EXPORT(Make);

Kernels MakeFor(std::int64_t target) {
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return HWY_DISPATCH_TABLE(Make)[chosen.GetIndex()]();
}

#endif

// The build has one version for CPUs without vectors as well; the scalar twin serves those.
std::vector<Kernels> MakeAll() {
  std::vector<Kernels> all;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;  // the lowest bit is the best
    if ((target & (HWY_EMU128 | HWY_SCALAR)) == 0) all.push_back(MakeFor(target));
  }
  all.push_back(ScalarKernels());
  return all;
}

}  // namespace

std::span<const Kernels> AllKernels() {
  static const std::vector<Kernels> all = MakeAll();
  return all;
}

const Kernels* FindKernels(std::string_view name) {
  if (name.empty()) return &AllKernels().front();
  for (const Kernels& kernels : AllKernels()) {
    if (kernels.name == name) return &kernels;
  }
  return nullptr;
}

}  // namespace aerocast
#endif  // HWY_ONCE
