// SPDX-License-Identifier: BSD-3-Clause
//
// Files made to do harm end in one sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "src/base/file.h"
#include "src/base/rng.h"
#include "src/model/malformed_testing.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// "" when it is accepted.
std::string Refusal(std::string_view bytes) {
  const Result<Model> model = DecodeModel(bytes, "x.model");
  if (model.ok()) return "";
  EXPECT_EQ(model.error().code, ErrorCode::kBadFormat);
  return model.error().message;
}

bool IsOneSentence(std::string_view text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return text.size() < 400 && std::none_of(text.begin(), text.end(), control);
}

TEST(MalformedModel, TheFileTheyAreMadeFromIsGood) {
  const MalformedModels models;
  EXPECT_EQ(Refusal(Forge(models.good().header, models.good().data)), "");
  EXPECT_EQ(Forge(models.good().header, models.good().data), *EncodeModel(TinyModel(), "x"));
}

TEST(MalformedModel, EachIsRefusedInOneSentence) {
  const MalformedModels models;
  std::set<std::string> names;
  for (const Malformed& c : models.all()) {
    const std::string message = Refusal(c.bytes);
    EXPECT_THAT(message, StartsWith("x.model: ")) << c.name;
    EXPECT_THAT(message, HasSubstr(c.expected)) << c.name;
    EXPECT_TRUE(IsOneSentence(message)) << c.name << ": " << message;
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " is there twice";
  }
  EXPECT_GE(names.size(), 150u);
}

TEST(MalformedModel, EveryPrefixIsRefused) {
  const std::string bytes = *EncodeModel(TinyModel(), "x");
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    ASSERT_NE(Refusal(std::string_view(bytes).substr(0, n)), "") << n << " bytes";
  }
}

TEST(MalformedModel, EveryPrefixOfTheHeaderIsRefusedAlsoWithRightHashes) {
  const MalformedModels models;
  const std::size_t end = models.good().header.find_last_not_of(' ');
  for (std::size_t n = 0; n < end; ++n) {
    const std::string prefix = models.good().header.substr(0, n);
    ASSERT_NE(Refusal(Raw(prefix, models.good().data)), "") << n << " bytes";
    ASSERT_NE(Refusal(Forge(prefix, models.good().data)), "") << n << " bytes";
  }
}

TEST(MalformedModel, RandomFlipsAreRefused) {
  const std::string bytes = *EncodeModel(TinyModel(), "x");
  Rng rng(5);
  for (int round = 0; round < 5000; ++round) {
    std::string other = bytes;
    for (std::uint64_t k = 0, flips = 1 + rng.Below(4); k < flips; ++k) {
      const std::size_t n = rng.Below(bytes.size() * 8);
      other[n / 8] = static_cast<char>(other[n / 8] ^ (1 << n % 8));
    }
    if (other == bytes) continue;
    ASSERT_NE(Refusal(other), "") << "round " << round;
  }
}

// Behind the hashes: a flip either changes the model, which is then written as it was read, or is
// refused.
TEST(MalformedModel, FlipsBehindRightHashesAreRefusedOrAnotherModel) {
  const MalformedModels models;
  Rng rng(6);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    HeaderAndData other = models.good();
    std::string& part = rng.Chance(0.8) ? other.header : other.data;
    const std::size_t n = rng.Below(part.size() * 8);
    part[n / 8] = static_cast<char>(part[n / 8] ^ (1 << n % 8));
    const std::string bytes = Forge(other.header, other.data);
    const Result<Model> model = DecodeModel(bytes, "x.model");
    if (!model.ok()) continue;
    ++accepted;
    ASSERT_EQ(*EncodeModel(*model, "x", model->stored), bytes) << "round " << round;
  }
  EXPECT_GT(accepted, 100);
}

class OpenFile : public ::testing::Test {
 protected:
  OpenFile() { Write(); }
  ~OpenFile() override { std::filesystem::remove(file_); }
  void Write() { std::ofstream(file_, std::ios::binary) << *EncodeModel(TinyModel(), "x"); }
  const std::filesystem::path file_ = std::filesystem::path(::testing::TempDir()) /
                                      ("malformed_" + std::to_string(getpid()) + ".model");
};

TEST_F(OpenFile, CutWhileItIsReadIsAnError) {
  const auto size = std::filesystem::file_size(file_);
  for (std::uintmax_t n = 0; n < size; n += 3) {
    Write();
    const Result<FileSource> source = FileSource::Open(file_);
    ASSERT_TRUE(source.ok());
    std::filesystem::resize_file(file_, n);
    const Result<TensorFile> read = DecodeTensorFile(*source, file_.string());
    ASSERT_FALSE(read.ok()) << n;
    EXPECT_EQ(read.error().message, file_.string() + ": was cut off while being read");
  }
}

TEST_F(OpenFile, CutOrOverwrittenAfterwardsDoesNotMatter) {
  const Result<Model> model = ReadModel(file_);
  ASSERT_TRUE(model.ok());
  std::filesystem::resize_file(file_, 10);
  EXPECT_FALSE(ReadModel(file_).ok());
  EXPECT_EQ(*EncodeModel(*model, "x"), *EncodeModel(TinyModel(), "x"));
}

TEST_F(OpenFile, WhatIsNoRegularFileIsRefused) {
  EXPECT_THAT(ReadModel("/dev/zero").error().message, HasSubstr("/dev/zero: expected a regular"));
  EXPECT_THAT(ReadModel(::testing::TempDir()).error().message, HasSubstr("expected a file"));
}

}  // namespace
}  // namespace aerocast
