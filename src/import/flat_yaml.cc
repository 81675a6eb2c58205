// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/flat_yaml.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/import/columns.h"

namespace aerocast {
namespace {

std::string_view DropComment(std::string_view line) {
  if (Trim(line).starts_with('#')) return "";
  return line.substr(0, line.find(" #"));
}

std::string Scalar(std::string_view text) {
  text = Trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

// The colon that ends a key: followed by a blank or the end of the line.
std::size_t KeyEnd(std::string_view line) {
  for (std::size_t i = line.find(':'); i != std::string_view::npos; i = line.find(':', i + 1)) {
    if (i + 1 == line.size() || line[i + 1] == ' ') return i;
  }
  return std::string_view::npos;
}

// Where a line stands: under which key, and how deep.
class Reader {
 public:
  // False for a line that is not understood.
  bool Read(std::string_view line) {
    const std::string_view content = Trim(line);
    if (content.empty() || content == "---" || content == "...") return true;
    const std::size_t blanks = line.find_first_not_of(' ');
    if (line[blanks] == '\t') return false;
    if (content == "-" || content.starts_with("- ")) return open_;  // an item of a list
    const bool too_deep = !parent_.empty() && indent_ > 0 && blanks > indent_;
    if (too_deep) return open_;
    const std::size_t colon = KeyEnd(content);
    if (colon == std::string_view::npos || colon == 0) return false;
    if (blanks > 0 && (parent_.empty() || (indent_ > 0 && blanks != indent_))) return false;
    Take(Scalar(content.substr(0, colon)), Scalar(content.substr(colon + 1)), blanks);
    return true;
  }
  std::map<std::string, std::string> values;

 private:
  void Take(const std::string& key, const std::string& value, std::size_t blanks) {
    open_ = value.empty();
    indent_ = blanks;
    if (blanks == 0) parent_ = open_ ? key : "";
    if (!open_) values[blanks == 0 ? key : parent_ + "." + key] = value;
  }

  std::string parent_;      // the top-level key without value that children belong to
  std::size_t indent_ = 0;  // of its children; 0: none seen yet
  bool open_ = false;       // the last key had no value, so lists and deeper levels may follow
};

}  // namespace

Result<std::map<std::string, std::string>> ParseFlatYaml(std::string_view text,
                                                         const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Reader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = DropComment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (reader.Read(line)) continue;
    return Error{ErrorCode::kBadFormat, name + ":" + std::to_string(number) +
                                            ": expected 'key: value' but found '" +
                                            Excerpt(Trim(line)) + "'"};
  }
  return std::move(reader.values);
}

}  // namespace aerocast
