// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of forecasters share: made-up motions, and one forecaster of every kind.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "aerocast/classical.h"
#include "src/base/rng.h"
#include "src/forecast/calibrate.h"
#include "src/forecast/knn.h"
#include "src/forecast/network_forecaster.h"
#include "src/forecast/packed_forecaster.h"
#include "src/forecast/ridge.h"
#include "src/model/calibration_testing.h"
#include "src/model/random_model.h"

namespace aerocast {

using MotionLaw = std::function<Vec3(double t_s)>;

// Samples of the law at t = 0, -1/rate, ... back to -span_s, oldest first; t0 is the law's zero.
inline std::vector<Observation> Observe(const MotionLaw& law, double rate_hz = 50,
                                        double span_s = 2.5,
                                        TimeNs t0 = 1'700'000'000'000'000'000) {
  std::vector<Observation> samples;
  for (int k = static_cast<int>(std::lround(span_s * rate_hz)); k >= 0; --k) {
    const TimeNs age = DurationNs(k / rate_hz);
    samples.push_back({t0 - age, law(-DurationS(age))});
  }
  return samples;
}

// A climbing turn of the given radius, angular rate (left positive) and climb.
inline MotionLaw Helix(double radius, double rate, double climb, const Vec3& center = {}) {
  return [=](double t) {
    return center + Vec3{radius * std::cos(rate * t), radius * std::sin(rate * t), climb * t};
  };
}

// Nothing special: two frequencies per axis, so that no symmetry hides a mistake.
inline MotionLaw Wander(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> p(18);
  for (double& x : p) x = rng.Uniform(0.3, 1.5);
  return [p](double t) {
    const auto axis = [&](int i) {
      const double* q = &p[static_cast<std::size_t>(6 * i)];
      return q[0] * std::sin(q[1] * t + 3 * q[2]) + q[3] * std::cos(2 * q[4] * t + q[5]);
    };
    return Vec3{axis(0), axis(1), 0.5 * axis(2)};
  };
}

// A ridge and a knn with made-up numbers: as real as fitted ones for everything but accuracy.
inline std::unique_ptr<Forecaster> MakeTestRidge() {
  RidgeParams params;
  params.weights.resize(61 * 150);
  Rng rng(5);
  for (double& w : params.weights) w = 0.1 * rng.Normal();
  ForecasterInfo info;
  info.name = "ridge";
  return std::make_unique<RidgeForecaster>(info, std::move(params));
}

inline std::unique_ptr<Forecaster> MakeTestKnn(int windows = 100) {
  KnnParams params;
  params.library = WindowLibrary(60, 150);
  Rng rng(6);
  std::vector<float> x(60), y(150);
  for (int n = 0; n < windows; ++n) {
    for (float& v : x) v = static_cast<float>(0.1 * rng.Normal());
    for (float& v : y) v = static_cast<float>(rng.Normal());
    params.library.Add(x, y);
  }
  ForecasterInfo info;
  info.name = "knn";
  info.shape.modes = kNeighbours;
  return std::make_unique<KnnForecaster>(info, std::move(params));
}

// A network whose forward pass is any function of its tokens.
class TestNetwork final : public NetworkForecaster {
 public:
  using Function = std::function<void(std::span<const float> tokens, std::span<float> heads)>;

  TestNetwork(const ModelConfig& config, Function function)
      : NetworkForecaster("network", "for tests", "", config, 4), function_(std::move(function)) {}

 private:
  void Forward(std::span<const float> tokens, int windows, int, Workspace&,
               std::span<float> heads) const noexcept override {
    const std::size_t n = static_cast<std::size_t>(windows);
    const std::size_t in = tokens.size() / n, out = heads.size() / n;
    for (std::size_t i = 0; i < n; ++i) {
      function_(tokens.subspan(i * in, in), heads.subspan(i * out, out));
    }
  }
  Function function_;
};

// Every head depends on some tokens and every token matters to some heads.
inline void MixTokens(std::span<const float> tokens, std::span<float> heads) {
  for (std::size_t j = 0; j < heads.size(); ++j) {
    heads[j] = 0.1f * tokens[j % tokens.size()] - 0.05f * tokens[(7 * j + 3) % tokens.size()];
  }
}

inline std::unique_ptr<Forecaster> MakeTestNetwork() {
  return std::make_unique<TestNetwork>(ModelConfig{}, MixTokens);
}

inline std::vector<std::unique_ptr<Forecaster>> OneOfEach() {
  std::vector<std::unique_ptr<Forecaster>> all;
  for (const std::string_view name : ClassicalNames()) all.push_back(*MakeClassical(name));
  all.push_back(MakeTestRidge());
  all.push_back(MakeTestKnn());
  all.push_back(MakeTestNetwork());
  for (const OddNetwork& network : OddNetworks()) {
    LoadOptions options;
    options.name = network.name;
    all.push_back(*MakePackedForecaster(RandomModel(network.config, 1), options));
  }
  all.push_back(MakeCalibrated(*MakeClassical("imm"), MadeUpCalibration(50)));
  return all;
}

inline Forecast PredictOnce(const Forecaster& forecaster, const std::vector<Observation>& samples,
                            double noise_m = 0) {
  Forecast forecast(forecaster.info().shape);
  forecaster.Predict({"object", samples, noise_m}, *forecaster.MakeWorkspace(), forecast);
  return forecast;
}

// True when two forecasts agree in every bit that says where the object will be.
inline bool SameBits(const Forecast& a, const Forecast& b) {
  if (a.steps() != b.steps() || a.modes() != b.modes() || a.quality != b.quality ||
      a.t0_ns != b.t0_ns || a.residual_correlation != b.residual_correlation) {
    return false;
  }
  for (int i = 0; i < a.steps(); ++i) {
    if (!(a.point(i) == b.point(i))) return false;
    for (int k = 0; k < a.modes(); ++k) {
      if (!(a.mean(k, i) == b.mean(k, i) && a.cov(k, i) == b.cov(k, i))) return false;
    }
  }
  for (int k = 0; k < a.modes(); ++k) {
    if (a.weight(k) != b.weight(k)) return false;
  }
  const ConformalRegions &p = a.conformal, &q = b.conformal;
  if (p.level != q.level || p.radius != q.radius || p.tube != q.tube || p.shape != q.shape) {
    return false;
  }
  const DisplacementMixture &d = a.displacement, &e = b.displacement;
  return d.components == e.components && d.weight == e.weight && d.mean == e.mean &&
         d.sigma == e.sigma && d.anchor == e.anchor && d.sigma_floor_m == e.sigma_floor_m &&
         d.scale_m == e.scale_m;
}

}  // namespace aerocast
