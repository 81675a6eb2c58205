// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/strict_json.h"

#include <limits>

#include "src/base/text.h"

namespace aerocast {
namespace {

// Looks through a text without keeping anything of it but the keys of the objects it is in.
class Screen : public nlohmann::json_sax<Json> {
 public:
  const std::string& complaint() const { return complaint_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    complaint_ = "the key '" + Printable(name.substr(0, 60)) + "' is there twice, expected once";
    return false;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    complaint_ = "byte " + std::to_string(position) + " is not JSON, or the text was cut off there";
    return false;
  }

 private:
  bool Open() {
    keys_.emplace_back();
    if (keys_.size() <= kMaxJsonDepth) return true;
    complaint_ = "the JSON is nested too deep, expected at most " + std::to_string(kMaxJsonDepth) +
                 " levels";
    return false;
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of every open object; none in a list
  std::string complaint_;
};

}  // namespace

Result<Json> ParseStrictJson(std::string_view text, std::string_view where) {
  Screen screen;
  if (const std::size_t at = text.find('\0'); at != text.npos) {  // ends the text for the parser
    return Error{ErrorCode::kBadFormat,
                 std::string(where) + ": byte " + std::to_string(at + 1) + " is not JSON"};
  }
  if (!Json::sax_parse(text, &screen)) {
    return Error{ErrorCode::kBadFormat, std::string(where) + ": " + screen.complaint()};
  }
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string JsonExcerpt(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Printable(text.size() <= 60 ? text : text.substr(0, 57) + "...");
}

JsonFields::JsonFields(const Json& json, std::string_view where) : json_(json), where_(where) {
  if (json.is_object()) return;
  error_ = Error{ErrorCode::kBadFormat,
                 where_ + ": is " + JsonExcerpt(json) + ", expected an object with named fields"};
}

std::string JsonFields::Text(std::string_view key) {
  const Json* value = Find(key);
  if (value && value->is_string()) return value->get<std::string>();
  Refuse(key, "a text");
  return "";
}

double JsonFields::Number(std::string_view key) {
  const Json* value = Find(key);
  if (value && value->is_number()) return value->get<double>();
  Refuse(key, "a number");
  return 0;
}

std::int64_t JsonFields::Integer(std::string_view key) {
  const Json* value = Find(key);
  if (value && value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) {
    value = nullptr;
  }
  if (value && value->is_number_integer()) return value->get<std::int64_t>();
  Refuse(key, "a whole number");
  return 0;
}

std::uint64_t JsonFields::Count(std::string_view key) {
  const Json* value = Find(key);
  if (value && value->is_number_unsigned()) return value->get<std::uint64_t>();
  Refuse(key, "a whole number, at least 0");
  return 0;
}

bool JsonFields::Flag(std::string_view key) {
  const Json* value = Find(key);
  if (value && value->is_boolean()) return value->get<bool>();
  Refuse(key, "true or false");
  return false;
}

std::vector<std::int64_t> JsonFields::Integers(std::string_view key) {
  const Json* value = Find(key);
  std::vector<std::int64_t> numbers;
  bool good = value && value->is_array();
  for (std::size_t i = 0; good && i < value->size(); ++i) {
    const Json& number = (*value)[i];
    good = number.is_number_integer() &&
           !(number.is_number_unsigned() && number.get<std::uint64_t>() > INT64_MAX);
    if (good) numbers.push_back(number.get<std::int64_t>());
  }
  if (!good) Refuse(key, "a list of whole numbers");
  return numbers;
}

const Json& JsonFields::Object(std::string_view key) {
  static const Json kNone = Json::object();
  const Json* value = Find(key);
  if (value && value->is_object()) return *value;
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
  const Json* value = Find(key);
  error_ = Error{ErrorCode::kBadFormat, where_ + ": field '" + std::string(key) + "' is " +
                                            (value ? JsonExcerpt(*value) : "missing") +
                                            ", expected " + std::string(expected)};
}

Status JsonFields::Finish() {
  if (error_) return *error_;
  for (const auto& [key, value] : json_.items()) {
    if (asked_.contains(key)) continue;
    return Error{ErrorCode::kBadFormat, where_ + ": field '" + Printable(key.substr(0, 60)) +
                                            "' is not known here, expected it to be left out"};
  }
  return {};
}

const Json* JsonFields::Find(std::string_view key) {
  asked_.emplace(key);
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(std::string(key));
  return found == json_.end() ? nullptr : &*found;
}

}  // namespace aerocast
