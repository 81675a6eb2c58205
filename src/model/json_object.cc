// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/json_object.h"

#include <nlohmann/json.hpp>

namespace aerocast {
namespace {

// nlohmann knows how to write a single value; lists and objects of its own allocate when they are
// destroyed, so there are none here.
template <typename T>
std::string Dumped(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string JsonText(bool flag) { return flag ? "true" : "false"; }
std::string JsonText(std::int64_t number) { return std::to_string(number); }
std::string JsonText(std::uint64_t number) { return std::to_string(number); }
std::string JsonText(double number) { return Dumped(number); }
std::string JsonText(const std::string& text) { return Dumped(text); }

void JsonObject::AddJson(const std::string& key, std::string_view json) {
  if (fields_.size() > 1) fields_ += ',';
  fields_ += JsonText(key);
  fields_ += ':';
  fields_ += json;
}

}  // namespace aerocast
