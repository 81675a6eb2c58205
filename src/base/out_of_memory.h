// SPDX-License-Identifier: BSD-3-Clause
//
// Where the library is entered from outside, running out of memory is an error like others.
#pragma once

#include <new>
#include <string>
#include <string_view>

#include "aerocast/result.h"

namespace aerocast {

// When there is no memory for the sentence either, it is the two words that need none.
inline Error OutOfMemory(std::string_view where) noexcept {
  Error error{ErrorCode::kOutOfMemory, "out of memory"};
  try {
    error.message = std::string(where) + ": not enough memory to read it";
  } catch (const std::bad_alloc&) {
  }
  return error;
}

// What `function` returns, a Result; where it finds no memory, that is the error.
template <typename Function>
auto CatchOutOfMemory(std::string_view where, const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return OutOfMemory(where);
  }
}

}  // namespace aerocast
