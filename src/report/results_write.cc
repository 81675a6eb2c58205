// SPDX-License-Identifier: BSD-3-Clause
//
// Results -> JSON, in the order of docs/results_format.md.
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/eval/curves_json.h"
#include "src/report/results.h"

namespace aerocast {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

Json Numbers(std::span<const double> values) {
  Json array = Json::array();
  for (const double v : values) array.push_back(Number(v));
  return array;
}

Json NumbersOrNull(const std::vector<double>& values) {
  return values.empty() ? Json(nullptr) : Numbers(values);
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json Path(const std::vector<Vec3>& path) {
  Json array = Json::array();
  for (const Vec3& p : path) array.push_back({p.x, p.y, p.z});
  return array;
}

Json DisturbanceJson(const Disturbance& d) {
  if (d.none()) return nullptr;
  return {{"text", Describe(d)},    {"time_scale", d.time_scale},
          {"scale", d.scale},       {"yaw_deg", d.yaw_deg},
          {"noise_m", d.noise_m},   {"noise_stated", d.noise_stated},
          {"outliers", d.outliers}, {"drop", d.drop},
          {"seed", d.seed}};
}

Json ProtocolJson(const Protocol& p) {
  return {{"corpus",
           {{"name", p.corpus_name},
            {"hash", p.corpus_hash},
            {"flights", p.corpus_flights},
            {"min_z", p.min_z ? Json(*p.min_z) : Json(nullptr)}}},
          {"split", p.split},
          {"side", p.side},
          {"split_hash", TextOrNull(p.split_hash)},
          {"flights", p.flights},
          {"windows", p.windows},
          {"window",
           {{"history_s", p.window.history_s},
            {"min_history_s", p.window.min_history_s},
            {"horizon_s", p.window.horizon_s},
            {"dt_s", p.window.dt_s},
            {"stride", p.window.stride},
            {"max_gap_s", p.window.max_gap_s}}},
          {"subset", TextOrNull(p.subset)},
          {"disturbance", DisturbanceJson(p.disturbance)},
          {"draws", p.draws},
          {"path_samples", p.path_samples},
          {"seed", p.seed},
          {"interval",
           {{"level", p.interval_level},
            {"replicates", p.replicates},
            {"cluster", ClusterName(p.cluster)},
            {"clusters", p.clusters}}}};
}

Json MetricListJson() {
  Json list = Json::array();
  for (const MetricInfo& m : MetricList()) {
    const bool directed = m.better == Better::kLower || m.better == Better::kHigher;
    list.push_back(
        {{"key", m.key},
         {"name", m.name},
         {"unit", m.unit},
         {"space", m.space},
         {"of", m.of},
         {"lower_is_better", directed ? Json(m.better == Better::kLower) : Json(nullptr)},
         {"target", m.better == Better::kNearTarget ? Json(m.target) : Json(nullptr)},
         {"meaning", m.meaning}});
  }
  return list;
}

Json HorizonJson(const HorizonSummary& h) {
  Json conformal = nullptr;
  if (!h.conformal_level.empty()) {
    conformal = {{"level", Numbers(h.conformal_level)}, {"ball", Numbers(h.conformal_ball)}};
  }
  Json pit = nullptr;
  if (!h.pit[0].empty()) {
    pit = {{"along", Numbers(h.pit[0])},
           {"across", Numbers(h.pit[1])},
           {"vertical", Numbers(h.pit[2])}};
  }
  return {{"t_s", h.t_s},
          {"error", Number(h.error)},
          {"sharpness_90", Number(h.sharpness_90)},
          {"coverage",
           {{"level", Numbers(kCoverageLevels)},
            {"region", NumbersOrNull(h.region)},
            {"radial", NumbersOrNull(h.radial)},
            {"conformal", conformal}}},
          {"pit", pit}};
}

Json CalibrationJson(const std::vector<double>& empirical) {
  if (empirical.empty()) return nullptr;
  Json nominal = Json::array();
  for (int i = 0; i < kCalibrationLevels; ++i) nominal.push_back((i + 1) * 5 / 100.0);
  return {{"nominal", nominal}, {"empirical", Numbers(empirical)}};
}

Json GroupJson(const GroupSummary& g) {
  Json metrics = Json::object();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const MetricEstimate& e = g.metrics[m];
    metrics[std::string(MetricList()[m].key)] = {
        {"value", Number(e.value)}, {"low", Number(e.low)}, {"high", Number(e.high)}};
  }
  Json horizons = Json::array();
  for (const HorizonSummary& h : g.horizons) horizons.push_back(HorizonJson(h));
  return {{"kind", GroupKindName(g.kind)},
          {"name", g.name},
          {"flights", g.flights},
          {"windows", g.windows},
          {"scored", g.scored},
          {"clusters", g.clusters},
          {"metrics", metrics},
          {"error", Numbers(g.error)},
          {"horizons", horizons},
          {"calibration", CalibrationJson(g.calibration)},
          {"mode_use", NumbersOrNull(g.mode_use)}};
}

Json FlightJson(const TallyLayout& layout, const FlightTally& f) {
  const std::span<const double> cells = f.tally.metric;
  Json sums = Json::object();
  for (int i = 0; i < kMetricCount; ++i) {
    const auto m = static_cast<Metric>(i);
    const double n = cells[layout.count(m)];
    if (n > 0) sums[std::string(Info(m).key)] = {Number(cells[layout.sum(m)]), Number(n)};
  }
  Json calibration = Json::array();
  for (int h = 0; h < layout.horizons(); ++h) {
    calibration.push_back(Numbers(cells.subspan(layout.calibration(h), kCalibrationLevels + 1)));
  }
  return {{"flight", f.id},
          {"category", f.category},
          {"configuration", f.configuration},
          {"source", SourceName(f.source)},
          {"windows", f.tally.windows},
          {"scored", f.tally.scored},
          {"sums", sums},
          {"calibration", calibration},
          {"within_z", Numbers(cells.subspan(layout.paper_z(), kPaperZ + 1))},
          {"mode_use", Numbers(cells.subspan(layout.mode_use(), kMaxModes))}};
}

Json ModelJson(const TallyLayout& layout, const ModelResult& m) {
  Json quality = Json::object();
  for (std::size_t q = 0; q < kQualityCount; ++q) {
    quality[std::string(QualityName(static_cast<Quality>(q)))] = m.quality[q];
  }
  Json groups = Json::array();
  for (const GroupSummary& g : m.groups) groups.push_back(GroupJson(g));
  Json model = {{"name", m.model.name},
                {"description", m.model.description},
                {"fingerprint", m.model.fingerprint},
                {"fitted_on", m.model.fitted_on},
                {"quality", quality},
                {"missing", m.missing},
                {"seconds", m.seconds},
                {"groups", groups}};
  if (m.per_flight.empty()) return model;
  Json& rows = model["per_flight"] = Json::array();
  for (const FlightTally& f : m.per_flight) rows.push_back(FlightJson(layout, f));
  return model;
}

// Without the point path, which "points" has.
Json ExampleForecastJson(const ExampleForecast& f) {
  Json modes = Json::array();
  for (const ExampleMode& m : f.modes) {
    modes.push_back({{"weight", Number(m.weight)}, {"mean", Path(m.mean)}});
  }
  Json region = nullptr;
  if (f.region != RegionKind::kNone) {
    region = {{"from", RegionKindName(f.region)}, {"radius", Numbers(f.radius_90)}};
  }
  return {{"quality", QualityName(f.quality)}, {"modes", modes}, {"region_90", region}};
}

Json ExampleJson(const ExampleWindow& e) {
  Json points = Json::object(), forecasts = Json::object();
  for (const ExampleForecast& f : e.forecasts) {
    points[f.model] = Path(f.point);
    forecasts[f.model] = ExampleForecastJson(f);
  }
  return {{"flight", e.flight},         {"category", e.category},   {"t0", DurationS(e.t0_ns)},
          {"history", Path(e.history)}, {"target", Path(e.target)}, {"points", points},
          {"forecasts", forecasts}};
}

Json ComparisonJson(const Comparison& c) {
  return {{"a", c.a},
          {"b", c.b},
          {"metric", Info(c.metric).key},
          {"kind", GroupKindName(c.kind)},
          {"mean_a", Number(c.mean_a)},
          {"mean_b", Number(c.mean_b)},
          {"difference", Number(c.difference)},
          {"low", Number(c.low)},
          {"high", Number(c.high)},
          {"clusters", c.clusters}};
}

}  // namespace

std::string ResultsToJson(const Results& results) {
  const TallyLayout layout(results.protocol.window);
  Json models = Json::array(), examples = Json::array(), comparisons = Json::array();
  for (const ModelResult& m : results.models) models.push_back(ModelJson(layout, m));
  for (const ExampleWindow& e : results.examples) examples.push_back(ExampleJson(e));
  for (const Comparison& c : results.comparisons) comparisons.push_back(ComparisonJson(c));
  Json all = {{"format", "aerocast-evaluation"},
              {"version", 1},
              {"program", results.program},
              {"protocol", ProtocolJson(results.protocol)},
              {"metrics", MetricListJson()},
              {"models", models},
              {"examples", examples},
              {"comparisons", comparisons}};
  for (const TrainingCurve& c : results.curves) all["curves"].push_back(CurveJson(c));
  // Bytes that are no UTF-8 (a flight id may hold any) are replaced, never thrown at.
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aerocast
