// Limits at their boundary and one beyond, and orders that only a directed case tells apart.
#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"
#include "model/machine/mbarrier.h"
#include "model/machine/tensor/tensor_map.h"
#include "model/number/accumulation.h"

namespace bitwell::isa {
namespace {

// A kernel that writes words to 'out'; what it left there, or what stopped it.
struct Outcome {
  std::string text;  // empty: it ran
  std::vector<uint32_t> out;
};
Outcome at_boundary(const std::string& body, uint32_t threads = 1, const std::string& directives = "",
                    const run::Options& options = {}, const std::string& module = "") {
  const test::Left left =
      test::Kernel{.module = module,
                   .parameters = ".param .u64 pout",
                   .directives = directives,
                   .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<8>;",
                   .shared = ".shared .align 8 .b64 bar;",
                   .start = "ld.param.u64 %q0, [pout]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;",
                   .body = body,
                   .shape = {.block = {threads, 1, 1}},
                   .buffers = {test::output(64)},
                   .options = options,
                   .all_written = false}
          .run();
  return {left.fault, left.fault.empty() ? left.all<uint32_t>(0) : std::vector<uint32_t>()};
}

TEST(Boundary, MaxntidAllowsAsManyThreadsAsItSays) {
  EXPECT_EQ(at_boundary("", 32, ".maxntid 32").text, "");
  EXPECT_NE(at_boundary("", 33, ".maxntid 32").text.find(".maxntid allows 32"), std::string::npos);
  EXPECT_EQ(at_boundary("", 64, ".maxntid 16, 4, 1").text, "");
  EXPECT_NE(at_boundary("", 65, ".maxntid 16, 4, 1").text.find(".maxntid allows 64"), std::string::npos);
}

// PTX ISA 9.0, 4.5.5: operators of one rank associate to the left.
TEST(Boundary, ConstantsAssociateToTheLeft) {
  const Outcome o = at_boundary(
      "mov.u32 %r1, (100 - 30 - 5); mov.u32 %r2, (64 / 8 / 2); mov.u32 %r3, (100 % 7 % 2); mov.u32 %r4, (1 "
      "<< 3 << 2);\n"
      "mov.u32 %r5, (256 >> 4 >> 1); mov.u32 %r6, (24 / 4 * 3); mov.u32 %r7, (7 - 2 + 3);\n"
      "st.global.v4.b32 [%q0], {%r1, %r2, %r3, %r4}; st.global.v2.b32 [%q0+16], {%r5, %r6}; st.global.b32 "
      "[%q0+24], %r7;");
  ASSERT_EQ(o.text, "");
  EXPECT_EQ(std::vector<uint32_t>(o.out.begin(), o.out.begin() + 7),
            (std::vector<uint32_t>{65, 4, 0, 32, 8, 18, 8}));
}

// PTX ISA 9.0, 6.4.3.
TEST(Boundary, AVectorsComponentsAreRegistersOfTheirOwn) {
  test::Kernel k{.parameters = ".param .u64 out",
                 .registers = ".reg .b64 %d;\n.reg .b32 %r;\n.reg .v4 .b32 v;\n.reg .v2 .b64 w;",
                 .body =
                     "ld.param.u64 %d, [out];\nmov.b32 v.x, 1;\nmov.b32 v.g, 2;\nmov.b32 v.z, 3;\n"
                     "add.u32 v.w, v.x, v.z;\nmov.b64 w.y, {v.y, v.w};\nmov.b64 w.x, 5;\n"
                     "{ .reg .b32 v; mov.b32 v, 9; mov.b32 %r, v; }\n"
                     "st.global.v4.b32 [%d], v;\nst.global.v2.b64 [%d+16], w;\nst.global.b32 [%d+32], %r;",
                 .shape = {.block = {1, 1, 1}},
                 .buffers = {test::output(36)}};
  const test::Left left = k.run();
  ASSERT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0), (std::vector<uint32_t>{1, 2, 3, 4, 5, 0, 2, 4, 9}));
}

// PTX ISA 9.0, 9.7.13.15.1: the transaction count is at most 2^20 - 1, also where several expectations add
// up.
TEST(Boundary, TheSumOfExpectedBytesHasALimit) {
  const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n";
  const auto expect = [](int bytes) {
    return "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], " + std::to_string(bytes) + ";\n";
  };
  EXPECT_EQ(at_boundary(init + expect(1048574) + expect(1)).text, "");
  const std::string text = at_boundary(init + expect(1048574) + expect(1) + expect(1)).text;
  EXPECT_NE(text.find("expect_tx of 1 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("to 1048576, the limit is 1048575"), std::string::npos) << text;
}

// Values that only a run sees, in registers: the last one that is right, and one beyond.
TEST(Boundary, WhatRegistersHoldIsJudgedWhenItRuns) {
  struct Limit {
    std::string before;  // $: the value
    int64_t last, beyond;
    std::string says;
  };
  const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n";
  const std::string copied =
      "{ .shared .align 16 .b8 s[64]; mbarrier.init.shared.b64 [bar], 1; mov.u32 %r2, $;\n"
      "st.global.b64 [%q0], 0; st.global.b64 [%q0+8], 0; mbarrier.arrive.expect_tx.shared.b64 _, [bar], "
      "%r2;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%q0], %r2, [bar];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; }";
  for (const Limit& l : {
           Limit{"mov.u32 %r1, $; bar.sync %r1;", 15, 16, "barrier 16: barriers are 0 to 15"},
           {"mov.u32 %r1, $; bar.sync 0, %r1;", 32, 33, "barrier count 33 is not a positive multiple of 32"},
           {"mov.u32 %r1, $; bar.sync 0, %r1;", 32, 0, "barrier count 0 is not a positive multiple of 32"},
           {"mov.u32 %r1, $; @%p0 mbarrier.init.shared.b64 [bar], %r1;", 1, 0,
            "count 0, it must be 1 to 1048575"},
           {"mov.u32 %r1, $; @%p0 mbarrier.init.shared.b64 [bar], %r1;", 1048575, 1048576,
            "count 1048576, it must be 1 to 1048575"},
           {"@%p0 " + init + "mov.u32 %r1, $; @%p0 mbarrier.arrive.shared.b64 _, [bar], %r1;", 1, 0,
            "count 0, it must be 1 to 1048575"},
           {"@%p0 " + init + "mov.u32 %r1, $; @%p0 mbarrier.arrive.shared.b64 _, [bar], %r1;", 1, 2,
            "over-arrival: 2 more"},
           {"@%p0 " + init +
                "mov.u32 %r1, $; @%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r1;",
            1048575, 1048576, "the limit is 1048575"},
           {"@%p0 " + init +
                "mov.u32 %r1, $; @%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], %r1;",
            1048575, 1048576, "below -1048575"},
           {"{ .shared .align 16 .b8 s[16]; mov.u32 %r1, $; @%p0 st.global.b64 [%q0], 0; @%p0 st.global.b64 "
            "[%q0+8], 0;\n"
            "@%p0 cp.async.cg.shared.global [s], [%q0], 16, %r1; cp.async.wait_all; }",
            16, 17, "a source size of 17 bytes for 16"},
           {"@%p0 bra A; bra B;\nA: " + copied + "\nB:", 16, 8,
            "a bulk copy of 8 bytes, not a multiple of 16"},
           {"@%p0 bra A; bra B;\nA: " + copied + "\nB:", 16, 17,
            "a bulk copy of 17 bytes, not a multiple of 16"},
           {"@%p0 bra A; bra B;\nA: " + copied + "\nB:", 64, 80, "of 80 bytes"},
       })
    for (const bool beyond : {false, true}) {
      std::string body = l.before;
      body.replace(body.find('$'), 1, std::to_string(beyond ? l.beyond : l.last));
      const std::string text = at_boundary(body, 32).text;
      if (beyond)
        EXPECT_NE(text.find(l.says), std::string::npos) << body << "\n" << text;
      else
        EXPECT_EQ(text, "") << body;
    }
}

// A barrier that is one phase ahead of a warp has not lapped it; two ahead it has.
TEST(Boundary, AWarpIsLappedByTwoPhasesNotByOne) {
  const auto after = [](int phases) {
    std::string body = "mbarrier.init.shared.b64 [bar], 1;\n";
    for (int i = 0; i < phases; ++i) body += "mbarrier.arrive.shared.b64 _, [bar];\n";
    return at_boundary(body + "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], " +
                       std::to_string(phases % 2) + ";\n@!%p1 bra W;")
        .text;
  };
  EXPECT_EQ(after(1).find("lapped phase"), std::string::npos) << after(1);
  EXPECT_NE(after(2).find("lapped phase: the barrier ended 2 phases"), std::string::npos) << after(2);
}

// The same for phases that end while it waits, whatever it waited for before: parity 1 of a new barrier here.
// One instruction of two threads ends both phases, so that the warp cannot look between them.
TEST(Boundary, AWarpThatWaitsIsLappedByTwoPhases) {
  const auto lapped = [](int arrivals) {
    size_t count = 0;
    for (uint64_t seed = 0; seed < 64; ++seed) {  // it must come before them
      run::Options options;
      options.schedule = {run::Policy::random, seed};
      const std::string text =
          at_boundary(
              "@%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; setp.lt.u32 %p2, %r0, 32; @%p2 bra A;\n"
              "setp.ne.u32 %p3, %r0, 32; @%p3 bra E; V: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1; "
              "@!%p1 bra V;\n"
              "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; bra E;\n"
              "A: setp.lt.u32 %p3, %r0, " +
                  std::to_string(arrivals) + "; @%p3 mbarrier.arrive.shared.b64 _, [bar];\nE:",
              64, "", options)
              .text;
      if (text.find("lapped phase: the barrier ended 2 phases, of which this warp waited for 1") !=
          std::string::npos)
        ++count;
    }
    return count;
  };
  EXPECT_EQ(lapped(1), 0u);
  EXPECT_GT(lapped(2), 0u);
}

// CUDA programming guide, "printf": arguments as a C structure has them, doubles at multiples of eight.
TEST(Boundary, PrintfsArgumentsStandAtTheirAlignment) {
  std::string printed;
  run::Options options;
  options.print = [&](std::string_view text) { printed += text; };
  const Outcome o = at_boundary(
      "{ .local .align 8 .b8 values[24]; mov.u32 %r1, 7; st.local.u32 [values], %r1; mov.b64 %q1, "
      "0d4004000000000000;\n"
      "st.local.b64 [values+8], %q1; mov.u32 %r1, 9; st.local.u32 [values+16], %r1;\n"
      "mov.u64 %q2, values; cvta.local.u64 %q2, %q2; mov.u64 %q3, format; cvta.global.u64 %q3, %q3;\n"
      ".param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %q3; st.param.b64 [b], %q2;\n"
      "call.uni (c), vprintf, (a, b); }",
      1, "", options,
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
      ".global .align 1 .b8 format[10] = {37, 100, 32, 37, 103, 32, 37, 100, 0};\n");
  EXPECT_EQ(o.text, "");
  EXPECT_EQ(printed, "7 2.5 9");
}

// Which bits of an address each swizzle exchanges (PTX ISA 9.0, 5.5.7; CUDA driver API, CUtensorMapSwizzle):
// the address of byte 0 of each row of 128 bytes.
TEST(Boundary, EverySwizzleMovesTheUnitsThatItSays) {
  using machine::TensorSwizzle;
  struct Row {
    TensorSwizzle swizzle;
    std::array<uint64_t, 8> first;  // where byte 0 of rows 0 to 7 goes, in its row
  };
  const Row rows[] = {{TensorSwizzle::none, {0, 0, 0, 0, 0, 0, 0, 0}},
                      {TensorSwizzle::b32, {0, 16, 0, 16, 0, 16, 0, 16}},
                      {TensorSwizzle::b64, {0, 16, 32, 48, 0, 16, 32, 48}},
                      {TensorSwizzle::b128, {0, 16, 32, 48, 64, 80, 96, 112}},
                      {TensorSwizzle::b128_atom_32b, {0, 32, 64, 96, 0, 32, 64, 96}},
                      {TensorSwizzle::b128_atom_32b_flip_8b, {0, 40, 64, 104, 0, 40, 64, 104}},
                      {TensorSwizzle::b128_atom_64b, {0, 64, 0, 64, 0, 64, 0, 64}}};
  for (const Row& r : rows)
    for (uint64_t row = 0; row < 8; ++row)
      EXPECT_EQ(machine::swizzled(r.swizzle, 128 * row), 128 * row + r.first[row])
          << machine::kTensorSwizzles[static_cast<size_t>(r.swizzle)].name << ", row " << row;
}

// Of three tiles the third joins the first: 28901376 and -28901376, beside 1/4, which only a sum of its own
// keeps.
TEST(Boundary, TheOddTileOfTwoAccumulatorsGoesToTheFirst) {
  std::vector<uint8_t> a(192, 0), b(192, 0);
  std::vector<uint8_t> scales(12, 0x76);                                          // 224
  for (size_t i = 0; i < 16; ++i) a[i] = b[i] = a[128 + i] = 7, b[128 + i] = 15;  // 6 * 6 and 6 * -6
  a[64] = b[64] = 1;                                                              // 1/2
  scales[4] = 0x38;                                                               // 1
  const number::Accumulation order{.name = "two",
                                   .tile = 64,
                                   .group = number::GroupSum::two_chains_f16x2,
                                   .join = number::Join::fused,
                                   .accumulators = 2};
  EXPECT_EQ(number::evaluate(order, {a, b, scales, scales}), 0x3400);
}

}  // namespace
}  // namespace bitwell::isa
