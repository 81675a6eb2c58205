// SPDX-License-Identifier: BSD-3-Clause
#include "src/train/run_directory.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace aerocast {
namespace {

using Json = nlohmann::json;

RunFacts Example() {
  return {.seed = std::numeric_limits<std::uint64_t>::max(),
          .corpus = "corpus/mine",
          .corpus_name = "mine",
          .corpus_hash = "1f",
          .split = "flight",
          .split_hash = "2e",
          .start_hash = "789",
          .length = {.windows = 1280, .budget_s = 1 / 3.0, .clock = "cpu"},
          .threads = 2,
          .processes = 3,
          .version = "0.1.0",
          .blas = "libblas.so"};
}

// What the reader says about the example after `change`.
std::string MessageAfter(const std::function<void(Json&)>& change) {
  Json json = Json::parse(FactsToJson(Example()));
  change(json);
  const Result<RunFacts> facts = FactsFromJson(json.dump(), "run.json");
  return facts.ok() ? "" : facts.error().message;
}

TEST(RunFacts, RoundTripIsExact) {
  for (const RunFacts& facts : {RunFacts{}, Example()}) {
    const Result<RunFacts> back = FactsFromJson(FactsToJson(facts), "run.json");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, facts);
  }
}

TEST(RunFacts, EveryFieldIsWrittenAndRequired) {
  const Json json = Json::parse(FactsToJson(Example()));
  EXPECT_EQ(json.size(), 15u);
  for (const auto& [key, value] : json.items()) {
    const std::string message = MessageAfter([&](Json& j) { j.erase(key); });
    EXPECT_TRUE(message.starts_with("run.json: field '" + key + "' is missing")) << message;
  }
}

TEST(RunFacts, WrongFieldsAreRefusedByName) {
  const auto set = [](const char* key, const Json& value) {
    return MessageAfter([&](Json& j) { j[key] = value; });
  };
  EXPECT_EQ(set("corpus", "elsewhere"), "");
  EXPECT_EQ(set("clock", "sun"), "run.json: field 'clock' is \"sun\", expected wall or cpu");
  EXPECT_EQ(set("run_version", 2), "run.json: field 'run_version' is 2, expected 1");
  EXPECT_EQ(set("seed", -1), "run.json: field 'seed' is -1, expected a whole number, at least 0");
  EXPECT_EQ(set("threads", 1u << 31),
            "run.json: field 'threads' is 2147483648, expected at most 2147483647");
  EXPECT_EQ(set("budget_s", "long"), "run.json: field 'budget_s' is \"long\", expected a number");
  EXPECT_EQ(set("colour", "red"),
            "run.json: field 'colour' is not known here, expected it to be left out");
  EXPECT_EQ(FactsFromJson("[]", "run.json").error().message,
            "run.json: is a list, expected an object with named fields");
  EXPECT_FALSE(FactsFromJson("{", "run.json").ok());
}

}  // namespace
}  // namespace aerocast
