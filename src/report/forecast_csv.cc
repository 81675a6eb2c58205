// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/forecast_csv.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/text.h"

namespace aerocast {
namespace {

constexpr int kDecimals = 7;  // 0.1 micrometre, as recordings are written

// Quoted where a spreadsheet would stumble over it.
std::string CsvText(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void AppendTriple(const Vec3& v, std::string& out) {
  for (const double c : {v.x, v.y, v.z}) out += ',', AppendFixed(c, kDecimals, out);
}

}  // namespace

std::string ForecastCsvHeader() {
  return "id,t0,age,quality,step,t,x,y,z,sigma_x,sigma_y,sigma_z\n";
}

std::string FormatForecastCsv(const Forecast& forecast) {
  std::string begin = CsvText(forecast.id) + ',', rows;
  AppendSeconds(forecast.t0_ns, begin), begin += ',';
  AppendFixed(forecast.age_s, 9, begin);
  begin += fmt::format(",{},", QualityName(forecast.quality));
  for (int i = 0; i < forecast.steps(); ++i) {
    const Cov3 cov = forecast.mixture_cov(i);
    rows += begin + fmt::format("{},", i + 1);
    AppendSeconds(forecast.time_ns(i), rows);
    AppendTriple(forecast.point(i), rows);
    AppendTriple({std::sqrt(cov.xx), std::sqrt(cov.yy), std::sqrt(cov.zz)}, rows);
    rows += '\n';
  }
  return rows;
}

}  // namespace aerocast
