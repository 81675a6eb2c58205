// SPDX-License-Identifier: BSD-3-Clause
//
// How functions that touch the outside world (files, text, arguments) fail.
//
// AeroCast knows three kinds of errors and keeps them apart:
//   1. The outside world is wrong: a function returns Result<T> (or Status, which is Result<void>)
//      with a code for programs and one sentence for people. The sentence names the file, line or
//      field and says what was expected.
//   2. The hot path (Forecaster::Predict) cannot fail: it returns a value with a quality flag.
//   3. We are wrong: AEROCAST_CHECK in src/base, never reachable by any input.
// Nothing here throws, prints or aborts on data.
//
//   Result<Recording> r = ReadRecording("flight.csv");
//   if (!r.ok()) return r.error();          // pass it on
//   Use(*r);
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace aerocast {

enum class ErrorCode {
  kInvalidArgument,  // a value the caller gave is out of range or unknown
  kNotFound,         // a file, directory or name is not there
  kExists,           // something would have been overwritten
  kBadFormat,        // a file or line is not what its format asks for
  kIo,               // the operating system refused to read or write
  kOutOfMemory,      // there was not enough memory; nothing is left behind
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;  // one sentence, no trailing newline
};

// Either a T or an Error. Reading the wrong one is undefined, as with std::optional.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  // By value, so that `for (auto& x : *Load())` does not walk over a dead temporary.
  T value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace aerocast
