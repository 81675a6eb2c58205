// SPDX-License-Identifier: BSD-3-Clause
//
// JSON from a stranger's file. Stricter than the format: no key twice in one object, bounded
// nesting, and fields are read by name and type, so that whatever is unknown, missing or ill-typed
// is refused by its name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/result.h"

namespace aerocast {

using Json = nlohmann::json;                 // for reading: keys are found at once, however many
using OrderedJson = nlohmann::ordered_json;  // for writing: in our order

inline constexpr std::size_t kMaxJsonDepth = 8;

// `where` begins the message.
Result<Json> ParseStrictJson(std::string_view text, std::string_view where);

// How a value is shown in a message: short, on one line, no control characters.
std::string JsonExcerpt(const Json& value);

// Reads the fields of one object. The first thing that is wrong is remembered; everything after it
// gives defaults, so callers look once at the end.
class JsonFields {
 public:
  JsonFields(const Json& json, std::string_view where);

  std::string Text(std::string_view key);
  double Number(std::string_view key);
  std::int64_t Integer(std::string_view key);
  std::uint64_t Count(std::string_view key);
  bool Flag(std::string_view key);
  std::vector<std::int64_t> Integers(std::string_view key);
  const Json& Object(std::string_view key);
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
  const Json* Find(std::string_view key);

  const Json& json_;
  std::string where_;
  std::set<std::string, std::less<>> asked_;
  std::optional<Error> error_;
};

}  // namespace aerocast
