// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/table.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/text.h"
#include "src/import/utf8.h"

namespace aerocast {
namespace {

// The lines of a text, whatever ends them: "\n", "\r\n" or a lone "\r".
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    if (rest_.find('\n') == std::string_view::npos) end_ = '\r';
  }

  bool Next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find(end_);
    terminated_ = end != std::string_view::npos;
    line = rest_.substr(0, end);
    rest_.remove_prefix(terminated_ ? end + 1 : rest_.size());
    ++number_;
    return true;
  }
  std::size_t number() const { return number_; }
  bool terminated() const { return terminated_; }

 private:
  std::string_view rest_;
  char end_ = '\n';
  std::size_t number_ = 0;
  bool terminated_ = true;
};

std::string FieldFault(std::string_view what, std::string_view field, std::string_view expected) {
  return fmt::format("{} is '{}', expected {}", what, Excerpt(field), expected);
}

std::string StampFault(std::string_view field, int places) {
  constexpr std::string_view kUnits[] = {"seconds", "milliseconds", "microseconds", "nanoseconds"};
  std::string fault = FieldFault("the stamp", field, kUnits[places / 3]);
  // Too long for seconds since any epoch: name the way out instead of guessing the unit.
  if (places == 0 && field.size() >= 12 && ParseInteger(field)) {
    fault += " (name the column t_ms, t_us or t_ns if it counts those)";
  }
  return fault;
}

bool ReadPosition(const std::vector<std::string_view>& fields, const std::array<int, 3>& columns,
                  Vec3& p, std::string& fault) {
  double value[3];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string_view field = fields[static_cast<std::size_t>(columns[axis])];
    const std::optional<double> number = ParseDouble(field);
    if (!number || !(std::abs(*number) < 1e7)) {
      constexpr std::string_view kAxes[] = {"x", "y", "z"};
      fault = FieldFault(kAxes[axis], field, "metres, finite and below 1e7");
      return false;
    }
    value[axis] = *number;
  }
  p = {value[0], value[1], value[2]};
  return true;
}

// Says what is wrong with a row; nothing when it is fine.
std::string ReadRow(std::vector<std::string_view>& fields, const Columns& columns, TableRow& row) {
  if (fields.size() == columns.count + 1 && fields.back().empty()) fields.pop_back();
  if (fields.size() != columns.count) {
    return fmt::format("expected {} fields, found {}", columns.count, fields.size());
  }
  const std::string_view stamp = fields[static_cast<std::size_t>(columns.t)];
  const std::optional<TimeNs> t_ns = ParseStamp(stamp, columns.decimal_places);
  if (!t_ns) return StampFault(stamp, columns.decimal_places);
  row.t_ns = *t_ns;
  std::string fault;
  if (ReadPosition(fields, columns.p, row.p, fault) && columns.has_truth()) {
    ReadPosition(fields, columns.truth, row.truth, fault);
  }
  return fault;
}

// "1,5" as a number: as one field under another delimiter, or torn in two by a comma.
bool HasDecimalComma(const std::vector<std::string_view>& fields, const Columns& columns) {
  if (columns.delimiter == ',') return fields.size() == 2 * columns.count;
  for (const std::string_view field : fields) {
    const std::size_t comma = field.find(',');
    if (comma == std::string_view::npos) continue;
    std::string number(field);
    number[comma] = '.';
    if (ParseDouble(number)) return true;
  }
  return false;
}

std::size_t Decimals(std::string_view field) {
  const std::size_t point = field.find('.');
  return point == std::string_view::npos ? 0 : field.size() - point - 1;
}

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& name, const TableOptions& options,
              std::vector<ImportNote>& notes)
      : lines_(text), name_(name), options_(options), notes_(notes), columns_(options.fixed) {}

  Result<Table> Read() {
    std::string_view line;
    while (lines_.Next(line)) {
      const std::string_view content = Trim(line);
      if (content.empty()) continue;
      const Status status = content.front() == '#' ? ReadComment(Trim(content.substr(1)))
                            : columns_             ? ReadDataLine(line, content)
                                                   : ReadHeader(content);
      if (!status.ok()) return status.error();
    }
    return Finish();
  }

 private:
  Error Complain(std::size_t line, const std::string& what) const {
    return {ErrorCode::kBadFormat, fmt::format("{}:{}: {}", name_, line, what)};
  }

  Status ReadHeader(std::string_view content) {
    Result<Columns> columns = FindColumns(content, options_.default_places);
    if (!columns.ok()) return Complain(lines_.number(), columns.error().message);
    columns_ = *columns;
    return {};
  }

  // EuRoC and others write their header as a comment.
  Status ReadComment(std::string_view content) {
    if (columns_) return {};
    if (Result<Columns> columns = FindColumns(content, options_.default_places); columns.ok()) {
      columns_ = *columns;
    } else if (const std::size_t colon = content.find(':'); colon != std::string_view::npos) {
      table_.comments.push_back({ValidUtf8(Trim(content.substr(0, colon))),
                                 ValidUtf8(Trim(content.substr(colon + 1))), lines_.number()});
    }
    return {};
  }

  Status ReadDataLine(std::string_view line, std::string_view content) {
    // A tab at either end of a tab-separated line is an empty field, not blank space.
    SplitRow(columns_->delimiter == '\t' ? line : content, columns_->delimiter, fields_);
    TableRow row;
    row.line = lines_.number();
    const std::string fault = ReadRow(fields_, *columns_, row);
    if (!lines_.terminated() && (!fault.empty() || LooksCut())) {
      notes_.push_back(
          {name_, row.line, 1, "dropped this line, in the middle of which the file ends"});
      return {};
    }
    if (fault.empty()) {
      table_.rows.push_back(row);
      last_decimals_ = Decimals(fields_.back());
      return {};
    }
    return TakeFault(content, fault);
  }

  // All fields are there but nothing ends the line: the last number may have lost digits.
  bool LooksCut() const {
    return fields_.size() == columns_->count && Decimals(fields_.back()) < last_decimals_;
  }

  Status TakeFault(std::string_view content, const std::string& fault) {
    if (table_.rows.empty() && table_.bad_rows == 0) {
      // A header behind a comment that looked like one, or in a format that needs none.
      if (Result<Columns> again = FindColumns(content, options_.default_places); again.ok()) {
        if (!options_.fixed) columns_ = *again;
        return {};
      }
    }
    if (HasDecimalComma(fields_, *columns_)) {
      return Complain(lines_.number(), "numbers have a decimal comma ('" + Excerpt(content) +
                                           "'), expected a decimal point");
    }
    if (table_.bad_rows++ == 0) first_fault_ = fault, first_bad_line_ = lines_.number();
    return {};
  }

  Result<Table> Finish() {
    if (!columns_) {
      return Error{ErrorCode::kBadFormat, name_ + ": empty, expected a header line t,x,y,z"};
    }
    const std::size_t rows = table_.rows.size() + table_.bad_rows;
    if (rows == 0) return Error{ErrorCode::kBadFormat, name_ + ": no samples, expected rows"};
    if (static_cast<double>(table_.bad_rows) > options_.max_bad_share * static_cast<double>(rows)) {
      return Complain(
          first_bad_line_,
          fmt::format("{}; {} of {} rows are unusable, allowed are {:.4g} %", first_fault_,
                      table_.bad_rows, rows, 100 * options_.max_bad_share));
    }
    if (table_.bad_rows > 0) {
      notes_.push_back({name_, first_bad_line_, table_.bad_rows,
                        fmt::format("dropped {} of {} rows as unusable (the first: {})",
                                    table_.bad_rows, rows, first_fault_)});
    }
    table_.has_truth = columns_->has_truth();
    return std::move(table_);
  }

  Lines lines_;
  const std::string& name_;
  const TableOptions& options_;
  std::vector<ImportNote>& notes_;
  std::optional<Columns> columns_;
  std::vector<std::string_view> fields_;
  Table table_;
  std::string first_fault_;
  std::size_t first_bad_line_ = 0, last_decimals_ = 0;
};

}  // namespace

Result<Table> ReadTable(std::string_view text, const std::string& name, const TableOptions& options,
                        std::vector<ImportNote>& notes) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return Error{ErrorCode::kBadFormat, name + ":1: the text is UTF-16, expected UTF-8"};
  }
  return TableReader(text, name, options, notes).Read();
}

}  // namespace aerocast
