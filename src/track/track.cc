// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/track.h"

#include <algorithm>
#include <limits>

namespace aerocast {
namespace {

constexpr double kLongestReorderS = 1e6;

// newer - older; unsigned, since the distance of two stamps may not fit in int64.
std::uint64_t Distance(TimeNs newer, TimeNs older) {
  return static_cast<std::uint64_t>(newer) - static_cast<std::uint64_t>(older);
}

bool IsBefore(const Observation& o, TimeNs t_ns) { return o.t_ns < t_ns; }

}  // namespace

TrackCounts& TrackCounts::operator+=(const TrackCounts& other) {
  received += other.received, used += other.used;
  not_finite += other.not_finite, out_of_range += other.out_of_range;
  too_late += other.too_late, duplicate += other.duplicate;
  no_room += other.no_room, clock += other.clock, restarts += other.restarts;
  return *this;
}

TrackBuffer::TrackBuffer(std::string_view id, const TrackOptions& options)
    : capacity_(std::max(options.capacity, kRestartAfter)),
      reorder_ns_(options.reorder_s > 0 ? static_cast<std::uint64_t>(DurationNs(
                                              std::min(options.reorder_s, kLongestReorderS)))
                                        : 0),
      samples_(2 * capacity_) {
  id_.reserve(kMaxIdLength);
  Reset(id);
}

void TrackBuffer::Reset(std::string_view id) {
  id_ = CutId(id);
  noise_m_ = 0;
  counts_ = {};
  begin_ = size_ = late_size_ = 0;
}

Added TrackBuffer::Add(const Observation& o) {
  ++counts_.received;
  if (!IsFinite(o.p_world)) return ++counts_.not_finite, Added::kNotFinite;
  if (!IsUsable(o)) return ++counts_.out_of_range, Added::kOutOfRange;
  if (!empty() && o.t_ns < newest().t_ns && Distance(newest().t_ns, o.t_ns) > reorder_ns_) {
    return AddTooLate(o);
  }
  late_size_ = 0;
  return Place(o);
}

Added TrackBuffer::Place(const Observation& o) {
  if (empty() || newest().t_ns < o.t_ns) {
    PushBack(o);
    return ++counts_.used, Added::kNewest;
  }
  std::size_t at = FirstAtOrAfter(o.t_ns);
  Observation* const first = samples_.data() + begin_;
  if (first[at].t_ns == o.t_ns) {
    first[at] = o;
    return ++counts_.duplicate, Added::kDuplicate;
  }
  const bool full = size_ == capacity_;
  if (full && at == 0) return ++counts_.no_room, Added::kNoRoom;
  if (full) --at;
  PushBack(newest());
  Observation* const moved = samples_.data() + begin_;  // PushBack may have moved them all
  std::move_backward(moved + at, moved + size_ - 1, moved + size_);
  moved[at] = o;
  return ++counts_.used, Added::kLate;
}

Added TrackBuffer::AddTooLate(const Observation& o) {
  ++counts_.too_late;
  if (!PutAmongLate(o)) {
    --counts_.too_late;
    return ++counts_.duplicate, Added::kDuplicate;
  }
  if (late_size_ < kRestartAfter) return Added::kTooLate;
  Restart();
  return Added::kRestart;
}

// By the rules of the history itself: in order within reorder_s, else they begin anew. False when
// it replaced one with the same stamp.
bool TrackBuffer::PutAmongLate(const Observation& o) {
  if (late_size_ > 0) {
    const TimeNs newest_late = late_[late_size_ - 1].t_ns;
    if (o.t_ns < newest_late && Distance(newest_late, o.t_ns) > reorder_ns_) late_size_ = 0;
  }
  Observation* const end = late_.data() + late_size_;
  Observation* const at = std::lower_bound(late_.data(), end, o.t_ns, IsBefore);
  if (at != end && at->t_ns == o.t_ns) return *at = o, false;
  std::move_backward(at, end, end + 1);
  *at = o, ++late_size_;
  return true;
}

void TrackBuffer::Restart() {
  const std::size_t kept = FirstAtOrAfter(late_[0].t_ns);
  std::size_t removed = size_ - kept;
  if (removed >= kRestartAfter) removed = size_;
  size_ -= removed;
  counts_.used -= removed, counts_.clock += removed;
  for (const Observation& o : late_) PushBack(o);
  counts_.too_late -= kRestartAfter, counts_.used += kRestartAfter;
  late_size_ = 0;
  ++counts_.restarts;
}

void TrackBuffer::PushBack(const Observation& observation) {
  const Observation copy = observation;  // it may be one of ours
  if (size_ == capacity_) ++begin_, --size_;
  if (begin_ + size_ == samples_.size()) {
    const auto first = samples_.begin() + static_cast<std::ptrdiff_t>(begin_);
    std::copy(first, samples_.end(), samples_.begin());
    begin_ = 0;
  }
  samples_[begin_ + size_++] = copy;
}

std::size_t TrackBuffer::FirstAtOrAfter(TimeNs t_ns) const {
  const Observation* const first = samples_.data() + begin_;
  return static_cast<std::size_t>(std::lower_bound(first, first + size_, t_ns, IsBefore) - first);
}

History TrackBuffer::history() const { return {id_, {samples_.data() + begin_, size_}, noise_m_}; }

double TrackBuffer::AgeS(TimeNs now_ns) const {
  if (empty()) return std::numeric_limits<double>::infinity();
  if (now_ns <= newest().t_ns) return 0;
  return static_cast<double>(Distance(now_ns, newest().t_ns)) * 1e-9;
}

}  // namespace aerocast
