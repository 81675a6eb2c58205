// SPDX-License-Identifier: BSD-3-Clause
//
// Every instruction set against the scalar twin: the same bits where it has fused multiply-add,
// nearly the same where it has not.
#include "src/kernels/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "src/base/arena.h"
#include "src/base/half.h"
#include "src/base/rng.h"

namespace aerocast {
namespace {

// A matrix whose rows are padded and lie apart, with a marker beyond them.
class Matrix {
 public:
  Matrix(int rows, int columns, int extra = 16)
      : rows_(rows),
        columns_(columns),
        stride_(PaddedTo16(columns) + extra),
        arena_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride_) * sizeof(float)) {
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < stride_; ++i) at(r, i) = i < PaddedTo16(columns) ? 0 : kMark;
    }
  }
  static Matrix Random(int rows, int columns, Rng rng, double scale = 1) {
    Matrix m(rows, columns);
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < columns; ++i) m.at(r, i) = static_cast<float>(scale * rng.Normal());
    }
    return m;
  }
  Matrix Copy() const {
    Matrix m(rows_, columns_, stride_ - PaddedTo16(columns_));
    std::memcpy(m.arena_.data(), arena_.data(), arena_.size());
    return m;
  }

  float& at(int r, int i) { return reinterpret_cast<float*>(arena_.data())[r * stride_ + i]; }
  Rows rows() { return {&at(0, 0), stride_}; }

  bool Marked() {
    for (int r = 0; r < rows_; ++r) {
      for (int i = PaddedTo16(columns_); i < stride_; ++i) {
        if (at(r, i) != kMark) return false;
      }
    }
    return true;
  }
  void ExpectIs(Matrix& expected, bool fused, const std::string& what) {
    EXPECT_TRUE(Marked()) << what << ": written beyond the row";
    for (int r = 0; r < rows_; ++r) {
      for (int i = 0; i < columns_; ++i) {
        if (fused) {
          ASSERT_EQ(at(r, i), expected.at(r, i)) << what << " at " << r << ", " << i;
        } else {
          ASSERT_NEAR(at(r, i), expected.at(r, i), 1e-5 * (1 + std::abs(expected.at(r, i))))
              << what << " at " << r << ", " << i;
        }
      }
    }
  }

 private:
  static constexpr float kMark = 12345;
  int rows_, columns_, stride_;
  Arena arena_;
};

std::vector<const Kernels*> Simd() {
  std::vector<const Kernels*> all;
  for (const Kernels& kernels : AllKernels()) {
    if (kernels.name != "scalar") all.push_back(&kernels);
  }
  return all;
}

TEST(Kernels, SaysWhichInstructionSetsAreTested) {
  std::string run;
  for (const Kernels* kernels : Simd()) run += std::string(kernels->name) + " ";
  RecordProperty("run", run);
  std::string not_run;
  for (const char* name : {"AVX3", "AVX2", "SSE4", "NEON"}) {
    if (FindKernels(name) == nullptr) not_run += std::string(name) + " ";
  }
  std::printf("instruction sets run: %snot run here: %s\n", run.c_str(), not_run.c_str());
  EXPECT_FALSE(Simd().empty());
  EXPECT_EQ(AllKernels().back().name, "scalar");
  EXPECT_EQ(FindKernels("")->name, AllKernels().front().name);
  EXPECT_EQ(FindKernels("MMX"), nullptr);
}

struct Packed {
  Packed(int inputs, int outputs, WeightStorage storage, Rng rng)
      : arena(PanelBytes(inputs, outputs, storage)),
        bias_arena(static_cast<std::size_t>(PaddedTo16(outputs)) * sizeof(float)) {
    for (int i = 0; i < inputs * outputs; ++i) {
      weights.push_back(static_cast<float>(rng.Normal() / std::sqrt(inputs)));
    }
    PackPanels(weights.data(), inputs, inputs, outputs, storage, arena.data());
    auto* bias = reinterpret_cast<float*>(bias_arena.data());
    for (int i = 0; i < outputs; ++i) bias[i] = static_cast<float>(rng.Normal());
    matrix = {inputs, outputs, storage, arena.data(), bias};
  }
  std::vector<float> weights;
  Arena arena, bias_arena;
  PackedMatrix matrix;
};

// The scalar twin against the sum as anyone would write it, in double.
TEST(ScalarMultiply, IsTheMatrixProduct) {
  for (const auto storage : {WeightStorage::kSingle, WeightStorage::kHalf}) {
    Packed w(37, 21, storage, Rng(1, 0));
    Matrix a = Matrix::Random(3, 37, Rng(2, 0)), c = Matrix::Random(3, 21, Rng(3, 0));
    Matrix before = c.Copy();
    ScalarKernels().multiply(a.rows(), 3, w.matrix, Epilogue::kAdd, c.rows(), 0, 2);
    for (int r = 0; r < 3; ++r) {
      for (int j = 0; j < 21; ++j) {
        double sum = before.at(r, j) + double{w.matrix.bias[j]};
        for (int k = 0; k < 37; ++k) {
          const float weight = w.weights[static_cast<std::size_t>(j * 37 + k)];
          sum += double{a.at(r, k)} *
                 (storage == WeightStorage::kHalf ? FloatFromHalf(HalfFromFloat(weight)) : weight);
        }
        EXPECT_NEAR(c.at(r, j), sum, 1e-5);
      }
    }
  }
}

TEST(Multiply, IsTheScalarTwin) {
  for (const Kernels* kernels : Simd()) {
    for (const auto storage : {WeightStorage::kSingle, WeightStorage::kHalf}) {
      for (const int inputs : {1, 3, 6, 16, 67, 300}) {
        for (const int outputs : {1, 15, 16, 17, 50, 129}) {
          Packed w(inputs, outputs, storage, Rng(inputs, outputs));
          const int panels = w.matrix.panel_count();
          for (const int rows : {1, 2, 3, 4, 5, 6, 7, 13, 20, 25}) {
            Matrix a = Matrix::Random(rows, inputs, Rng(4, rows));
            const auto epilogue = static_cast<Epilogue>((rows + outputs) % 3);
            Matrix expected = Matrix::Random(rows, outputs, Rng(5, rows));
            Matrix c = expected.Copy();
            ScalarKernels().multiply(a.rows(), rows, w.matrix, epilogue, expected.rows(), 0,
                                     panels);
            // In two parts, as two threads would.
            kernels->multiply(a.rows(), rows, w.matrix, epilogue, c.rows(), 0, panels / 3);
            kernels->multiply(a.rows(), rows, w.matrix, epilogue, c.rows(), panels / 3, panels);
            c.ExpectIs(expected, kernels->fused,
                       std::string(kernels->name) + " " + std::to_string(rows) + " x " +
                           std::to_string(inputs) + " x " + std::to_string(outputs));
          }
        }
      }
    }
  }
}

// Activations need no alignment: they are read number by number.
TEST(Multiply, ReadsMisalignedRows) {
  Packed w(19, 33, WeightStorage::kSingle, Rng(6, 0));
  Matrix a = Matrix::Random(1, 160, Rng(7, 0));
  for (const Kernels* kernels : Simd()) {
    for (int shift = 0; shift < 17; ++shift) {
      const ConstRows shifted = {a.rows().data + shift, 23};
      Matrix expected(5, 33), c(5, 33);
      ScalarKernels().multiply(shifted, 5, w.matrix, Epilogue::kStore, expected.rows(), 0, 3);
      kernels->multiply(shifted, 5, w.matrix, Epilogue::kStore, c.rows(), 0, 3);
      c.ExpectIs(expected, kernels->fused, "shift " + std::to_string(shift));
    }
  }
}

TEST(PackPanels, OfTheTransposedIsTheSame) {
  const Matrix m = Matrix::Random(20, 37, Rng(8, 0));
  Matrix source = m.Copy();
  std::vector<float> plain;
  for (int k = 0; k < 37; ++k) {
    for (int j = 0; j < 20; ++j) plain.push_back(source.at(j, k));
  }
  std::vector<float> direct(37 * 32), transposed(37 * 32);
  PackPanels(source.rows().data, source.rows().stride, 37, 20, WeightStorage::kSingle,
             direct.data());
  PackPanelsTransposed(plain.data(), 20, 37, 20, transposed.data());
  EXPECT_EQ(direct, transposed);
}

TEST(LayerNorm, IsTheScalarTwinAndNormalises) {
  for (const int columns : {1, 2, 15, 16, 17, 31, 37, 512}) {
    for (const bool relu : {false, true}) {
      Matrix x = Matrix::Random(3, columns, Rng(9, columns), 3), expected(3, columns);
      Matrix gain = Matrix::Random(1, columns, Rng(10, 0)),
             shift = Matrix::Random(1, columns, Rng(11, 0));
      ScalarKernels().layer_norm(x.rows(), 3, columns, gain.rows().data, shift.rows().data, relu,
                                 expected.rows());
      double mean = 0, square = 0;
      for (int i = 0; i < columns; ++i) mean += x.at(0, i) / columns;
      for (int i = 0; i < columns; ++i) square += std::pow(x.at(0, i) - mean, 2) / columns;
      for (int i = 0; i < columns; ++i) {
        double y = (x.at(0, i) - mean) / std::sqrt(square + 1e-5) * gain.at(0, i) + shift.at(0, i);
        if (relu) y = std::max(y, 0.0);
        EXPECT_NEAR(expected.at(0, i), y, 1e-5);
      }
      for (const Kernels* kernels : Simd()) {
        Matrix y(3, columns);
        kernels->layer_norm(x.rows(), 3, columns, gain.rows().data, shift.rows().data, relu,
                            y.rows());
        y.ExpectIs(expected, kernels->fused, std::string(kernels->name));
      }
    }
  }
}

TEST(Exp, IsTheScalarTwinAndAccurate) {
  std::vector<float> x = {0, -0.f, 1, -1, 88, 89, 1e30f, -87, -88, -1e30f};
  Rng rng(12, 0);
  for (int i = 0; i < 20000; ++i) x.push_back(static_cast<float>(rng.Uniform(-87, 88)));
  std::vector<float> scalar(x.size()), y(x.size());
  ScalarKernels().exp(x.data(), static_cast<int>(x.size()), scalar.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 88 || x[i] < -87) continue;
    const double exact = std::exp(double{x[i]});
    EXPECT_NEAR(scalar[i], exact, 2e-7 * exact) << x[i];
  }
  EXPECT_EQ(scalar[0], 1);
  EXPECT_TRUE(std::isfinite(scalar[6]) && scalar[6] > 1e38);
  EXPECT_TRUE(scalar[9] > 0 && scalar[9] < 2e-38);
  for (const Kernels* kernels : Simd()) {
    kernels->exp(x.data(), static_cast<int>(x.size()), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (kernels->fused) {
        EXPECT_EQ(y[i], scalar[i]) << kernels->name << " " << x[i];
      } else {
        EXPECT_NEAR(y[i], scalar[i], 1e-6 * scalar[i]) << kernels->name << " " << x[i];
      }
    }
  }
}

TEST(Softmax, IsTheScalarTwinAndSumsToOne) {
  for (const int columns : {1, 2, 15, 16, 17, 20, 37}) {
    const Matrix x = Matrix::Random(4, columns, Rng(13, columns), 30);
    Matrix expected = x.Copy();
    ScalarKernels().softmax(expected.rows(), 4, columns, 0.125f);
    Matrix source = x.Copy();
    double most = -1e30, sum = 0;
    for (int i = 0; i < columns; ++i) most = std::max(most, 0.125 * source.at(0, i));
    for (int i = 0; i < columns; ++i) sum += std::exp(0.125 * source.at(0, i) - most);
    for (int i = 0; i < columns; ++i) {
      EXPECT_NEAR(expected.at(0, i), std::exp(0.125 * source.at(0, i) - most) / sum, 1e-6);
    }
    for (const Kernels* kernels : Simd()) {
      Matrix y = x.Copy();
      kernels->softmax(y.rows(), 4, columns, 0.125f);
      y.ExpectIs(expected, kernels->fused, std::string(kernels->name));
    }
  }
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Gru, IsTheScalarTwinAndTheFormula) {
  constexpr int kUnits = 32, kRows = 3;
  Matrix input = Matrix::Random(kRows, 3 * kUnits, Rng(14, 0), 2);
  Matrix hidden = Matrix::Random(kRows, 3 * kUnits, Rng(15, 0), 2);
  Matrix before = Matrix::Random(kRows, kUnits, Rng(16, 0)), expected(kRows, kUnits);
  ScalarKernels().gru(input.rows(), hidden.rows(), kRows, kUnits, 0, kUnits, before.rows(),
                      expected.rows());
  for (int i = 0; i < kUnits; ++i) {
    const double r = Logistic(input.at(1, i) + hidden.at(1, i));
    const double z = Logistic(input.at(1, kUnits + i) + hidden.at(1, kUnits + i));
    const double n = std::tanh(input.at(1, 2 * kUnits + i) + r * hidden.at(1, 2 * kUnits + i));
    EXPECT_NEAR(expected.at(1, i), (1 - z) * n + z * before.at(1, i), 1e-6);
  }
  for (const Kernels* kernels : Simd()) {
    Matrix after(kRows, kUnits);
    kernels->gru(input.rows(), hidden.rows(), kRows, kUnits, 0, 16, before.rows(), after.rows());
    EXPECT_EQ(after.at(0, 16), 0) << "not asked for";
    kernels->gru(input.rows(), hidden.rows(), kRows, kUnits, 16, 32, before.rows(), after.rows());
    after.ExpectIs(expected, kernels->fused, std::string(kernels->name));
  }
}

TEST(Lstm, IsTheScalarTwinAndTheFormula) {
  constexpr int kUnits = 32, kRows = 3;
  Matrix gates = Matrix::Random(kRows, 4 * kUnits, Rng(17, 0), 2);
  const Matrix cell = Matrix::Random(kRows, kUnits, Rng(18, 0));
  Matrix expected_cell = cell.Copy(), expected(kRows, kUnits), before = cell.Copy();
  ScalarKernels().lstm(gates.rows(), kRows, kUnits, 0, kUnits, expected_cell.rows(),
                       expected.rows());
  for (int i = 0; i < kUnits; ++i) {
    const double c = Logistic(gates.at(1, kUnits + i)) * before.at(1, i) +
                     Logistic(gates.at(1, i)) * std::tanh(gates.at(1, 2 * kUnits + i));
    EXPECT_NEAR(expected_cell.at(1, i), c, 1e-6);
    EXPECT_NEAR(expected.at(1, i), Logistic(gates.at(1, 3 * kUnits + i)) * std::tanh(c), 1e-6);
  }
  for (const Kernels* kernels : Simd()) {
    Matrix own_cell = cell.Copy(), after(kRows, kUnits);
    kernels->lstm(gates.rows(), kRows, kUnits, 0, 32, own_cell.rows(), after.rows());
    own_cell.ExpectIs(expected_cell, kernels->fused, std::string(kernels->name));
    after.ExpectIs(expected, kernels->fused, std::string(kernels->name));
  }
}

// What is not a number stays none, so that the forecast is seen to be invalid.
TEST(NotANumber, GoesThrough) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Kernels& kernels : AllKernels()) {
    for (const float bad : {nan, std::numeric_limits<float>::infinity()}) {
      Packed w(3, 16, WeightStorage::kSingle, Rng(19, 0));
      Matrix a = Matrix::Random(2, 3, Rng(20, 0)), c(2, 16);
      a.at(1, 1) = nan;
      kernels.multiply(a.rows(), 2, w.matrix, Epilogue::kRelu, c.rows(), 0, 1);
      EXPECT_TRUE(std::isfinite(c.at(0, 5)) && std::isnan(c.at(1, 5))) << kernels.name;
      Matrix x = Matrix::Random(2, 20, Rng(21, 0)), ones(1, 20), y(2, 20);
      x.at(1, 7) = bad;
      kernels.layer_norm(x.rows(), 2, 20, ones.rows().data, ones.rows().data, true, y.rows());
      EXPECT_TRUE(std::isfinite(y.at(0, 3)) && std::isnan(y.at(1, 3))) << kernels.name;
      kernels.softmax(x.rows(), 2, 20, 1);
      EXPECT_TRUE(std::isfinite(x.at(0, 3)) && std::isnan(x.at(1, 3))) << kernels.name;
      float e = 0;
      kernels.exp(&nan, 1, &e);
      EXPECT_TRUE(std::isnan(e)) << kernels.name;
    }
  }
}

}  // namespace
}  // namespace aerocast
