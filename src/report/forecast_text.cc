// SPDX-License-Identifier: BSD-3-Clause
//
// One forecast <-> one line of JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/json_field.h"
#include "src/base/planted_bug.h"
#include "src/base/text.h"
#include "src/report/forecast_lines.h"

namespace aerocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWeightTolerance = 1e-6;
constexpr double kFarthest = 1e9, kLeastSigma = 1e-9;  // metres; beyond them scores lose digits
constexpr double kLeastRatio = 1e-7;  // of a covariance's axes; scores are in single precision
constexpr int kMostSteps = 1000, kMostComponents = 64, kMostLevels = 64;

std::size_t Size(int i) { return static_cast<std::size_t>(i); }

Json Triple(const Vec3& v) { return {v.x, v.y, v.z}; }

Json DisplacementJson(const DisplacementMixture& d, int steps) {
  Json weight = Json::array(), mean = Json::array(), sigma = Json::array();
  for (std::size_t i = 0; i < Size(steps); ++i) {
    Json w = Json::array(), m = Json::array(), s = Json::array();
    for (std::size_t k = i * Size(d.components); k < (i + 1) * Size(d.components); ++k) {
      w.push_back(d.weight[k]), m.push_back(Triple(d.mean[k])), s.push_back(Triple(d.sigma[k]));
    }
    weight.push_back(w), mean.push_back(m), sigma.push_back(s);
  }
  return {{"anchor", Triple(d.anchor)},
          {"scale", d.scale_m},
          {"sigma_floor", d.sigma_floor_m},
          {"w", weight},
          {"mean", mean},
          {"sigma", sigma}};
}

Json ConformalJson(const ConformalRegions& c, int steps) {
  Json radius = Json::array();
  for (std::size_t l = 0; l < c.level.size(); ++l) {
    const auto begin = c.radius.begin() + static_cast<std::ptrdiff_t>(l * Size(steps));
    radius.push_back(std::vector<double>(begin, begin + steps));
  }
  Json out = {{"level", c.level}, {"radius", radius}};
  if (!c.tube.empty()) out["tube"] = c.tube, out["shape"] = c.shape;
  return out;
}

TimeNs ReadT0(const Field& f, std::string_view line) {
  const Field t0 = f / "t0";
  t0.Number();  // refuses what is no number
  const auto exact = ParseSeconds(TopLevelNumber(line, "t0"));
  if (!exact) t0.Fail("expected seconds within 285 years of the origin");
  return *exact;
}

Vec3 ReadTriple(const Field& f) {
  const std::vector<double> v = f.Numbers();
  if (v.size() != 3) f.Fail("expected [x, y, z]");
  for (const double c : v) {
    if (std::abs(c) > kFarthest) f.Fail("expected metres, at most 1e9 from the origin");
  }
  return {v[0], v[1], v[2]};
}

// Element i of an array as [x, y, z]. Lines hold thousands of them, so the field with its path is
// made only to say what is wrong.
Vec3 TripleAt(const Field& f, std::size_t i) {
  const nlohmann::json& row = f.json()[i];
  if (row.is_array() && row.size() == 3 && row[0].is_number() && row[1].is_number() &&
      row[2].is_number()) {
    const Vec3 v = {row[0].get<double>(), row[1].get<double>(), row[2].get<double>()};
    if (std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}) <= kFarthest) return v;
  }
  return ReadTriple(f.Item(i));
}

// An array of exactly `count` elements.
Field ArrayOf(Field f, int count, const char* what) {
  if (!f.json().is_array()) f.Fail("expected an array");
  if (f.size() != Size(count) && !kPlantedBug) {
    f.Fail(fmt::format("expected {} {}, there are {}", count, what, f.size()));
  }
  return f;
}

// Makes weights that sum to 1 within the tolerance do so exactly.
void Normalise(const Field& where, std::span<double> weight) {
  double sum = 0;
  for (const double w : weight) {
    if (w < 0) where.Fail("weights must not be negative");
    sum += w;
  }
  if (!(std::abs(sum - 1) <= kWeightTolerance)) {
    where.Fail(fmt::format("weights sum to {}, not to 1", sum));
  }
  for (double& w : weight) w /= sum;
}

Cov3 CovarianceAt(const Field& f, std::size_t i) {
  const nlohmann::json& row = f.json()[i];
  if (!row.is_array() || row.size() != 6) f.Item(i).Fail("expected [xx, xy, xz, yy, yz, zz]");
  std::array<double, 6> c;
  for (std::size_t n = 0; n < c.size(); ++n) {
    if (!row[n].is_number()) f.Item(i).Fail("expected finite numbers only");
    c[n] = row[n].get<double>();
  }
  const Cov3 cov = {c[0], c[1], c[2], c[3], c[4], c[5]};
  const Cholesky3 l(cov);
  if (!l.ok) f.Item(i).Fail("the covariance is not positive definite");
  if (std::min({l.l00, l.l11, l.l22}) < kLeastSigma || std::max({c[0], c[3], c[5]}) > 1e18) {
    f.Item(i).Fail("expected sigmas of 1e-9 to 1e9 m");
  }
  if (std::min({l.l00, l.l11, l.l22}) < kLeastRatio * std::sqrt(std::max({c[0], c[3], c[5]}))) {
    f.Item(i).Fail(
        "the covariance is too elongated: its narrowest axis is below 1e-7 of the widest");
  }
  return cov;
}

void ReadModes(const Field& modes, Forecast& forecast) {
  const int steps = forecast.steps();
  std::vector<double> weight(Size(forecast.modes()));
  for (int k = 0; k < forecast.modes(); ++k) {
    const Field mode = modes.Item(Size(k));
    weight[Size(k)] = (mode / "w").Number();
    const Field mean = ArrayOf(mode / "mean", steps, "steps");
    const Field cov = ArrayOf(mode / "cov", steps, "steps");
    for (int i = 0; i < steps; ++i) {
      forecast.mean(k, i) = TripleAt(mean, Size(i));
      forecast.cov(k, i) = CovarianceAt(cov, Size(i));
    }
  }
  Normalise(modes, weight);
  for (int k = 0; k < forecast.modes(); ++k) forecast.weight(k) = weight[Size(k)];
}

void ReadDisplacement(const Field& f, Forecast& forecast) {
  DisplacementMixture& d = forecast.displacement;
  const std::size_t n = Size(d.components);
  d.anchor = ReadTriple(f / "anchor");
  d.scale_m = (f / "scale").Number(), d.sigma_floor_m = (f / "sigma_floor").Number();
  if (!(d.scale_m > 0)) (f / "scale").Fail("expected a positive number");
  const Field w = ArrayOf(f / "w", forecast.steps(), "steps");
  const Field mean = ArrayOf(f / "mean", forecast.steps(), "steps");
  const Field sigma = ArrayOf(f / "sigma", forecast.steps(), "steps");
  for (std::size_t i = 0; i < Size(forecast.steps()); ++i) {
    const std::vector<double> weight = w.Item(i).Numbers();
    if (weight.size() != n) w.Item(i).Fail(fmt::format("expected {} weights", n));
    std::copy(weight.begin(), weight.end(), d.weight.begin() + static_cast<std::ptrdiff_t>(i * n));
    Normalise(w.Item(i), std::span(d.weight).subspan(i * n, n));
    const Field means = ArrayOf(mean.Item(i), d.components, "components");
    const Field sigmas = ArrayOf(sigma.Item(i), d.components, "components");
    for (std::size_t k = 0; k < n; ++k) {
      d.mean[i * n + k] = TripleAt(means, k);
      const Vec3 s = d.sigma[i * n + k] = TripleAt(sigmas, k);
      if (!(std::min({s.x, s.y, s.z}) >= kLeastSigma)) {
        sigmas.Item(k).Fail("expected sigmas of 1e-9 to 1e9 m");
      }
    }
  }
}

void CheckRadii(const Field& f, const std::vector<double>& radii, std::size_t count) {
  if (radii.size() != count) f.Fail(fmt::format("expected {} numbers", count));
  for (const double r : radii) {
    if (r < 0) f.Fail("radii must not be negative");
  }
}

void ReadConformal(const Field& f, Forecast& forecast) {
  ConformalRegions& c = forecast.conformal;
  c.level = (f / "level").Numbers();
  for (const double level : c.level) {
    if (!(level > 0 && level < 1)) (f / "level").Fail("levels must be between 0 and 1");
  }
  c.radius.clear(), c.tube.clear(), c.shape.clear();
  const Field radius = ArrayOf(f / "radius", static_cast<int>(c.level.size()), "levels");
  for (const Field& row : radius.Items()) {
    const std::vector<double> r = row.Numbers();
    CheckRadii(row, r, Size(forecast.steps()));
    c.radius.insert(c.radius.end(), r.begin(), r.end());
  }
  if (!f.Has("tube")) return;
  c.tube = (f / "tube").Numbers(), c.shape = (f / "shape").Numbers();
  CheckRadii(f / "tube", c.tube, c.level.size());
  CheckRadii(f / "shape", c.shape, Size(forecast.steps()));
}

int CountOf(const Field& f, int most, const char* what) {
  if (!f.json().is_array()) f.Fail("expected an array");
  if (f.size() > Size(most)) f.Fail(fmt::format("at most {} {}", most, what));
  return static_cast<int>(f.size());
}

Quality ReadQuality(const Field& f) {
  const std::string name = f.Text();
  for (int q = 0; q <= static_cast<int>(Quality::kNone); ++q) {
    if (QualityName(static_cast<Quality>(q)) == name) return static_cast<Quality>(q);
  }
  f.Fail("unknown quality \"" + Printable(name.substr(0, 60)) + "\"");
}

// Steps, modes, components and levels of a line.
ForecastShape ReadShape(const Field& f) {
  ForecastShape shape;
  shape.steps = CountOf(f / "point", kMostSteps, "steps");
  if (shape.steps == 0) (f / "point").Fail("expected at least one step");
  shape.modes = f.Has("modes") ? CountOf(f / "modes", kMaxModes, "modes") : 0;
  if (f.Has("displacement")) {
    const Field steps = ArrayOf(f / "displacement" / "w", shape.steps, "steps");
    shape.displacement_components = CountOf(steps.Item(0), kMostComponents, "components");
    if (shape.displacement_components == 0) steps.Fail("expected at least one component");
    if (shape.modes == 0) f.Fail("a displacement mixture needs modes as well");
  }
  if (f.Has("conformal")) {
    shape.conformal_levels = CountOf(f / "conformal" / "level", kMostLevels, "levels");
  }
  return shape;
}

void ReadForecast(const Field& f, std::string_view line, Forecast& forecast) {
  const std::string id = (f / "id").Text();
  const TimeNs t0 = ReadT0(f, line);
  const Quality quality = f.Has("quality") ? ReadQuality(f / "quality") : Quality::kOk;
  const double dt = f.Has("dt") ? (f / "dt").Number() : 0.1;
  if (!(dt > 0)) (f / "dt").Fail("expected a positive number");
  if (quality == Quality::kNone) return forecast.MakeNone(id, t0, dt);
  forecast.Reset(ReadShape(f), id, t0, dt);
  forecast.quality = quality;
  forecast.age_s = f.Has("age") ? (f / "age").Number() : 0;
  if (!(forecast.age_s >= 0)) (f / "age").Fail("expected seconds, not negative");
  if (f.Has("residual_correlation")) {
    forecast.residual_correlation = (f / "residual_correlation").Number();
    if (!(forecast.residual_correlation >= 0 && forecast.residual_correlation <= 1)) {
      (f / "residual_correlation").Fail("expected a number from 0 to 1");
    }
  }
  const Field point = f / "point";
  for (int i = 0; i < forecast.steps(); ++i) forecast.point(i) = TripleAt(point, Size(i));
  if (forecast.modes() > 0) ReadModes(f / "modes", forecast);
  if (forecast.displacement.present()) ReadDisplacement(f / "displacement", forecast);
  if (f.Has("conformal")) ReadConformal(f / "conformal", forecast);
}

}  // namespace

std::string FormatForecast(const Forecast& forecast) {
  Json j = {{"id", forecast.id}, {"t0", nullptr}, {"dt", forecast.dt_s}};
  j["quality"] = QualityName(forecast.quality), j["age"] = forecast.age_s;
  if (forecast.steps() > 0) {
    Json& point = j["point"] = Json::array();
    for (const Vec3& p : forecast.point_path()) point.push_back(Triple(p));
  }
  if (forecast.modes() > 0) {
    Json& modes = j["modes"] = Json::array();
    for (int k = 0; k < forecast.modes(); ++k) {
      Json mean = Json::array(), cov = Json::array();
      for (int i = 0; i < forecast.steps(); ++i) {
        const Cov3& c = forecast.cov(k, i);
        mean.push_back(Triple(forecast.mean(k, i)));
        cov.push_back({c.xx, c.xy, c.xz, c.yy, c.yz, c.zz});
      }
      modes.push_back({{"w", forecast.weight(k)}, {"mean", mean}, {"cov", cov}});
    }
    j["residual_correlation"] = forecast.residual_correlation;
  }
  if (forecast.displacement.present()) {
    j["displacement"] = DisplacementJson(forecast.displacement, forecast.steps());
  }
  if (forecast.conformal.present()) {
    j["conformal"] = ConformalJson(forecast.conformal, forecast.steps());
  }
  std::string line = j.dump(-1, ' ', false, Json::error_handler_t::replace), t0 = "\"t0\":";
  // The first occurrence: only the id comes before it, and inside a string its quotes are escaped.
  const std::size_t at = line.find("\"t0\":null");
  AppendSeconds(forecast.t0_ns, t0);
  return line.substr(0, at) + t0 + line.substr(at + 9);
}

Status ParseForecast(std::string_view line, Forecast& forecast) {
  const nlohmann::json root = nlohmann::json::parse(line, nullptr, false);
  if (root.is_discarded()) return Error{ErrorCode::kBadFormat, "not valid JSON"};
  try {
    ReadForecast(Field(root, "forecast"), line, forecast);
  } catch (const JsonError& e) {
    return Error{ErrorCode::kBadFormat, e.what()};
  }
  return {};
}

}  // namespace aerocast
