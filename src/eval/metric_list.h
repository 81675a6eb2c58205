// SPDX-License-Identifier: BSD-3-Clause
//
// The metrics a table may show, in table order: their keys in the results file and what they mean.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace aerocast {

enum class Metric {
  kAde,
  kFde,
  kAdeMode,
  kFdeMode,
  kAdeMean,
  kFdeMean,
  kMinAdeModes,
  kMinFdeModes,
  kBrierMinFde,
  kMinAdeSamples,
  kMinFdeSamples,
  kNllPosition,
  kNllDisplacement,
  kNllDisplacementLambda,
  kCrpsPosition,
  kCrpsDisplacement,
  kEnergy,
  kEcePosition,
  kEceDisplacement,
  kCoverage90,
  kSharpness90,
  kConformalCoverage,
  kTubeCoverage,
  kConsistency,
  kModeEntropy,
  kModeUseEntropy,
  kSigmaFloorShare,
};
inline constexpr int kMetricCount = 27;

// One value per metric; NaN where it does not exist.
using MetricValues = std::array<double, kMetricCount>;

enum class Better { kLower, kHigher, kNearTarget, kNeither };

struct MetricInfo {
  std::string_view key, name, unit, space, of;
  Better better = Better::kLower;
  double target = 0;  // for kNearTarget
  std::string_view meaning;
};

const std::array<MetricInfo, kMetricCount>& MetricList();
inline const MetricInfo& Info(Metric metric) {
  return MetricList()[static_cast<std::size_t>(metric)];
}
std::optional<Metric> MetricFromKey(std::string_view key);

// False for the metrics that are no average over windows (calibration errors, entropy of mode use):
// they are computed from counts of the whole group.
bool IsWindowAverage(Metric metric);

}  // namespace aerocast
