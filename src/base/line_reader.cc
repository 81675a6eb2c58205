// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace aerocast {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr int kLookEveryMs = 100;  // at `stop`, while there is nothing to read

}  // namespace

LineReader::LineReader(int fd, std::size_t longest, const std::atomic<bool>& stop)
    : fd_(fd), longest_(longest), stop_(stop), buffer_(longest + kChunk) {}

LineReader::Fill LineReader::ReadMore() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_, begin_ = 0;
  for (;;) {
    if (stop_) return Fill::kStopped;
    pollfd ready{fd_, POLLIN, 0};
    if (poll(&ready, 1, kLookEveryMs) <= 0) continue;
    const ssize_t n = read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return Fill::kFailed;
    end_ += static_cast<std::size_t>(n);
    return n == 0 ? Fill::kEnd : Fill::kMore;
  }
}

LineReader::Event LineReader::Next() {
  bool too_long = false;
  std::size_t searched = 0;  // of what is there, without a line end in it
  for (;;) {
    const std::string_view there(buffer_.data() + begin_, end_ - begin_);
    const std::size_t at = there.find('\n', searched);
    if (at != there.npos) {
      ++number_, begin_ += at + 1;
      line_ = there.substr(0, at);
      return too_long || at > longest_ ? Event::kTooLong : Event::kLine;
    }
    searched = there.size();
    if (searched > longest_) too_long = true, begin_ = end_, searched = 0;
    switch (ReadMore()) {
      case Fill::kMore:
        continue;
      case Fill::kStopped:
        return Event::kStopped;
      case Fill::kFailed:
        return Event::kFailed;
      case Fill::kEnd:
        break;
    }
    if (begin_ == end_ && !too_long) return Event::kEnd;
    line_ = {buffer_.data() + begin_, end_ - begin_};
    begin_ = end_, ++number_;
    return too_long ? Event::kTooLong : Event::kLine;
  }
}

}  // namespace aerocast
