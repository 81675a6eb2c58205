// SPDX-License-Identifier: BSD-3-Clause
//
// Reading JSON with messages that name the field: Field(root, "file") / "protocol" / "window".
// Errors are thrown as JsonError and must be caught at the edge of the reader that uses this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aerocast {

struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Field {
 public:
  using Json = nlohmann::json;

  Field(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  Field operator/(const char* key) const {
    if (!json_->is_object()) Fail("expected an object");
    const auto at = json_->find(key);
    if (at == json_->end()) throw JsonError(path_ + ": \"" + key + "\" is missing");
    return {*at, path_ + "." + key};
  }
  bool Has(const char* key) const {
    return json_->is_object() && json_->contains(key) && !json_->at(key).is_null();
  }
  // Refuses keys that are not in the list, for readers that ignore nothing.
  void OnlyKeys(std::span<const std::string_view> known) const {
    if (!json_->is_object()) Fail("expected an object");
    for (const auto& [key, value] : json_->items()) {
      if (std::ranges::find(known, key) == known.end()) Fail("unknown key \"" + key + "\"");
    }
  }
  bool is_null() const { return json_->is_null(); }
  const Json& json() const { return *json_; }
  std::size_t size() const { return json_->size(); }
  const std::string& path() const { return path_; }

  // A finite number; `null` is NaN only where NumberOrNone is asked.
  double Number() const {
    if (!json_->is_number()) Fail("expected a number");
    const double v = json_->get<double>();
    if (!std::isfinite(v)) Fail("expected a finite number");
    return v;
  }
  double NumberOrNone() const {
    return is_null() ? std::numeric_limits<double>::quiet_NaN() : Number();
  }
  std::int64_t Integer() const {
    if (!json_->is_number_integer()) Fail("expected a whole number");
    return json_->get<std::int64_t>();
  }
  std::uint64_t Count() const {
    if (!json_->is_number_unsigned()) Fail("expected a whole number, at least 0");
    return json_->get<std::uint64_t>();
  }
  bool Flag() const {
    if (!json_->is_boolean()) Fail("expected true or false");
    return json_->get<bool>();
  }
  std::string Text() const {
    if (!json_->is_string()) Fail("expected a string");
    return json_->get<std::string>();
  }
  // Element i of an array that has it.
  Field Item(std::size_t i) const { return {(*json_)[i], path_ + "[" + std::to_string(i) + "]"}; }
  // Elements of an array; none of `null`.
  std::vector<Field> Items() const {
    std::vector<Field> items;
    if (is_null()) return items;
    if (!json_->is_array()) Fail("expected an array");
    for (std::size_t i = 0; i < json_->size(); ++i) items.push_back(Item(i));
    return items;
  }
  std::vector<double> Numbers() const {
    std::vector<double> values;
    if (is_null()) return values;
    if (!json_->is_array()) Fail("expected an array of numbers");
    for (const Json& v : *json_) {
      if (!v.is_number() || !std::isfinite(v.get<double>())) Fail("expected finite numbers only");
      values.push_back(v.get<double>());
    }
    return values;
  }
  [[noreturn]] void Fail(const std::string& what) const { throw JsonError(path_ + ": " + what); }

 private:
  const Json* json_;
  std::string path_;
};

}  // namespace aerocast
