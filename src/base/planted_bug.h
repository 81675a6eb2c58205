// SPDX-License-Identifier: BSD-3-Clause
//
// A fuzzer that finds nothing proves nothing, unless it is known to find what is there. Fuzzers are
// therefore built a second time with one check of each reader left out, and must then fail
// (fuzz/README.md). In every other build this is false.
#pragma once

namespace aerocast {

#ifdef AEROCAST_PLANTED_BUG
inline constexpr bool kPlantedBug = true;
#else
inline constexpr bool kPlantedBug = false;
#endif

}  // namespace aerocast
