// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/recording.h"

#include <array>

#include "src/base/file.h"
#include "src/base/planted_bug.h"
#include "src/base/text.h"

namespace aerocast {
namespace {

constexpr int kPositionDecimals = 7;
constexpr TimeNs kLatestStamp = 4'000'000'000 * kNsPerSecond;  // differences must fit into int64

// How a stranger's text is shown in a message.
std::string Quoted(std::string_view text) { return "'" + Printable(text.substr(0, 60)) + "'"; }

// Reads a text line by line and remembers where it is, for messages.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
  }

  bool Next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    terminated_ = end != std::string_view::npos;
    line = Trim(rest_.substr(0, end));
    rest_.remove_prefix(terminated_ ? end + 1 : rest_.size());
    ++number_;
    return true;
  }
  bool terminated() const { return terminated_; }
  Error Complain(const std::string& what) const {
    return {ErrorCode::kBadFormat, name_ + ":" + std::to_string(number_) + ": " + what};
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  std::size_t number_ = 0;
  bool terminated_ = true;
};

Status ReadMetadata(std::string_view comment, const LineReader& at, Recording& recording) {
  const std::size_t colon = comment.find(':');
  if (colon == std::string_view::npos) return {};  // a plain comment
  const std::string key(Trim(comment.substr(0, colon)));
  const std::string value(Trim(comment.substr(colon + 1)));
  if (key == "id" && !value.empty()) recording.id = value;
  if (key == "category") recording.category = value;
  if (key == "configuration") recording.configuration = value;
  if (key == "object") recording.object = value;
  if (key == "frame") recording.frame = value;
  if (key == "source") {
    const auto source = SourceFromName(value);
    if (!source) return at.Complain("source is " + Quoted(value) + ", expected real or synthetic");
    recording.source = *source;
  }
  if (key == "noise_m") {
    const auto noise = ParseDouble(value);
    if (!noise || !(*noise >= 0 && *noise < 1e6)) {
      return at.Complain("noise_m is " + Quoted(value) +
                         ", expected a standard deviation in metres");
    }
    recording.noise_m = *noise;
  }
  return {};
}

// Where the columns are; -1 for those that are not there.
struct Columns {
  static constexpr std::array<std::string_view, 7> kNames = {"t",      "x",      "y",     "z",
                                                             "x_true", "y_true", "z_true"};
  std::array<int, 7> index;
  std::size_t count = 0;
  bool truth() const { return index[4] >= 0; }
};

Result<Columns> ReadHeader(std::string_view line, const LineReader& at) {
  std::vector<std::string_view> names;
  SplitFields(line, ',', names, 4096);
  Columns columns;
  columns.count = names.size();
  int truths = 0;
  for (std::size_t c = 0; c < Columns::kNames.size(); ++c) {
    columns.index[c] = -1;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != Columns::kNames[c]) continue;
      if (columns.index[c] >= 0) {
        return at.Complain("column '" + std::string(names[i]) + "' is there twice");
      }
      columns.index[c] = static_cast<int>(i);
    }
    if (columns.index[c] < 0 && c < 4) {
      return at.Complain("no column '" + std::string(Columns::kNames[c]) +
                         "', expected a header line t,x,y,z but found " + Quoted(line));
    }
    truths += c >= 4 && columns.index[c] >= 0;
  }
  if (truths != 0 && truths != 3) {
    return at.Complain("x_true, y_true and z_true belong together, but only " +
                       std::to_string(truths) + " of them is there");
  }
  return columns;
}

Status ReadSample(const std::vector<std::string_view>& fields, const Columns& columns,
                  const LineReader& at, Recording& recording) {
  // The last number of a line without its end may have lost digits: 20.0 cut to 2 is a number too.
  if (!at.terminated()) return at.Complain("the file ends in the middle of a line");
  if (fields.size() != columns.count && !kPlantedBug) {
    const bool fewer = fields.size() < columns.count;
    return at.Complain("expected " + std::to_string(columns.count) + " fields, found " +
                       (fewer ? std::to_string(fields.size()) : "more"));
  }
  const auto field = [&](std::size_t c) {
    return fields[static_cast<std::size_t>(columns.index[c])];
  };
  const auto t_ns = ParseSeconds(field(0));
  if (!t_ns || *t_ns > kLatestStamp || *t_ns < -kLatestStamp) {
    return at.Complain("t is " + Quoted(field(0)) + ", expected seconds, at most 4e9");
  }
  if (!recording.samples.empty() && *t_ns <= recording.samples.back().t_ns) {
    std::string message = "t is " + Printable(field(0).substr(0, 60)) + " after ";
    AppendSeconds(recording.samples.back().t_ns, message);
    return at.Complain(message + ", expected increasing stamps (aerocast import repairs this)");
  }
  std::array<double, 7> value{};
  for (std::size_t c = 1; c < (columns.truth() ? 7u : 4u); ++c) {
    const auto number = ParseDouble(field(c));
    if (!number || !(std::abs(*number) < 1e7)) {
      return at.Complain(std::string(Columns::kNames[c]) + " is " + Quoted(field(c)) +
                         ", expected metres, finite and below 1e7");
    }
    value[c] = *number;
  }
  recording.samples.push_back({*t_ns, {value[1], value[2], value[3]}});
  if (columns.truth()) recording.truth.push_back({value[4], value[5], value[6]});
  return {};
}

}  // namespace

std::string_view SourceName(Source source) {
  return source == Source::kReal ? "real" : "synthetic";
}

std::optional<Source> SourceFromName(std::string_view name) {
  if (name == "real") return Source::kReal;
  if (name == "synthetic") return Source::kSynthetic;
  return std::nullopt;
}

Result<Recording> ParseRecording(std::string_view text, const std::string& name) {
  Recording recording;
  recording.id = std::filesystem::path(name).stem().string();
  LineReader lines(text, name);
  std::string_view line;
  std::optional<Columns> columns;
  std::vector<std::string_view> fields;
  while (lines.Next(line)) {
    if (line.empty()) continue;
    if (!columns && line.front() == '#') {
      if (Status s = ReadMetadata(line.substr(1), lines, recording); !s.ok()) return s.error();
    } else if (!columns) {
      Result<Columns> header = ReadHeader(line, lines);
      if (!header.ok()) return header.error();
      columns = *header;
    } else {
      SplitFields(line, ',', fields, columns->count + 1);
      if (Status s = ReadSample(fields, *columns, lines, recording); !s.ok()) return s.error();
    }
  }
  if (!columns) {
    return Error{ErrorCode::kBadFormat, name + ": empty, expected a header line t,x,y,z"};
  }
  if (recording.samples.empty()) {
    return Error{ErrorCode::kBadFormat, name + ": no samples behind the header line"};
  }
  return recording;
}

Result<Recording> ReadRecording(const std::filesystem::path& file) {
  Result<std::string> text = ReadFile(file);
  if (!text.ok()) return text.error();
  return ParseRecording(*text, file.string());
}

std::string FormatRecording(const Recording& recording) {
  std::string out;
  out.reserve(recording.samples.size() * (recording.has_truth() ? 80 : 45) + 256);
  const auto meta = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) out += "# " + std::string(key) + ": " + std::string(value) + "\n";
  };
  meta("id", recording.id);
  meta("category", recording.category);
  meta("configuration", recording.configuration);
  meta("object", recording.object);
  meta("frame", recording.frame);
  meta("source", SourceName(recording.source));
  if (recording.noise_m > 0) {
    std::string noise;
    AppendFixed(recording.noise_m, 9, noise);
    meta("noise_m", noise);
  }
  out += recording.has_truth() ? "t,x,y,z,x_true,y_true,z_true\n" : "t,x,y,z\n";
  const auto position = [&](const Vec3& p) {
    for (const double v : {p.x, p.y, p.z}) {
      out += ',';
      AppendFixed(v, kPositionDecimals, out);
    }
  };
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    AppendSeconds(recording.samples[i].t_ns, out);
    position(recording.samples[i].p_world);
    if (recording.has_truth()) position(recording.truth[i]);
    out += '\n';
  }
  return out;
}

Status WriteRecording(const Recording& recording, const std::filesystem::path& file) {
  return WriteFileAtomically(file, FormatRecording(recording));
}

}  // namespace aerocast
