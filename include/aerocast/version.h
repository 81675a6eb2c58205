// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace aerocast {

std::string_view Version();  // "0.1.0", stated once, in CMakeLists.txt

}  // namespace aerocast
