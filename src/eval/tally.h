// SPDX-License-Identifier: BSD-3-Clause
//
// What is kept of an evaluated flight: sums and counts, of a size that does not depend on how many
// windows the flight has. Tallies add up, so any group of flights (a category, a bootstrap
// replicate) is a sum of tallies, and metrics that are no averages (calibration errors, entropies)
// are computed from the summed counts.
//
// Cells are doubles in two blocks. `metric` holds all that the metrics need, and is what the
// bootstrap resamples; `detail` holds what only curves and histograms need.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "aerocast/forecast.h"
#include "aerocast/window.h"
#include "src/eval/metric_list.h"
#include "src/eval/metrics.h"

namespace aerocast {

inline constexpr int kPitBins = 20;
inline constexpr int kMaxConformalLevels = 8;
inline constexpr int kQualityCount = 6;

// Where the cells are. The same for all flights and models of an evaluation.
class TallyLayout {
 public:
  TallyLayout() = default;
  explicit TallyLayout(const WindowSpec& window);

  int steps() const { return steps_; }
  // The steps at whole seconds 1, 2, ..., as far as dt hits them.
  std::span<const int> horizon_steps() const { return horizon_steps_; }
  int horizons() const { return static_cast<int>(horizon_steps_.size()); }
  double horizon_s(int h) const { return (horizon_steps_[Size(h)] + 1) * dt_s_; }

  // Indices into Tally::metric.
  std::size_t sum(Metric m) const { return 2 * static_cast<std::size_t>(m); }
  std::size_t count(Metric m) const { return sum(m) + 1; }
  std::size_t calibration(int h) const {  // kCalibrationLevels shares, then the number of windows
    return 2 * kMetricCount + Size(h) * (kCalibrationLevels + 1);
  }
  std::size_t paper_z() const {
    return calibration(horizons());
  }  // kPaperZ shares, then the number
  std::size_t mode_use() const { return paper_z() + kPaperZ + 1; }  // kMaxModes counts
  std::size_t metric_size() const { return mode_use() + kMaxModes; }

  // Indices into Tally::detail.
  std::size_t error(int step) const { return Size(step); }
  std::size_t distributions(int h) const { return Size(steps_) + Size(h) * kPerHorizon; }
  std::size_t region(int h) const { return distributions(h) + 1; }
  std::size_t radial(int h) const { return region(h) + kCoverageLevels.size(); }
  std::size_t sharpness(int h) const { return radial(h) + kCoverageLevels.size(); }
  std::size_t conformal(int h) const { return sharpness(h) + 1; }  // hits, then the number
  std::size_t pit(int h, int axis) const {
    return conformal(h) + kMaxConformalLevels + 1 + Size(axis * kPitBins);
  }
  std::size_t detail_size() const { return distributions(horizons()); }

 private:
  static constexpr std::size_t kPerHorizon =
      1 + 2 * kCoverageLevels.size() + 1 + kMaxConformalLevels + 1 + 3 * kPitBins;
  static std::size_t Size(int i) { return static_cast<std::size_t>(i); }

  int steps_ = 0;
  double dt_s_ = 0;
  std::vector<int> horizon_steps_;
};

struct Tally {
  Tally() = default;
  explicit Tally(const TallyLayout& layout)
      : metric(layout.metric_size()), detail(layout.detail_size()) {}

  std::vector<double> metric, detail;
  std::vector<double> conformal_level;  // those of the first forecast that has any
  bool mixed_levels = false;            // a later forecast had others: the evaluation is refused
  std::int64_t windows = 0;             // asked for
  std::int64_t scored = 0;              // with a forecast: neither missing nor of quality none
  std::int64_t missing = 0;             // of a recorded forecast file only
  std::array<std::int64_t, kQualityCount> quality{};

  void Count(const TallyLayout& layout, Metric m, double value) {
    metric[layout.sum(m)] += value, metric[layout.count(m)] += 1;
  }
  // Both have the same layout, and the same conformal levels where both have any.
  void Add(const Tally& other);
};

// The metrics of summed metric cells.
MetricValues ComputeMetrics(const TallyLayout& layout, std::span<const double> metric_cells);

}  // namespace aerocast
