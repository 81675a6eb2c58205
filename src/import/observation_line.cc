// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/observation_line.h"

#include <nlohmann/json.hpp>

#include "aerocast/forecast.h"
#include "src/base/json_field.h"
#include "src/base/text.h"
#include "src/model/strict_json.h"

namespace aerocast {
namespace {

constexpr const char* kWhere = "observation";

std::string ReadId(const Field& f) {
  std::string id = f.Text();
  if (id.empty() || id.size() > kMaxIdLength) {
    f.Fail("expected 1 to " + std::to_string(kMaxIdLength) + " bytes");
  }
  return id;
}

TimeNs ReadStamp(const Field& f, std::string_view line) {
  f.Number();  // refuses what is no number
  const std::optional<TimeNs> exact = ParseSeconds(TopLevelNumber(line, "t"));
  if (!exact) f.Fail("expected seconds within 285 years of the origin");
  return *exact;
}

Vec3 ReadTriple(const Field& f) {
  const std::vector<double> v = f.Numbers();
  if (v.size() != 3) f.Fail("expected three numbers, [x, y, z]");
  return {v[0], v[1], v[2]};
}

ObservationLine Read(const Field& f, std::string_view line) {
  ObservationLine read;
  read.id = ReadId(f / "id");
  read.observation = {ReadStamp(f / "t", line), ReadTriple(f / "p")};
  if (f.Has("sigma")) {
    read.sigma_m = (f / "sigma").Number();
    if (!(*read.sigma_m >= 0)) (f / "sigma").Fail("expected metres, at least 0");
  }
  if (f.Has("v")) read.v_world = ReadTriple(f / "v");
  return read;
}

}  // namespace

Result<ObservationLine> ParseObservation(std::string_view line) {
  // No key twice, no deep nesting; what passes is JSON, and is read by name below.
  if (auto strict = ParseStrictJson(line, kWhere); !strict.ok()) return strict.error();
  try {
    const nlohmann::json json = nlohmann::json::parse(line);
    return Read(Field(json, kWhere), line);
  } catch (const JsonError& e) {
    return Error{ErrorCode::kBadFormat, e.what()};
  }
}

}  // namespace aerocast
