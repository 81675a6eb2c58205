// SPDX-License-Identifier: BSD-3-Clause
#include "src/forecast/imm.h"

#include <gtest/gtest.h>

#include "aerocast/classical.h"
#include "src/base/rng.h"
#include "src/data/test_flight.h"

namespace aerocast {
namespace {

// Error of imm's point path three seconds ahead, mean over flights observed with this noise.
double MeanError(double sigma, double stated, double rate_hz) {
  const auto imm = MakeClassical("imm").value();
  const auto workspace = imm->MakeWorkspace();
  Forecast forecast(imm->info().shape);
  double sum = 0;
  constexpr int kFlights = 40;
  for (int n = 0; n < kFlights; ++n) {
    Rng rng(3, static_cast<std::uint64_t>(n));
    const auto path = [](double t) { return Vec3{4 * t, 1 + t, 20}; };
    const Recording flight = MakeFlight(2, rate_hz, [&](double t) {
      return path(t) + sigma * Vec3{rng.Normal(), rng.Normal(), rng.Normal()};
    });
    imm->Predict({"a", flight.samples, stated}, *workspace, forecast);
    sum += Norm(forecast.point(29) - path(5));
  }
  return sum / kFlights;
}

TEST(Imm, DoesAboutAsWellWithUnknownNoiseAsWithStated) {
  for (const double rate_hz : {10.0, 50.0}) {
    for (const double sigma : {0.01, 0.05}) {
      EXPECT_LT(MeanError(sigma, 0, rate_hz), 1.5 * MeanError(sigma, sigma, rate_hz) + 0.02)
          << rate_hz << " Hz, " << sigma << " m";
    }
  }
}

TEST(Imm, IsWorseWhenNoiseIsStatedFarTooSmall) {
  // What taking unknown for none would cost: the reason for estimating it.
  EXPECT_GT(MeanError(0.05, 1e-3, 10), 1.5 * MeanError(0.05, 0, 10));
}

}  // namespace
}  // namespace aerocast
