// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/observation_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace aerocast {
namespace {

using testing::HasSubstr;

std::string WhyNot(const std::string& line) {
  const Result<ObservationLine> read = ParseObservation(line);
  return read.ok() ? "" : read.error().message;
}

TEST(ParseObservation, ReadsEveryField) {
  const auto read = ParseObservation(
      R"( {"v":[1,2,3],"t":1772682400.399300001,"id":"7","p":[1.5,-2,3e1],"sigma":0.02,"t2":5} )");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->id, "7");
  EXPECT_EQ(read->observation, (Observation{1772682400'399'300'001, {1.5, -2, 30}}));
  EXPECT_EQ(read->sigma_m, 0.02);
  EXPECT_EQ(read->v_world, (Vec3{1, 2, 3}));
}

TEST(ParseObservation, NeedsOnlyIdStampAndPosition) {
  const auto read = ParseObservation(R"({"id":"a","t":-1,"p":[0,0,0],"sigma":null})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->observation.t_ns, -kNsPerSecond);
  EXPECT_FALSE(read->sigma_m || read->v_world);
}

TEST(ParseObservation, NamesWhatIsWrong) {
  EXPECT_THAT(WhyNot("hello"), HasSubstr("not JSON"));
  EXPECT_THAT(WhyNot("[1,2]"), HasSubstr("expected an object"));
  EXPECT_THAT(WhyNot(R"({"t":1,"p":[1,2,3]})"), HasSubstr("\"id\" is missing"));
  EXPECT_THAT(WhyNot(R"({"id":7,"t":1,"p":[1,2,3]})"), HasSubstr("id: expected a string"));
  EXPECT_THAT(WhyNot(R"({"id":"","t":1,"p":[1,2,3]})"), HasSubstr("id: expected 1 to 64 bytes"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":"1","p":[1,2,3]})"), HasSubstr("t: expected a number"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1e300,"p":[1,2,3]})"), HasSubstr("t: expected seconds"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1,"p":[1,2]})"), HasSubstr("p: expected three numbers"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1,"p":[1,2,null]})"), HasSubstr("p: expected finite"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1,"p":[1,2,NaN]})"), HasSubstr("not JSON"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1,"t":2,"p":[1,2,3]})"), HasSubstr("twice"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1,"p":[1,2,3],"sigma":-1})"), HasSubstr("sigma: expected"));
  EXPECT_THAT(WhyNot(R"({"id":"a","t":1,"p":[1,2,3],"v":[1]})"), HasSubstr("v: expected three"));
}

RC_GTEST_PROP(ParseObservationProperty, SurvivesWhateverComes, (std::string text)) {
  (void)ParseObservation(text);
  const std::string line = R"({"id":"a","t":1.5,"p":[1,2,3]})";
  const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
  (void)ParseObservation(line.substr(0, at) + text + line.substr(at));
}

}  // namespace
}  // namespace aerocast
