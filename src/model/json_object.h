// SPDX-License-Identifier: BSD-3-Clause
//
// Writes one JSON object on one line, fields in the order they are added. Text and nothing else, so
// that running out of memory on the way is an exception like any other.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aerocast {

std::string JsonText(bool flag);
std::string JsonText(std::int64_t number);
std::string JsonText(std::uint64_t number);
std::string JsonText(double number);  // reads back to the same bits
std::string JsonText(const std::string& text);
template <std::integral T>
std::string JsonText(std::span<const T> numbers) {
  std::string list = "[";
  for (const T number : numbers) list += (list.size() > 1 ? "," : "") + std::to_string(number);
  return list + "]";
}

class JsonObject {
 public:
  template <typename T>
  void Add(const std::string& key, const T& value) {
    AddJson(key, JsonText(value));
  }
  // `json` is the value as JSON already.
  void AddJson(const std::string& key, std::string_view json);
  std::string text() const { return fields_ + "}"; }

 private:
  std::string fields_ = "{";
};

}  // namespace aerocast
