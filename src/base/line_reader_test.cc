// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/line_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace aerocast {
namespace {

using Event = LineReader::Event;
using testing::ElementsAre;
using testing::IsEmpty;

// A pipe; what is written to it is read from in().
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(fds_), 0); }
  ~Pipe() { close(fds_[0]), Close(); }
  int in() const { return fds_[0]; }
  void Write(const std::string& text) const {
    EXPECT_EQ(write(fds_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (fds_[1] >= 0) close(fds_[1]);
    fds_[1] = -1;
  }

 private:
  int fds_[2] = {-1, -1};
};

// All lines of a text, "..." for one that is too long.
std::vector<std::string> Read(const std::string& text, std::size_t longest) {
  Pipe pipe;
  std::thread writer([&] { pipe.Write(text), pipe.Close(); });
  const std::atomic<bool> stop = false;
  LineReader reader(pipe.in(), longest, stop);
  std::vector<std::string> lines;
  for (Event e; (e = reader.Next()) != Event::kEnd;) {
    lines.push_back(e == Event::kLine ? std::string(reader.line()) : "...");
    EXPECT_EQ(reader.number(), lines.size());
  }
  writer.join();
  return lines;
}

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  EXPECT_THAT(Read("", 10), IsEmpty());
  EXPECT_THAT(Read("a\n\nbc\n", 10), ElementsAre("a", "", "bc"));
  EXPECT_THAT(Read("a\nlast", 10), ElementsAre("a", "last"));
}

TEST(LineReader, PassesOverLinesThatAreTooLong) {
  const std::string huge(300'000, 'x');
  EXPECT_THAT(Read("0123456789\n01234567890\nb\n", 10), ElementsAre("0123456789", "...", "b"));
  EXPECT_THAT(Read("a\n" + huge + "\nb\n", 100), ElementsAre("a", "...", "b"));
  EXPECT_THAT(Read("a\n" + huge, 100), ElementsAre("a", "..."));
  EXPECT_THAT(Read("01234567890", 10), ElementsAre("..."));
}

TEST(LineReader, GivesALineBeforeTheNextIsWritten) {
  Pipe pipe;
  const std::atomic<bool> stop = false;
  LineReader reader(pipe.in(), 100, stop);
  pipe.Write("one\ntw");
  ASSERT_EQ(reader.Next(), Event::kLine);
  EXPECT_EQ(reader.line(), "one");
  pipe.Write("o\n");
  ASSERT_EQ(reader.Next(), Event::kLine);
  EXPECT_EQ(reader.line(), "two");
}

TEST(LineReader, StopsWaitingWhenTold) {
  Pipe pipe;
  std::atomic<bool> stop = false;
  LineReader reader(pipe.in(), 100, stop);
  std::thread other([&] { stop = true; });
  EXPECT_EQ(reader.Next(), Event::kStopped);
  other.join();
}

TEST(LineReader, SaysWhenItCannotRead) {
  const std::atomic<bool> stop = false;
  const int directory = open("/", O_RDONLY | O_CLOEXEC);
  LineReader reader(directory, 100, stop);
  EXPECT_EQ(reader.Next(), Event::kFailed);
  close(directory);
}

RC_GTEST_PROP(LineReaderProperty, AgreesWithAPlainSplit, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n'));
  std::vector<std::string> expected;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    expected.push_back(end - at > 5 ? "..." : text.substr(at, end - at));
    at = end + 1;
  }
  RC_ASSERT(Read(text, 5) == expected);
}

}  // namespace
}  // namespace aerocast
