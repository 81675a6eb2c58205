// SPDX-License-Identifier: BSD-3-Clause
//
// The metrics as small pure functions, each for one path, one step or one set of counts. What they
// mean, in which space and units, and how they are averaged is written in docs/metrics.md.
//
// Mixtures are given as equally long spans: weights that sum to 1, means, spreads.
#pragma once

#include <array>
#include <span>

#include "aerocast/geometry.h"

namespace aerocast {

// Levels at which position coverage is counted, and those of the position calibration error.
inline constexpr std::array<double, 5> kCoverageLevels = {0.5, 0.8, 0.9, 0.95, 0.99};
inline constexpr int kCalibrationLevels = 19;
inline double CalibrationLevel(int i) { return 0.05 * (i + 1); }
// The paper's z values, 0.1 ... 3.0, and the share of a normal within each.
inline constexpr int kPaperZ = 30;
inline double PaperZ(int i) { return 0.1 * (i + 1); }
double PaperNominal(int i);

// Distances between two equally long paths.
double AverageDistance(std::span<const Vec3> a, std::span<const Vec3> b);
double FinalDistance(std::span<const Vec3> a, std::span<const Vec3> b);

// min FDE + (1 - p)^2, p the weight of the mode that ends nearest.
inline double BrierMinFde(double min_fde, double weight) {
  return min_fde + (1 - weight) * (1 - weight);
}

// -log of the mixture's density at y, in the unit of the coordinates to the power -3. Covariances
// must be positive definite.
double MixtureNll(std::span<const double> weight, std::span<const Vec3> mean,
                  std::span<const Cov3> cov, const Vec3& y);
// The same for axis-aligned components, as the displacement mixtures are.
double DiagonalMixtureNll(std::span<const double> weight, std::span<const Vec3> mean,
                          std::span<const Vec3> sigma, const Vec3& y);
// No mixture whose sigmas are at least sigma_min has a smaller NLL than this, whatever the outcome.
double NllBound(double sigma_min);

// CRPS of a one-dimensional Gaussian mixture, in closed form:
// sum_i w_i A(y - m_i, s_i) - 1/2 sum_ij w_i w_j A(m_i - m_j, sqrt(s_i^2 + s_j^2)).
double MixtureCrps(std::span<const double> weight, std::span<const double> mean,
                   std::span<const double> sigma, double y);

// Energy score from m >= 2 independent draws, unbiased: the mean distance of a draw from y, less
// half the mean distance of two different draws. The plain form; draws.h has the fast one.
double EnergyScore(std::span<const Vec3> draws, const Vec3& y);

// Probability integral transform: the mixture's cumulative share below y.
double MixturePit(std::span<const double> weight, std::span<const double> mean,
                  std::span<const double> sigma, double y);

// How much of the region that states `level` an outcome counts as inside, when `denser` of `draws`
// draws have a higher density than the outcome. For a calibrated forecast the rank is uniform on
// 0 ... draws, so this fraction has expectation `level` exactly, for any number of draws.
double RegionShare(int denser, int draws, double level);

// The mean |empirical - nominal| of paired shares.
double CalibrationError(std::span<const double> empirical, std::span<const double> nominal);
// ECE as the paper defines it, from the share of displacements within each z: between 0.2493
// (everything covered) and 0.7507 (nothing covered) at its extremes.
double PaperEce(std::span<const double> within_z);

// Entropy in nats of counts, which need not sum to one; 0 for empty counts.
double Entropy(std::span<const double> counts);

}  // namespace aerocast
