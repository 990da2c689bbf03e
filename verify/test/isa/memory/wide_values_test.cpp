// 128 bits of which one byte was never written: each half is known or not by itself, in a register and where
// it is stored again.
#include <gtest/gtest.h>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// Byte `missing` of 16 at `tile` is nobody's; they are loaded into %q.
test::Left with_hole(int missing, const std::string& use) {
  std::string stores;
  for (int i = 0; i < 16; ++i)
    if (i != missing)
      stores += "st.shared.u8 [tile+" + std::to_string(i) + "], " + std::to_string(i + 1) + ";\n";
  return test::Kernel{.parameters = ".param .u64 pout",
                      .registers = ".reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %d<8>; .reg .b128 %q;",
                      .shared = ".shared .align 16 .b8 tile[32];",
                      .start = "ld.param.u64 %d1, [pout];\n" + stores + "ld.shared.b128 %q, [tile];\n",
                      .body = use,
                      .shape = {.block = {1, 1, 1}},
                      .buffers = {test::output(16)},
                      .all_written = false}
      .run();
}

TEST(WideValues, HalvesAreKnownOrNotEachByItself) {
  for (int missing = 0; missing < 16; ++missing)
    for (const int half : {0, 1}) {
      const test::Left left = with_hole(missing, "mov.b128 {%d2, %d3}, %q; st.global.b64 [%d1], " +
                                                     std::string(half == 0 ? "%d2" : "%d3") + ";");
      EXPECT_EQ(left.fault.empty(), missing / 8 != half) << missing << " " << half << left.fault;
      if (!left.fault.empty()) continue;
      EXPECT_EQ(left.all<uint64_t>(0)[0], half == 0 ? 0x0807060504030201u : 0x100F0E0D0C0B0A09u) << missing;
    }
}

TEST(WideValues, WhatIsStoredAgainLacksTheSameByte) {
  for (int missing = 0; missing < 16; ++missing)
    for (int byte = 0; byte < 16; ++byte) {
      const test::Left left =
          with_hole(missing, "st.shared.b128 [tile+16], %q; ld.shared.u8 %r1, [tile+" +
                                 std::to_string(16 + byte) + "]; st.global.u32 [%d1], %r1;");
      EXPECT_EQ(left.fault.empty(), missing != byte) << missing << " " << byte << left.fault;
      if (missing != byte && left.fault.empty()) {
        EXPECT_EQ(left.all<uint32_t>(0)[0], static_cast<uint32_t>(byte + 1));
      }
    }
}

}  // namespace
}  // namespace bitwell::isa
