// SPDX-License-Identifier: BSD-3-Clause
//
// AEROCAST_CHECK(condition): states what must be true if our own code is right. It is on in every
// build and must not be reachable by any input; what users can get wrong returns a Result.
#pragma once

#include <cstdio>
#include <cstdlib>

#define AEROCAST_CHECK(condition)                                                        \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
