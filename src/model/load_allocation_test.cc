// SPDX-License-Identifier: BSD-3-Clause
//
// What loading a model allocates, and what happens when it cannot. A program of its own, because it
// replaces the global operator new.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>

#include "src/model/malformed_testing.h"

namespace {

std::atomic<std::size_t> held{0}, peak{0};
std::atomic<long> allocations{0};
// Allocations `fail_from` to before `fail_until` find no memory.
std::atomic<long> fail_from{std::numeric_limits<long>::max()}, fail_until{0};

}  // namespace

void* operator new(std::size_t size) {
  const long n = allocations++;
  if (n >= fail_from && n < fail_until) throw std::bad_alloc();
  void* p = std::malloc(size ? size : 1);
  if (p == nullptr) throw std::bad_alloc();
  const std::size_t now = held += malloc_usable_size(p);
  if (now > peak) peak = now;
  return p;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept {
  held -= p ? malloc_usable_size(p) : 0;
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace aerocast {
namespace {

constexpr std::size_t kBeside = 16'000'000;

class LoadAllocation : public ::testing::Test {
 protected:
  ~LoadAllocation() override { std::filesystem::remove(file_); }

  void Write(std::string_view bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }
  // Bytes that were held at once, beyond those held before.
  std::size_t PeakOfReading(bool expected) const {
    const std::size_t before = held;
    peak = before;
    const bool ok = ReadModel(file_).ok();
    EXPECT_EQ(ok, expected);
    return peak - before;
  }

  const std::filesystem::path file_ = std::filesystem::path(::testing::TempDir()) /
                                      ("load_allocation_" + std::to_string(getpid()) + ".model");
};

Model LargeModel() {
  Model model = TinyModel(Architecture::kTransformer);
  model.config.width = 1024, model.config.feed_forward = 4096, model.config.layers = 1;
  model.tensors.clear();
  for (const TensorSpec& spec : TensorsOf(model.config)) {
    model.tensors.push_back({spec.name, spec.shape, std::vector<float>(spec.size(), 0.5f)});
  }
  return model;
}

TEST_F(LoadAllocation, AModelTakesItsSizeAndLittleBeside) {
  const Model model = LargeModel();
  ASSERT_TRUE(WriteModel(file_, model).ok());
  const std::size_t size = std::filesystem::file_size(file_);
  ASSERT_GT(size, 2 * kBeside) << "else twice the file would pass";
  const std::size_t most = PeakOfReading(true);
  EXPECT_GT(most, size - (1 << 16)) << "the hook sees allocations";
  EXPECT_LT(most, size + kBeside);
}

TEST_F(LoadAllocation, HalfPrecisionTakesTheFloatsItBecomes) {
  const Model model = LargeModel();
  ASSERT_TRUE(WriteModel(file_, model, WeightStorage::kHalf).ok());
  EXPECT_LT(PeakOfReading(true), 2 * std::filesystem::file_size(file_) + kBeside);
}

TEST_F(LoadAllocation, AFileThatLosesItsEndTakesNoMore) {
  ASSERT_TRUE(WriteModel(file_, LargeModel()).ok());
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
  EXPECT_LT(PeakOfReading(false), kBeside);
}

TEST_F(LoadAllocation, AHostileFileTakesNoMore) {
  const MalformedModels models;
  for (const Malformed& c : models.all()) {
    Write(c.bytes);
    EXPECT_LT(PeakOfReading(false), c.bytes.size() + kBeside) << c.name;
  }
}

// 64 KiB of whatever costs most to parse.
TEST_F(LoadAllocation, NoHeaderTakesMore) {
  const auto repeated = [](const std::string& begin, const std::string& unit,
                           const std::string& end) {
    std::string text = begin;
    while (text.size() + unit.size() + end.size() <= 65536) text += unit;
    return text + end;
  };
  std::string keys = "{";
  for (int n = 0; keys.size() < 65500; ++n) keys += "\"" + std::to_string(n) + "\":[],";
  for (const std::string& header :
       {repeated("{\"a\":[0", ",0", "]}"), repeated("{\"a\":[[]", ",[]", "]}"),
        repeated("{\"a\":[{}", ",{}", "]}"), repeated("{\"a\":[{\"\":[]}", ",{\"\":[]}", "]}"),
        repeated("{\"a\":[\"\"", ",\"\"", "]}"), repeated("{\"a\":[[[[[]]]]", ",[[[[]]]]", "]}"),
        repeated("{\"a\":\"", "\\u00fc", "\"}"), keys + "\"x\":0}"}) {
    Write(Forge(header, ""));
    EXPECT_LT(PeakOfReading(false), kBeside) << header.substr(0, 20);
  }
}

TEST_F(LoadAllocation, AHugeFileIsNotReadAtAll) {
  Write(*EncodeModel(TinyModel(), "x"));
  std::filesystem::resize_file(file_, std::uintmax_t{1} << 40);  // a hole, no disk
  EXPECT_LT(PeakOfReading(false), kBeside);
  std::filesystem::resize_file(file_, std::uintmax_t{1} << 29);
  EXPECT_LT(PeakOfReading(false), kBeside);
}

// The N-th allocation fails, or all from the N-th on: an error each time, until N is beyond the
// last.
void RunOutOfMemory(const std::filesystem::path& file, bool for_ever) {
  const std::string sentence = file.string() + ": not enough memory to read it";
  long n = 0;
  for (bool loaded = false; !loaded; ++n) {
    const std::size_t before = held;
    {
      fail_until = for_ever ? std::numeric_limits<long>::max() : allocations + n + 1;
      fail_from = allocations + n;
      const Result<Model> model = ReadModel(file);
      fail_from = std::numeric_limits<long>::max();
      loaded = model.ok();
      if (!loaded) {
        ASSERT_EQ(model.error().code, ErrorCode::kOutOfMemory) << model.error().message;
        ASSERT_EQ(model.error().message, for_ever ? "out of memory" : sentence);
      } else {
        ASSERT_EQ(*EncodeModel(*model, "x"), *EncodeModel(TinyModel(), "x"));
      }
    }
    ASSERT_EQ(held, before) << "nothing is left behind";
  }
  EXPECT_GT(n, 100);
}

TEST_F(LoadAllocation, OutOfMemoryOnceIsAnError) {
  Write(*EncodeModel(TinyModel(), "x"));
  RunOutOfMemory(file_, false);
}

TEST_F(LoadAllocation, OutOfMemoryForEverIsAnError) {
  Write(*EncodeModel(TinyModel(), "x"));
  RunOutOfMemory(file_, true);
}

// Also on the way to a refusal.
TEST_F(LoadAllocation, OutOfMemoryWhileRefusingIsAnErrorToo) {
  const MalformedModels models;
  for (const Malformed& c : models.all()) {
    if (c.bytes.size() > 4000) continue;
    Write(c.bytes);
    for (const long n : {0, 3, 10, 20, 30, 40, 50, 60, 80, 100, 120, 150}) {
      fail_until = std::numeric_limits<long>::max();
      fail_from = allocations + n;
      const Result<Model> model = ReadModel(file_);
      fail_from = std::numeric_limits<long>::max();
      EXPECT_FALSE(model.ok()) << c.name;
    }
  }
}

}  // namespace
}  // namespace aerocast
