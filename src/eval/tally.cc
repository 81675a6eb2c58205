// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/tally.h"

#include <cmath>
#include <limits>

#include "src/base/check.h"

namespace aerocast {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Mean over the horizons of each horizon's own calibration error.
double PositionEce(const TallyLayout& layout, std::span<const double> cells) {
  double sum = 0;
  int horizons = 0;
  for (int h = 0; h < layout.horizons(); ++h) {
    const std::span<const double> inside = cells.subspan(layout.calibration(h), kCalibrationLevels);
    const double windows = cells[layout.calibration(h) + kCalibrationLevels];
    if (windows == 0) continue;
    double error = 0;
    for (int i = 0; i < kCalibrationLevels; ++i) {
      error += std::abs(inside[static_cast<std::size_t>(i)] / windows - CalibrationLevel(i));
    }
    sum += error / kCalibrationLevels, ++horizons;
  }
  return horizons > 0 ? sum / horizons : kNone;
}

double DisplacementEce(const TallyLayout& layout, std::span<const double> cells) {
  const double n = cells[layout.paper_z() + kPaperZ];
  if (n == 0) return kNone;
  std::array<double, kPaperZ> within;
  for (std::size_t i = 0; i < kPaperZ; ++i) within[i] = cells[layout.paper_z() + i] / n;
  return PaperEce(within);
}

void AddTo(std::vector<double>& sums, const std::vector<double>& terms) {
  AEROCAST_CHECK(sums.size() == terms.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += terms[i];
}

}  // namespace

TallyLayout::TallyLayout(const WindowSpec& window)
    : steps_(window.horizon_steps()), dt_s_(window.dt_s) {
  for (int second = 1; second <= window.horizon_s + 1e-9; ++second) {
    const double step = second / window.dt_s;
    if (std::abs(step - std::round(step)) > 1e-6) continue;
    horizon_steps_.push_back(static_cast<int>(std::lround(step)) - 1);
  }
}

void Tally::Add(const Tally& other) {
  AddTo(metric, other.metric);
  AEROCAST_CHECK(conformal_level.empty() || other.conformal_level.empty() ||
                 conformal_level == other.conformal_level);
  if (conformal_level.empty()) conformal_level = other.conformal_level;
  AddTo(detail, other.detail);
  windows += other.windows, scored += other.scored, missing += other.missing;
  for (std::size_t q = 0; q < quality.size(); ++q) quality[q] += other.quality[q];
}

MetricValues ComputeMetrics(const TallyLayout& layout, std::span<const double> metric_cells) {
  MetricValues values;
  for (int i = 0; i < kMetricCount; ++i) {
    const auto m = static_cast<Metric>(i);
    const double n = metric_cells[layout.count(m)];
    values[static_cast<std::size_t>(i)] = n > 0 ? metric_cells[layout.sum(m)] / n : kNone;
  }
  const auto use = metric_cells.subspan(layout.mode_use(), kMaxModes);
  double used = 0;
  for (const double u : use) used += u;
  values[static_cast<std::size_t>(Metric::kModeUseEntropy)] = used > 0 ? Entropy(use) : kNone;
  values[static_cast<std::size_t>(Metric::kEcePosition)] = PositionEce(layout, metric_cells);
  values[static_cast<std::size_t>(Metric::kEceDisplacement)] =
      DisplacementEce(layout, metric_cells);
  return values;
}

}  // namespace aerocast
