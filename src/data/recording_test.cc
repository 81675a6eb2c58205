// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/base/file.h"

namespace aerocast {
namespace {

using testing::HasSubstr;

std::string MessageOf(std::string_view text) {
  const auto result = ParseRecording(text, "f.csv");
  return result.ok() ? "ok" : result.error().message;
}

TEST(ParseRecording, ReadsMetadataColumnsInAnyOrderAndIgnoresOthers) {
  const auto r = ParseRecording(
      "\xEF\xBB\xBF# id: gull-1\r\n# category: circle\r\n# source: synthetic\r\n# noise_m: 0.02\r\n"
      "# just a "
      "remark\r\nvx,z,y,x,t\r\n9,3,2,1,1772682400.3993\r\n\r\n9,3.5,2,1,1772682400.4093\r\n",
      "dir/f.csv");
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->id, "gull-1");
  EXPECT_EQ(r->category, "circle");
  EXPECT_EQ(r->source, Source::kSynthetic);
  EXPECT_EQ(r->noise_m, 0.02);
  ASSERT_EQ(r->samples.size(), 2u);
  EXPECT_EQ(r->samples[0], (Observation{1772682400399300000, {1, 2, 3}}));
  EXPECT_FALSE(r->has_truth());
}

TEST(ParseRecording, TakesTheFilesStemAsIdAndTruthAsTarget) {
  const auto r = ParseRecording("t,x,y,z,x_true,y_true,z_true\n0,1,2,3,4,5,6\n", "a/b/flight7.csv");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->id, "flight7");
  EXPECT_EQ(r->target(0), (Vec3{4, 5, 6}));
}

TEST(ParseRecording, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(MessageOf(""), HasSubstr("f.csv: empty"));
  EXPECT_THAT(MessageOf("t,x,y,z\n"), HasSubstr("no samples"));
  EXPECT_THAT(MessageOf("t,x,y\n0,1,2\n"), HasSubstr("f.csv:1: no column 'z'"));
  EXPECT_THAT(MessageOf("t;x;y;z\n0;1;2;3\n"), HasSubstr("expected a header line t,x,y,z"));
  EXPECT_THAT(MessageOf("t,x,y,z,x\n"), HasSubstr("twice"));
  EXPECT_THAT(MessageOf("t,x,y,z,x_true\n"), HasSubstr("belong together"));
  EXPECT_THAT(MessageOf("t,x,y,z\n0,1,2,nan\n"), HasSubstr("f.csv:2: z is 'nan'"));
  EXPECT_THAT(MessageOf("t,x,y,z\n0,1,inf,3\n"), HasSubstr("y is 'inf'"));
  EXPECT_THAT(MessageOf("t,x,y,z\n0,1,,3\n"), HasSubstr("y is ''"));
  EXPECT_THAT(MessageOf("t,x,y,z\n0,1,2,1e9\n"), HasSubstr("below 1e7"));
  EXPECT_THAT(MessageOf("t,x,y,z\nnow,1,2,3\n"), HasSubstr("t is 'now'"));
  EXPECT_THAT(MessageOf("t,x,y,z\n1,1,2,3\n0.5,1,2,3\n"),
              HasSubstr("f.csv:3: t is 0.5 after 1, expected increasing"));
  EXPECT_THAT(MessageOf("t,x,y,z\n1,1,2,3\n1,1,2,3\n"), HasSubstr("expected increasing"));
  EXPECT_THAT(MessageOf("t,x,y,z\n1,1,2,3\n2,1"), HasSubstr("ends in the middle of a line"));
  EXPECT_THAT(MessageOf("t,x,y,z\n1,1,2,30\n2,1,2,3"), HasSubstr("in the middle of a line"));
  EXPECT_THAT(MessageOf("t,x,y,z\n1,1,2\n2,1,2,3\n"), HasSubstr("expected 4 fields, found 3"));
  EXPECT_THAT(MessageOf("# source: dream\nt,x,y,z\n"), HasSubstr("expected real or synthetic"));
  EXPECT_THAT(MessageOf("# noise_m: -1\nt,x,y,z\n"), HasSubstr("noise_m is '-1'"));
  // Nothing of the file steers a terminal or fills it.
  EXPECT_THAT(MessageOf("# source: \x1b[2J\nt,x,y,z\n"), HasSubstr("source is '?[2J', expected"));
  EXPECT_THAT(MessageOf("t,x\x07\n"), HasSubstr("but found 't,x?'"));
  EXPECT_LT(MessageOf("t,x,y,z\n" + std::string(1 << 20, '7') + ",1,2,3\n").size(), 200u);
}

TEST(ReadRecording, NamesAFileThatIsNotThere) {
  EXPECT_THAT(ReadRecording("no/such.csv").error().message, HasSubstr("no/such.csv: cannot open"));
}

RC_GTEST_PROP(FormatRecording, ReadsBackToTheTenthOfAMicrometre, (std::vector<std::int32_t> raw)) {
  RC_PRE(!raw.empty());
  Recording recording;
  recording.id = "r";
  recording.category = "circle";
  recording.configuration = "c1";
  recording.source = Source::kSynthetic;
  TimeNs t = *rc::gen::arbitrary<std::int32_t>();
  for (const std::int32_t v : raw) {
    t += 1 + *rc::gen::inRange(0, 1'000'000);
    recording.samples.push_back({t, {v * 1e-7, -v * 1e-7, 2.0}});
    recording.truth.push_back({v * 1e-7, 0, 1});
  }
  const auto back = ParseRecording(FormatRecording(recording), "x.csv");
  RC_ASSERT(back.ok());
  RC_ASSERT(back->category == recording.category);
  RC_ASSERT(back->configuration == recording.configuration);
  RC_ASSERT(back->samples.size() == recording.samples.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    RC_ASSERT(back->samples[i].t_ns == recording.samples[i].t_ns);
    RC_ASSERT(Norm(back->samples[i].p_world - recording.samples[i].p_world) < 1e-9);
    RC_ASSERT(Norm(back->truth[i] - recording.truth[i]) < 1e-9);
  }
  RC_ASSERT(FormatRecording(*back) == FormatRecording(recording));
}

RC_GTEST_PROP(ParseRecording, NeverCrashesOnAnyBytes, (const std::string& bytes)) {
  (void)ParseRecording(bytes, "x");
  (void)ParseRecording("t,x,y,z\n" + bytes, "x");
}

}  // namespace
}  // namespace aerocast
