// SPDX-License-Identifier: BSD-3-Clause
//
// SHA-256 (FIPS 180-4): how corpora, splits and fitted forecasters are named in results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aerocast {

class Sha256 {
 public:
  Sha256();
  void Update(const void* data, std::size_t size);
  void Update(std::string_view text) { Update(text.data(), text.size()); }
  // For arrays of numbers: their bytes as they lie in memory (little-endian machines agree).
  template <typename T>
  void Update(std::span<const T> values) {
    Update(values.data(), values.size_bytes());
  }
  // 64 hexadecimal digits. The object is spent afterwards.
  std::string Hex();

 private:
  void Block(const std::uint8_t* p);

  std::array<std::uint32_t, 8> h_;
  std::array<std::uint8_t, 64> buffer_;
  std::uint64_t size_ = 0;
};

std::string Sha256Hex(std::string_view text);

}  // namespace aerocast
