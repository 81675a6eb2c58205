// SPDX-License-Identifier: BSD-3-Clause
//
// What an import repaired or assumed: one note per kind and file, never one per row, so that a
// command line can print all of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aerocast {

struct ImportNote {
  std::string file;
  std::size_t line = 0;   // the first line concerned; 0: the file as a whole
  std::size_t count = 0;  // how many rows (or files) are concerned; 0: not countable
  std::string text;       // one sentence without the place, count included
};

// "flight.csv:12: dropped 3 rows ..."
inline std::string Sentence(const ImportNote& note) {
  return note.file + (note.line > 0 ? ":" + std::to_string(note.line) : "") + ": " + note.text;
}

// "1 row", "3 rows".
inline std::string Counted(std::size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

}  // namespace aerocast
