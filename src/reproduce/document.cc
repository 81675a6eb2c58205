// SPDX-License-Identifier: BSD-3-Clause
#include "src/reproduce/document.h"

#include <fmt/format.h>

#include <algorithm>

namespace aerocast {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

// **bold** and `code`, the only marks that texts have.
std::string Marked(const std::string& text) {
  std::string html;
  const std::string escaped = EscapeXml(text);
  bool bold = false, code = false;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (!code && escaped.compare(i, 2, "**") == 0) {
      html += bold ? "</b>" : "<b>";
      bold = !bold, ++i;
    } else if (escaped[i] == '`') {
      html += code ? "</code>" : "<code>";
      code = !code;
    } else {
      html += escaped[i];
    }
  }
  return html;
}

std::string MarkdownRow(const std::vector<std::string>& cells, std::size_t columns) {
  std::string row = "|";
  for (std::size_t i = 0; i < columns; ++i) row += " " + (i < cells.size() ? cells[i] : "") + " |";
  return row + "\n";
}

std::string HtmlRow(const std::vector<std::string>& cells, std::size_t columns, const char* tag) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < columns; ++i) {
    row += fmt::format("<{0}>{1}</{0}>", tag, i < cells.size() ? Marked(cells[i]) : "");
  }
  return row + "</tr>\n";
}

// Of sentences rather than numbers: its cells are broken into lines.
bool IsProse(const DocumentTable& table) {
  constexpr std::size_t kLongest = 80;  // letters of a cell that stay in one line
  return std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(),
                       [](const std::string& cell) { return cell.size() > kLongest; });
  });
}

constexpr char kStyle[] =
    R"(body { font: 15px/1.5 system-ui, sans-serif; max-width: 74rem; margin: 2rem auto;
  padding: 0 1rem; color: #1b1f24; background: #fff; }
h1, h2, h3 { line-height: 1.2; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #d8dee4; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.prose th, .prose td { text-align: left; white-space: normal; vertical-align: top; }
.note { font-size: .9em; color: #57606a; margin: .2rem 0; }
figure { margin: 1.5rem 0; } figcaption { font-size: .9em; color: #57606a; }
svg { max-width: 100%; height: auto; }
code { background: #f3f4f6; padding: 0 .2em; border-radius: 3px; })";

}  // namespace

std::string EscapeXml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ToMarkdown(const Document& document, const std::string& folder) {
  std::string text = "# " + document.title + "\n";
  const auto render = Overloaded{
      [&](const Heading& h) {
        text += "\n" + std::string(static_cast<std::size_t>(h.level), '#') + " " + h.text + "\n";
      },
      [&](const Paragraph& p) { text += "\n" + p.text + "\n"; },
      [&](const DocumentTable& t) {
        const std::size_t columns = t.header.size();
        text += "\n" + MarkdownRow(t.header, columns) + "|---|";
        for (std::size_t i = 1; i < columns; ++i) text += "---:|";
        text += "\n";
        for (const auto& row : t.rows) text += MarkdownRow(row, columns);
        if (!t.notes.empty()) text += "\n";
        for (const std::string& note : t.notes) text += note + "  \n";
      },
      [&](const Figure& f) {
        text += fmt::format("\n![{}]({}/{}.svg)\n", f.caption, folder, f.name);
      }};
  for (const Block& block : document.blocks) std::visit(render, block);
  return text;
}

std::string ToHtml(const Document& document) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      EscapeXml(document.title), kStyle);
  const auto render = Overloaded{
      [&](const Heading& h) { text += fmt::format("<h{0}>{1}</h{0}>\n", h.level, Marked(h.text)); },
      [&](const Paragraph& p) { text += "<p>" + Marked(p.text) + "</p>\n"; },
      [&](const DocumentTable& t) {
        text += fmt::format("<div class=\"wide\"><table{}>\n<thead>{}</thead><tbody>\n",
                            IsProse(t) ? " class=\"prose\"" : "",
                            HtmlRow(t.header, t.header.size(), "th"));
        for (const auto& row : t.rows) text += HtmlRow(row, t.header.size(), "td");
        text += "</tbody></table></div>\n";
        for (const std::string& note : t.notes) {
          text += "<p class=\"note\">" + Marked(note) + "</p>\n";
        }
      },
      [&](const Figure& f) {
        text +=
            "<figure>" + f.svg + "<figcaption>" + Marked(f.caption) + "</figcaption></figure>\n";
      }};
  for (const Block& block : document.blocks) std::visit(render, block);
  return text + "</body></html>\n";
}

}  // namespace aerocast
