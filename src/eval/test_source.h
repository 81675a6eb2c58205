// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: flights whose future is known in distribution, and a source that forecasts it.
//
// A "white" flight has a fresh draw from a fixed mixture at every 0.1 s. The forecast that states
// this mixture at every step is then exactly right, whatever the window.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/rng.h"
#include "src/data/windows.h"
#include "src/eval/forecast_source.h"

namespace aerocast::testing {

struct TestMixture {
  std::vector<double> weight = {1};
  std::vector<Vec3> mean = {{0, 0, 0}};
  std::vector<Cov3> cov = {Cov3::Isotropic(1)};

  Vec3 Draw(Rng& rng) const {
    double u = rng.Uniform();
    std::size_t k = 0;
    while (k + 1 < weight.size() && u >= weight[k]) u -= weight[k++];
    const double a = rng.Normal(), b = rng.Normal(), c = rng.Normal();
    return mean[k] + Cholesky3(cov[k]).Apply({a, b, c});
  }
};

inline TestMixture TwoHills() {
  return {{0.7, 0.3},
          {{0, 0, 0}, {3, 1, -1}},
          {Cov3{1, 0.3, 0, 0.5, 0.1, 0.2}, Cov3::Diagonal(0.1, 2, 0.5)}};
}

inline Recording WhiteFlight(const std::string& id, const std::string& category,
                             const TestMixture& mixture, int windows, std::uint64_t seed) {
  Rng rng(seed);
  Recording flight;
  flight.id = id, flight.category = category;
  for (int i = 0; i < windows + 70; ++i) {
    flight.samples.push_back({TimeNs{100'000'000} * i, mixture.Draw(rng)});
  }
  return flight;
}

inline std::vector<FlightWindows> CutAll(const std::vector<Recording>& recordings,
                                         const WindowSpec& spec = {}) {
  std::vector<FlightWindows> flights;
  for (const Recording& r : recordings) flights.push_back({&r, CutWindows(r, spec)});
  return flights;
}

// A source whose forecasts a function fills; the function returns false for "no forecast".
class FunctionSource final : public ForecastSource {
 public:
  using Fill = std::function<bool(const Recording&, std::size_t, const History&, Forecast&)>;

  FunctionSource(ForecastShape shape, Fill fill) : shape_(shape), fill_(std::move(fill)) {}
  const SourceInfo& info() const override { return info_; }
  ForecastShape shape() const override { return shape_; }
  double dt_s() const override { return 0.1; }
  std::unique_ptr<ForecastReader> MakeReader() const override {
    return std::make_unique<Reader>(*this);
  }
  SourceInfo info_{"function", "for tests", "", ""};

 private:
  struct Reader final : ForecastReader {
    explicit Reader(const FunctionSource& s) : source(s) {}
    bool Read(const Recording& flight, std::size_t i, const History& history,
              Forecast& forecast) override {
      forecast.Reset(source.shape_, flight.id, flight.samples[i].t_ns, 0.1);
      return source.fill_(flight, i, history, forecast);
    }
    const FunctionSource& source;
  };

  ForecastShape shape_;
  Fill fill_;
};

// States `mixture`, spread `stretch` times as wide, at every step.
inline FunctionSource MixtureSource(const TestMixture& mixture, double stretch = 1) {
  const int modes = static_cast<int>(mixture.weight.size());
  return {{.steps = 50, .modes = modes},
          [=](const Recording&, std::size_t, const History&, Forecast& forecast) {
            for (int k = 0; k < modes; ++k) {
              const auto n = static_cast<std::size_t>(k);
              forecast.weight(k) = mixture.weight[n];
              for (int i = 0; i < forecast.steps(); ++i) {
                forecast.mean(k, i) = mixture.mean[n];
                forecast.cov(k, i) = mixture.cov[n] * (stretch * stretch);
              }
            }
            for (int i = 0; i < forecast.steps(); ++i) forecast.point(i) = forecast.mixture_mean(i);
            return true;
          }};
}

}  // namespace aerocast::testing
