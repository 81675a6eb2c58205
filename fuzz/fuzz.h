// SPDX-License-Identifier: BSD-3-Clause
//
// What the fuzzers share. A fuzzer hands bytes to a reader; a sanitizer or AEROCAST_CHECK ends the
// program when something is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "aerocast/result.h"
#include "src/base/check.h"

namespace aerocast {

inline std::string_view AsText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A refusal is one sentence of bounded length that cannot steer a terminal.
inline void CheckRefusal(const Error& error, std::string_view begin) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  AEROCAST_CHECK(error.code == ErrorCode::kBadFormat);
  AEROCAST_CHECK(std::string_view(error.message).starts_with(begin));
  AEROCAST_CHECK(error.message.size() < 500);
  AEROCAST_CHECK(std::none_of(error.message.begin(), error.message.end(), control));
}

}  // namespace aerocast
