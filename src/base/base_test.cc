// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <vector>

#include "src/base/file.h"
#include "src/base/parallel.h"
#include "src/base/rng.h"
#include "src/base/sha256.h"
#include "src/base/text.h"

namespace aerocast {
namespace {

namespace fs = std::filesystem;

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

RC_GTEST_PROP(Sha256, DoesNotDependOnHowTheTextIsCut, (const std::string& text)) {
  const std::size_t cut = text.empty() ? 0 : *rc::gen::inRange<std::size_t>(0, text.size());
  Sha256 hash;
  hash.Update(std::string_view(text).substr(0, cut));
  hash.Update(std::string_view(text).substr(cut));
  RC_ASSERT(hash.Hex() == Sha256Hex(text));
}

TEST(Rng, HasTheMomentsItClaims) {
  Rng rng(7);
  double sum = 0, square = 0, uniform = 0;
  const int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const double z = rng.Normal();
    sum += z, square += z * z, uniform += rng.Uniform();
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.02);
  EXPECT_NEAR(uniform / n, 0.5, 0.005);
}

TEST(Rng, GivesEveryStreamItsOwnNumbers) {
  EXPECT_EQ(Rng(1, 2).Next(), Rng(1, 2).Next());
  EXPECT_NE(Rng(1, 2).Next(), Rng(1, 3).Next());
  EXPECT_NE(Rng(1, 2).Next(), Rng(2, 2).Next());
}

TEST(ParallelFor, VisitsEveryItemOnceWhateverTheThreads) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> visits(1000);
    ParallelFor(visits.size(), threads, [&](std::size_t i, int) { ++visits[i]; });
    for (const auto& count : visits) ASSERT_EQ(count, 1);
  }
  ParallelFor(0, 2, [](std::size_t, int) { FAIL(); });
}

TEST(ParseSeconds, KeepsEveryDigitOfAnAbsoluteClock) {
  EXPECT_EQ(ParseSeconds("1772682400.3993"), 1772682400399300000);
  EXPECT_EQ(ParseSeconds("1772421798.750959635"), 1772421798750959635);
  EXPECT_EQ(ParseSeconds(" -0.5 "), -500000000);
  EXPECT_EQ(ParseSeconds("0.0000000005"), 1);
  EXPECT_EQ(ParseSeconds("1.5e1"), 15 * kNsPerSecond);
  EXPECT_EQ(ParseSeconds("9223372036.854775807"), std::numeric_limits<TimeNs>::max());
  for (const char* bad : {"", "-", ".", "1.2.3", "nan", "inf", "12s", "99999999999", "9223372036.9",
                          "-9223372036.9", "1e300"}) {
    EXPECT_FALSE(ParseSeconds(bad)) << bad;
  }
}

RC_GTEST_PROP(ParseSeconds, ReadsBackWhatAppendSecondsWrote, (std::int64_t t_ns)) {
  std::string text;
  AppendSeconds(t_ns, text);
  if (t_ns != std::numeric_limits<std::int64_t>::min()) RC_ASSERT(ParseSeconds(text) == t_ns);
}

TEST(AppendFixed, DropsWhatSaysNothing) {
  const auto format = [](double value) {
    std::string out;
    AppendFixed(value, 4, out);
    return out;
  };
  EXPECT_EQ(format(1.5), "1.5");
  EXPECT_EQ(format(-0.00001), "0");
  EXPECT_EQ(format(120), "120");
  EXPECT_EQ(format(-2.00004), "-2");
}

TEST(SplitFields, TrimsAndKeepsEmptyFields) {
  std::vector<std::string_view> fields;
  SplitFields("a, b ,,c\r", ',', fields);
  EXPECT_THAT(fields, testing::ElementsAre("a", "b", "", "c"));
}

class Files : public testing::Test {
 protected:
  Files() {
    dir_ =
        fs::path(testing::TempDir()) /
        (std::string("aerocast_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~Files() override { fs::remove_all(dir_); }
  fs::path dir_;
};

TEST_F(Files, ReplaceWholeContentAndLeaveNothingBehind) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "a", "one").ok());
  ASSERT_TRUE(WriteFileAtomically(dir_ / "a", "two").ok());
  EXPECT_EQ(*ReadFile(dir_ / "a"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1);
}

TEST_F(Files, FollowLinksKeepPermissionsAndNeverReplaceAPipe) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "real", "old").ok());
  fs::permissions(dir_ / "real", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(dir_ / "real", dir_ / "link");
  ASSERT_TRUE(WriteFileAtomically(dir_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(*ReadFile(dir_ / "real"), "new");
  EXPECT_EQ(fs::status(dir_ / "real").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);

  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadFile(dir_ / "pipe").error().message, testing::HasSubstr("regular file"));
  const int reader = open((dir_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(WriteFileAtomically(dir_ / "pipe", "through").ok());
  char buffer[16] = {};
  EXPECT_EQ(read(reader, buffer, sizeof buffer), 7);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(dir_ / "pipe"));
}

TEST_F(Files, OfTwoWritersWithoutLeaveToReplaceOneWins) {
  auto first = StagedDirectory::Create(dir_ / "corpus", false);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(WriteFileAtomically(first->path() / "f", "first").ok());
  fs::create_directories(dir_ / "corpus");
  ASSERT_TRUE(WriteFileAtomically(dir_ / "corpus" / "f", "second").ok());
  EXPECT_EQ(first->Commit().error().code, ErrorCode::kExists);
  EXPECT_EQ(*ReadFile(dir_ / "corpus" / "f"), "second");
}

TEST_F(Files, WhatTheDeadLeftBehindIsRemoved) {
  fs::create_directories(dir_ / "corpus.partial-999999999");  // beyond the largest process id
  fs::create_directories(dir_ / "corpus.partial-mine");
  auto staged = StagedDirectory::Create(dir_ / "corpus", false);
  EXPECT_FALSE(fs::exists(dir_ / "corpus.partial-999999999"));
  EXPECT_TRUE(fs::exists(dir_ / "corpus.partial-mine"));
  RemoveStaged();
  EXPECT_FALSE(fs::exists(staged->path()));
}

TEST_F(Files, SayWhichFileAndWhy) {
  EXPECT_THAT(ReadFile(dir_ / "none").error().message,
              testing::AllOf(testing::HasSubstr("none"), testing::HasSubstr("No such file")));
  EXPECT_THAT(ReadFile(dir_).error().message, testing::HasSubstr("expected a file"));
  EXPECT_FALSE(WriteFileAtomically(dir_ / "no" / "where", "x").ok());
}

TEST_F(Files, StagedDirectoryAppearsOnlyWhenCommitted) {
  {
    auto staged = StagedDirectory::Create(dir_ / "corpus", false);
    ASSERT_TRUE(staged.ok());
    ASSERT_TRUE(WriteFileAtomically(staged->path() / "f", "x").ok());
  }
  EXPECT_TRUE(fs::is_empty(dir_));
  for (const char* content : {"old", "new"}) {
    auto staged = StagedDirectory::Create(dir_ / "corpus", true);
    ASSERT_TRUE(staged.ok());
    ASSERT_TRUE(WriteFileAtomically(staged->path() / "f", content).ok());
    ASSERT_TRUE(staged->Commit().ok());
    EXPECT_EQ(*ReadFile(dir_ / "corpus" / "f"), content);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1);
  EXPECT_EQ(StagedDirectory::Create(dir_ / "corpus", false).error().code, ErrorCode::kExists);
}

}  // namespace
}  // namespace aerocast
