// SPDX-License-Identifier: BSD-3-Clause
//
// Foreign text to rows of numbers: line ends, byte order mark, comments, header, delimiter, rows
// that are no rows. Time order and gaps come later (repair.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/geometry.h"
#include "aerocast/result.h"
#include "src/import/columns.h"
#include "src/import/note.h"

namespace aerocast {

struct TableOptions {
  std::optional<Columns> fixed;  // the columns of a format without header line
  int default_places = 0;        // unit of a time column that states none, as in Columns
  double max_bad_share = 0.1;    // more unusable rows than this share and the file is refused
};

struct TableRow {
  TimeNs t_ns = 0;
  Vec3 p, truth;
  std::size_t line = 0;
};

// A "# key: value" line from before the header.
struct TableComment {
  std::string key, value;
  std::size_t line = 0;
};

struct Table {
  std::vector<TableRow> rows;  // as they stand in the file: any order, stamps may repeat
  std::vector<TableComment> comments;
  bool has_truth = false;
  std::size_t bad_rows = 0;
};

// `name` stands for the file in messages. Rows that are no numbers, not finite or beyond 1e7 m are
// dropped with one note; a last line that was cut off is dropped with another.
Result<Table> ReadTable(std::string_view text, const std::string& name, const TableOptions& options,
                        std::vector<ImportNote>& notes);

}  // namespace aerocast
