// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/knn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/check.h"
#include "src/forecast/kinematic.h"

namespace aerocast {
namespace {

constexpr std::size_t kLanes = 16;    // windows side by side
constexpr std::size_t kStretch = 12;  // features between two looks at whether a block can still win
constexpr double kNearest2 = 1e-8;    // keeps the weight of an identical window finite

using Lanes = std::array<float, kLanes>;

// Adds the squared differences of features [begin, end) of one block.
void Accumulate(const float* block, std::span<const float> x, std::size_t begin, std::size_t end,
                Lanes& sum) {
  for (std::size_t f = begin; f < end; ++f) {
    const float* row = block + f * kLanes;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float d = row[lane] - x[f];
      sum[lane] += d * d;
    }
  }
}

// Keeps the best, sorted.
void Offer(const Neighbour& candidate, Neighbours& best) {
  if (!(candidate.distance2 < best.back().distance2)) return;
  std::size_t slot = best.size() - 1;
  for (; slot > 0 && candidate.distance2 < best[slot - 1].distance2; --slot) {
    best[slot] = best[slot - 1];
  }
  best[slot] = candidate;
}

}  // namespace

void WindowLibrary::Add(std::span<const float> x, std::span<const float> y) {
  const std::size_t lane = size_ % kLanes, block = size_ / kLanes;
  const auto features = static_cast<std::size_t>(features_);
  AEROCAST_CHECK(x.size() == features && y.size() == static_cast<std::size_t>(outputs_));
  // Lanes not yet filled are infinitely far away.
  if (lane == 0) {
    blocks_.resize((block + 1) * features * kLanes, std::numeric_limits<float>::infinity());
  }
  for (std::size_t f = 0; f < features; ++f) blocks_[(block * features + f) * kLanes + lane] = x[f];
  futures_.insert(futures_.end(), y.begin(), y.end());
  ++size_;
}

Neighbours WindowLibrary::Search(std::span<const float> x, std::size_t skip_begin,
                                 std::size_t skip_end) const {
  Neighbours best;
  best.fill({std::numeric_limits<float>::infinity(), 0});
  const std::size_t blocks = (size_ + kLanes - 1) / kLanes;
  for (std::size_t b = 0; b < blocks; ++b) {
    const float* block = &blocks_[b * x.size() * kLanes];
    Lanes sum{};
    bool hopeless = false;
    for (std::size_t f = 0; f < x.size() && !hopeless; f += kStretch) {
      Accumulate(block, x, f, std::min(f + kStretch, x.size()), sum);
      hopeless = *std::min_element(sum.begin(), sum.end()) >= best.back().distance2;
    }
    if (hopeless) continue;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t window = b * kLanes + lane;
      if (window >= skip_begin && window < skip_end) continue;
      Offer({sum[lane], static_cast<std::uint32_t>(window)}, best);
    }
  }
  for (Neighbour& n : best) n.distance2 /= static_cast<float>(x.size());
  return best;
}

double Mismatch(const Neighbour& neighbour, const GridFrame& grid) {
  return grid.scale * std::sqrt(3.0 * static_cast<double>(neighbour.distance2));
}

void WriteNeighbours(const WindowLibrary& library, const Neighbours& neighbours,
                     const GridFrame& grid, const Spread& spread, Scene scene, Forecast& forecast) {
  double sum = 0;
  for (int k = 0; k < kNeighbours; ++k) {
    const Neighbour& n = neighbours[static_cast<std::size_t>(k)];
    forecast.weight(k) = 1 / (n.distance2 + kNearest2);
    sum += forecast.weight(k);
    const std::span<const float> future = library.future(n.window);
    for (int i = 0; i < forecast.steps(); ++i) {
      const float* q = &future[3 * static_cast<std::size_t>(i)];
      forecast.mean(k, i) = grid.frame.ToWorld(grid.scale * Vec3{q[0], q[1], q[2]});
    }
  }
  for (int k = 0; k < kNeighbours; ++k) {
    forecast.weight(k) /= sum;
    scene.speed = Mismatch(neighbours[static_cast<std::size_t>(k)], grid);
    WriteSpread(spread, scene, k, forecast);
  }
  for (int i = 0; i < forecast.steps(); ++i) forecast.point(i) = forecast.mixture_mean(i);
}

std::unique_ptr<Workspace> KnnForecaster::DoMakeWorkspace(int) const {
  return std::make_unique<GridWorkspace>(params_.grid, 0);
}

Quality KnnForecaster::DoPredict(const History& history, Workspace& workspace,
                                 Forecast& forecast) const noexcept {
  auto& scratch = static_cast<GridWorkspace&>(workspace);
  GridFrame grid;
  if (!ReadHeadingGrid(history, params_.grid, scratch, grid)) {
    forecast.Reset({.steps = forecast.steps(), .modes = 1}, history.id, forecast.t0_ns,
                   forecast.dt_s);
    ForecastKinematic(Kinematics::kCtrv, params_.fallback, history, forecast);
    return Quality::kFallback;
  }
  const Neighbours neighbours = params_.library.Search(scratch.features);
  WriteNeighbours(params_.library, neighbours, grid, params_.spread, LookAt(history), forecast);
  const bool far = params_.far2 > 0 && neighbours[0].distance2 > params_.far2;
  return far ? Quality::kOutOfDomain : Quality::kOk;
}

}  // namespace aerocast
