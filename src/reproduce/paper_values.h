// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers the paper prints, table by table, so that they can stand beside ours.
#pragma once

#include <array>
#include <limits>
#include <string_view>

namespace aerocast::paper {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Table II.
struct CategoryRow {
  std::string_view category;
  int windows;
  double mean_speed, max_speed, real_percent;
};
inline constexpr std::array<CategoryRow, 9> kCorpus = {{{"circle", 10248, 0.78, 1.43, 64},
                                                        {"oval", 10062, 0.79, 1.37, 62},
                                                        {"figure-8", 9874, 0.74, 1.77, 60},
                                                        {"helix", 10136, 0.79, 1.57, 57},
                                                        {"trefoil", 10410, 0.71, 1.90, 58},
                                                        {"lissajous", 9748, 0.73, 1.34, 50},
                                                        {"staircase", 9512, 0.50, 0.88, 46},
                                                        {"star", 10286, 0.65, 1.36, 62},
                                                        {"random", 9840, 0.55, 1.04, 53}}};

// Its last row: the speeds are means over the categories.
inline constexpr CategoryRow kCorpusTotal = {"all", 90116, 0.69, 1.41, 57};

// Table III: the five models.
struct ComparisonRow {
  std::string_view network;
  double ade, fde, min_ade, min_fde, nll, crps, ece;
};
inline constexpr std::array<ComparisonRow, 5> kComparison = {
    {{"paper", 0.055, 0.099, 0.052, 0.088, -13.28, 0.049, 0.647},
     {"gru", 0.127, 0.211, 0.122, 0.185, -10.31, 0.169, 0.674},
     {"lstm", 0.149, 0.238, 0.146, 0.220, -9.37, 0.197, 0.676},
     {"bigru", 0.111, 0.190, 0.108, 0.175, -10.06, 0.145, 0.669},
     {"mlp", 0.125, 0.219, 0.115, 0.183, -11.40, 0.157, 0.645}}};

// Table IV: ADE and FDE by category, in the order paper, gru, lstm, bigru, mlp.
struct PerCategoryRow {
  std::string_view category;
  std::array<double, 5> ade, fde;
};
inline constexpr std::array<PerCategoryRow, 9> kPerCategory = {
    {{"trefoil", {0.060, 0.141, 0.165, 0.122, 0.138}, {0.121, 0.261, 0.292, 0.233, 0.270}},
     {"helix", {0.044, 0.103, 0.120, 0.089, 0.092}, {0.085, 0.183, 0.206, 0.165, 0.204}},
     {"star", {0.069, 0.161, 0.189, 0.140, 0.157}, {0.198, 0.423, 0.478, 0.381, 0.441}},
     {"oval", {0.048, 0.113, 0.132, 0.097, 0.110}, {0.087, 0.189, 0.234, 0.170, 0.196}},
     {"figure-8", {0.061, 0.142, 0.167, 0.124, 0.140}, {0.113, 0.243, 0.273, 0.219, 0.252}},
     {"circle", {0.040, 0.095, 0.109, 0.081, 0.093}, {0.092, 0.197, 0.222, 0.177, 0.206}},
     {"random", {0.109, 0.254, 0.297, 0.221, 0.249}, {0.386, 0.824, 0.931, 0.540, 0.857}},
     {"lissajous", {0.069, 0.161, 0.189, 0.140, 0.158}, {0.116, 0.249, 0.281, 0.223, 0.259}},
     {"staircase", {0.059, 0.138, 0.162, 0.120, 0.136}, {0.133, 0.285, 0.321, 0.256, 0.296}}}};

// Table V: ablations.
struct AblationRow {
  std::string_view network;
  double ade, fde, nll, ece;
};
inline constexpr std::array<AblationRow, 9> kAblations = {
    {{"paper", 0.055, 0.099, -13.285, 0.647},
     {"ablation-k3", 0.076, 0.130, -12.806, 0.6405},
     {"ablation-k10", 0.101, 0.163, -14.021, 0.6665},
     {"ablation-k1", 0.133, 0.213, -12.377, 0.6536},
     {"ablation-tiny", 0.247, 0.513, -12.354, 0.6662},
     {"ablation-medium", 0.079, 0.179, -12.898, 0.6569},
     {"ablation-small", 0.112, 0.223, -12.634, 0.6628},
     {"ablation-no-position", 0.118, 0.410, -13.146, 0.6600},
     {"ablation-positions-only", 0.098, 0.187, -11.684, 0.7883}}};

// Table VI: parameters in millions, megabytes, milliseconds on a GPU.
struct ComplexityRow {
  std::string_view network;
  double parameters_m, size_mb, latency_ms;
};
inline constexpr std::array<ComplexityRow, 5> kComplexity = {{{"paper", 13.15, 54.0, 0.100},
                                                              {"gru", 4.75, 19.0, 0.042},
                                                              {"lstm", 6.07, 24.3, 0.056},
                                                              {"bigru", 13.17, 52.7, 0.125},
                                                              {"mlp", 7.63, 30.5, 0.004}}};

}  // namespace aerocast::paper
