// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/html.h"

namespace aerocast {

// Made by cmake/EmbedFile.cmake.
extern const unsigned char kReportPage[];
extern const unsigned long kReportPage_size;

std::string_view ReportTemplate() {
  return {reinterpret_cast<const char*>(kReportPage), kReportPage_size};
}

Result<std::string> EmbedResults(std::string_view page, std::string_view json) {
  constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"aerocast-results\">";
  const std::string hole = std::string(kOpen) + "null</script>";
  if (page.empty()) {
    return Error{ErrorCode::kNotFound, "this build has no report page (web/dist/report.html)"};
  }
  const std::size_t at = page.find(hole);
  if (at == page.npos || page.find(hole, at + 1) != page.npos) {
    return Error{ErrorCode::kBadFormat,
                 "the report page must have exactly one empty aerocast-results element"};
  }
  std::string out(page.substr(0, at + kOpen.size()));
  out.reserve(page.size() + json.size() + json.size() / 8);
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  out += "</script>";
  out += page.substr(at + hole.size());
  return out;
}

}  // namespace aerocast
