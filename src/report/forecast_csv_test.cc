// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/forecast_csv.h"

#include <gtest/gtest.h>

namespace aerocast {
namespace {

TEST(FormatForecastCsv, HasOneRowPerStepWithTheSpreadOfTheMixture) {
  Forecast f;
  f.Reset({.steps = 2, .modes = 2}, "a,\"b\"", 1'250'000'000, 0.1);
  f.quality = Quality::kStale, f.age_s = 0.75;
  for (int i = 0; i < 2; ++i) {
    f.point(i) = {1.0 + i, -2, 0};
    for (int k = 0; k < 2; ++k) {
      f.weight(k) = 0.5;
      f.mean(k, i) = {k == 0 ? -3.0 : 3.0, 0, 0};
      f.cov(k, i) = Cov3::Diagonal(16, 4, 0.25);
    }
  }
  EXPECT_EQ(ForecastCsvHeader() + FormatForecastCsv(f),
            "id,t0,age,quality,step,t,x,y,z,sigma_x,sigma_y,sigma_z\n"
            "\"a,\"\"b\"\"\",1.25,0.75,stale,1,1.35,1,-2,0,5,2,0.5\n"
            "\"a,\"\"b\"\"\",1.25,0.75,stale,2,1.45,2,-2,0,5,2,0.5\n");
}

TEST(FormatForecastCsv, HasNoRowWithoutAForecast) {
  Forecast f;
  f.MakeNone("a", 0);
  EXPECT_EQ(FormatForecastCsv(f), "");
}

}  // namespace
}  // namespace aerocast
