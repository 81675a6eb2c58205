// SPDX-License-Identifier: BSD-3-Clause
//
// The benchmark's questions for other tools: what may be seen and, apart from it, what happened.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "aerocast/result.h"
#include "src/data/windows.h"

namespace aerocast {

// Writes two files into `directory`, which must not exist or be empty, whole or not at all
// (docs/forecast_format.md): inputs.jsonl, one line per window with its history, and targets.jsonl
// with its future. A tool that is given inputs.jsonl only cannot see the future.
Status WriteWindows(std::span<const FlightWindows> flights, const WindowSpec& window,
                    const std::filesystem::path& directory);

// One line each, without the newline; i is the sample at t0.
std::string FormatInput(const FlightWindows& windows, std::size_t i, const WindowSpec& window);
std::string FormatTarget(const Recording& flight, std::size_t i, const WindowSpec& window);

}  // namespace aerocast
