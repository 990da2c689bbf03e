// Values at the ends of what an instruction distinguishes: atomics around their limits, windows of addresses,
// barriers whose threads come one by one, calls of several results.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// %r0: the thread; %r1: `tile`; %d0: `in`; %d1: `out`; %p0: thread 0; %bar of count 2 and of count 1: `two`,
// `one`.
test::Kernel valued(const std::string& body, const std::string& functions = "", uint32_t threads = 32) {
  return {
      .module = functions,
      .parameters = ".param .u64 pin, .param .u64 pout",
      .registers = ".reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %d<10>; .reg .f32 %f<9>;",
      .shared = ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 one; .shared .align 8 .b64 two;",
      .start =
          "ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n"
          "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [one], 1; @%p0 mbarrier.init.shared.b64 "
          "[two], 2;\nbar.sync 0;",
      .body = body,
      .shape = {.block = {threads, 1, 1}},
      .buffers = {test::input(std::vector<std::byte>(512)), test::output(512)},
      .all_written = false};
}

template <class T>
using Change = std::function<T(T old, T b)>;

// Thread i works on pair i of `pairs`, in global and in shared memory.
template <class T>
void expect_atomics(const std::string& operation, const std::string& type,
                    const std::vector<std::pair<T, T>>& pairs, const Change<T>& global,
                    const Change<T>& shared) {
  const std::string size = std::to_string(sizeof(T)), bits = "b" + std::to_string(8 * sizeof(T));
  const std::string old = sizeof(T) == 8 ? "%d4" : sizeof(T) == 4 ? "%r4" : "%h1";
  const std::string b = sizeof(T) == 8 ? "%d5" : sizeof(T) == 4 ? "%r5" : "%h2";
  const std::string was = sizeof(T) == 8 ? "%d6" : sizeof(T) == 4 ? "%r6" : "%h3";
  for (const bool in_global : {true, false}) {
    const std::string place = in_global ? "[%d1]" : "[%r7]", space = in_global ? "global" : "shared";
    test::Kernel k = valued("setp.ge.u32 %p1, %r0, " + std::to_string(pairs.size()) +
                            "; @%p1 bra E; mul.wide.u32 %d2, %r0, " + size +
                            ";\nadd.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2; mad.lo.u32 %r7, %r0, " + size +
                            ", %r1;\nld.global." + bits + " " + old + ", [%d0]; ld.global." + bits + " " + b +
                            ", [%d0+256];\nst." + space + "." + bits + " " + place + ", " + old + ";\natom." +
                            space + "." + operation + "." + type + " " + was + ", " + place + ", " + b +
                            ";\nld." + space + "." + bits + " " + b + ", " + place + ";\nst.global." + bits +
                            " [%d1], " + b + ";\nst.global." + bits + " [%d1+256], " + was + ";\nE:\n");
    for (size_t i = 0; i < pairs.size(); ++i) {
      std::memcpy(k.buffers[0].bytes.data() + i * sizeof(T), &pairs[i].first, sizeof(T));
      std::memcpy(k.buffers[0].bytes.data() + 256 + i * sizeof(T), &pairs[i].second, sizeof(T));
    }
    const test::Left left = k.run();
    ASSERT_EQ(left.end(), "held") << operation << " " << type;
    const auto out = left.all<T>(1);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const T want = (in_global ? global : shared)(pairs[i].first, pairs[i].second);
      EXPECT_EQ(out[i], want) << operation << "." << type << " " << space << " of " << +pairs[i].first
                              << " and " << +pairs[i].second;
      EXPECT_EQ(out[256 / sizeof(T) + i], pairs[i].first) << operation << "." << type;
    }
  }
}

template <class T>
std::vector<std::pair<T, T>> integer_pairs() {
  const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return {{0, 0},        {0, 1},        {1, 0},     {1, 1},
          {1, 2},        {2, 1},        {2, 2},     {3, 2},
          {2, 3},        {most, 1},     {1, most},  {most, most},
          {least, most}, {most, least}, {least, 1}, {static_cast<T>(most - 1), most},
          {5, 0},        {0, 5}};
}
template <class T>
void expect_integers(const std::string& type, bool counts, bool adds) {
  const auto both = [&](const std::string& operation, const Change<T>& change) {
    expect_atomics<T>(operation, type, integer_pairs<T>(), change, change);
  };
  if (adds)
    both("add",
         [](T a, T b) { return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b)); });
  both("min", [](T a, T b) { return b < a ? b : a; });
  both("max", [](T a, T b) { return b > a ? b : a; });
  if (!counts) return;
  both("inc", [](T a, T b) { return a >= b ? T{0} : static_cast<T>(a + 1); });
  both("dec", [](T a, T b) { return a == 0 || a > b ? b : static_cast<T>(a - 1); });
}

// PTX ISA 9.0, 9.7.13.9 (atom).
TEST(SeldomValues, AtomicsAroundTheirLimits) {
  expect_integers<uint32_t>("u32", true, true);
  expect_integers<int32_t>("s32", false, true);
  expect_integers<uint64_t>("u64", false, true);
  expect_integers<int64_t>("s64", false, false);
}

// In global memory fp32 additions take subnormal numbers as zeros and give none, of halves none does (PTX ISA
// 9.0, 9.7.13.9, "Semantics").
TEST(SeldomValues, AtomicAdditionsOfSubnormals) {
  const auto f32 = [](uint32_t a, uint32_t b) {
    return std::bit_cast<uint32_t>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
  };
  const auto flushed = [&](uint32_t a, uint32_t b) {
    const auto zero = [](uint32_t v) { return (v & 0x7F800000) == 0 ? v & 0x80000000 : v; };
    return zero(f32(zero(a), zero(b)));
  };
  expect_atomics<uint32_t>("add", "f32",
                           {{0x00000001, 0x00000001},
                            {0x00800000, 0x80400000},
                            {0x00800001, 0x80800000},
                            {0x00800000, 0x00000001},
                            {0x3F800000, 0x40000000},
                            {0x80000001, 0x80000001},
                            {0x00FFFFFF, 0x80800000}},
                           flushed, f32);
  // Whole multiples of 2^-24, the least of fp16; and of 2^-133 of bf16.
  const Change<uint16_t> least = [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a + b); };
  const std::vector<std::pair<uint16_t, uint16_t>> halves{{1, 1},         {1, 2}, {0x3FF, 1},
                                                          {0x200, 0x200}, {0, 1}, {0x7F, 1}};
  expect_atomics<uint16_t>("add.noftz", "f16", halves, least, least);
  expect_atomics<uint16_t>("add.noftz", "bf16", {{1, 1}, {1, 2}, {0x7F, 1}, {0x40, 0x40}, {0, 1}}, least,
                           least);
  const Change<uint32_t> pairs = [](uint32_t a, uint32_t b) {
    return (((a & 0xFFFF) + (b & 0xFFFF)) & 0xFFFF) | ((a >> 16) + (b >> 16)) << 16;
  };
  const std::vector<std::pair<uint32_t, uint32_t>> twos{
      {0x00010001, 0x00010002}, {0x00400003, 0x00010040}, {0x00000001, 0x00010000}, {0x00010000, 0x00000001}};
  expect_atomics<uint32_t>("add.noftz", "f16x2", twos, pairs, pairs);
  expect_atomics<uint32_t>("add.noftz", "bf16x2", twos, pairs, pairs);
}

// What the manual's windows hold: 32 bits of addresses, and not the next one.
TEST(SeldomValues, WindowsOfGenericAddressesEnd) {
  for (const char* space : {"local", "shared"}) {
    const std::string name = space, is = "isspacep." + name + (name == "shared" ? "::cluster" : "");
    const test::Left left =
        valued(
            "mov.u64 %d2, 0; cvta." + name + ".u64 %d2, %d2; " + is +
            " %p1, %d2; add.u64 %d3, %d2, 0xFFFFFFFF; " + is + " %p2, %d3;\nadd.u64 %d4, %d3, 1; " + is +
            " %p3, %d4; sub.u64 %d4, %d2, 1; " + is +
            " %p4, %d4; isspacep.global %p5, %d2;\nselp.b32 %r2, 1, 0, %p1; @%p2 or.b32 %r2, %r2, 2; @%p3 "
            "or.b32 "
            "%r2, %r2, 4; @%p4 or.b32 %r2, %r2, 8; @%p5 or.b32 %r2, %r2, 16;\n@%p0 st.global.u32 [%d1], %r2;")
            .run();
    ASSERT_EQ(left.end(), "held") << space;
    EXPECT_EQ(left.all<uint32_t>(1)[0], 3u) << space;
  }
  const auto mapped = [](const std::string& beyond) {
    return valued("mov.u64 %d2, 0; cvta.shared.u64 %d2, %d2; add.u64 %d2, %d2, " + beyond +
                  "; mapa.u64 %d3, %d2, 0;")
        .run()
        .end();
  };
  EXPECT_EQ(mapped("0xFFFFFFFF"), "held");
  EXPECT_NE(mapped("0x100000000").find("a generic address that is not in shared memory"), std::string::npos)
      << mapped("0x100000000");
}

// Lanes that look at one barrier or at two, for one phase or for two, see each its own.
TEST(SeldomValues, LanesLookAtBarriersOneByOne) {
  const auto seen = [](const std::string& look) {
    const test::Left left = valued(
                                "mov.u32 %r2, one; mov.u32 %r3, two; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, "
                                "%r4, 1; selp.b32 %r5, %r3, %r2, %p1;\n"
                                "@%p0 mbarrier.arrive.shared.b64 _, [one]; bar.warp.sync -1;\n" +
                                look +
                                "selp.b32 %r6, 1, 0, %p2; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; "
                                "st.global.u32 [%d1], %r6;")
                                .run();
    EXPECT_EQ(left.end(), "held");
    auto out = left.all<uint32_t>(1);
    out.resize(32);
    return out;
  };
  std::vector<uint32_t> even(32);
  for (size_t i = 0; i < 32; i += 2) even[i] = 1;
  EXPECT_EQ(seen("mbarrier.test_wait.parity.shared.b64 %p2, [%r5], 0;\n"), even);
  EXPECT_EQ(seen("mbarrier.test_wait.parity.shared.b64 %p2, [one], %r4;\n"), even);
  EXPECT_EQ(seen("mbarrier.test_wait.parity.shared.b64 %p2, [one], 0;\n"), std::vector<uint32_t>(32, 1));
  EXPECT_EQ(seen("mbarrier.test_wait.parity.shared.b64 %p2, [two], 0;\n"), std::vector<uint32_t>(32));
}
// The same by tokens, which are alike where barriers are: even lanes look at a phase that is over.
TEST(SeldomValues, TokensAreOfTheirBarrier) {
  const test::Left left =
      valued(
          ".shared .align 8 .b64 also; @%p0 mbarrier.init.shared.b64 [also], 2; bar.warp.sync -1;\n"
          "@%p0 mbarrier.arrive.shared.b64 %d2, [two]; @%p0 st.shared.b64 [tile], %d2;\n"
          "@%p0 mbarrier.arrive.shared.b64 %d2, [also]; @%p0 st.shared.b64 [tile+8], %d2;\n"
          "@%p0 mbarrier.arrive.shared.b64 _, [two]; bar.warp.sync -1;\n"
          "mov.u32 %r2, two; mov.u32 %r3, also; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 1; selp.b32 %r5, "
          "%r3, %r2, %p1;\n"
          "mad.lo.u32 %r6, %r4, 8, %r1; ld.shared.b64 %d3, [%r6]; mbarrier.test_wait.shared.b64 %p2, [%r5], "
          "%d3;\n"
          "selp.b32 %r6, 1, 0, %p2; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], "
          "%r6;")
          .run();
  ASSERT_EQ(left.end(), "held");
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(left.all<uint32_t>(1)[i], 1 - i % 2) << i;
}

// An arrival that drops and expects: this phase waits for its bytes, and the next ones for one thread less
// (PTX ISA 9.0, 9.7.13.16.14).
TEST(SeldomValues, AnArrivalThatDropsExpectsItsBytes) {
  const test::Left left = valued(
                              "@!%p0 bra E; mov.u32 %r2, 0;\nmbarrier.arrive_drop.expect_tx.shared.b64 _, "
                              "[two], 16; mbarrier.arrive.shared.b64 _, [two];\n"
                              "mbarrier.test_wait.parity.shared.b64 %p1, [two], 0; @%p1 or.b32 %r2, %r2, 1;\n"
                              "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [two], 16;\n"
                              "mbarrier.test_wait.parity.shared.b64 %p1, [two], 0; @%p1 or.b32 %r2, %r2, 2;\n"
                              "mbarrier.test_wait.parity.shared.b64 %p1, [two], 1; @%p1 or.b32 %r2, %r2, 4;\n"
                              "mbarrier.arrive.shared.b64 _, [two]; mbarrier.test_wait.parity.shared.b64 "
                              "%p1, [two], 1; @%p1 or.b32 %r2, %r2, 8;\n"
                              "st.global.u32 [%d1], %r2;\nE:")
                              .run();
  ASSERT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(1)[0], 10u);
}
// Whoever waits goes on when it is the last.
TEST(SeldomValues, AnArrivalThatDropsWakes) {
  for (const std::string expected : {"0", "16"})
    EXPECT_EQ(valued("setp.ge.u32 %p1, %r0, 32; @%p1 bra W; bar.warp.sync -1; @%p0 "
                     "mbarrier.arrive.shared.b64 _, [two];\n"
                     "@%p0 mbarrier.arrive_drop.expect_tx.shared.b64 _, [two], " +
                         expected +
                         ";\n@%p0 "
                         "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [two], " +
                         expected +
                         "; bra E;\n"
                         "W: mbarrier.try_wait.parity.shared.b64 %p2, [two], 0; @!%p2 bra W;\nE:",
                     "", 64)
                  .run()
                  .end(),
              "held")
        << expected;
}

// Threads of one warp at a cluster's barrier of which some have passed it before: the others go on alone.
TEST(SeldomValues, APartOfAWarpPassesAClustersBarrier) {
  const test::Left left =
      valued(
          "setp.lt.u32 %p1, %r0, 16; mov.u32 %r2, 1; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2;\n"
          "barrier.cluster.arrive;\n@%p1 barrier.cluster.wait;\n@%p1 "
          "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
          "add.u32 %r2, %r2, 1;\n@!%p1 barrier.cluster.arrive;\n@!%p1 barrier.cluster.wait;\nadd.u32 %r2, "
          "%r2, 4; "
          "st.global.u32 [%d1], %r2;")
          .run();
  ASSERT_EQ(left.end(), "held");
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(left.all<uint32_t>(1)[i], 6u) << i;
}

TEST(SeldomValues, RegistersMayStayAsManyAsTheyAre) {
  for (const auto& [counts, says] :
       {std::pair{"dec.sync.aligned.u32 40; setmaxnreg.inc", ""}, {"inc", ""}, {"dec", ""}}) {
    test::Kernel k = valued("setmaxnreg." + std::string(counts) + ".sync.aligned.u32 40;", "", 128);
    k.shape.registers = 40;
    EXPECT_EQ(k.run().fault, says) << counts;
  }
}

const char* const kTwoResults = R"(.func (.param .b32 r, .param .b64 s) both(.param .b32 a) {
.reg .b32 %a; .reg .b64 %b; ld.param.u32 %a, [a]; add.u32 %a, %a, 1; cvt.u64.u32 %b, %a; mul.lo.u64 %b, %b, 3;
st.param.b32 [r], %a; st.param.b64 [s], %b; ret;
}
)";
TEST(SeldomValues, AFunctionMayGiveSeveralResults) {
  const test::Left left = valued(
                              "{ .param .b32 x; .param .b32 y; .param .b64 z; st.param.b32 [x], %r0; call "
                              "(y, z), both, (x); ld.param.b32 %r2, [y];\n"
                              "ld.param.b64 %d2, [z]; }\ncvt.u32.u64 %r3, %d2; mul.wide.u32 %d3, %r0, 8; "
                              "add.u64 %d1, %d1, %d3; st.global.v2.u32 [%d1], "
                              "{%r2, %r3};",
                              kTwoResults)
                              .run();
  ASSERT_EQ(left.end(), "held");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(left.all<uint32_t>(1)[2 * i], i + 1);
    EXPECT_EQ(left.all<uint32_t>(1)[2 * i + 1], 3 * i + 3);
  }
}

// A parameter is named by its space, by whose it is, or by its address (PTX ISA 9.0, 5.1.6).
TEST(SeldomValues, ParametersAreReadByEveryName) {
  const std::string function = R"(.func (.param .b32 r) f(.param .b32 a, .param .b32 b) {
.reg .b32 %a<4>; ld.param::func.b32 %a0, [b]; ld.param.b32 %a1, [a]; mad.lo.u32 %a0, %a0, 100, %a1;
st.param::func.b32 [r], %a0; ret;
}
)";
  const test::Left left =
      valued(
          "ld.param::entry.u64 %d2, [pout]; add.u32 %r3, %r0, 7; mul.wide.u32 %d3, %r0, 4; add.u64 %d2, %d2, "
          "%d3;\n"
          "{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.b32 [x], %r0; st.param::func.b32 [y], "
          "%r3;\n"
          "call (z), f, (x, y); ld.param::func.b32 %r2, [z]; }\nst.global.u32 [%d2], %r2;",
          function)
          .run();
  ASSERT_EQ(left.end(), "held");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(left.all<uint32_t>(1)[i], 100 * (i + 7) + i);
}

// The nearest numbers in place of the unit's; .ftz takes subnormal operands as zeros of their sign and gives
// none (PTX ISA 9.0, 9.7.3, "Subnormal numbers"). Lanes that are not there keep what they have.
TEST(SeldomValues, NearestApproximationsFlushWhereTheySaySo) {
  struct Case {
    const char* operation;
    uint32_t of, is;
  };
  for (const Case& c :
       {Case{"sin.approx.ftz.f32", 0x80000001, 0x80000000}, Case{"sin.approx.f32", 0x80000001, 0x80000001},
        Case{"sin.approx.ftz.f32", 0x007FFFFF, 0}, Case{"sin.approx.ftz.f32", 0x00800000, 0x00800000},
        Case{"sin.approx.ftz.f32", 0x80800000, 0x80800000},
        Case{"rsqrt.approx.ftz.f32", 0x00000001, 0x7F800000},
        Case{"rsqrt.approx.ftz.f32", 0x80000001, 0xFF800000},
        Case{"rsqrt.approx.f32", 0x00000002, 0x64800000}, Case{"ex2.approx.ftz.f32", 0xC2FE0000, 0},
        Case{"ex2.approx.f32", 0xC2FE0000, 0x00400000}, Case{"ex2.approx.ftz.f32", 0xC2FC0000, 0x00800000},
        Case{"lg2.approx.ftz.f32", 0x00000001, 0xFF800000}, Case{"lg2.approx.f32", 0x00000001, 0xC3150000},
        Case{"lg2.approx.ftz.f32", 0x41000000, 0x40400000},
        Case{"lg2.approx.ftz.f32", 0xBF800000, 0x7FFFFFFF}}) {
    const test::Kernel k =
        valued("mov.b32 %r2, " + std::to_string(c.of) +
               "; mov.b32 %f1, %r2; mov.b32 %f2, 0f40A00000; and.b32 %r3, %r0, 1; setp.eq.u32 "
               "%p1, %r3, 1;\n@%p1 " +
               c.operation +
               " %f2, %f1;\nmul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; st.global.f32 [%d1], %f2;");
    launch::Launch l = k.launch();
    l.approximate = Approximate::nearest;
    const test::Left left = k.run(std::move(l));
    ASSERT_EQ(left.end(), "held") << c.operation;
    for (uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(left.all<uint32_t>(1)[i], i % 2 == 1 ? c.is : 0x40A00000)
          << c.operation << std::hex << " of " << c.of;
  }
}

// As ptxas 13.0's machine code for sm_90a has them: 0 is false, all else is true. nvcc writes xor.pred with
// -1.
TEST(SeldomValues, ConstantsStandForPredicates) {
  struct Case {
    const char* instruction;
    uint32_t even, odd;  // what lanes get of which %p1 is false, and true
  };
  for (const Case& c : {Case{"xor.pred %p2, %p1, -1;", 1, 0}, Case{"xor.pred %p2, %p1, 1;", 1, 0},
                        Case{"xor.pred %p2, 2, %p1;", 1, 0}, Case{"xor.pred %p2, %p1, 0;", 0, 1},
                        Case{"and.pred %p2, %p1, 4;", 0, 1}, Case{"and.pred %p2, %p1, 0;", 0, 0},
                        Case{"or.pred %p2, %p1, -1;", 1, 1}, Case{"mov.pred %p2, 2;", 1, 1}}) {
    const test::Left left =
        valued("and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 1;\n" + std::string(c.instruction) +
               "selp.u32 %r4, 1, 0, %p2; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; st.global.u32 "
               "[%d1], %r4;")
            .run();
    ASSERT_EQ(left.end(), "held") << c.instruction;
    for (uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(left.all<uint32_t>(1)[i], i % 2 == 1 ? c.odd : c.even) << c.instruction << " lane " << i;
  }
}

// Addresses beside a function's are no function's, or an entry's, which is not called.
TEST(SeldomValues, OnlyFunctionsAreCalled) {
  const std::string function = ".func f(.param .b64 a, .param .b64 b) { ret; }\n";
  for (const int beside : {0, -1, 1, 2, 3, 100}) {
    const std::string end =
        valued("mov.u64 %d2, f; add.s64 %d2, %d2, " + std::to_string(beside) +
                   ";\n{ .param .b64 x; .param .b64 y; st.param.b64 [x], %d0; st.param.b64 [y], %d0;\n"
                   "proto: .callprototype _ (.param .b64 _, .param .b64 _);\ncall %d2, (x, y), proto; }",
               function)
            .run()
            .end();
    EXPECT_EQ(end == "held", beside == 0) << beside << end;
    EXPECT_EQ(end.find("an indirect call of an address that is no function") != std::string::npos ||
                  end.find("the function called is an entry") != std::string::npos,
              beside != 0)
        << beside << end;
  }
}

TEST(SeldomValues, FormsThatSomeTargetsHave) {
  struct Case {
    const char *body, *version, *target;
    bool taken;
  };
  for (const Case& c : {Case{"min.f32 %f1, %f2, %f3, %f4;", "8.8", "sm_100", true},
                        Case{"min.f32 %f1, %f2, %f3, %f4;", "8.7", "sm_100", false},
                        Case{"min.f32 %f1, %f2, %f3, %f4;", "8.8", "sm_90", false},
                        Case{"cvt.rn.bf16.f32 %h1, %f1;", "7.8", "sm_80", true},
                        Case{"cvt.rn.bf16.f32 %h1, %f1;", "7.8", "sm_75", false},
                        Case{"cvt.rn.bf16.u32 %h1, %r1;", "7.8", "sm_90", true},
                        Case{"cvt.rn.bf16.u32 %h1, %r1;", "7.8", "sm_89", false}}) {
    test::Kernel k{.version = c.version,
                   .target = c.target,
                   .registers = ".reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<9>;",
                   .body = c.body};
    EXPECT_EQ(k.refusal().empty(), c.taken) << c.body << " " << c.version << " " << c.target << k.refusal();
  }
}

}  // namespace
}  // namespace bitwell::isa
