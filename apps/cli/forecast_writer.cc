// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/forecast_writer.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "src/report/forecast_csv.h"
#include "src/report/forecast_lines.h"

namespace aerocast::cli {
namespace {

constexpr std::size_t kChunk = 4096;  // a pipe that is ready takes this much at once
constexpr int kLookEveryMs = 100;     // at `stop`, while nobody reads

}  // namespace

Result<ForecastWriter> ForecastWriter::Create(const std::string& out, const std::string& format,
                                              const std::atomic<bool>* stop) {
  if (format != "json" && format != "csv") {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--format is '{}', expected json or csv", format)};
  }
  ForecastWriter writer(format == "csv", stop);
  std::signal(SIGPIPE, SIG_IGN);  // write says so, too
  if (out != "-") {
    Result<StagedFile> file = StagedFile::Create(out);
    if (!file.ok()) return file.error();
    writer.file_.emplace(std::move(*file));
  }
  return writer;
}

Status ForecastWriter::Write(const Forecast& forecast) {
  const bool first = written_++ == 0;
  if (!csv_) return Send(FormatForecast(forecast) + '\n');
  return Send((first ? ForecastCsvHeader() : "") + FormatForecastCsv(forecast));
}

Status ForecastWriter::Finish() {
  if (csv_ && written_ == 0) {
    if (Status s = Send(ForecastCsvHeader()); !s.ok()) return s;
  }
  return file_ ? file_->Commit() : Status();
}

// Not through stdio: an answer must not wait in a buffer, and a reader that has gone must not look
// like a full disk.
Status ForecastWriter::Send(std::string_view text) {
  if (file_) return file_->Append(text);
  while (!text.empty() && !closed_) {
    if (!AwaitReader()) return closed_ = true, Status();
    const ssize_t n = write(STDOUT_FILENO, text.data(), std::min(text.size(), kChunk));
    if (n >= 0) text.remove_prefix(static_cast<std::size_t>(n));
    if (n >= 0 || errno == EINTR || errno == EAGAIN) continue;
    if (errno != EPIPE) {
      return Error{ErrorCode::kIo,
                   fmt::format("standard output: cannot write: {}", std::strerror(errno))};
    }
    closed_ = true;
  }
  return {};
}

// Until a chunk can be written without waiting; false when told to stop before.
bool ForecastWriter::AwaitReader() const {
  for (;;) {
    pollfd ready{STDOUT_FILENO, POLLOUT, 0};
    if (poll(&ready, 1, kLookEveryMs) > 0) return true;
    if (stop_ != nullptr && *stop_) return false;
  }
}

}  // namespace aerocast::cli
