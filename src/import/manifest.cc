// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/import/columns.h"
#include "src/import/split.h"

namespace aerocast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "aerocast-corpus";
constexpr int kVersion = 1;

Json ToJson(const FlightEntry& flight) {
  return {{"id", flight.id},
          {"file", flight.file},
          {"category", flight.category},
          {"configuration", flight.configuration},
          {"object", flight.object},
          {"source", SourceName(flight.source)},
          {"noise_m", flight.noise_m},
          {"sha256", flight.sha256},
          {"samples", flight.samples},
          {"duration_s", flight.duration_s},
          {"start_s", flight.start_s},
          {"end_s", flight.end_s},
          {"split", flight.split}};
}

// Reads the fields of one object. The first thing that is wrong is remembered; everything after it
// gives defaults, so callers look once at the end.
class Fields {
 public:
  Fields(const Json& json, std::string where, std::optional<Error>& error)
      : json_(json), where_(std::move(where)), error_(error) {
    if (!json.is_object()) Refuse("", "an object");
  }

  void Refuse(std::string_view key, std::string_view expected) {
    if (error_) return;
    const std::string field = Field(key);
    error_ = Error{ErrorCode::kBadFormat,
                   fmt::format("field '{}' is {}, expected {}", field, Describe(key), expected)};
  }
  std::string Text(std::string_view key) {
    const Json* value = Find(key);
    if (value && value->is_string()) return value->get<std::string>();
    return Refuse(key, "a text"), "";
  }
  double Number(std::string_view key) {
    const Json* value = Find(key);
    if (value && value->is_number()) return value->get<double>();
    return Refuse(key, "a number"), 0.0;
  }
  std::optional<double> NumberOrNull(std::string_view key) {
    const Json* value = Find(key);
    if (value && value->is_null()) return std::nullopt;
    return Number(key);
  }
  std::uint64_t Count(std::string_view key) {
    const Json* value = Find(key);
    if (value && value->is_number_unsigned()) return value->get<std::uint64_t>();
    return Refuse(key, "a whole number, at least 0"), 0;
  }
  std::map<std::string, std::string> Texts(std::string_view key) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : Object(key).items()) {
      if (!value.is_string()) return Refuse(key, "an object of texts"), texts;
      texts[name] = value.get<std::string>();
    }
    return texts;
  }
  const Json& Object(std::string_view key) {
    static const Json kNone = Json::object();
    const Json* value = Find(key);
    if (value && value->is_object()) return *value;
    return Refuse(key, "an object"), kNone;
  }
  const Json& List(std::string_view key) {
    static const Json kNone = Json::array();
    const Json* value = Find(key);
    if (value && value->is_array()) return *value;
    return Refuse(key, "a list"), kNone;
  }
  std::string Field(std::string_view key) const {
    if (key.empty()) return where_.empty() ? "(top)" : where_;
    return where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
  }

 private:
  const Json* Find(std::string_view key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(std::string(key));
    return found == json_.end() ? nullptr : &*found;
  }
  std::string Describe(std::string_view key) const {
    const Json* value = key.empty() ? &json_ : Find(key);
    if (!value) return "missing";
    return value->is_primitive()
               ? Excerpt(value->dump(-1, ' ', false, Json::error_handler_t::replace))
               : value->type_name();
  }

  const Json& json_;
  std::string where_;
  std::optional<Error>& error_;
};

bool IsHash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// A file that can only be below the corpus directory.
bool IsInside(const std::string& file) {
  const std::filesystem::path path(file);
  return !file.empty() && file.find('\\') == std::string::npos && path.is_relative() &&
         path.has_filename() && std::find(path.begin(), path.end(), "..") == path.end();
}

FlightEntry ReadFlight(const Json& json, const std::string& where, std::optional<Error>& error) {
  Fields fields(json, where, error);
  FlightEntry flight;
  flight.id = fields.Text("id");
  flight.file = fields.Text("file");
  flight.category = fields.Text("category");
  flight.configuration = fields.Text("configuration");
  flight.object = fields.Text("object");
  flight.noise_m = fields.Number("noise_m");
  if (!(flight.noise_m >= 0)) fields.Refuse("noise_m", "metres, at least 0");
  flight.sha256 = fields.Text("sha256");
  flight.samples = fields.Count("samples");
  flight.duration_s = fields.Number("duration_s");
  flight.start_s = fields.Number("start_s");
  flight.end_s = fields.Number("end_s");
  flight.split = fields.Texts("split");
  const std::optional<Source> source = SourceFromName(fields.Text("source"));
  flight.source = source.value_or(Source::kReal);
  if (!source) fields.Refuse("source", "real or synthetic");
  if (flight.id.empty()) fields.Refuse("id", "a name");
  if (!IsInside(flight.file)) fields.Refuse("file", "a file below the corpus directory");
  if (!IsHash(flight.sha256)) fields.Refuse("sha256", "64 hexadecimal digits");
  return flight;
}

void ReadFlights(Fields& top, Manifest& manifest, std::optional<Error>& error) {
  std::set<std::string> ids, files;
  for (const Json& json : top.List("flights")) {
    const std::string where = fmt::format("flights[{}]", manifest.flights.size());
    FlightEntry flight = ReadFlight(json, where, error);
    if (error) return;
    Fields fields(json, where, error);
    if (!ids.insert(flight.id).second) fields.Refuse("id", "an id that no other flight has");
    if (!files.insert(flight.file).second) {
      fields.Refuse("file", "a file that no other flight has");
    }
    manifest.flights.push_back(std::move(flight));
  }
}

void ReadSplits(Fields& top, Manifest& manifest, std::optional<Error>& error) {
  for (const auto& [name, json] : top.Object("splits").items()) {
    Fields fields(json, "splits." + name, error);
    SplitEntry split;
    split.seed = fields.Count("seed");
    split.hash = fields.Text("hash");
    for (const Json& note : fields.List("notes")) {
      if (!note.is_string()) return fields.Refuse("notes", "a list of texts");
      split.notes.push_back(note.get<std::string>());
    }
    manifest.splits[name] = std::move(split);
  }
}

void ReadDropped(Fields& top, Manifest& manifest, std::optional<Error>& error) {
  for (const Json& json : top.List("dropped")) {
    Fields fields(json, fmt::format("dropped[{}]", manifest.dropped.size()), error);
    manifest.dropped.push_back(
        {fields.Text("id"), fields.Text("duplicate_of"), fields.Text("reason")});
  }
}

std::vector<std::string_view> KnownSides(const std::string& split) {
  for (const SplitKind kind : AllSplits()) {
    if (SplitName(kind) == split) return SplitSides(kind);
  }
  return {};
}

// Every flight is on a known side of every split, and of no other.
void CheckSides(const Manifest& manifest, std::optional<Error>& error) {
  for (const auto& [name, entry] : manifest.splits) {
    const std::vector<std::string_view> sides = KnownSides(name);
    for (std::size_t i = 0; i < manifest.flights.size() && !error; ++i) {
      const auto side = manifest.flights[i].split.find(name);
      const bool known = side != manifest.flights[i].split.end() &&
                         (sides.empty() || std::ranges::count(sides, side->second) > 0);
      if (known) continue;
      const std::string found = side == manifest.flights[i].split.end()
                                    ? "missing"
                                    : fmt::format("'{}'", Excerpt(side->second));
      error = Error{ErrorCode::kBadFormat,
                    fmt::format("field 'flights[{}].split.{}' is {}, expected one of {}", i, name,
                                found, JoinNames(sides))};
    }
  }
}

void CheckHashes(const Manifest& manifest, std::optional<Error>& error) {
  const auto check = [&](const std::string& field, const std::string& stated,
                         const std::string& found) {
    if (error || stated == found) return;
    error = Error{ErrorCode::kBadFormat,
                  fmt::format("field '{}' is '{}', but what is listed has {}; the manifest was "
                              "changed by hand, expected it as it was written",
                              field, Excerpt(stated.substr(0, 64)), found)};
  };
  check("hash", manifest.hash, CorpusHash(manifest.flights));
  for (const auto& [name, entry] : manifest.splits) {
    std::map<std::string, std::string> sides;
    for (const FlightEntry& flight : manifest.flights) {
      const auto side = flight.split.find(name);
      if (side != flight.split.end()) sides[flight.id] = side->second;
    }
    check("splits." + name + ".hash", entry.hash, SplitHash(sides));
  }
}

Result<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    const std::size_t at = std::min<std::size_t>(e.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    return Error{ErrorCode::kBadFormat,
                 fmt::format("line {} is not JSON, or the file was cut off there", line)};
  }
}

void CheckVersion(Fields& top) {
  if (top.Text("format") != kFormat) top.Refuse("format", "'aerocast-corpus'");
  if (top.Count("version") != kVersion) {
    top.Refuse("version", fmt::format("{}, the only one this program knows", kVersion));
  }
}

}  // namespace

std::string CorpusHash(const std::vector<FlightEntry>& flights) {
  std::vector<std::string> lines;
  for (const FlightEntry& flight : flights) lines.push_back(flight.id + " " + flight.sha256 + "\n");
  std::sort(lines.begin(), lines.end());
  Sha256 hash;
  for (const std::string& line : lines) hash.Update(line);
  return hash.Hex();
}

std::string FormatManifest(const Manifest& manifest) {
  Json json = {
      {"format", kFormat},        {"version", kVersion},
      {"name", manifest.name},    {"min_z", manifest.min_z ? Json(*manifest.min_z) : Json(nullptr)},
      {"hash", manifest.hash},    {"provenance", manifest.provenance},
      {"splits", Json::object()}, {"flights", Json::array()},
      {"dropped", Json::array()}};
  for (const auto& [name, split] : manifest.splits) {
    json["splits"][name] = {{"seed", split.seed}, {"hash", split.hash}, {"notes", split.notes}};
  }
  for (const FlightEntry& flight : manifest.flights) json["flights"].push_back(ToJson(flight));
  for (const DroppedRecording& d : manifest.dropped) {
    json["dropped"].push_back(
        {{"id", d.id}, {"duplicate_of", d.duplicate_of}, {"reason", d.reason}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> ParseManifest(std::string_view text, const std::string& name) {
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return Error{json.error().code, name + ": " + json.error().message};
  Manifest manifest;
  std::optional<Error> error;
  Fields top(*json, "", error);
  CheckVersion(top);
  manifest.name = top.Text("name");
  manifest.min_z = top.NumberOrNull("min_z");
  manifest.hash = top.Text("hash");
  manifest.provenance = top.Texts("provenance");
  ReadFlights(top, manifest, error);
  ReadSplits(top, manifest, error);
  ReadDropped(top, manifest, error);
  CheckSides(manifest, error);
  CheckHashes(manifest, error);
  if (error) return Error{error->code, name + ": " + error->message};
  return manifest;
}

}  // namespace aerocast
