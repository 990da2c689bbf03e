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

// 128 bits at once are of PTX 8.3 (PTX ISA 9.0, 9.7.9.8, "PTX ISA Notes").
TEST(WideValues, AreOfALaterPtx) {
  for (const char* text : {"ld.global.b128 %q, [%d1];", "st.global.b128 [%d1], %q;"})
    for (const char* version : {"8.2", "8.3"}) {
      const test::Kernel k{.version = version, .registers = ".reg .b64 %d<2>; .reg .b128 %q;", .body = text};
      EXPECT_EQ(k.refusal().empty(), std::string(version) == "8.3") << text << k.refusal();
    }
}

// A register that is wider than a conversion's type gets its result extended by the type's sign (PTX ISA 9.0,
// 9.7.9.22).
TEST(WideValues, NarrowConversionsAreExtended) {
  struct Extended {
    const char* text;
    uint64_t becomes;
  };
  for (const Extended& e :
       {Extended{"cvt.s8.s32 %r1, %r0;", 0xFFFFFF80}, Extended{"cvt.u8.s32 %r1, %r0;", 0x80},
        Extended{"cvt.s16.s32 %r1, %r0;", 0x1280}, Extended{"cvt.u16.s32 %r1, %r0;", 0x1280},
        Extended{"cvt.s8.s16 %r1, %h0;", 0xFFFFFF80}, Extended{"cvt.u8.u16 %r1, %h0;", 0x80},
        Extended{"cvt.rni.s8.f32 %r1, %f0;", 0xFFFFFFFB}, Extended{"cvt.rzi.u8.f32 %r1, %f1;", 200},
        Extended{"cvt.rni.s16.f32 %r1, %f0;", 0xFFFFFFFB}}) {
    const test::Left left = test::Kernel{
        .parameters = ".param .u64 pout",
        .registers = ".reg .b16 %h<2>; .reg .b32 %r<2>; .reg .b64 %d<2>; .reg .f32 %f<2>;",
        .start =
            "ld.param.u64 %d1, [pout]; mov.u32 %r0, 0x71280; mov.b16 %h0, 0x1280; mov.f32 %f0, 0fC0A00000; "
            "mov.f32 "
            "%f1, 0f43486666;",
        .body = std::string(e.text) + "\nst.global.u32 [%d1], %r1;",
        .shape = {.block = {1, 1, 1}},
        .buffers = {
            test::output(4)}}.run();
    ASSERT_EQ(left.end(), "held") << e.text;
    EXPECT_EQ(left.all<uint32_t>(0)[0], e.becomes) << e.text;
  }
}

// Vectors of 32 bytes are of 32 and of 64 bits (PTX ISA 9.0, 9.7.9.8).
TEST(WideValues, OfVectorsThatAreTooLong) {
  for (const auto& [text, taken] : std::vector<std::pair<std::string, bool>>{
           {"ld.global.b128 %q, [%d1];", true},
           {"ld.global.v2.b128 {%q, %w}, [%d1];", false},
           {"st.global.v2.b128 [%d1], {%q, %w};", false},
           {"ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d1];", true},
           {"ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d1];", true},
           {"ld.global.v8.b16 {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}, [%d1];", false},
           {"ld.global.v8.b64 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, [%d1];", false},
           {"ld.global.v4.b16 {%h0, %h1, %h2, %h3}, [%d1];", true}}) {
    const test::Kernel k{
        .target = "sm_100a",
        .registers = ".reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b128 %q; .reg .b128 %w;",
        .body = text};
    EXPECT_EQ(k.refusal().empty(), taken) << text << k.refusal();
  }
}

}  // namespace
}  // namespace bitwell::isa
