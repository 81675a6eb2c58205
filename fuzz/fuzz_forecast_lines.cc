// SPDX-License-Identifier: BSD-3-Clause
//
// Any lines as forecasts (docs/forecast_format.md): each ends in a refusal or in a valid forecast
// that survives being written. The mutator changes JSON as JSON, since most changes of its bytes
// end at the parser.
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "fuzz/fuzz.h"
#include "src/base/rng.h"
#include "src/report/forecast_lines.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace aerocast {
namespace {

void CheckForecast(const Forecast& forecast) {
  AEROCAST_CHECK(forecast.quality == Quality::kNone || forecast.IsValid());
  Forecast back;
  AEROCAST_CHECK(ParseForecast(FormatForecast(forecast), back).ok());
  AEROCAST_CHECK(back.t0_ns == forecast.t0_ns && back.id == forecast.id);
  AEROCAST_CHECK(back.quality == forecast.quality && back.steps() == forecast.steps());
  for (int i = 0; i < back.steps(); ++i) AEROCAST_CHECK(back.point(i) == forecast.point(i));
  std::vector<Vec3> paths(static_cast<std::size_t>(2 * forecast.steps()));
  if (forecast.quality != Quality::kNone) forecast.SamplePaths(1, 2, paths);
}

// --- mutations

using Json = nlohmann::json;

void Collect(Json& value, int depth, std::vector<Json*>& all) {
  all.push_back(&value);
  if (depth == 0 || !value.is_structured()) return;
  for (Json& part : value) Collect(part, depth - 1, all);
}

void ChangeValue(Json& root, Rng& rng) {
  static const Json kValues = {0,
                               1,
                               -1,
                               0.5,
                               1e-9,
                               1e9,
                               1e308,
                               -1e-308,
                               "",
                               "7",
                               nullptr,
                               true,
                               Json::array(),
                               Json::object(),
                               1e18,
                               "none",
                               "ok",
                               {0, 0, 0},
                               {1, 0, 0, 1, 0, 1}};
  std::vector<Json*> all;
  Collect(root, 8, all);
  Json& value = *all[rng.Below(all.size())];
  const Json other = *all[rng.Below(all.size())];
  const bool filled = value.is_structured() && !value.empty();
  const auto which = static_cast<std::ptrdiff_t>(rng.Below(std::max<std::size_t>(value.size(), 1)));
  const std::uint64_t way = rng.Below(4);
  if (way == 0) {
    value = kValues[rng.Below(kValues.size())];
  } else if (way == 1) {
    value = other;
  } else if (way == 2 && filled) {
    value.erase(std::next(value.begin(), which));
  } else if (way == 3 && filled && value.is_array()) {
    value.push_back(Json(value[static_cast<std::size_t>(which)]));
  }
}

// One of the lines changed, or "" when it is no JSON.
std::string WithAChangedLine(std::string_view text, Rng& rng) {
  const std::size_t before = text.rfind('\n', rng.Below(text.size() + 1));
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
  if (line.is_discarded()) return "";
  for (std::uint64_t n = 0, changes = 1 + rng.Below(3); n < changes; ++n) ChangeValue(line, rng);
  return std::string(text.substr(0, begin)) +
         line.dump(-1, ' ', false, Json::error_handler_t::replace) + std::string(text.substr(end));
}

}  // namespace
}  // namespace aerocast

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  aerocast::Rng rng(seed);
  const std::string changed =
      rng.Chance(0.7) ? aerocast::WithAChangedLine(aerocast::AsText(data, size), rng) : "";
  if (changed.empty() || changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = aerocast::AsText(data, size);
  aerocast::Forecast forecast;  // the same for all lines, as the reader has it
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const aerocast::Status read = aerocast::ParseForecast(rest.substr(0, end), forecast);
    if (read.ok()) {
      aerocast::CheckForecast(forecast);
    } else {
      aerocast::CheckRefusal(read.error(), "");
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}
