// SPDX-License-Identifier: BSD-3-Clause
//
// Lines from a pipe, a terminal, a socket or a file, as they arrive. Memory is fixed however long a
// line is, and a reader that waits for input can be told to stop.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

namespace aerocast {

class LineReader {
 public:
  enum class Event {
    kLine,     // line() has it, without its end; a last line need not have one
    kTooLong,  // a line of more than `longest` bytes was passed over
    kEnd,      // no more input
    kStopped,  // `stop` was set while waiting
    kFailed,   // the system refused to read; errno says why
  };

  // Reads from `fd`, which stays the caller's.
  LineReader(int fd, std::size_t longest, const std::atomic<bool>& stop);

  Event Next();
  // Valid until Next() is called again.
  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }  // of that line, from 1

 private:
  enum class Fill { kMore, kEnd, kStopped, kFailed };
  Fill ReadMore();

  int fd_;
  std::size_t longest_;
  const std::atomic<bool>& stop_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is read and not yet given
  std::string_view line_;
  std::size_t number_ = 0;
};

}  // namespace aerocast
