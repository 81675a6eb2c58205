// SPDX-License-Identifier: BSD-3-Clause
//
// JSON from a stranger's file. Stricter than the format: no key twice in one object, bounded
// nesting and number of values, and fields are read by name and type, so that whatever is unknown,
// missing or ill-typed is refused by its name.
//
// Values are of a type of our own: nlohmann's allocates when it is destroyed, which ends the
// program when there is no memory left.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

struct JsonMember;

struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;  // sorted by key, each key once

  // Whole numbers are signed when they are negative.
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>
      value;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value);
  }
  const JsonValue* Find(std::string_view key) const;  // in an object; nothing in anything else
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

// With these a text of 64 KiB takes a few megabytes at most, whatever is in it.
inline constexpr std::size_t kMaxJsonDepth = 8;
inline constexpr std::size_t kMaxJsonValues = 32768;

// `where` begins the message.
Result<JsonValue> ParseStrictJson(std::string_view text, std::string_view where);

// How a value is shown in a message: short, on one line, no control characters.
std::string JsonExcerpt(const JsonValue& value);

// Reads the fields of one object. The first thing that is wrong is remembered; everything after it
// gives defaults, so callers look once at the end.
class JsonFields {
 public:
  JsonFields(const JsonValue& json, std::string_view where);

  std::string Text(std::string_view key);
  double Number(std::string_view key);
  std::int64_t Integer(std::string_view key);
  std::uint64_t Count(std::string_view key);
  bool Flag(std::string_view key);
  std::vector<std::int64_t> Integers(std::string_view key);
  std::vector<double> Numbers(std::string_view key);
  const JsonValue& Object(std::string_view key);
  // By the type of `to`, for lists of fields that are written and read alike. An int is a count.
  void Read(std::string_view key, std::string& to) { to = Text(key); }
  void Read(std::string_view key, double& to) { to = Number(key); }
  void Read(std::string_view key, std::int64_t& to) { to = Integer(key); }
  void Read(std::string_view key, std::uint64_t& to) { to = Count(key); }
  void Read(std::string_view key, int& to);
  void Refuse(std::string_view key, std::string_view expected);

  // The first error; fields nobody asked for are one.
  Status Finish();

 private:
  const JsonValue* Find(std::string_view key);

  const JsonValue& json_;
  std::string where_;
  std::set<std::string, std::less<>> asked_;
  std::optional<Error> error_;
};

}  // namespace aerocast
