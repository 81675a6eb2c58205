// SPDX-License-Identifier: BSD-3-Clause
//
// What NanoBench's metadata says about a flight (github.com/syediu/nanobench-iros2026).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "aerocast/recording.h"
#include "src/import/note.h"

namespace aerocast {

// The benchmark's name for a trajectory type ("figure_eight" is "figure-8"); types it does not know
// keep their own name, with blanks for underscores.
std::string NanobenchCategory(std::string_view trajectory_type);

// Everything but the samples. Without readable metadata, category and configuration are guessed
// from the file's name, with a note.
Recording DescribeNanobench(const std::filesystem::path& file, std::vector<ImportNote>& notes);

}  // namespace aerocast
