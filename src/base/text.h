// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers and fields to and from text, without locale and without rounding surprises.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/time.h"

namespace aerocast {

std::string_view Trim(std::string_view text);  // spaces, tabs, carriage returns at both ends
std::string Lower(std::string_view text);      // ASCII
// The fields between delimiters, each trimmed; "" gives one empty field.
// Stops behind `most` fields: who knows how many there should be need not be sent millions.
void SplitFields(std::string_view line, char delimiter, std::vector<std::string_view>& fields,
                 std::size_t most = std::string_view::npos);

// The whole text must be one number ("1e-3", "-2.5"); "nan" and "inf" parse as such.
std::optional<double> ParseDouble(std::string_view text);
std::optional<long long> ParseInteger(std::string_view text);

// Decimal seconds ("1772682400.3993", "-0.5", "1.7e9") to the nearest nanosecond, exactly: plain
// decimals never pass through a double. Nothing for text that is no number, not finite, or beyond
// int64 nanoseconds.
std::optional<TimeNs> ParseSeconds(std::string_view text);

// The text of a number at the top level of a JSON object, so that a stamp need not pass through a
// double. `json` is known to be a valid object that has the key; empty where it is spelt with
// escapes.
std::string_view TopLevelNumber(std::string_view json, std::string_view key);

// Appends seconds with as many decimals as needed, at most nine: 12300000000 -> "12.3".
void AppendSeconds(TimeNs t_ns, std::string& out);
// Appends `value` rounded to `decimals`, trailing zeros dropped, never "-0".
void AppendFixed(double value, int decimals, std::string& out);

// Control characters as '?': text from a stranger's file must not steer a terminal.
std::string Printable(std::string_view text);
// "circle, oval, star": for messages that list what is known.
std::string JoinNames(const std::vector<std::string_view>& names);

}  // namespace aerocast
