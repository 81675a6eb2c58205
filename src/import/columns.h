// SPDX-License-Identifier: BSD-3-Clause
//
// Finds time and position in the header line of a foreign table.
//
// Names are compared without case, quotes and surrounding blanks. Time is t, time, timestamp or
// stamp; its unit is what the name says ("t_ms", "time_us", "timestamp [ns]", "time (s)"), else the
// format's. Positions are x,y,z with one of the usual prefixes (px, pos_x, position.x, tx, ...),
// optionally marked as metres ("x [m]", "x_m"). The unit of a number is never guessed from its
// size.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "aerocast/geometry.h"
#include "aerocast/result.h"
#include "aerocast/time.h"

namespace aerocast {

// The place of each column, -1 where there is none.
struct Columns {
  char delimiter = ',';   // ' ' stands for any run of blanks
  std::size_t count = 0;  // fields in a full row
  int t = -1;
  int decimal_places = 0;  // of the time unit: 0 seconds, 3 milli-, 6 micro-, 9 nanoseconds
  std::array<int, 3> p = {-1, -1, -1};
  std::array<int, 3> truth = {-1, -1, -1};  // x_true, y_true, z_true

  bool has_truth() const { return truth[0] >= 0; }
};

// The delimiter is the one of comma, semicolon, tab and blanks under which the header makes sense.
// An error says what is missing; the caller adds file and line. `default_places` is the unit of a
// time column that states none.
Result<Columns> FindColumns(std::string_view header, int default_places = 0);

// The fields of a row, trimmed, quotes removed. A delimiter at the end adds an empty field.
void SplitRow(std::string_view line, char delimiter, std::vector<std::string_view>& fields);

// A stamp counted in units of 10^-places seconds, exactly: no digit passes through a double unless
// the text has an exponent. Nothing for what is no number or lies outside +-4e9 s.
std::optional<TimeNs> ParseStamp(std::string_view text, int places);

// At most 60 characters of a foreign text, fit for a message: control characters become '?'.
std::string Excerpt(std::string_view text);

}  // namespace aerocast
