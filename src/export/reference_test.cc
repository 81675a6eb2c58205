// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/reference.h"

#include <gtest/gtest.h>

#include "src/export/golden_testing.h"
#include "src/export/parity.h"

namespace aerocast {
namespace {

class Reference : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Reference, testing::ValuesIn(kGoldenNetworks),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(Reference, IsWhatLibtorchSays) {
  const Golden golden = ReadGolden(GetParam());
  const std::vector<float> heads = ReferenceHeads(golden.model, golden.tokens, golden.windows);
  ASSERT_EQ(heads.size(), golden.heads.size());
  const Parity parity = Compare(heads, golden.heads, golden.windows);
  EXPECT_LE(parity.relative(), 2e-6);
  EXPECT_GT(parity.largest, 0.1);  // the answers are alive
}

TEST_P(Reference, NoticesAChangedWeight) {
  const Golden golden = ReadGolden(GetParam());
  for (const Tensor& tensor : golden.model.tensors) {
    // Backwards the last token is the first step: its state is zero, and so is this one's share.
    if (tensor.name == "layers.1.reverse.weight_hh") continue;
    Model changed = golden.model;
    for (Tensor& other : changed.tensors) {
      if (other.name == tensor.name) {
        for (float& value : other.data) value = 1.2f * value + 0.01f;
      }
    }
    const std::vector<float> heads = ReferenceHeads(changed, golden.tokens, golden.windows);
    EXPECT_GT(Compare(heads, golden.heads, golden.windows).relative(), 1e-5) << tensor.name;
  }
}

}  // namespace
}  // namespace aerocast
