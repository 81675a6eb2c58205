// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/strict_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/model/json_object.h"

namespace aerocast {
namespace {

using Sax = nlohmann::json_sax<nlohmann::json>;

bool KeyBefore(const JsonMember& a, const JsonMember& b) { return a.key < b.key; }

// Takes what the parser finds and stops it at the first thing that is not allowed.
class Builder : public Sax {
 public:
  const std::string& complaint() const { return complaint_; }
  JsonValue TakeRoot() { return std::move(root_); }

  bool null() override { return Add({nullptr}); }
  bool boolean(bool flag) override { return Add({flag}); }
  bool number_integer(number_integer_t number) override { return Add({std::int64_t{number}}); }
  bool number_unsigned(number_unsigned_t number) override { return Add({std::uint64_t{number}}); }
  bool number_float(number_float_t number, const string_t&) override { return Add({number}); }
  bool string(string_t& text) override { return Add({std::move(text)}); }
  bool binary(binary_t&) override { return Complain("the JSON holds binary data"); }
  bool start_object(std::size_t) override { return Add({JsonValue::Object()}) && Open(); }
  bool start_array(std::size_t) override { return Add({JsonValue::List()}) && Open(); }
  bool end_array() override { return Close(); }
  bool end_object() override {
    auto& members = std::get<JsonValue::Object>(open_.back()->value);
    std::sort(members.begin(), members.end(), KeyBefore);
    const auto twice =
        std::adjacent_find(members.begin(), members.end(),
                           [](const JsonMember& a, const JsonMember& b) { return a.key == b.key; });
    if (twice == members.end()) return Close();
    return Complain("the key '" + Printable(twice->key.substr(0, 60)) +
                    "' is there twice, expected once");
  }
  bool key(string_t& name) override {
    std::get<JsonValue::Object>(open_.back()->value).push_back({std::move(name), {}});
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Complain("byte " + std::to_string(position) +
                    " is not JSON, or the text was cut off there");
  }

 private:
  bool Complain(std::string complaint) {
    complaint_ = std::move(complaint);
    return false;
  }
  bool Add(JsonValue value) {
    if (++values_ > kMaxJsonValues) {
      return Complain("the JSON has too many values, expected at most " +
                      std::to_string(kMaxJsonValues));
    }
    if (open_.empty()) {
      root_ = std::move(value), newest_ = &root_;
    } else if (auto* list = std::get_if<JsonValue::List>(&open_.back()->value)) {
      newest_ = &list->emplace_back(std::move(value));
    } else {
      newest_ = &std::get<JsonValue::Object>(open_.back()->value).back().value;
      *newest_ = std::move(value);
    }
    return true;
  }
  bool Open() {
    open_.push_back(newest_);
    if (open_.size() <= kMaxJsonDepth) return true;
    return Complain("the JSON is nested too deep, expected at most " +
                    std::to_string(kMaxJsonDepth) + " levels");
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonValue root_;
  JsonValue* newest_ = nullptr;
  // Lists and objects that have not ended. Each is the last of the one before, which does not grow
  // until it has, so that the pointers hold.
  std::vector<JsonValue*> open_;
  std::size_t values_ = 0;
  std::string complaint_;
};

// Nothing when it is no whole number or beyond int64.
std::optional<std::int64_t> AsInteger(const JsonValue& value) {
  if (const auto* number = value.As<std::int64_t>()) return *number;
  const auto* number = value.As<std::uint64_t>();
  if (number == nullptr || *number > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> AsNumber(const JsonValue& value) {
  if (const auto* number = value.As<double>()) return *number;
  if (const auto* number = value.As<std::int64_t>()) return static_cast<double>(*number);
  if (const auto* number = value.As<std::uint64_t>()) return static_cast<double>(*number);
  return std::nullopt;
}

}  // namespace

const JsonValue* JsonValue::Find(std::string_view key) const {
  const auto* members = As<Object>();
  if (members == nullptr) return nullptr;
  const auto at =
      std::lower_bound(members->begin(), members->end(), key,
                       [](const JsonMember& member, std::string_view k) { return member.key < k; });
  return at == members->end() || at->key != key ? nullptr : &at->value;
}

Result<JsonValue> ParseStrictJson(std::string_view text, std::string_view where) {
  if (const std::size_t at = text.find('\0'); at != text.npos) {  // ends the text for the parser
    return Error{ErrorCode::kBadFormat,
                 std::string(where) + ": byte " + std::to_string(at + 1) + " is not JSON"};
  }
  Builder builder;
  if (!nlohmann::json::sax_parse(text, static_cast<Sax*>(&builder))) {
    return Error{ErrorCode::kBadFormat, std::string(where) + ": " + builder.complaint()};
  }
  return builder.TakeRoot();
}

std::string JsonExcerpt(const JsonValue& value) {
  if (value.As<JsonValue::Object>()) return "an object";
  if (value.As<JsonValue::List>()) return "a list";
  std::string text = "null";
  if (const auto* flag = value.As<bool>()) text = JsonText(*flag);
  if (const auto* number = value.As<std::int64_t>()) text = JsonText(*number);
  if (const auto* number = value.As<std::uint64_t>()) text = JsonText(*number);
  if (const auto* number = value.As<double>()) text = JsonText(*number);
  if (const auto* found = value.As<std::string>()) text = JsonText(*found);
  return Printable(text.size() <= 60 ? text : text.substr(0, 57) + "...");
}

JsonFields::JsonFields(const JsonValue& json, std::string_view where) : json_(json), where_(where) {
  if (json.As<JsonValue::Object>()) return;
  error_ = Error{ErrorCode::kBadFormat,
                 where_ + ": is " + JsonExcerpt(json) + ", expected an object with named fields"};
}

std::string JsonFields::Text(std::string_view key) {
  const JsonValue* value = Find(key);
  if (const auto* text = value ? value->As<std::string>() : nullptr) return *text;
  Refuse(key, "a text");
  return "";
}

double JsonFields::Number(std::string_view key) {
  const JsonValue* value = Find(key);
  if (const auto number = value ? AsNumber(*value) : std::nullopt) return *number;
  Refuse(key, "a number");
  return 0;
}

std::int64_t JsonFields::Integer(std::string_view key) {
  const JsonValue* value = Find(key);
  if (const auto number = value ? AsInteger(*value) : std::nullopt) return *number;
  Refuse(key, "a whole number");
  return 0;
}

std::uint64_t JsonFields::Count(std::string_view key) {
  const JsonValue* value = Find(key);
  if (const auto* number = value ? value->As<std::uint64_t>() : nullptr) return *number;
  Refuse(key, "a whole number, at least 0");
  return 0;
}

bool JsonFields::Flag(std::string_view key) {
  const JsonValue* value = Find(key);
  if (const auto* flag = value ? value->As<bool>() : nullptr) return *flag;
  Refuse(key, "true or false");
  return false;
}

std::vector<std::int64_t> JsonFields::Integers(std::string_view key) {
  const JsonValue* value = Find(key);
  const auto* list = value ? value->As<JsonValue::List>() : nullptr;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    if (const auto number = AsInteger((*list)[i])) numbers.push_back(*number);
  }
  if (list && numbers.size() == list->size()) return numbers;
  Refuse(key, "a list of whole numbers");
  return {};
}

std::vector<double> JsonFields::Numbers(std::string_view key) {
  const JsonValue* value = Find(key);
  const auto* list = value ? value->As<JsonValue::List>() : nullptr;
  std::vector<double> numbers;
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    if (const auto number = AsNumber((*list)[i])) numbers.push_back(*number);
  }
  if (list && numbers.size() == list->size()) return numbers;
  Refuse(key, "a list of numbers");
  return {};
}

const JsonValue& JsonFields::Object(std::string_view key) {
  static const JsonValue kNone = {JsonValue::Object()};
  const JsonValue* value = Find(key);
  if (value && value->As<JsonValue::Object>()) return *value;
  Refuse(key, "an object");
  return kNone;
}

void JsonFields::Read(std::string_view key, int& to) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::uint64_t count = Count(key);
  if (count > std::uint64_t{kMost}) return Refuse(key, "at most " + std::to_string(kMost));
  to = static_cast<int>(count);
}

void JsonFields::Refuse(std::string_view key, std::string_view expected) {
  if (error_) return;
  const JsonValue* value = Find(key);
  error_ = Error{ErrorCode::kBadFormat, where_ + ": field '" + Printable(key.substr(0, 60)) +
                                            "' is " + (value ? JsonExcerpt(*value) : "missing") +
                                            ", expected " + std::string(expected)};
}

Status JsonFields::Finish() {
  if (error_) return *error_;
  for (const JsonMember& member : std::get<JsonValue::Object>(json_.value)) {
    if (asked_.contains(member.key)) continue;
    return Error{ErrorCode::kBadFormat, where_ + ": field '" +
                                            Printable(std::string_view(member.key).substr(0, 60)) +
                                            "' is not known here, expected it to be left out"};
  }
  return {};
}

const JsonValue* JsonFields::Find(std::string_view key) {
  asked_.emplace(key);
  return json_.Find(key);
}

}  // namespace aerocast
