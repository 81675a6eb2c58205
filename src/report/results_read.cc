// SPDX-License-Identifier: BSD-3-Clause
//
// JSON -> Results. Fields that are not known are ignored, so that later versions may add some.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/json_field.h"
#include "src/eval/curves_json.h"
#include "src/report/results.h"

namespace aerocast {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<Vec3> Path(const Field& f) {
  std::vector<Vec3> path;
  for (const Field& item : f.Items()) {
    const std::vector<double> p = item.Numbers();
    if (p.size() != 3) item.Fail("expected three numbers");
    path.push_back({p[0], p[1], p[2]});
  }
  return path;
}

// An element of `names` that f states.
template <typename Enum>
Enum OneOf(const Field& f, std::initializer_list<Enum> values, std::string_view (*name)(Enum)) {
  const std::string text = f.Text();
  for (const Enum v : values) {
    if (name(v) == text) return v;
  }
  f.Fail("unknown value \"" + text + "\"");
}

GroupKind ReadKind(const Field& f) {
  return OneOf(f,
               {GroupKind::kAll, GroupKind::kCategoryAverage, GroupKind::kCategory,
                GroupKind::kSource, GroupKind::kGroup},
               &GroupKindName);
}

WindowSpec ReadWindow(const Field& f) {
  WindowSpec w;
  w.history_s = (f / "history_s").Number(), w.min_history_s = (f / "min_history_s").Number();
  w.horizon_s = (f / "horizon_s").Number(), w.dt_s = (f / "dt_s").Number();
  w.stride = static_cast<int>((f / "stride").Integer());
  w.max_gap_s = (f / "max_gap_s").Number();
  if (const Status valid = Validate(w); !valid.ok()) f.Fail(valid.error().message);
  return w;
}

Disturbance ReadDisturbance(const Field& f) {
  Disturbance d;
  d.time_scale = (f / "time_scale").Number(), d.scale = (f / "scale").Number();
  d.yaw_deg = (f / "yaw_deg").Number();
  d.noise_m = (f / "noise_m").Number(), d.noise_stated = (f / "noise_stated").Flag();
  d.outliers = (f / "outliers").Number(), d.drop = (f / "drop").Number();
  d.seed = (f / "seed").Count();
  if (const Status valid = Validate(d); !valid.ok()) f.Fail(valid.error().message);
  return d;
}

Protocol ReadProtocol(const Field& f) {
  Protocol p;
  const Field corpus = f / "corpus", interval = f / "interval";
  p.corpus_name = (corpus / "name").Text(), p.corpus_hash = (corpus / "hash").Text();
  p.corpus_flights = (corpus / "flights").Integer();
  if (corpus.Has("min_z")) p.min_z = (corpus / "min_z").Number();
  p.split = (f / "split").Text(), p.side = (f / "side").Text();
  if (f.Has("split_hash")) p.split_hash = (f / "split_hash").Text();
  p.flights = (f / "flights").Integer(), p.windows = (f / "windows").Integer();
  p.window = ReadWindow(f / "window");
  if (f.Has("subset")) p.subset = (f / "subset").Text();
  if (f.Has("disturbance")) p.disturbance = ReadDisturbance(f / "disturbance");
  p.draws = static_cast<int>((f / "draws").Integer());
  p.path_samples = static_cast<int>((f / "path_samples").Integer());
  p.seed = static_cast<std::uint64_t>((f / "seed").Integer());
  p.interval_level = (interval / "level").Number();
  p.replicates = static_cast<int>((interval / "replicates").Integer());
  p.cluster =
      OneOf(interval / "cluster", {Cluster::kFlight, Cluster::kConfiguration}, &ClusterName);
  p.clusters = static_cast<int>((interval / "clusters").Integer());
  return p;
}

HorizonSummary ReadHorizon(const Field& f) {
  HorizonSummary h;
  h.t_s = (f / "t_s").Number(), h.error = (f / "error").NumberOrNone();
  h.sharpness_90 = (f / "sharpness_90").NumberOrNone();
  const Field coverage = f / "coverage";
  h.region = (coverage / "region").Numbers(), h.radial = (coverage / "radial").Numbers();
  if (coverage.Has("conformal")) {
    h.conformal_level = (coverage / "conformal" / "level").Numbers();
    h.conformal_ball = (coverage / "conformal" / "ball").Numbers();
  }
  if (f.Has("pit")) {
    const Field pit = f / "pit";
    h.pit = {(pit / "along").Numbers(), (pit / "across").Numbers(), (pit / "vertical").Numbers()};
  }
  return h;
}

GroupSummary ReadGroup(const Field& f) {
  GroupSummary g;
  g.kind = ReadKind(f / "kind"), g.name = (f / "name").Text();
  g.flights = (f / "flights").Integer(), g.windows = (f / "windows").Integer();
  g.scored = f.Has("scored") ? (f / "scored").Integer() : g.windows;
  g.clusters = f.Has("clusters") ? static_cast<int>((f / "clusters").Integer()) : 0;
  g.metrics.fill({kNone, kNone, kNone});
  const Field metrics = f / "metrics";
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const std::string key(MetricList()[m].key);
    if (!metrics.Has(key.c_str())) continue;
    const Field e = metrics / key.c_str();
    g.metrics[m] = {(e / "value").NumberOrNone(), (e / "low").NumberOrNone(),
                    (e / "high").NumberOrNone()};
  }
  g.error = (f / "error").Numbers();
  for (const Field& h : (f / "horizons").Items()) g.horizons.push_back(ReadHorizon(h));
  if (f.Has("calibration")) g.calibration = (f / "calibration" / "empirical").Numbers();
  g.mode_use = (f / "mode_use").Numbers();
  return g;
}

// Copies an array of exactly `size` numbers to `to`.
void ReadCells(const Field& f, std::size_t size, double* to) {
  const std::vector<double> values = f.Numbers();
  if (values.size() != size) f.Fail(fmt::format("expected {} numbers", size));
  std::copy(values.begin(), values.end(), to);
}

FlightTally ReadFlight(const TallyLayout& layout, const Field& f) {
  FlightTally row;
  row.id = (f / "flight").Text(), row.category = (f / "category").Text();
  row.configuration = (f / "configuration").Text();
  row.source = OneOf(f / "source", {Source::kReal, Source::kSynthetic}, &SourceName);
  row.tally = Tally(layout);
  row.tally.detail.clear();
  row.tally.windows = (f / "windows").Integer(), row.tally.scored = (f / "scored").Integer();
  std::vector<double>& cells = row.tally.metric;
  const Field sums = f / "sums";
  for (int i = 0; i < kMetricCount; ++i) {
    const auto m = static_cast<Metric>(i);
    const std::string key(Info(m).key);
    if (sums.Has(key.c_str())) ReadCells(sums / key.c_str(), 2, &cells[layout.sum(m)]);
  }
  const std::vector<Field> calibration = (f / "calibration").Items();
  if (calibration.size() != static_cast<std::size_t>(layout.horizons())) {
    (f / "calibration").Fail(fmt::format("expected {} horizons", layout.horizons()));
  }
  for (int h = 0; h < layout.horizons(); ++h) {
    ReadCells(calibration[static_cast<std::size_t>(h)], kCalibrationLevels + 1,
              &cells[layout.calibration(h)]);
  }
  ReadCells(f / "within_z", kPaperZ + 1, &cells[layout.paper_z()]);
  ReadCells(f / "mode_use", kMaxModes, &cells[layout.mode_use()]);
  return row;
}

ModelResult ReadModel(const TallyLayout& layout, const Field& f) {
  ModelResult m;
  m.model = {(f / "name").Text(), (f / "description").Text(), (f / "fingerprint").Text(),
             (f / "fitted_on").Text()};
  for (std::size_t q = 0; q < kQualityCount; ++q) {
    const std::string name(QualityName(static_cast<Quality>(q)));
    m.quality[q] = (f / "quality" / name.c_str()).Integer();
  }
  m.missing = f.Has("missing") ? (f / "missing").Integer() : 0;
  m.seconds = (f / "seconds").Number();
  for (const Field& g : (f / "groups").Items()) m.groups.push_back(ReadGroup(g));
  if (m.groups.empty()) (f / "groups").Fail("expected at least one group");
  if (!f.Has("per_flight")) return m;
  for (const Field& row : (f / "per_flight").Items()) {
    m.per_flight.push_back(ReadFlight(layout, row));
  }
  return m;
}

// Step by step, as long as the point path.
void CheckSteps(const Field& f, std::size_t steps, const ExampleForecast& e) {
  if (steps != e.point.size()) f.Fail(fmt::format("expected {} steps", e.point.size()));
}

void ReadExampleForecast(const Field& f, ExampleForecast& e) {
  e.quality = OneOf(f / "quality",
                    {Quality::kOk, Quality::kShortHistory, Quality::kOutOfDomain, Quality::kStale,
                     Quality::kFallback, Quality::kNone},
                    &QualityName);
  for (const Field& mode : (f / "modes").Items()) {
    e.modes.push_back({(mode / "weight").Number(), Path(mode / "mean")});
    CheckSteps(mode / "mean", e.modes.back().mean.size(), e);
  }
  if (!f.Has("region_90")) return;
  const Field region = f / "region_90";
  e.region = OneOf(region / "from", {RegionKind::kConformal, RegionKind::kDraws}, &RegionKindName);
  e.radius_90 = (region / "radius").Numbers();
  CheckSteps(region / "radius", e.radius_90.size(), e);
}

ExampleWindow ReadExample(const Field& f) {
  ExampleWindow e{(f / "flight").Text(), (f / "category").Text(), 0, {}, {}, {}};
  const double t0 = (f / "t0").Number();
  if (std::abs(t0) > 9e9) (f / "t0").Fail("expected seconds within 285 years of the origin");
  e.t0_ns = DurationNs(t0);
  e.history = Path(f / "history"), e.target = Path(f / "target");
  const Field points = f / "points";
  for (const auto& [model, path] : points.json().items()) {
    ExampleForecast forecast;
    forecast.model = model, forecast.quality = Quality::kOk;
    forecast.point = Path(points / model.c_str());
    // Files of before have point paths only.
    if (f.Has("forecasts") && (f / "forecasts").Has(model.c_str())) {
      ReadExampleForecast(f / "forecasts" / model.c_str(), forecast);
    }
    e.forecasts.push_back(std::move(forecast));
  }
  return e;
}

Comparison ReadComparison(const Field& f) {
  Comparison c;
  c.a = (f / "a").Text(), c.b = (f / "b").Text();
  const auto metric = MetricFromKey((f / "metric").Text());
  if (!metric) (f / "metric").Fail("unknown metric");
  c.metric = *metric;
  if (f.Has("kind")) c.kind = ReadKind(f / "kind");
  c.mean_a = (f / "mean_a").NumberOrNone(), c.mean_b = (f / "mean_b").NumberOrNone();
  c.difference = (f / "difference").NumberOrNone();
  c.low = (f / "low").NumberOrNone(), c.high = (f / "high").NumberOrNone();
  c.clusters = static_cast<int>((f / "clusters").Integer());
  return c;
}

Results ReadAll(const Field& f) {
  if ((f / "format").Text() != "aerocast-evaluation") {
    (f / "format").Fail("expected \"aerocast-evaluation\"");
  }
  if ((f / "version").Integer() != 1) (f / "version").Fail("this program reads version 1 only");
  Results r;
  r.program = (f / "program").Text(), r.protocol = ReadProtocol(f / "protocol");
  const TallyLayout layout(r.protocol.window);
  for (const Field& m : (f / "models").Items()) {
    ModelResult model = ReadModel(layout, m);
    if (r.Find(model.model.name) != nullptr) (m / "name").Fail("there twice");
    r.models.push_back(std::move(model));
  }
  for (const Field& e : (f / "examples").Items()) r.examples.push_back(ReadExample(e));
  for (const Field& c : (f / "comparisons").Items()) r.comparisons.push_back(ReadComparison(c));
  if (f.Has("curves")) {
    for (const Field& c : (f / "curves").Items()) r.curves.push_back(ReadCurve(c));
  }
  return r;
}

}  // namespace

Result<Results> ResultsFromJson(std::string_view json, const std::string& name) {
  const nlohmann::json root = nlohmann::json::parse(json, nullptr, false);
  if (root.is_discarded()) return Error{ErrorCode::kBadFormat, name + ": not valid JSON"};
  try {
    return ReadAll(Field(root, name));
  } catch (const JsonError& e) {
    return Error{ErrorCode::kBadFormat, e.what()};
  }
}

}  // namespace aerocast
