// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/columns.h"

#include <string>

#include "src/base/text.h"
#include "src/import/utf8.h"

namespace aerocast {
namespace {

constexpr std::array<char, 4> kDelimiters = {',', ';', '\t', ' '};
constexpr std::array<std::string_view, 4> kTimeNames = {"t", "time", "timestamp", "stamp"};
constexpr std::array<std::string_view, 11> kPositionPrefixes = {
    "",     "p",         "p_",        "pos_",           "position_",          "pos.",
    "pos ", "position.", "position ", "pose.position.", "pose.pose.position."};
constexpr std::array<std::string_view, 2> kTrajectoryPrefixes = {"t", "p_rs_r_"};  // TUM, EuRoC
constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};
constexpr TimeNs kLatestStamp = 4'000'000'000 * kNsPerSecond;  // differences must fit into int64

std::string_view Unquote(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = Trim(text.substr(1, text.size() - 2));
  }
  return text;
}

// A column's name in two parts: "Timestamp [ns]" is {"timestamp", "ns"}, "x" is {"x", ""}.
struct Name {
  std::string base, unit;
};

Name ParseName(std::string_view field) {
  const std::string text = Lower(Unquote(field));
  const std::size_t open = text.find_first_of("[(");
  if (open == std::string::npos || open == 0) return {text, ""};
  const std::size_t close = text.find_first_of("])", open);
  return {std::string(Trim(std::string_view(text).substr(0, open))),
          std::string(Trim(std::string_view(text).substr(open + 1, close - open - 1)))};
}

std::vector<Name> ParseNames(std::string_view header, char delimiter) {
  std::vector<std::string_view> fields;
  SplitRow(header, delimiter, fields);
  if (fields.size() > 1 && fields.back().empty()) fields.pop_back();  // a trailing delimiter
  std::vector<Name> names;
  for (const std::string_view field : fields) names.push_back(ParseName(field));
  return names;
}

std::optional<int> UnitPlaces(std::string_view unit) {
  if (unit == "s" || unit == "sec" || unit == "seconds") return 0;
  if (unit == "ms") return 3;
  if (unit == "us") return 6;
  if (unit == "ns") return 9;
  return std::nullopt;
}

// The places of a column that is time under the given base name, if it is.
std::optional<int> TimePlaces(const Name& name, std::string_view base, int default_places) {
  if (name.base == base) {
    return name.unit.empty() ? std::optional(default_places) : UnitPlaces(name.unit);
  }
  if (!name.base.starts_with(std::string(base) + "_") || !name.unit.empty()) return std::nullopt;
  return UnitPlaces(std::string_view(name.base).substr(base.size() + 1));
}

bool IsMetres(const Name& name, const std::string& wanted) {
  if (name.base == wanted) return name.unit.empty() || name.unit == "m";
  return name.unit.empty() && name.base == wanted + "_m";
}

void FindTime(const std::vector<Name>& names, int default_places, Columns& columns) {
  for (const std::string_view base : kTimeNames) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::optional<int> places = TimePlaces(names[i], base, default_places);
      if (!places) continue;
      columns.t = static_cast<int>(i);
      columns.decimal_places = *places;
      return;
    }
  }
}

// All three axes or none.
std::array<int, 3> FindTriple(const std::vector<Name>& names, std::string_view prefix,
                              std::string_view suffix) {
  std::array<int, 3> found = {-1, -1, -1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string wanted = std::string(prefix).append(kAxes[axis]).append(suffix);
    for (std::size_t i = 0; i < names.size() && found[axis] < 0; ++i) {
      if (IsMetres(names[i], wanted)) found[axis] = static_cast<int>(i);
    }
    if (found[axis] < 0) return {-1, -1, -1};
  }
  return found;
}

void FindPosition(const std::vector<Name>& names, Columns& columns) {
  for (const std::string_view prefix : kPositionPrefixes) {
    if (columns.p[0] < 0) columns.p = FindTriple(names, prefix, "");
  }
  for (const std::string_view prefix : kTrajectoryPrefixes) {
    if (columns.p[0] < 0) columns.p = FindTriple(names, prefix, "");
  }
}

Columns FindUnder(const std::vector<Name>& names, char delimiter, int default_places) {
  Columns columns;
  columns.delimiter = delimiter;
  columns.count = names.size();
  FindTime(names, default_places, columns);
  FindPosition(names, columns);
  columns.truth = FindTriple(names, "", "_true");
  return columns;
}

// The name of a column in use that the header has twice, or nothing.
std::string RepeatedName(const std::vector<Name>& names, const Columns& columns) {
  for (const int used : {columns.t, columns.p[0], columns.p[1], columns.p[2], columns.truth[0],
                         columns.truth[1], columns.truth[2]}) {
    for (std::size_t i = 0; i < names.size() && used >= 0; ++i) {
      const Name& name = names[static_cast<std::size_t>(used)];
      if (static_cast<int>(i) != used && names[i].base == name.base) return name.base;
    }
  }
  return "";
}

Error Missing(const Columns& nearest, std::string_view header) {
  const bool numbers = header.find_first_of("0123456789+-.") == 0;
  const char* what = nearest.t >= 0      ? "position columns (x,y,z or px,py,pz or pos_x,...)"
                     : nearest.p[0] >= 0 ? "time column (t, time or timestamp; t_ns if not seconds)"
                     : numbers           ? "header line"
                                         : "time and position columns";
  return {ErrorCode::kBadFormat, std::string("no ") + what +
                                     ", expected a header line such as t,x,y,z but found '" +
                                     Excerpt(header) + "'"};
}

bool IsPlainDecimal(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("+-.0123456789") == std::string_view::npos;
}

// "12345" and 3 give "12.345".
std::string ShiftPoint(std::string_view text, int places) {
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t point = text.find('.');
  std::string whole(text.substr(sign, point == std::string_view::npos ? point : point - sign));
  const auto n = static_cast<std::size_t>(places);
  if (whole.size() <= n) whole.insert(0, n + 1 - whole.size(), '0');
  std::string shifted(text.substr(0, sign));
  shifted += whole.substr(0, whole.size() - n) + "." + whole.substr(whole.size() - n);
  if (point != std::string_view::npos) shifted += text.substr(point + 1);
  return shifted;
}

}  // namespace

Result<Columns> FindColumns(std::string_view header, int default_places) {
  Columns nearest;
  for (const char delimiter : kDelimiters) {
    const std::vector<Name> names = ParseNames(header, delimiter);
    const Columns columns = FindUnder(names, delimiter, default_places);
    if (columns.t >= 0 && columns.p[0] >= 0) {
      const std::string repeated = RepeatedName(names, columns);
      if (repeated.empty()) return columns;
      return Error{ErrorCode::kBadFormat, "column '" + Excerpt(repeated) + "' is there twice"};
    }
    if (columns.t >= 0 || (columns.p[0] >= 0 && nearest.t < 0)) nearest = columns;
  }
  return Missing(nearest, header);
}

void SplitRow(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  constexpr std::size_t kMostFields = 10'000;  // a wider row is no row of a flight
  fields.clear();
  if (delimiter != ' ') {
    SplitFields(line, delimiter, fields, kMostFields);
  } else {
    for (line = Trim(line); !line.empty() && fields.size() < kMostFields; line = Trim(line)) {
      const std::size_t end = line.find_first_of(" \t");
      fields.push_back(line.substr(0, end));
      line.remove_prefix(end == std::string_view::npos ? line.size() : end);
    }
  }
  for (std::string_view& field : fields) field = Unquote(field);
}

std::optional<TimeNs> ParseStamp(std::string_view text, int places) {
  text = Trim(text);
  std::optional<TimeNs> t_ns;
  if (places == 0) {
    t_ns = ParseSeconds(text);
  } else if (IsPlainDecimal(text)) {
    t_ns = ParseSeconds(ShiftPoint(text, places));
  } else if (const std::optional<double> value = ParseDouble(text)) {
    const double seconds = *value * std::pow(10.0, -places);
    if (std::abs(seconds) < 9e9) t_ns = DurationNs(seconds);
  }
  if (!t_ns || *t_ns > kLatestStamp || *t_ns < -kLatestStamp) return std::nullopt;
  return t_ns;
}

std::string Excerpt(std::string_view text) {
  std::string excerpt = ValidUtf8(text.substr(0, 60));
  for (char& c : excerpt) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = c == '\t' ? ' ' : '?';
  }
  return excerpt;
}

}  // namespace aerocast
