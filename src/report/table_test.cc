// SPDX-License-Identifier: BSD-3-Clause
#include "src/report/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/report/tables.h"

namespace aerocast {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(DisplayWidth, CountsWhatATerminalShows) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("\u00b1\u2013\u03bb"), 3);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);  // e and a combining accent
  EXPECT_EQ(DisplayWidth("鳥"), 2);
  EXPECT_EQ(DisplayWidth("\xFF\xC3"), 2);  // broken bytes
}

TEST(FormatNumber, KeepsSensibleDigits) {
  EXPECT_EQ(FormatNumber(1.9512), "1.95");
  EXPECT_EQ(FormatNumber(0.24678), "0.247");
  EXPECT_EQ(FormatNumber(0.0123), "0.0123");
  EXPECT_EQ(FormatNumber(12.34), "12.3");
  EXPECT_EQ(FormatNumber(4071), "4071");
  EXPECT_EQ(FormatNumber(-6.2311), "-6.23");
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(3e-7), "3e-07");
  EXPECT_EQ(FormatNumber(2.5e9), "2.50e+09");
  EXPECT_EQ(FormatNumber(kNone), "–");
}

TEST(FormatEstimate, ShowsHalfTheInterval) {
  EXPECT_EQ(FormatEstimate(0.2468, 0.21, 0.27), "0.247 ±0.030");
  EXPECT_EQ(FormatEstimate(0.2468, kNone, kNone), "0.247");
  EXPECT_EQ(FormatEstimate(kNone, kNone, kNone), "–");
}

TEST(FormatCount, GroupsDigits) {
  EXPECT_EQ(FormatCount(90116), "90,116");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
}

TEST(TextTable, AlignsColumnsByWidth) {
  TextTable table;
  table.AddColumn("name", TextTable::Align::kLeft), table.AddColumn("ADE");
  table.AddRow({"±x", "1.5"});
  table.AddRule();
  table.AddRow({"longer"});
  EXPECT_EQ(table.Render(),
            "name    ADE\n"
            "───────────\n"
            "±x      1.5\n"
            "───────────\n"
            "longer\n");
}

TEST(StatsTable, HasBothTotals) {
  CorpusStats stats;
  stats.categories.push_back({"circle", 3, 90116, 60000, 0.78, 1.43});
  stats.total = stats.categories[0];
  stats.category_mean_speed = 0.69, stats.category_mean_highest = 1.41;
  const std::string text = StatsTable(stats);
  EXPECT_NE(text.find("90,116"), std::string::npos);
  EXPECT_NE(text.find("67 %"), std::string::npos);
  EXPECT_NE(text.find("total (mean of categories)"), std::string::npos);
  EXPECT_NE(text.find("1.41"), std::string::npos);
}

}  // namespace
}  // namespace aerocast
