// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/forecast_source.h"

#include <algorithm>
#include <utility>

namespace aerocast {
namespace {

class ForecasterReader final : public ForecastReader {
 public:
  explicit ForecasterReader(const Forecaster& forecaster)
      : forecaster_(forecaster), workspace_(forecaster.MakeWorkspace()) {}

  bool Read(const Recording&, std::size_t, const History& history, Forecast& forecast) override {
    forecaster_.Predict(history, *workspace_, forecast);
    return true;
  }

 private:
  const Forecaster& forecaster_;
  std::unique_ptr<Workspace> workspace_;
};

class ForecasterSource final : public ForecastSource {
 public:
  ForecasterSource(const Forecaster& forecaster, std::string fitted_on)
      : forecaster_(forecaster),
        info_{forecaster.info().name, forecaster.info().description, forecaster.info().fingerprint,
              std::move(fitted_on)} {}

  const SourceInfo& info() const override { return info_; }
  ForecastShape shape() const override { return forecaster_.info().shape; }
  double dt_s() const override { return forecaster_.info().dt_s; }
  std::unique_ptr<ForecastReader> MakeReader() const override {
    return std::make_unique<ForecasterReader>(forecaster_);
  }

 private:
  const Forecaster& forecaster_;
  SourceInfo info_;
};

}  // namespace

ForecastShape RoomFor(const ForecastSource& source) {
  ForecastShape shape = source.shape();
  shape.modes = std::max(1, shape.modes);
  return shape;
}

std::unique_ptr<ForecastSource> MakeForecasterSource(const Forecaster& forecaster,
                                                     std::string fitted_on) {
  return std::make_unique<ForecasterSource>(forecaster, std::move(fitted_on));
}

}  // namespace aerocast
