// SPDX-License-Identifier: BSD-3-Clause
//
// The report: the built page (web/dist/report.html, compiled in) with the results inside, one file
// that needs nothing else.
#pragma once

#include <string>
#include <string_view>

#include "aerocast/result.h"

namespace aerocast {

// The page as it was built; empty when this build was made without it.
std::string_view ReportTemplate();

// Replaces the page's one `<script type="application/json" id="aerocast-results">null</script>` by
// the same element with `json` in it. "<" becomes \u003c, so that no string in the results can end
// the element. Refuses a page without this element, or with several.
Result<std::string> EmbedResults(std::string_view page, std::string_view json);

}  // namespace aerocast
