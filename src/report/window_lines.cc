// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/window_lines.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/base/check.h"
#include "src/base/file.h"
#include "src/base/text.h"

namespace aerocast {
namespace {

constexpr int kDecimals = 7;  // 0.1 micrometre, as recordings are written

void AppendPosition(const Vec3& p, std::string& out) {
  AppendFixed(p.x, kDecimals, out), out += ',';
  AppendFixed(p.y, kDecimals, out), out += ',';
  AppendFixed(p.z, kDecimals, out);
}

// {"id":"7","t0":12.3
std::string Begin(const Recording& flight, std::size_t i) {
  const nlohmann::json id = flight.id;
  std::string line =
      "{\"id\":" + id.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ",\"t0\":";
  AppendSeconds(flight.samples[i].t_ns, line);
  return line;
}

}  // namespace

std::string FormatInput(const FlightWindows& windows, std::size_t i, const WindowSpec& window) {
  std::vector<Observation> seen;
  const History history = HistoryAt(windows, i, window.history_s, seen);
  std::string line = Begin(*windows.flight, i) + ",\"noise_m\":";
  AppendFixed(history.noise_m, 9, line);
  line += ",\"history\":[";
  for (std::size_t n = 0; n < history.samples.size(); ++n) {
    line += n == 0 ? "[" : ",[";
    AppendSeconds(history.samples[n].t_ns, line), line += ',';
    AppendPosition(history.samples[n].p_world, line), line += ']';
  }
  return line + "]}";
}

std::string FormatTarget(const Recording& flight, std::size_t i, const WindowSpec& window) {
  std::vector<Vec3> targets(static_cast<std::size_t>(window.horizon_steps()));
  AEROCAST_CHECK(TargetsAt(flight, i, window, targets));
  std::string line = Begin(flight, i) + ",\"dt\":" + fmt::format("{}", window.dt_s);
  line += ",\"target\":[";
  for (std::size_t n = 0; n < targets.size(); ++n) {
    line += n == 0 ? "[" : ",[";
    AppendPosition(targets[n], line), line += ']';
  }
  return line + "]}";
}

Status WriteWindows(std::span<const FlightWindows> flights, const WindowSpec& window,
                    const std::filesystem::path& directory) {
  auto staged = StagedDirectory::Create(directory, false);
  if (!staged.ok()) return staged.error();
  std::ofstream inputs(staged->path() / "inputs.jsonl", std::ios::binary);
  std::ofstream targets(staged->path() / "targets.jsonl", std::ios::binary);
  for (const FlightWindows& f : flights) {
    for (const std::uint32_t i : f.t0) {
      inputs << FormatInput(f, i, window) << '\n';
      targets << FormatTarget(*f.flight, i, window) << '\n';
    }
  }
  inputs.close(), targets.close();
  if (!inputs || !targets) {
    return Error{ErrorCode::kIo, directory.string() + ": writing failed"};
  }
  return staged->Commit();
}

}  // namespace aerocast
