// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace aerocast {

// The text with every byte that is no part of a UTF-8 character replaced by '?'. Manifests are
// JSON, which knows nothing else; foreign files know everything else.
std::string ValidUtf8(std::string_view text);

}  // namespace aerocast
