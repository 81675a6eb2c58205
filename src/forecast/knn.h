// SPDX-License-Identifier: BSD-3-Clause
//
// Nearest neighbours: which flights moved like this before, and what did they do next? The modes
// are the futures of the k windows of the library that are nearest in the heading frame.
//
// The search is exact and looks at every window. Sixteen windows lie side by side in memory, so
// that one distance needs no sum across a vector register: the compiler vectorises the plain loop,
// and the result has the same bits whatever it makes of it.
#pragma once

#include <array>

#include "aerocast/forecaster.h"
#include "src/forecast/heading_grid.h"
#include "src/forecast/spread.h"

namespace aerocast {

inline constexpr int kNeighbours = 4;

struct Neighbour {
  float distance2 = 0;  // squared, per feature
  std::uint32_t window = 0;
};
using Neighbours = std::array<Neighbour, kNeighbours>;

class WindowLibrary {
 public:
  WindowLibrary() = default;
  WindowLibrary(int features, int outputs) : features_(features), outputs_(outputs) {}

  // `x` is (features), `y` is (outputs). Windows of one flight are added one after another.
  void Add(std::span<const float> x, std::span<const float> y);

  std::size_t size() const { return size_; }
  std::span<const float> future(std::uint32_t window) const {
    return std::span(futures_).subspan(window * static_cast<std::size_t>(outputs_),
                                       static_cast<std::size_t>(outputs_));
  }
  // Nearest first; equal distances keep the library's order. Windows in [skip_begin, skip_end) are
  // passed over (a flight that must not find itself). Needs kNeighbours windows outside of it.
  Neighbours Search(std::span<const float> x, std::size_t skip_begin = 0,
                    std::size_t skip_end = 0) const;

  std::span<const float> blocks() const { return blocks_; }
  std::span<const float> futures() const { return futures_; }

 private:
  int features_ = 0, outputs_ = 0;
  std::size_t size_ = 0;
  std::vector<float> blocks_;   // (ceil(size / 16), features, 16)
  std::vector<float> futures_;  // (size, outputs)
};

struct KnnParams {
  GridSpec grid;
  WindowLibrary library;
  double far2 = 0;  // squared distance per feature beyond which nothing alike is known; 0: no limit
  Spread spread;
  Spread fallback;  // of the ctrv path that answers when the grid has holes
};

// How far a neighbour is from the window it was found for: root mean square over the history's
// steps, metres. A poor match is a poor forecast, so this, not the speed, drives the spread.
double Mismatch(const Neighbour& neighbour, const GridFrame& grid);

// Writes modes, weights and point path; the spread's speed is each neighbour's mismatch.
void WriteNeighbours(const WindowLibrary& library, const Neighbours& neighbours,
                     const GridFrame& grid, const Spread& spread, Scene scene, Forecast& forecast);

class KnnForecaster final : public Forecaster {
 public:
  KnnForecaster(ForecasterInfo info, KnnParams params)
      : Forecaster(std::move(info)), params_(std::move(params)) {}

 private:
  std::unique_ptr<Workspace> DoMakeWorkspace(int) const override;
  Quality DoPredict(const History& history, Workspace& workspace,
                    Forecast& forecast) const noexcept override;

  KnnParams params_;
};

}  // namespace aerocast
