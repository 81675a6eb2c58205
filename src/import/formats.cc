// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/formats.h"

#include <fmt/format.h>

#include <array>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/import/nanobench.h"

namespace aerocast {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 4> kNames = {"csv", "nanobench", "tum", "euroc"};

Columns TumColumns() {
  Columns columns;
  columns.delimiter = ' ';
  columns.count = 8;
  columns.t = 0;
  columns.p = {1, 2, 3};
  return columns;
}

TableOptions TableOptionsFor(const FormatOptions& options) {
  TableOptions table;
  table.max_bad_share = options.max_bad_share;
  if (options.format == Format::kTum) table.fixed = TumColumns();
  if (options.format == Format::kEuroc) table.default_places = 9;
  return table;
}

Recording DescribeByOptions(std::string id, const FormatOptions& options) {
  Recording recording;
  recording.id = std::move(id);
  recording.category = options.category;
  recording.configuration = options.configuration;
  recording.object = options.object;
  recording.frame = options.frame;
  recording.source = options.source;
  recording.noise_m = options.noise_m;
  return recording;
}

// EuRoC keeps the sequence's name in a directory above mav0; TUM's groundtruth.txt in its parent.
std::string IdFromPath(const fs::path& file, Format format) {
  const std::string stem = file.stem().string();
  const bool nameless = (format == Format::kEuroc && stem == "data") ||
                        (format == Format::kTum && stem == "groundtruth");
  if (!nameless) return stem;
  std::error_code ignored;
  fs::path at = fs::absolute(file, ignored).lexically_normal().parent_path();
  while (at.has_relative_path()) {
    const std::string name = at.filename().string();
    if (name != "mav0" && name.find("groundtruth") == std::string::npos) return name;
    at = at.parent_path();
  }
  return stem;
}

// The "# key: value" lines of a recording; other keys are the writer's own business.
Status ApplyComment(const TableComment& comment, const std::string& name, Recording& recording) {
  const auto refuse = [&](std::string_view expected) {
    return Status(Error{ErrorCode::kBadFormat,
                        fmt::format("{}:{}: {} is '{}', expected {}", name, comment.line,
                                    comment.key, Excerpt(comment.value), expected)});
  };
  if (comment.value.empty()) return {};
  if (comment.key == "id") recording.id = comment.value;
  if (comment.key == "category") recording.category = comment.value;
  if (comment.key == "configuration") recording.configuration = comment.value;
  if (comment.key == "object") recording.object = comment.value;
  if (comment.key == "frame") recording.frame = comment.value;
  if (comment.key == "source") {
    const std::optional<Source> source = SourceFromName(comment.value);
    if (!source) return refuse("real or synthetic");
    recording.source = *source;
  }
  if (comment.key == "noise_m") {
    const std::optional<double> noise_m = ParseDouble(comment.value);
    if (!noise_m || !(*noise_m >= 0 && *noise_m < 1e6)) return refuse("metres, at least 0");
    recording.noise_m = *noise_m;
  }
  return {};
}

Result<Recording> Describe(const fs::path& file, const FormatOptions& options, const Table& table,
                           std::vector<ImportNote>& notes) {
  if (options.format == Format::kNanobench) {
    Recording recording = DescribeNanobench(file, notes);
    recording.id = SafeName(recording.id);
    return recording;
  }
  Recording recording = DescribeByOptions(IdFromPath(file, options.format), options);
  if (options.format == Format::kCsv) {
    for (const TableComment& comment : table.comments) {
      if (Status s = ApplyComment(comment, file.string(), recording); !s.ok()) return s.error();
    }
  }
  recording.id = SafeName(recording.id);
  return recording;
}

}  // namespace

std::string_view FormatName(Format format) { return kNames[static_cast<std::size_t>(format)]; }

std::vector<std::string_view> FormatNames() { return {kNames.begin(), kNames.end()}; }

Result<Format> FormatFromName(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Format>(i);
  }
  return Error{ErrorCode::kInvalidArgument, "unknown format '" + Excerpt(name) +
                                                "', expected one of " + JoinNames(FormatNames())};
}

Result<std::vector<Recording>> ReadForeign(const fs::path& file, const FormatOptions& options,
                                           std::vector<ImportNote>& notes) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  return ParseForeign(*text, file, options, notes);
}

Result<std::vector<Recording>> ParseForeign(std::string_view text, const fs::path& file,
                                            const FormatOptions& options,
                                            std::vector<ImportNote>& notes) {
  const std::string name = file.string();
  Result<Table> table = ReadTable(text, name, TableOptionsFor(options), notes);
  if (!table.ok()) return table.error();
  const Result<Recording> description = Describe(file, options, *table, notes);
  if (!description.ok()) return description.error();
  RepairOptions repair = options.repair;
  repair.max_bad_share = options.max_bad_share;
  return Repair(std::move(*table), *description, name, repair, notes);
}

std::string SafeName(std::string_view text) {
  std::string safe(text.substr(0, 120));
  for (char& c : safe) {
    const bool harmless = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!harmless) c = '_';
  }
  if (safe.empty() || safe.front() == '.' || safe.front() == '-') safe.insert(0, 1, '_');
  return safe;
}

}  // namespace aerocast
