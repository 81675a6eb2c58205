// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which people sort names: runs of digits count as numbers, so rep2 is before rep10.
#pragma once

#include <string_view>

namespace aerocast {

// A strict total order: names that differ only in leading zeros ("rep2", "rep02") are ordered too.
bool NaturalLess(std::string_view a, std::string_view b);

}  // namespace aerocast
