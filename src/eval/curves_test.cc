// SPDX-License-Identifier: BSD-3-Clause
#include "src/eval/curves.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace aerocast {
namespace {

using Json = nlohmann::json;

TrainingCurve Example() {
  TrainingCurve curve{"paper", "the budget of 20 minutes is used up", 1'234'567, 98'765, {}};
  curve.points.push_back({4096, 0.0415, 3.25, 3e-4, 5, 2.5, 1.1, 0.9, 0.4, 0.5, true});
  curve.points.push_back({8192, 0.083, 6.5, 2.9e-4, 20, 1 / 3.0, -0.1, 1e-17, 0.1, 0, false});
  return curve;
}

// What the reader says about the example after `change`.
std::string MessageAfter(const std::function<void(Json&)>& change) {
  Json json = Json::parse(CurveToJson(Example()));
  change(json);
  const auto curve = CurveFromJson(json.dump(), "c.json");
  return curve.ok() ? "" : curve.error().message;
}

TEST(Curves, RoundTripIsExact) {
  TrainingCurve largest = Example();
  largest.parameters = std::numeric_limits<std::uint64_t>::max();
  largest.points[1].history = std::numeric_limits<int>::max();
  for (const TrainingCurve& curve : {TrainingCurve{}, Example(), largest}) {
    const auto back = CurveFromJson(CurveToJson(curve), "c.json");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, curve);
  }
}

TEST(Curves, EveryFieldIsWrittenAndRequired) {
  const Json json = Json::parse(CurveToJson(Example()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json.size(), 7u);
  EXPECT_EQ(json["points"][0].size(), 11u);
  EXPECT_EQ(json["points"][0]["validation_ade_m"], 0.4);
  for (const auto& [key, value] : json.items()) {
    const std::string expected = "c.json: \"" + key + "\" is missing";
    EXPECT_EQ(MessageAfter([&](Json& j) { j.erase(key); }), expected);
  }
  for (const auto& [key, value] : json["points"][1].items()) {
    const std::string expected = "c.json.points[1]: \"" + key + "\" is missing";
    EXPECT_EQ(MessageAfter([&](Json& j) { j["points"][1].erase(key); }), expected);
  }
}

TEST(Curves, TextThatIsNoUtf8DoesNotThrow) {
  TrainingCurve curve = Example();
  curve.name = "a\xff";
  const auto back = CurveFromJson(CurveToJson(curve), "c.json");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->name, "a\xef\xbf\xbd");
}

TEST(Curves, BadTextIsRefused) {
  for (const char* text : {"", "{", "nonsense", "{\"version\": 1e999}"}) {
    const auto curve = CurveFromJson(text, "c.json");
    ASSERT_FALSE(curve.ok());
    EXPECT_EQ(curve.error().code, ErrorCode::kBadFormat);
    EXPECT_EQ(curve.error().message, "c.json: not valid JSON");
  }
  EXPECT_EQ(CurveFromJson("[]", "c.json").error().message, "c.json: expected an object");
}

TEST(Curves, WrongValuesAreRefusedWithTheField) {
  const auto set = [](const char* key, const Json& value) {
    return MessageAfter([&](Json& j) { j[key] = value; });
  };
  const auto set_in_point = [](const char* key, const Json& value) {
    return MessageAfter([&](Json& j) { j["points"][1][key] = value; });
  };
  EXPECT_EQ(set("name", "another"), "");
  EXPECT_EQ(set("format", "x"), "c.json.format: expected \"aerocast-curve\"");
  EXPECT_EQ(set("version", 2), "c.json.version: this program reads version 1 only");
  EXPECT_EQ(set("note", 1), "c.json.note: expected a string");
  EXPECT_EQ(set("parameters", -1), "c.json.parameters: expected a whole number, at least 0");
  EXPECT_EQ(set("points", nullptr), "c.json.points: expected an array");
  EXPECT_EQ(set("points", {1}), "c.json.points[0]: expected an object");
  EXPECT_EQ(set("colour", "red"), "c.json: unknown key \"colour\"");
  EXPECT_EQ(set_in_point("colour", "red"), "c.json.points[1]: unknown key \"colour\"");
  EXPECT_EQ(set_in_point("windows", 1.5),
            "c.json.points[1].windows: expected a whole number, at least 0");
  EXPECT_EQ(set_in_point("history", 2147483648u),
            "c.json.points[1].history: expected at most 2147483647");
  EXPECT_EQ(set_in_point("best", 1), "c.json.points[1].best: expected true or false");
  EXPECT_EQ(set_in_point("windows", 4095),
            "c.json.points[1].windows: expected no fewer than at the point before");
  EXPECT_EQ(set_in_point("seconds", 3.0),
            "c.json.points[1].seconds: expected no fewer than at the point before");
}

TEST(Curves, NumbersThatAreNotFiniteDoNotPass) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    TrainingCurve curve = Example();
    curve.points[0].validation_nll = value;
    const auto back = CurveFromJson(CurveToJson(curve), "c.json");
    ASSERT_FALSE(back.ok());
    EXPECT_EQ(back.error().message, "c.json.points[0].validation_nll: expected a number");
  }
}

}  // namespace
}  // namespace aerocast
