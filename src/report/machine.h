// SPDX-License-Identifier: BSD-3-Clause
//
// What a result was measured on.
#pragma once

#include <string>

namespace aerocast {

std::string CpuName();  // "unknown" where the system does not say
// CPU, cores and memory.
std::string DescribeMachine();

}  // namespace aerocast
