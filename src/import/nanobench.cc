// SPDX-License-Identifier: BSD-3-Clause
#include "src/import/nanobench.h"

#include <algorithm>
#include <array>
#include <map>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/import/flat_yaml.h"
#include "src/import/utf8.h"

namespace aerocast {
namespace {

constexpr double kViconNoise_m = 0.00005;

struct TypeName {
  std::string_view type, category;
};

constexpr std::array<TypeName, 11> kTypes = {{{"circle", "circle"},
                                              {"oval", "oval"},
                                              {"figure_eight", "figure-8"},
                                              {"figure8", "figure-8"},  // as file names spell it
                                              {"helix", "helix"},
                                              {"trefoil", "trefoil"},
                                              {"lissajous", "lissajous"},
                                              {"star", "star"},
                                              {"random_waypoints", "random"},
                                              {"staircase_climb", "staircase"},
                                              {"linear_ramp", "linear ramp"}}};

// "B9_trefoil_slow_rep12" without its repetition.
std::string WithoutRepetition(const std::string& stem) {
  const std::size_t digits = stem.find_last_not_of("0123456789") + 1;
  constexpr std::string_view kMark = "_rep";
  if (digits == stem.size() || digits <= kMark.size()) return stem;
  const std::size_t mark = digits - kMark.size();
  return stem.compare(mark, kMark.size(), kMark) == 0 ? stem.substr(0, mark) : stem;
}

// What was commanded: the trajectory's type and its parameters, such as "circle altitude_m=1.0
// radius_m=1.0 speed_mps=0.5". How long it was flown and the seed of random way-points are left
// out. File names and ids are not trusted with this: B5_helix and B5_helix_slow fly the same helix,
// B9_trefoil_medium and _slow the same trefoil, and B7_oval_fast has two sizes.
std::string CommandedMotion(const std::map<std::string, std::string>& metadata) {
  constexpr std::string_view kPrefix = "params.";
  std::string motion = metadata.at("trajectory_type");
  for (const auto& [key, value] : metadata) {
    if (!key.starts_with(kPrefix)) continue;
    const std::string_view name = std::string_view(key).substr(kPrefix.size());
    if (name == "duration_s" || name == "seed") continue;
    motion += " " + std::string(name) + "=" + value;
  }
  return ValidUtf8(motion);
}

void GuessFromName(const std::string& stem, Recording& recording) {
  const std::string name = Lower(stem);
  recording.configuration = ValidUtf8(WithoutRepetition(stem));
  recording.category = "unlabelled";
  for (const TypeName& known : kTypes) {
    if (name.find(known.type) != std::string::npos) recording.category = known.category;
  }
}

}  // namespace

std::string NanobenchCategory(std::string_view trajectory_type) {
  for (const TypeName& known : kTypes) {
    if (known.type == trajectory_type) return std::string(known.category);
  }
  std::string category(trajectory_type);
  std::replace(category.begin(), category.end(), '_', ' ');
  return ValidUtf8(category);
}

Recording DescribeNanobench(const std::filesystem::path& file, std::vector<ImportNote>& notes) {
  Recording recording;
  recording.id = file.stem().string();
  recording.object = "Crazyflie 2.1";
  recording.frame = "vicon";
  recording.source = Source::kReal;
  recording.noise_m = kViconNoise_m;
  GuessFromName(recording.id, recording);
  const std::string guess = ", so category '" + recording.category + "' and configuration '" +
                            recording.configuration + "' were guessed from the file's name";

  const std::filesystem::path metadata = file.parent_path() / (recording.id + "_metadata.yaml");
  const Result<std::string> text = ReadFile(metadata, 1 << 20);
  if (!text.ok()) {
    notes.push_back({file.string(), 0, 1, "no readable " + metadata.filename().string() + guess});
    return recording;
  }
  Result<std::map<std::string, std::string>> values = ParseFlatYaml(*text, metadata.string());
  if (!values.ok()) {
    notes.push_back({file.string(), 0, 1,
                     "the metadata are unreadable (" + values.error().message + ")" + guess});
    return recording;
  }
  if (!values->contains("trajectory_type")) {
    notes.push_back({metadata.string(), 0, 1, "no trajectory_type" + guess});
    return recording;
  }
  recording.category = NanobenchCategory((*values)["trajectory_type"]);
  recording.configuration = CommandedMotion(*values);
  return recording;
}

}  // namespace aerocast
