// SPDX-License-Identifier: BSD-3-Clause
//
// The answer: where one object will be, as a probability distribution.
//
// Steps. A forecast has S steps (50 by default). Index i = 0 ... S-1 in every array below is the
// position at t0 + (i + 1) * dt: index 0 is one step ahead, never "now". t0 is the stamp of the
// newest observation used. A forecast that is asked for later than t0 is this same forecast with
// its age: nothing is shifted.
//
// What it says. At every step the position is a mixture of K <= 16 Gaussians in the world frame,
// in metres; one weight per mode for the whole path, so a mode is one way the future may go:
//
//   p(x at step i) = sum_k  weight(k) * Normal(x; mean(k, i), cov(k, i))
//
// The point path is the forecaster's single best guess, chosen for small distance error; it need
// not be a mode's mean. `mode_entropy` is high where the future branches.
//
// Always valid. Whatever the input: weights are non-negative and sum to 1, covariances are
// positive definite, every number is finite, or quality is `none` and steps is 0.
//
// Optional parts are empty when a forecaster has none: the displacement mixture (the paper's
// family), conformal radii (calibrated models). A Forecaster always gives modes; a forecast that
// was read from a file may have none (modes() is 0), and then says no more than its point path.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/geometry.h"
#include "aerocast/time.h"

namespace aerocast {

inline constexpr int kMaxModes = 16;
inline constexpr std::size_t kMaxIdLength = 64;

// An object's id as its forecasts carry it: at most kMaxIdLength bytes, and no UTF-8 character cut
// in two.
std::string_view CutId(std::string_view id);

// How far a forecast can be trusted, best first. When several apply, the last of them is said.
enum class Quality {
  kOk,            // the method had all it wants
  kShortHistory,  // less history, or more holes in it, than the method was made for
  kOutOfDomain,   // the motion is unlike anything the method was fitted on
  kStale,         // asked for too long after t0 (see Forecast::AskAt)
  kFallback,      // the method could not answer; a simpler one did
  kNone,          // no usable observation: there is no forecast
};

std::string_view QualityName(Quality quality);  // "ok", "short_history", "out_of_domain", ...

// How large a forecast is. A forecaster states it once; buffers are made to fit before the loop.
struct ForecastShape {
  int steps = 50;                   // S
  int modes = 1;                    // K <= kMaxModes
  int displacement_components = 0;  // components of the per-step displacement mixture, 0: none
  int conformal_levels = 0;         // 0: none

  friend bool operator==(const ForecastShape&, const ForecastShape&) = default;
};

// The per-step mixture as the paper's networks give it: at every step a mixture over the
// displacement since the step before, in metres, axis-aligned, with weights of that step's own.
// The steps are drawn independently of each other, so the position has no modes of its own: mean
// and covariance of the whole mixture, summed up over the steps, are its one position mode (exact,
// and by the central limit nearly all there is to it). The point path sums the heaviest component
// per step. A component is no path: a step that gives it no weight leaves its mean anywhere.
struct DisplacementMixture {
  int components = 0;        // 0: not present
  Vec3 anchor;               // the newest position, world: what the first displacement starts from
  double sigma_floor_m = 0;  // the smallest sigma the forecaster can give
  double scale_m = 1;        // lambda: the network's unit, for reporting in it
  std::vector<double> weight;  // (S, components), each step sums to 1
  std::vector<Vec3> mean;      // (S, components), metres
  std::vector<Vec3> sigma;     // (S, components), standard deviation per axis, metres

  bool present() const { return components > 0; }
};

// Radii of balls around the point path that hold the stated share of outcomes on flights like the
// calibration flights, whatever the true distribution. Per step they hold marginally, one step at
// a time; the tube holds for the whole path at once, its radius at step i is tube[l] * shape[i].
// There may be no tube; tube and shape are empty then.
struct ConformalRegions {
  std::vector<double> level;   // (L), e.g. 0.5, 0.8, 0.9
  std::vector<double> radius;  // (L, S), metres
  std::vector<double> tube;    // (L)
  std::vector<double> shape;   // (S), metres
  bool present() const { return !level.empty(); }
};

// Whole paths of what a calibrated model got wrong on flights it was not trained on, as multiples
// of its spread, in the frame that goes along with a mode's path: forward, left, up. Drawn from by
// SamplePaths, so that sampled paths have the correlation in time and the tails that real errors
// have. In each direction and at each step the mean square over all paths is 1.
struct ResidualLibrary {
  int paths = 0, steps = 0;
  std::vector<float> residual;  // (paths, steps, 3)
};

class Forecast {
 public:
  Forecast() = default;
  // Reserves everything a forecast of this shape needs; no member function below allocates then.
  explicit Forecast(const ForecastShape& capacity) { Reserve(capacity); }
  // A copy has the room of its source as well: std::vector<Forecast>(n, Forecast(shape)) is ready.
  Forecast(const Forecast& other) { *this = other; }
  Forecast& operator=(const Forecast& other);
  Forecast(Forecast&&) = default;
  Forecast& operator=(Forecast&&) = default;
  ~Forecast() = default;
  void Reserve(const ForecastShape& capacity);

  // Starts a new forecast: sets the sizes, forgets what was there. Used by forecasters.
  void Reset(const ForecastShape& shape, std::string_view object_id, TimeNs t0, double dt);
  void MakeNone(std::string_view object_id, TimeNs t0, double dt = 0.1);
  // Cuts or adds modes at the end, at most kMaxModes; what is added is still to be written.
  void ResizeModes(int modes);

  std::string id;  // of the object, as CutId leaves it
  TimeNs t0_ns = 0;
  double dt_s = 0.1;
  Quality quality = Quality::kNone;
  double age_s = 0;  // how long after t0 it was asked for; 0 when nobody said

  int steps() const { return steps_; }  // S; 0 when quality is none
  int modes() const { return modes_; }  // K; 0 when there is only the point path
  TimeNs time_ns(int i) const { return t0_ns + DurationNs((i + 1) * dt_s); }

  Vec3& point(int i) { return point_[static_cast<std::size_t>(i)]; }
  const Vec3& point(int i) const { return point_[static_cast<std::size_t>(i)]; }
  double& weight(int k) { return weight_[static_cast<std::size_t>(k)]; }
  double weight(int k) const { return weight_[static_cast<std::size_t>(k)]; }
  Vec3& mean(int k, int i) { return mean_[Index(k, i)]; }
  const Vec3& mean(int k, int i) const { return mean_[Index(k, i)]; }
  Cov3& cov(int k, int i) { return cov_[Index(k, i)]; }
  const Cov3& cov(int k, int i) const { return cov_[Index(k, i)]; }
  std::span<const Vec3> point_path() const { return point_; }
  std::span<const double> weights() const { return weight_; }
  std::span<double> weights() { return weight_; }

  DisplacementMixture displacement;
  ConformalRegions conformal;
  // Correlation of a path's whitened residual from one step to the next, for SamplePaths: 0 means
  // independent steps, near 1 means that a path which starts to the left stays to the left.
  double residual_correlation = 0.98;
  // Heavy tails: modes k and k + K/2 have the same mean and are one way the future may go, a narrow
  // and a wide Gaussian of it (calibrated models).
  bool paired_modes = false;
  // Calibrated models share theirs with every forecast; others have none.
  std::shared_ptr<const ResidualLibrary> residuals;

  // The weight of the way that mode k belongs to: its own, and its pair's where modes are paired.
  double way_weight(int k) const;
  // Entropy of the ways' weights in nats: 0 for one certain way, ln K when all are alike.
  double mode_entropy() const;
  int most_likely_mode() const;  // 0 when there is none
  // Mean and covariance of the whole mixture at step i; without modes, the point and zero.
  Vec3 mixture_mean(int i) const;
  Cov3 mixture_cov(int i) const;

  // Says that the forecast is used at t_now: sets the age, and the quality to stale when the age
  // exceeds stale_after_s (unless it is worse already). t_now before t0 counts as age 0.
  void AskAt(TimeNs t_now_ns, double stale_after_s = 0.5);

  // n whole paths drawn from the distribution, written to out as (n, S). The same seed gives the
  // same paths. With a residual library, a way is drawn by weight and a path of the library laid
  // along it, stretched to its spread; else with a displacement mixture, steps are drawn one by one
  // and summed, as that family means it; otherwise a mode is drawn, then a residual path whose
  // steps are correlated. Without modes every path is the point path.
  void SamplePaths(std::uint64_t seed, int n, std::span<Vec3> out) const;

  // True when everything the contract above promises holds.
  bool IsValid() const;

 private:
  std::size_t Index(int k, int i) const {
    return static_cast<std::size_t>(k) * static_cast<std::size_t>(steps_) +
           static_cast<std::size_t>(i);
  }

  int steps_ = 0;
  int modes_ = 0;
  std::vector<Vec3> point_;     // (S)
  std::vector<double> weight_;  // (K)
  std::vector<Vec3> mean_;      // (K, S)
  std::vector<Cov3> cov_;       // (K, S)
};

}  // namespace aerocast
