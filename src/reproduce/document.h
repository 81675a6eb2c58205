// SPDX-License-Identifier: BSD-3-Clause
//
// A report as blocks, written once and rendered as Markdown (figures as files beside it) and as one
// self-contained HTML page.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace aerocast {

struct Heading {
  int level = 2;
  std::string text;
};
struct Paragraph {
  std::string text;
};
struct DocumentTable {
  std::vector<std::string> header;  // the first column is left-aligned, the others right
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // below it
};
struct Figure {
  std::string name;  // of its file, without folder and extension
  std::string caption;
  std::string svg;
};
using Block = std::variant<Heading, Paragraph, DocumentTable, Figure>;

struct Document {
  std::string title;
  std::vector<Block> blocks;

  void AddHeading(int level, std::string text) {
    blocks.emplace_back(Heading{level, std::move(text)});
  }
  void AddParagraph(std::string text) { blocks.emplace_back(Paragraph{std::move(text)}); }
  void Add(DocumentTable table) { blocks.emplace_back(std::move(table)); }
  void Add(Figure figure) { blocks.emplace_back(std::move(figure)); }
};

// For text between the tags of HTML and SVG.
std::string EscapeXml(const std::string& text);

// Figures are linked as FOLDER/NAME.svg.
std::string ToMarkdown(const Document& document, const std::string& folder);
std::string ToHtml(const Document& document);

}  // namespace aerocast
