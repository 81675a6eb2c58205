// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/calibration.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "aerocast/forecast.h"
#include "src/base/text.h"
#include "src/model/json_object.h"
#include "src/model/model_file.h"
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

constexpr std::size_t kMostKnots = 16;
constexpr std::array<const char*, 3> kScaleFields = {"scale_along", "scale_across",
                                                     "scale_vertical"};

std::string ListText(const std::vector<double>& numbers) {
  std::string list = "[";
  for (const double number : numbers) list += (list.size() > 1 ? "," : "") + JsonText(number);
  return list + "]";
}

// "'tube' holds 7e+09, expected 0 to 1e+06", or nothing.
std::string RangeComplaint(const std::string& field, std::span<const double> numbers, double low,
                           double high) {
  for (const double number : numbers) {
    if (number >= low && number <= high) continue;
    return "'" + field + "' holds " + JsonText(number) + ", expected " + JsonText(low) + " to " +
           JsonText(high);
  }
  return "";
}

std::string SizeComplaint(const std::string& field, std::size_t size, std::size_t expected) {
  if (size == expected) return "";
  return "'" + field + "' has " + std::to_string(size) + " numbers, expected " +
         std::to_string(expected);
}

bool Ascends(std::span<const double> numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
         numbers.end();
}

std::string FirstOf(std::initializer_list<std::string> complaints) {
  for (const std::string& complaint : complaints) {
    if (!complaint.empty()) return complaint;
  }
  return "";
}

std::string ScaleComplaint(const Calibration& c) {
  if (c.knot_s.empty() || c.knot_s.size() > kMostKnots) {
    return "'knot_s' has " + std::to_string(c.knot_s.size()) + " numbers, expected 1 to " +
           std::to_string(kMostKnots);
  }
  std::string complaint = RangeComplaint("knot_s", c.knot_s, 1e-3, 1e4);
  if (complaint.empty() && !Ascends(c.knot_s)) complaint = "'knot_s' does not ascend";
  for (std::size_t d = 0; d < 3 && complaint.empty(); ++d) {
    complaint = FirstOf({SizeComplaint(kScaleFields[d], c.scale[d].size(), c.knot_s.size()),
                         RangeComplaint(kScaleFields[d], c.scale[d], 0.01, 100)});
  }
  return complaint;
}

std::string TailComplaint(const Calibration& c, int modes) {
  const std::string complaint =
      FirstOf({RangeComplaint("temperature", {&c.temperature, 1}, 0.05, 20),
               RangeComplaint("tail_share", {&c.tail_share, 1}, 0, 0.5),
               RangeComplaint("tail_factor", {&c.tail_factor, 1}, 1, 20)});
  if (!complaint.empty()) return complaint;
  if (c.tail_share == 0 && c.tail_factor != 1) {
    return "'tail_factor' is " + JsonText(c.tail_factor) + ", expected 1.0 without a 'tail_share'";
  }
  if (c.tail_share == 0 || 2 * modes <= kMaxModes) return "";
  return "'tail_share' is " + JsonText(c.tail_share) + ", expected 0.0 for " +
         std::to_string(modes) + " modes: they would become more than " + std::to_string(kMaxModes);
}

std::string SlopeComplaint(const std::string& name, const SpreadSlope& s) {
  const std::string complaint = FirstOf({RangeComplaint(name + "_slope", {&s.slope, 1}, -1, 1),
                                         RangeComplaint(name + "_low", {&s.low, 1}, -20, 20),
                                         RangeComplaint(name + "_high", {&s.high, 1}, -20, 20)});
  if (!complaint.empty() || s.low <= s.high) return complaint;
  return "'" + name + "_low' is above '" + name + "_high'";
}

std::string LevelComplaint(const Calibration& c) {
  if (c.level.size() > kMostConformalLevels) {
    return "'level' has " + std::to_string(c.level.size()) + " numbers, expected at most " +
           std::to_string(kMostConformalLevels);
  }
  const std::string complaint = RangeComplaint("level", c.level, 0.01, 0.9999);
  if (!complaint.empty()) return complaint;
  if (!Ascends(c.level)) return "'level' does not ascend";
  for (const double level : c.level) {
    if (EnoughFlights(c.origin.flight_count, level)) continue;
    return "'level' holds " + JsonText(level) + ", which needs " +
           std::to_string(FlightsNeeded(level)) + " flights, 'flight_count' is " +
           std::to_string(c.origin.flight_count);
  }
  return "";
}

// Regions of a higher level hold those of a lower one.
std::string RegionComplaint(const Calibration& c, std::size_t steps) {
  const std::size_t levels = c.level.size();
  const std::string complaint =
      FirstOf({SizeComplaint("radius", c.radius.size(), levels * steps),
               SizeComplaint("tube", c.tube.size(), levels),
               SizeComplaint("shape", c.shape.size(), levels ? steps : 0),
               RangeComplaint("radius", c.radius, 0, 1e6), RangeComplaint("tube", c.tube, 0, 1e6),
               RangeComplaint("shape", c.shape, 1e-6, 1e6)});
  if (!complaint.empty()) return complaint;
  for (std::size_t i = steps; i < c.radius.size(); ++i) {
    if (c.radius[i] < c.radius[i - steps])
      return "'radius' of a level is below that of a lower one";
  }
  if (!std::is_sorted(c.tube.begin(), c.tube.end())) return "'tube' descends";
  return "";
}

std::string ResidualComplaint(const Calibration& c, std::size_t steps) {
  if (!(c.residual_correlation >= 0 && c.residual_correlation <= 1)) {
    return "'residual_correlation' is " + JsonText(c.residual_correlation) + ", expected 0 to 1";
  }
  if (c.residual_paths < 0 || c.residual_paths > kMostResidualPaths) {
    return "'residual_paths' is " + std::to_string(c.residual_paths) + ", expected 0 to " +
           std::to_string(kMostResidualPaths);
  }
  const std::size_t expected = static_cast<std::size_t>(c.residual_paths) * steps * 3;
  for (const float r : c.residuals) {
    if (!(std::abs(r) <= 1e3f)) return "a residual is beyond 1000 times the spread";
  }
  return SizeComplaint("residuals", c.residuals.size(), expected);
}

std::string DomainComplaint(const Calibration& c) {
  return FirstOf({RangeComplaint("domain_limit", {&c.domain_limit, 1}, 0, 1e3),
                  RangeComplaint("domain_mean", c.domain_mean, -10, 10),
                  RangeComplaint("domain_sigma", c.domain_sigma, 1e-3, 10)});
}

void ReadThree(JsonFields& fields, std::string_view key, std::array<double, 3>& to) {
  const std::vector<double> numbers = fields.Numbers(key);
  if (numbers.size() != to.size()) return fields.Refuse(key, "three numbers");
  std::copy(numbers.begin(), numbers.end(), to.begin());
}

void AddSlope(const std::string& name, const SpreadSlope& s, JsonObject& json) {
  json.Add(name + "_high", s.high);
  json.Add(name + "_low", s.low);
  json.Add(name + "_slope", s.slope);
}

void ReadSlope(JsonFields& fields, const std::string& name, SpreadSlope& s) {
  s.high = fields.Number(name + "_high");
  s.low = fields.Number(name + "_low");
  s.slope = fields.Number(name + "_slope");
}

std::string OriginComplaint(const CalibrationOrigin& origin) {
  for (const std::string& key : origin.flights) {
    if (key.empty() || key.find(' ') != key.npos) {
      return "'flights' has '" + Printable(key) + "', expected keys without spaces";
    }
  }
  if (origin.flight_count < 1) return "'flight_count' is 0, expected at least 1";
  if (origin.flight_count > 1'000'000) return "'flight_count' is beyond a million";
  if (origin.histories_s.empty() || origin.histories_s.size() > kMostHistories) {
    return "'histories_s' has " + std::to_string(origin.histories_s.size()) +
           " numbers, expected 1 to " + std::to_string(kMostHistories);
  }
  return RangeComplaint("histories_s", origin.histories_s, 0, 1e4);
}

}  // namespace

bool EnoughFlights(std::uint64_t flights, double level) {
  const auto n = static_cast<double>(flights);
  return (n + 1) * level <= n + 1e-9;
}

std::uint64_t FlightsNeeded(double level) {
  auto n = static_cast<std::uint64_t>(std::max(0.0, level / (1 - level) - 1));
  while (!EnoughFlights(n, level)) ++n;
  return n;
}

std::string CalibrationComplaint(const Calibration& c, int steps, int modes) {
  const auto s = static_cast<std::size_t>(steps);
  return FirstOf({ScaleComplaint(c), TailComplaint(c, modes), SlopeComplaint("vague", c.vague),
                  SlopeComplaint("seen", c.seen), OriginComplaint(c.origin), LevelComplaint(c),
                  RegionComplaint(c, s), DomainComplaint(c), ResidualComplaint(c, s)});
}

std::string ToJson(const Calibration& c) {
  JsonObject json;
  json.Add("corpus_hash", c.origin.corpus_hash);
  json.Add("corpus_name", c.origin.corpus_name);
  json.Add("domain_limit", c.domain_limit);
  json.AddJson("domain_mean", ListText({c.domain_mean.begin(), c.domain_mean.end()}));
  json.AddJson("domain_sigma", ListText({c.domain_sigma.begin(), c.domain_sigma.end()}));
  json.Add("flight_count", c.origin.flight_count);
  json.Add("flights", JoinKeys(c.origin.flights));
  json.AddJson("histories_s", ListText(c.origin.histories_s));
  json.AddJson("knot_s", ListText(c.knot_s));
  json.AddJson("level", ListText(c.level));
  json.AddJson("radius", ListText(c.radius));
  json.Add("residual_correlation", c.residual_correlation);
  json.Add("residual_paths", static_cast<std::int64_t>(c.residual_paths));
  for (std::size_t d = 0; d < 3; ++d) json.AddJson(kScaleFields[d], ListText(c.scale[d]));
  AddSlope("seen", c.seen, json);
  json.AddJson("shape", ListText(c.shape));
  json.Add("side", c.origin.side);
  json.Add("split", c.origin.split);
  json.Add("split_hash", c.origin.split_hash);
  json.Add("tail_factor", c.tail_factor);
  json.Add("tail_share", c.tail_share);
  json.Add("temperature", c.temperature);
  json.AddJson("tube", ListText(c.tube));
  AddSlope("vague", c.vague, json);
  json.Add("version", c.origin.version);
  json.Add("windows", c.origin.windows);
  return json.text();
}

Result<Calibration> CalibrationFromJson(std::string_view text, const std::string& where) {
  const Result<JsonValue> json = ParseStrictJson(text, where);
  if (!json.ok()) return json.error();
  JsonFields fields(*json, where);
  Calibration c;
  c.origin.corpus_hash = fields.Text("corpus_hash");
  c.origin.corpus_name = fields.Text("corpus_name");
  c.domain_limit = fields.Number("domain_limit");
  ReadThree(fields, "domain_mean", c.domain_mean);
  ReadThree(fields, "domain_sigma", c.domain_sigma);
  c.origin.flight_count = fields.Count("flight_count");
  c.origin.flights = SplitKeys(fields.Text("flights"));
  c.origin.histories_s = fields.Numbers("histories_s");
  c.knot_s = fields.Numbers("knot_s");
  c.level = fields.Numbers("level");
  ReadSlope(fields, "seen", c.seen);
  c.radius = fields.Numbers("radius");
  c.residual_correlation = fields.Number("residual_correlation");
  fields.Read("residual_paths", c.residual_paths);
  for (std::size_t d = 0; d < 3; ++d) c.scale[d] = fields.Numbers(kScaleFields[d]);
  c.shape = fields.Numbers("shape");
  c.origin.side = fields.Text("side");
  c.origin.split = fields.Text("split");
  c.origin.split_hash = fields.Text("split_hash");
  c.tail_factor = fields.Number("tail_factor");
  c.tail_share = fields.Number("tail_share");
  c.temperature = fields.Number("temperature");
  c.tube = fields.Numbers("tube");
  ReadSlope(fields, "vague", c.vague);
  c.origin.version = fields.Text("version");
  c.origin.windows = fields.Count("windows");
  if (const Status status = fields.Finish(); !status.ok()) return status.error();
  return c;
}

}  // namespace aerocast
