// SPDX-License-Identifier: BSD-3-Clause
#include "apps/cli/predict_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/cli/command.h"
#include "src/base/check.h"
#include "src/base/line_reader.h"
#include "src/base/text.h"
#include "src/import/observation_line.h"

namespace aerocast::cli {
namespace {

// The first few of a kind of remark: a stream may be wrong for hours.
class Notes {
 public:
  void Say(const std::string& sentence) {
    constexpr int kMost = 10;
    if (++said_ > kMost) return;
    Warn(sentence + (said_ == kMost ? " (further ones are counted only)" : ""));
  }

 private:
  int said_ = 0;
};

class Stream {
 public:
  Stream(const Forecaster& forecaster, Workspace& workspace, const StreamOptions& options,
         ForecastWriter& writer)
      : forecaster_(forecaster),
        workspace_(workspace),
        options_(options),
        writer_(writer),
        forecast_(forecaster.info().shape) {}

  Status Take(std::string_view line, std::size_t number);
  void Refuse(std::size_t number, const std::string& why) {
    ++bad_lines_;
    bad_notes_.Say(fmt::format("line {}: {}", number, why));
  }
  // --last: the newest forecast of every object, in the order they were first heard of.
  Status ForecastAll();
  void Summarise() const;

 private:
  struct Track {
    TrackBuffer buffer;
    std::uint64_t heard = 0;  // when, in lines: stamps may be wrong
    std::optional<TimeNs> answered_ns;
  };

  Track& TrackOf(const std::string& id);
  bool IsDue(const Track& track) const;
  Status Answer(Track& track);

  const Forecaster& forecaster_;
  Workspace& workspace_;
  const StreamOptions& options_;
  ForecastWriter& writer_;
  Forecast forecast_;
  std::vector<Track> tracks_;
  std::unordered_map<std::string, std::size_t> index_;  // into tracks_
  TrackCounts gone_;                                    // of tracks that were replaced
  std::uint64_t bad_lines_ = 0, heard_ = 0, replaced_ = 0;
  Notes bad_notes_, replaced_notes_;
};

Status Stream::Take(std::string_view line, std::size_t number) {
  if (Trim(line).empty()) return {};
  const Result<ObservationLine> read = ParseObservation(line);
  if (!read.ok()) return Refuse(number, read.error().message), Status();
  // A faulty sample of an unknown object does not take a track's place.
  if (!IsUsable(read->observation) && !index_.contains(read->id)) {
    return Refuse(number,
                  "observation: expected a position within 1e7 m and a time within 285 years"),
           Status();
  }
  Track& track = TrackOf(read->id);
  track.heard = ++heard_;
  if (read->sigma_m) track.buffer.set_noise_m(*read->sigma_m);
  const bool advanced = IsNewest(track.buffer.Add(read->observation));
  return advanced && !options_.last && IsDue(track) ? Answer(track) : Status();
}

// When there are as many as there may be, the one not heard of for longest makes room.
Stream::Track& Stream::TrackOf(const std::string& id) {
  const auto [at, is_new] = index_.try_emplace(id, tracks_.size());
  if (!is_new) return tracks_[at->second];
  if (tracks_.size() < static_cast<std::size_t>(options_.most_tracks)) {
    return tracks_.emplace_back(Track{TrackBuffer(id, options_.track), 0, {}});
  }
  const auto stalest =
      std::min_element(tracks_.begin(), tracks_.end(),
                       [](const Track& a, const Track& b) { return a.heard < b.heard; });
  replaced_notes_.Say(fmt::format("more than {}: '{}' takes the place of '{}'",
                                  Count(tracks_.size(), "object"), id, stalest->buffer.id()));
  ++replaced_;
  gone_ += stalest->buffer.counts();
  index_.erase(stalest->buffer.id());
  index_[id] = static_cast<std::size_t>(stalest - tracks_.begin());
  stalest->buffer.Reset(id);
  stalest->answered_ns.reset();
  return *stalest;
}

bool Stream::IsDue(const Track& track) const {
  if (!track.answered_ns) return true;
  const TimeNs t0 = track.buffer.newest().t_ns;
  return t0 < *track.answered_ns ||  // the clock was set back
         DurationS(t0) - DurationS(*track.answered_ns) >= options_.every_s - 1e-6;
}

Status Stream::Answer(Track& track) {
  forecaster_.Predict(track.buffer.history(), workspace_, forecast_);
  track.answered_ns = track.buffer.newest().t_ns;
  return writer_.Write(forecast_);
}

Status Stream::ForecastAll() {
  for (Track& track : tracks_) {
    if (track.buffer.empty()) continue;
    if (Status s = Answer(track); !s.ok()) return s;
  }
  return {};
}

void Stream::Summarise() const {
  TrackCounts c = gone_;
  for (const Track& track : tracks_) c += track.buffer.counts();
  const std::uint64_t received = c.received + bad_lines_, rejected = c.rejected() + bad_lines_;
  AEROCAST_CHECK(received == c.used + rejected + c.dropped());
  Warn(fmt::format(
      "received {} = used {} + rejected {} (bad lines {}, not finite {}, out of range {}, too late "
      "{}, duplicate {}) + dropped {} (no room {}, clock {}); {}, {}, {} replaced, clock set back "
      "{}",
      received, c.used, rejected, bad_lines_, c.not_finite, c.out_of_range, c.too_late, c.duplicate,
      c.dropped(), c.no_room, c.clock, Count(writer_.written(), "forecast"),
      Count(tracks_.size() + replaced_, "object"), replaced_,
      c.restarts == 1 ? "once" : fmt::format("{} times", c.restarts)));
}

}  // namespace

Status PredictStream(int fd, const std::atomic<bool>& stop, const Forecaster& forecaster,
                     Workspace& workspace, const StreamOptions& options, ForecastWriter& writer) {
  using Event = LineReader::Event;
  Stream stream(forecaster, workspace, options, writer);
  LineReader reader(fd, kMostObservationBytes, stop);
  Event event = Event::kLine;
  while (event != Event::kEnd && !stop && !writer.closed()) {
    event = reader.Next();
    if (event == Event::kFailed) {
      return Error{ErrorCode::kIo,
                   fmt::format("standard input: cannot read: {}", std::strerror(errno))};
    }
    if (event == Event::kTooLong) {
      stream.Refuse(reader.number(), fmt::format("longer than {} bytes", kMostObservationBytes));
    }
    if (event != Event::kLine) continue;
    if (Status s = stream.Take(reader.line(), reader.number()); !s.ok()) return s;
  }
  if (options.last) {
    if (Status s = stream.ForecastAll(); !s.ok()) return s;
  }
  stream.Summarise();
  return {};
}

}  // namespace aerocast::cli
