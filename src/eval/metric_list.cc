// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/metric_list.h"

namespace aerocast {

const std::array<MetricInfo, kMetricCount>& MetricList() {
  using enum Better;
  static constexpr std::array<MetricInfo, kMetricCount> kList = {{
      {"ade", "ADE", "m", "position", "point path", kLower, 0,
       "Mean distance between forecast and truth over all steps."},
      {"fde", "FDE", "m", "position", "point path", kLower, 0,
       "Distance between forecast and truth at the last step."},
      {"ade_mode", "ADE mode", "m", "position", "most likely mode", kLower, 0,
       "ADE of the mode with the largest weight."},
      {"fde_mode", "FDE mode", "m", "position", "most likely mode", kLower, 0,
       "FDE of the mode with the largest weight."},
      {"ade_mean", "ADE mean", "m", "position", "mixture mean", kLower, 0,
       "ADE of the mean of all modes."},
      {"fde_mean", "FDE mean", "m", "position", "mixture mean", kLower, 0,
       "FDE of the mean of all modes."},
      {"min_ade_modes", "minADE modes", "m", "position", "best mode", kLower, 0,
       "ADE of the mode nearest to the truth, chosen afterwards."},
      {"min_fde_modes", "minFDE modes", "m", "position", "best mode", kLower, 0,
       "FDE of the mode that ends nearest to the truth, chosen afterwards."},
      {"brier_min_fde", "brier-minFDE", "m", "position", "best mode", kLower, 0,
       "minFDE over modes plus (1 - p)^2, p the weight of the mode that ends nearest."},
      {"min_ade_samples", "minADE samples", "m", "position", "best sampled path", kLower, 0,
       "ADE of the best of a few jointly sampled paths."},
      {"min_fde_samples", "minFDE samples", "m", "position", "best sampled path", kLower, 0,
       "FDE of the best of a few jointly sampled paths."},
      {"nll_position", "NLL", "nats", "position", "mixture", kLower, 0,
       "Negative log density of the true position per step, coordinates in metres."},
      {"nll_displacement", "NLL disp", "nats", "displacement", "displacement mixture", kLower, 0,
       "Negative log density of the true displacement per step, coordinates in metres."},
      {"nll_displacement_lambda", "NLL disp/\u03bb", "nats", "displacement", "displacement mixture",
       kLower, 0, "The same in the network's unit \u03bb, as the paper prints it."},
      {"crps_position", "CRPS", "m", "position", "mixture", kLower, 0,
       "Continuous ranked probability score per step, mean of the three axes."},
      {"crps_displacement", "CRPS disp", "m", "displacement", "displacement mixture", kLower, 0,
       "Continuous ranked probability score of displacements, mean of the three axes."},
      {"energy", "Energy", "m", "position", "mixture", kLower, 0,
       "Energy score per step: the CRPS of a three-dimensional position."},
      {"ece_position", "ECE", "1", "position", "mixture", kLower, 0,
       "Mean |empirical - nominal| of highest-density regions at 5 ... 95 %, mean of 1 ... 5 s."},
      {"ece_displacement", "ECE disp", "1", "displacement", "displacement mixture", kLower, 0,
       "Calibration error as the paper defines it: per axis and step, 30 z values."},
      {"coverage_90", "Cover 90", "1", "position", "mixture", kNearTarget, 0.9,
       "Share of outcomes inside the 90 % highest-density region, mean of 1 ... 5 s."},
      {"sharpness_90", "Radius 90", "m", "position", "mixture", kLower, 0,
       "Radius around the point path that holds 90 % of the distribution, mean of 1 ... 5 s."},
      {"conformal_coverage", "Conf 90", "1", "position", "conformal ball", kNearTarget, 0.9,
       "Share of outcomes inside the 90 % conformal ball, mean of 1 ... 5 s."},
      {"tube_coverage", "Tube 90", "1", "position", "conformal tube", kNearTarget, 0.9,
       "Share of windows whose whole path stays inside the 90 % conformal tube."},
      {"consistency", "Change", "m", "position", "point path", kLower, 0,
       "Mean distance between forecasts of consecutive windows at the same instants."},
      {"mode_entropy", "Entropy", "nats", "position", "mode weights", kNeither, 0,
       "Mean entropy of the ways' weights; modes that end within each other's spread are one way."},
      {"mode_use_entropy", "Mode use", "nats", "position", "modes", kNeither, 0,
       "Entropy of how often each mode was nearest to the truth."},
      {"sigma_floor_share", "At floor", "1", "displacement", "displacement mixture", kLower, 0,
       "Share of steps and axes whose heaviest component is at the smallest allowed sigma."},
  }};
  return kList;
}

std::optional<Metric> MetricFromKey(std::string_view key) {
  for (int i = 0; i < kMetricCount; ++i) {
    if (MetricList()[static_cast<std::size_t>(i)].key == key) return static_cast<Metric>(i);
  }
  return {};
}

bool IsWindowAverage(Metric metric) {
  return metric != Metric::kEcePosition && metric != Metric::kEceDisplacement &&
         metric != Metric::kModeUseEntropy;
}

}  // namespace aerocast
