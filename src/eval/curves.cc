// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/curves.h"

#include <limits>

#include "src/eval/curves_json.h"

namespace aerocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "aerocast-curve";
constexpr std::uint64_t kVersion = 1;

// The fields of a point, for the writer, the reader and the list of known keys alike.
template <typename Point, typename Visitor>
void VisitPoint(Point& p, Visitor visit) {
  visit("windows", p.windows);
  visit("epochs", p.epochs);
  visit("seconds", p.seconds);
  visit("lr", p.lr);
  visit("history", p.history);
  visit("train_loss", p.train_loss);
  visit("train_nll", p.train_nll);
  visit("validation_nll", p.validation_nll);
  visit("validation_ade_m", p.validation_ade_m);
  visit("validation_ade_short_m", p.validation_ade_short_m);
  visit("best", p.best);
}

// Those of a curve, without its points.
template <typename Curve, typename Visitor>
void VisitCurve(Curve& c, Visitor visit) {
  visit("name", c.name);
  visit("note", c.note);
  visit("parameters", c.parameters);
  visit("train_windows", c.train_windows);
}

void Read(const Field& f, std::uint64_t& to) { to = f.Count(); }
void Read(const Field& f, double& to) { to = f.Number(); }
void Read(const Field& f, bool& to) { to = f.Flag(); }
void Read(const Field& f, std::string& to) { to = f.Text(); }
void Read(const Field& f, int& to) {
  constexpr int kMost = std::numeric_limits<int>::max();
  if (f.Count() > std::uint64_t{kMost}) f.Fail("expected at most " + std::to_string(kMost));
  to = static_cast<int>(f.Count());
}

CurvePoint ReadPoint(const Field& f) {
  CurvePoint point;
  VisitPoint(point, [&](const char* key, auto& value) { Read(f / key, value); });
  return point;
}

void CheckOrder(const Field& f, const CurvePoint& last, const CurvePoint& next) {
  if (next.windows < last.windows) {
    (f / "windows").Fail("expected no fewer than at the point before");
  }
  if (next.seconds < last.seconds) {
    (f / "seconds").Fail("expected no fewer than at the point before");
  }
}

void CheckKeys(const Field& f) {
  std::vector<std::string_view> keys = {"format", "version", "points"}, of_point;
  const TrainingCurve curve;
  const CurvePoint point;
  VisitCurve(curve, [&](const char* key, const auto&) { keys.push_back(key); });
  VisitPoint(point, [&](const char* key, const auto&) { of_point.push_back(key); });
  f.OnlyKeys(keys);
  for (const Field& item : (f / "points").Items()) item.OnlyKeys(of_point);
}

TrainingCurve ReadFile(const Field& f) {
  if ((f / "format").Text() != kFormat) (f / "format").Fail("expected \"aerocast-curve\"");
  if ((f / "version").Count() != kVersion)
    (f / "version").Fail("this program reads version 1 only");
  CheckKeys(f);
  return ReadCurve(f);
}

}  // namespace

Json CurveJson(const TrainingCurve& curve) {
  Json json;
  VisitCurve(curve, [&](const char* key, const auto& value) { json[key] = value; });
  Json& points = json["points"] = Json::array();
  for (const CurvePoint& p : curve.points) {
    VisitPoint(p, [&point = points.emplace_back()](const char* key, const auto& value) {
      point[key] = value;
    });
  }
  return json;
}

TrainingCurve ReadCurve(const Field& f) {
  TrainingCurve curve;
  VisitCurve(curve, [&](const char* key, auto& value) { Read(f / key, value); });
  const Field points = f / "points";
  if (points.is_null()) points.Fail("expected an array");
  for (const Field& item : points.Items()) {
    CurvePoint point = ReadPoint(item);
    if (!curve.points.empty()) CheckOrder(item, curve.points.back(), point);
    curve.points.push_back(point);
  }
  return curve;
}

std::string CurveToJson(const TrainingCurve& curve) {
  Json json = {{"format", kFormat}, {"version", kVersion}};
  json.update(CurveJson(curve));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TrainingCurve> CurveFromJson(std::string_view json, std::string_view where) {
  const std::string name(where);
  const nlohmann::json root = nlohmann::json::parse(json, nullptr, false);
  if (root.is_discarded()) return Error{ErrorCode::kBadFormat, name + ": not valid JSON"};
  try {
    return ReadFile(Field(root, name));
  } catch (const JsonError& e) {
    return Error{ErrorCode::kBadFormat, e.what()};
  }
}

}  // namespace aerocast
