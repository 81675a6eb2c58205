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

}  // namespace

Result<std::map<std::string, std::string>> ParseFlatYaml(std::string_view text,
                                                         const std::string& name) {
  std::map<std::string, std::string> values;
  std::vector<std::string_view> lines;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string parent;
  std::size_t indent = 0, number = 0;  // indent of the children of `parent`
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = DropComment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const std::string_view content = Trim(line);
    if (content.empty() || content == "---" || content == "...") continue;
    const std::size_t blanks = line.find_first_not_of(' ');
    const std::size_t colon = KeyEnd(content);
    const bool child = blanks > 0;
    const bool readable = colon != std::string_view::npos && colon > 0 &&
                          !content.starts_with("- ") && line[blanks] != '\t' &&
                          (!child || (!parent.empty() && (indent == 0 || indent == blanks)));
    if (!readable) {
      return Error{ErrorCode::kBadFormat, name + ":" + std::to_string(number) +
                                              ": expected 'key: value', at most one level deep, "
                                              "but found '" +
                                              Excerpt(content) + "'"};
    }
    const std::string key = Scalar(content.substr(0, colon));
    const std::string value = Scalar(content.substr(colon + 1));
    if (child) {
      indent = blanks;
      values[parent + "." + key] = value;
    } else {
      parent = value.empty() ? key : "";
      indent = 0;
      if (!value.empty()) values[key] = value;
    }
  }
  return values;
}

}  // namespace aerocast
