// SPDX-License-Identifier: BSD-3-Clause
#include "src/model/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "src/base/rng.h"
#include "src/base/sha256.h"
#include "src/model/forge_testing.h"

namespace aerocast {
namespace {

using ::testing::HasSubstr;

const std::vector<float> kA = {1, -2, 3.5f, 0, -0.0f, 1e-40f};
const std::vector<float> kB = {std::numeric_limits<float>::max(), 7, 8};

std::vector<TensorView> Small() { return {{"layers.0.weight", {2, 3}, kA}, {"b", {3}, kB}}; }

std::string SmallFile() {
  return EncodeTensorFile({{"format", "test"}, {"text", "a\n\"b\" ü"}}, Small());
}

std::uint64_t HeaderLength(std::string_view bytes) {
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return length;
}

std::string Floats(std::size_t n, float value = 1) {
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i) bytes.append(reinterpret_cast<const char*>(&value), 4);
  return bytes;
}

// A file with these entries and right hashes.
std::string Crafted(const std::string& tensors, const std::string& data,
                    const std::string& metadata = "") {
  const std::string zeros(64, '0');
  return Forge(R"({"__metadata__":{)" + metadata + R"("data_sha256":")" + zeros +
                   R"(","header_sha256":")" + zeros + "\"}" + tensors + "}",
               data);
}

std::string Padded(std::string header, const std::string& data = "") {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return Raw(header, data);
}

std::filesystem::path TestFile() {
  return std::filesystem::path(::testing::TempDir()) /
         ("tensor_file_test_" + std::to_string(getpid()) + ".model");
}

std::string Refusal(const std::string& bytes, const TensorFileLimits& limits = {}) {
  const Result<TensorFile> read = DecodeTensorFile(bytes, "x.model", limits);
  if (read.ok()) return "(accepted)";
  EXPECT_THAT(read.error().message, ::testing::StartsWith("x.model: "));
  EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(read.error().code, ErrorCode::kBadFormat);
  return read.error().message;
}

TEST(TensorFileTest, RoundTripKeepsEveryBit) {
  const Result<TensorFile> read = DecodeTensorFile(SmallFile(), "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->metadata.at("format"), "test");
  EXPECT_EQ(read->metadata.at("text"), "a\n\"b\" ü");
  EXPECT_EQ(read->metadata.at("data_sha256"), DataSha256(Small()));
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors[0].name, "layers.0.weight");
  EXPECT_EQ(read->tensors[0].shape, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(read->tensors[0].data.size(), kA.size());
  EXPECT_EQ(std::memcmp(read->tensors[0].data.data(), kA.data(), 24), 0);
  EXPECT_EQ(read->Find("b")->data, kB);
  EXPECT_EQ(read->Find("c"), nullptr);
}

TEST(TensorFileTest, TheLayoutIsTheOneOthersKnow) {
  const std::string bytes = SmallFile();
  const std::uint64_t length = HeaderLength(bytes);
  EXPECT_EQ(length % 8, 0u);
  ASSERT_EQ(bytes.size(), 8 + length + 36);
  const std::string header = bytes.substr(8, length);
  EXPECT_THAT(header, ::testing::StartsWith(R"({"__metadata__":{"data_sha256":")"));
  EXPECT_THAT(header,
              HasSubstr(R"("layers.0.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                        R"("b":{"dtype":"F32","shape":[3],"data_offsets":[24,36]}})"));
  float value = 0;
  std::memcpy(&value, bytes.data() + 8 + length + 4, 4);
  EXPECT_EQ(value, -2);
  std::memcpy(&value, bytes.data() + 8 + length + 28, 4);
  EXPECT_EQ(value, 7);
}

TEST(TensorFileTest, TheSameContentGivesTheSameBytes) { EXPECT_EQ(SmallFile(), SmallFile()); }

TEST(TensorFileTest, AFileWithoutTensorsIsWhole) {
  const Result<TensorFile> read = DecodeTensorFile(EncodeTensorFile({}, {}), "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->tensors.empty());
}

TEST(TensorFileTest, HeaderOrderIsFree) {
  const Result<TensorFile> read =
      DecodeTensorFile(Crafted(R"(,"b":{"shape":[1],"dtype":"F32","data_offsets":[4,8]},)"
                               R"("a":{"dtype":"F32","data_offsets":[0,4],"shape":[1,1,1,1]})",
                               Floats(1, 5) + Floats(1, 6)),
                       "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->tensors[0].name, "a");
  EXPECT_EQ(read->tensors[0].data[0], 5);
  EXPECT_EQ(read->tensors[1].data[0], 6);
}

std::string Entry(const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "\"F32\"") {
  return R"(,"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}";
}

TEST(TensorFileTest, MalformedHeadersAreRefusedByName) {
  const std::string one = Entry("[1]", "[0,4]");
  ASSERT_EQ(Refusal(Crafted(one, Floats(1))), "(accepted)") << "else the cases below prove nothing";
  const struct {
    std::string bytes, expected;
  } kCases[] = {
      {"", "is 0 bytes, expected at least the 8 bytes"},
      {"1234567", "is 7 bytes, expected at least the 8 bytes"},
      {std::string(8, '\0'), "header does not begin with '{'"},
      {std::string(8, '\xff'),
       "says that its header is 18446744073709551615 bytes, expected at most"},
      {Padded("{}").substr(0, 9), "says that its header is 8 bytes, but only 1 follow"},
      {Raw("{}"), "says that its header is 2 bytes, expected a multiple of 8"},
      {Padded("[]"), "header does not begin with '{'"},
      {Padded(" {}"), "header does not begin with '{'"},
      {Padded("\xef\xbb\xbf{}"), "header does not begin with '{'"},
      {Padded("{}"), "header has no '__metadata__'"},
      {Padded("{} x"), "is not JSON"},
      {Padded(std::string("{}\0x", 4)), "byte 3 is not JSON"},
      {Padded("{\"a\":"), "is not JSON, or the text was cut off there"},
      {Padded(R"({"__metadata__":[]})"), "'__metadata__' is not an object"},
      {Padded(R"({"__metadata__":{"format":3}})"), "metadata 'format' is 3, expected a text"},
      {Padded(R"({"__metadata__":{"for mat":""}})"),
       "metadata key 'for mat' is no printable ASCII"},
      {Padded(R"({"__metadata__":{}})"), "metadata has no 'header_sha256'"},
      {Padded(R"({"__metadata__":{"header_sha256":"abc"}})"),
       "'header_sha256' is 'abc', expected 64"},
      {Padded(R"({"__metadata__":{},"__metadata__":{}})"), "the key '__metadata__' is there twice"},
      {Crafted(one + one, Floats(1)), "the key 'a' is there twice"},
      {Crafted(one, Floats(1), R"("data_sha256":"",)"), "the key 'data_sha256' is there twice"},
      {Crafted(R"(,"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})", Floats(1)),
       "the key 'dtype' is there twice"},
      {Crafted(R"(,"a":7)", ""), "tensor 'a': is 7, expected an object"},
      {Crafted(R"(,"a":{"shape":[1],"data_offsets":[0,4]})", Floats(1)),
       "tensor 'a': field 'dtype' is missing"},
      {Crafted(R"(,"a":{"dtype":"F32","data_offsets":[0,4]})", Floats(1)),
       "tensor 'a': field 'shape' is missing"},
      {Crafted(R"(,"a":{"dtype":"F32","shape":[1]})", Floats(1)),
       "tensor 'a': field 'data_offsets' is missing"},
      {Crafted(R"(,"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})", Floats(1)),
       "tensor 'a': field 'x' is not known here"},
      {Crafted(Entry("[1]", "[0,2]", "\"BF16\""), "12"),
       "tensor 'a' has dtype 'BF16', expected 'F32' or 'F16'"},
      {Crafted(Entry("[1]", "[0,4]", "\"F16\""), Floats(1)), "'a' has 4 bytes, expected as many"},
      {Crafted(Entry("[1]", "[0,4]", "32"), Floats(1)), "field 'dtype' is 32, expected a text"},
      {Crafted(Entry("[]", "[0,4]"), Floats(1)), "tensor 'a' has rank 0, expected 1 to 4"},
      {Crafted(Entry("[1,1,1,1,1]", "[0,4]"), Floats(1)), "tensor 'a' has rank 5, expected 1 to 4"},
      {Crafted(Entry("[0]", "[0,0]"), ""), "has a dimension of 0, expected 1 to 65536"},
      {Crafted(Entry("[-1]", "[0,4]"), Floats(1)), "has a dimension of -1, expected 1 to 65536"},
      {Crafted(Entry("[65537]", "[0,4]"), Floats(1)), "has a dimension of 65537, expected"},
      {Crafted(Entry("[1.0]", "[0,4]"), Floats(1)),
       "field 'shape' is a list, expected a list of whole"},
      {Crafted(Entry("[1e0]", "[0,4]"), Floats(1)),
       "field 'shape' is a list, expected a list of whole"},
      {Crafted(Entry("[\"1\"]", "[0,4]"), Floats(1)), "expected a list of whole numbers"},
      {Crafted(Entry("1", "[0,4]"), Floats(1)), "field 'shape' is 1, expected a list"},
      {Crafted(Entry("[9223372036854775808]", "[0,4]"), Floats(1)),
       "expected a list of whole numbers"},
      {Crafted(Entry("[99999999999999999999999]", "[0,4]"), Floats(1)), "a list of whole numbers"},
      // 2^64 numbers: the product wraps to 0, and with 4 bytes each 2^62 + 1 to 4
      {Crafted(Entry("[65536,65536,65536,65536]", "[0,0]"), ""), "has 0 bytes, expected as many"},
      {Crafted(Entry("[65536,65536,65536,16384]", "[0,4]"), Floats(1)),
       "has 4 bytes, expected as many"},
      {Crafted(Entry("[2]", "[0,4]"), Floats(1)), "tensor 'a' has 4 bytes, expected as many"},
      {Crafted(Entry("[1]", "[0,8]"), Floats(2)), "tensor 'a' has 8 bytes, expected as many"},
      {Crafted(Entry("[1]", "[0,5]"), Floats(2)), "tensor 'a' has 5 bytes, expected as many"},
      {Crafted(Entry("[1]", "[0]"), Floats(1)), "no ascending pair of 'data_offsets'"},
      {Crafted(Entry("[1]", "[0,4,8]"), Floats(1)), "no ascending pair of 'data_offsets'"},
      {Crafted(Entry("[1]", "[4,0]"), Floats(1)), "no ascending pair of 'data_offsets'"},
      {Crafted(Entry("[1]", "[-4,0]"), Floats(1)), "no ascending pair of 'data_offsets'"},
      {Crafted(Entry("[1]", "[0,4.0]"), Floats(1)), "expected a list of whole numbers"},
      {Crafted(Entry("[1]", "[9223372036854775803,9223372036854775807]"), Floats(1)),
       "tensor 'a' ends at byte 9223372036854775807 of the data, but the data has only 4"},
      {Crafted(Entry("[1]", "[18446744073709551612,18446744073709551615]"), Floats(1)),
       "expected a list of whole numbers"},
      {Crafted(Entry("[1]", "[4,8]"), Floats(2)),
       "begins at byte 4 of the data, expected 0: there is a hole"},
      {Crafted(one, Floats(2)), "has 8 bytes of data, expected 4"},
      {Crafted(one, Floats(1) + "x"), "has 5 bytes of data, expected 4"},
      {Crafted("", Floats(1)), "has 4 bytes of data, expected 0"},
      {Crafted(one + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", Floats(1)),
       "tensor 'b' begins at byte 0 of the data, expected 4: it overlaps another"},
      {Crafted(R"(,"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
               R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]})",
               Floats(3)),
       "tensor 'b' begins at byte 4 of the data, expected 8: it overlaps another"},
      {Crafted(R"(,"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", Floats(1)),
       "tensor name '' is no printable ASCII name"},
      {Crafted(R"(,"a\u0007":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", Floats(1)),
       "tensor name 'a?' is no printable ASCII name"},
      {Crafted(R"(,"ü":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", Floats(1)),
       "is no printable ASCII name"},
      {Crafted(",\"a\xff\":{}", ""), "is not JSON"},
      {Crafted(",\"a\x01\":{}", ""), "is not JSON"},
      {Crafted("," + ("\"" + std::string(129, 'n') + "\":{}"), ""), "is no printable ASCII name"},
      {Crafted(",\"a\":" + std::string(9, '[') + std::string(9, ']'), ""), "nested too deep"},
      {Crafted(",\"a\":" + std::string(60'000, '['), ""), "nested too deep"},
      {Crafted(",\"a\":\"" + std::string(70'000, 'x') + "\"", ""), "expected at most 65536"},
      {Crafted(one, Floats(1, std::numeric_limits<float>::quiet_NaN())),
       "tensor 'a' holds a number that is not finite"},
      {Crafted(one, Floats(1, -std::numeric_limits<float>::infinity())),
       "tensor 'a' holds a number that is not finite"},
  };
  for (const auto& c : kCases) EXPECT_THAT(Refusal(c.bytes), HasSubstr(c.expected));
}

TEST(TensorFileTest, LimitsAreTheCallers) {
  const std::string bytes = SmallFile();
  EXPECT_THAT(Refusal(bytes, {.header_bytes = 16}), HasSubstr("expected at most 16"));
  EXPECT_THAT(Refusal(bytes, {.tensors = 1}),
              HasSubstr("header has 3 entries, expected at most 1"));
  EXPECT_THAT(Refusal(bytes, {.rank = 1}), HasSubstr("'layers.0.weight' has rank 2"));
  EXPECT_THAT(Refusal(bytes, {.dimension = 2}), HasSubstr("a dimension of 3, expected 1 to 2"));
  EXPECT_THAT(Refusal(bytes, {.file_bytes = 100}), HasSubstr("bytes, expected at most 100"));
}

TEST(TensorFileTest, AHundredThousandEntriesAreRefused) {
  std::string entries;
  for (int n = 0; n < 100'000; ++n) entries += ",\"" + std::to_string(n) + "\":{}";
  EXPECT_THAT(Refusal(Crafted(entries, ""), {.header_bytes = 1 << 24}),
              HasSubstr("the JSON has too many values, expected at most 32768"));
}

TEST(TensorFileTest, MissingOrWrongHashesAreRefused) {
  const std::string bytes = SmallFile();
  std::string other = bytes;
  other.back() = static_cast<char>(other.back() ^ 1);
  EXPECT_THAT(Refusal(other), HasSubstr("data is not the one that was written"));
  other = bytes;
  other.replace(other.find("\"test\""), 6, "\"tess\"");
  EXPECT_THAT(Refusal(other), HasSubstr("header is not the one that was written"));
  const std::string zeros(64, '0');
  std::string header = R"({"__metadata__":{"header_sha256":")" + zeros + "\"}}";
  header.replace(header.find(zeros), 64, Sha256Hex(header));
  EXPECT_THAT(Refusal(Padded(header)), HasSubstr("metadata has no 'data_sha256'"));
}

TEST(TensorFileTest, EveryTruncationIsRefused) {
  const std::string bytes = SmallFile();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    ASSERT_NE(Refusal(bytes.substr(0, n)), "(accepted)") << n << " bytes";
  }
}

TEST(TensorFileTest, EveryHeaderPrefixIsRefused) {
  const std::string bytes = SmallFile();
  const std::uint64_t length = HeaderLength(bytes);
  const std::string data = bytes.substr(8 + length);
  // Without its padding the header means the same, but is not the one that was written.
  for (std::size_t n = 0; n < length; ++n) {
    ASSERT_NE(Refusal(Raw(bytes.substr(8, n), data)), "(accepted)") << n << " bytes";
  }
}

TEST(TensorFileTest, EveryFlippedBitIsRefused) {
  const std::string bytes = SmallFile();
  for (std::size_t n = 0; n < bytes.size() * 8; ++n) {
    std::string other = bytes;
    other[n / 8] = static_cast<char>(other[n / 8] ^ (1 << n % 8));
    ASSERT_NE(Refusal(other), "(accepted)") << "bit " << n;
  }
}

TEST(TensorFileTest, SeveralFlippedBitsAreRefused) {
  const std::string bytes = SmallFile();
  Rng rng(3);
  for (int round = 0; round < 2000; ++round) {
    std::string other = bytes;
    const std::uint64_t flips = 2 + rng.Below(8);
    for (std::uint64_t k = 0; k < flips; ++k) {
      const std::size_t n = rng.Below(bytes.size() * 8);
      other[n / 8] = static_cast<char>(other[n / 8] ^ (1 << n % 8));
    }
    if (other == bytes) continue;
    ASSERT_NE(Refusal(other), "(accepted)") << "round " << round;
  }
}

TEST(TensorFileTest, NonFiniteNumbersAreFoundInEveryTensor) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (std::size_t t = 0; t < 2; ++t) {
      std::vector<float> data(t == 0 ? kA : kB);
      data.back() = bad;
      std::vector<TensorView> tensors = Small();
      tensors[t].data = data;
      EXPECT_THAT(Refusal(EncodeTensorFile({}, tensors)),
                  HasSubstr("tensor '" + tensors[t].name + "' holds a number that is not finite"));
      const auto file = TestFile();
      std::filesystem::remove(file);
      const Status written = WriteTensorFile(file, {}, tensors);
      ASSERT_FALSE(written.ok());
      EXPECT_THAT(written.error().message, HasSubstr("tensor '" + tensors[t].name + "' holds"));
      EXPECT_FALSE(std::filesystem::exists(file));
    }
  }
}

TEST(TensorFileTest, HalfPrecisionIsTheNearestHalf) {
  const std::vector<float> exact = {1, -2, 3.5f, 0, -0.0f, 65504};
  const std::vector<float> other = {0.1f, 1e-9f, 65519};
  const std::vector<TensorView> tensors = {{"a", {2, 3}, exact}, {"b", {3}, other}};
  const Result<std::string> bytes = EncodeChecked("x", {}, tensors, 1 << 16, WeightStorage::kHalf);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const HeaderAndData parts = *Cut(*bytes);
  EXPECT_EQ(parts.data.size(), 18u);
  EXPECT_THAT(parts.header,
              HasSubstr(R"("b":{"dtype":"F16","shape":[3],"data_offsets":[12,18]}})"));
  const Result<TensorFile> read = DecodeTensorFile(*bytes, "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->weights, WeightStorage::kHalf);
  EXPECT_EQ(std::memcmp(read->tensors[0].data.data(), exact.data(), 24), 0);
  EXPECT_EQ(read->tensors[1].data, (std::vector<float>{0x1.998p-4f, 0, 65504}));
  EXPECT_EQ(read->metadata.at("data_sha256"), Sha256Hex(parts.data));
  EXPECT_EQ(read->metadata.at("data_sha256"), DataSha256(tensors, WeightStorage::kHalf));
}

TEST(TensorFileTest, LongTensorsAreReadInPieces) {
  std::vector<float> data(200'001);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 2048);
  const std::vector<TensorView> tensors = {{"a", {100'000, 2}, std::span(data).first(200'000)},
                                           {"b", {200'001}, data}};
  for (const WeightStorage weights : {WeightStorage::kSingle, WeightStorage::kHalf}) {
    const std::string bytes = EncodeTensorFile({}, tensors, weights);
    const Result<TensorFile> read = DecodeTensorFile(bytes, "x", {.dimension = 1 << 20});
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->tensors[1].data, data);
    EXPECT_TRUE(std::equal(data.begin(), data.end() - 1, read->tensors[0].data.begin()));
  }
}

TEST(TensorFileTest, FilesAreReadAsTheyWereWritten) {
  const auto file = TestFile();
  ASSERT_TRUE(WriteTensorFile(file, {{"format", "test"}}, Small()).ok());
  const Result<TensorFile> read = ReadTensorFile(file);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->tensors[1].data, kB);
  EXPECT_FALSE(ReadTensorFile(file, {.file_bytes = 50}).ok());
  std::filesystem::resize_file(file, 100);
  const Result<TensorFile> cut = ReadTensorFile(file);
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message, HasSubstr(file.string() + ": says that its header is"));
  std::filesystem::remove(file);
  EXPECT_EQ(ReadTensorFile(file).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace aerocast
