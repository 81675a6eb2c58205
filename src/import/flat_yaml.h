// SPDX-License-Identifier: BSD-3-Clause
//
// The little of YAML that flight metadata uses: "key: value" lines and one level of indentation.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "aerocast/result.h"

namespace aerocast {

// Scalars by key; those under a key without value are "parent.key". Lists and deeper levels are
// passed over; a line that is nothing of these is refused with file and line. Quotes and comments
// are removed.
Result<std::map<std::string, std::string>> ParseFlatYaml(std::string_view text,
                                                         const std::string& name);

}  // namespace aerocast
