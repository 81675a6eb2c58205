// SPDX-License-Identifier: BSD-3-Clause
#include "aerocast/version.h"

namespace aerocast {

std::string_view Version() { return AEROCAST_VERSION; }

}  // namespace aerocast
