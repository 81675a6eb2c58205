// SPDX-License-Identifier: BSD-3-Clause
//
// Any text as a recording (docs/recording_format.md) ends in a refusal or in a recording that holds
// what recording.h promises and survives being written.
#include <cmath>

#include "aerocast/recording.h"
#include "fuzz/fuzz.h"

namespace aerocast {
namespace {

void CheckRecording(const Recording& recording) {
  AEROCAST_CHECK(!recording.id.empty() && !recording.samples.empty());
  AEROCAST_CHECK(recording.noise_m >= 0 && std::isfinite(recording.noise_m));
  AEROCAST_CHECK(!recording.has_truth() || recording.truth.size() == recording.samples.size());
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    AEROCAST_CHECK(IsFinite(recording.samples[i].p_world) && IsFinite(recording.target(i)));
    AEROCAST_CHECK(i == 0 || recording.samples[i - 1].t_ns < recording.samples[i].t_ns);
  }
  AEROCAST_CHECK(recording.duration_s() >= 0);
}

// Writing rounds; what was rounded once stays.
std::string WrittenAndRead(const Recording& recording) {
  Recording last = recording;
  for (int round = 0; round < 2; ++round) {
    const Result<Recording> read = ParseRecording(FormatRecording(last), "fuzz.csv");
    AEROCAST_CHECK(read.ok());
    CheckRecording(*read);
    last = *read;
  }
  return FormatRecording(last);
}

}  // namespace
}  // namespace aerocast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = aerocast::AsText(data, size);
  const aerocast::Result<aerocast::Recording> recording =
      aerocast::ParseRecording(text, "fuzz.csv");
  if (!recording.ok()) {
    aerocast::CheckRefusal(recording.error(), "fuzz.csv:");
    return 0;
  }
  aerocast::CheckRecording(*recording);
  const std::string once = aerocast::WrittenAndRead(*recording);
  const aerocast::Result<aerocast::Recording> back = aerocast::ParseRecording(once, "fuzz.csv");
  AEROCAST_CHECK(back.ok() && aerocast::FormatRecording(*back) == once);
  return 0;
}
