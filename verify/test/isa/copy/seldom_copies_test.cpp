// Copies as kernels seldom make them: lanes that differ in one operand alone, bytes beside a copy's own,
// special values that tf32 changes, maps in constant memory, targets that have ended or were never written.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "../../kernel.h"
#include "im2col_launch.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::isa {
namespace {

constexpr size_t kIn = 4096, kOut = 1024;

// %r0: the lane; %r1: `tile`; %r2: `bar`, of one arrival; %r3: 0; %r4: the CTA's rank; %d0: `in`, 4,096 bytes
// 0, 1, ...; %d1: `out`; %d2: the first tensor map, and %d3 the second one; %p0: lane 0; %p1: it of rank 0.
test::Kernel seldom(const std::string& body, const std::string& target = "sm_90a", uint32_t ctas = 1) {
  std::vector<std::byte> in(kIn);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i);
  return {
      .target = target,
      .parameters =
          ".param .u64 pin, .param .u64 pout, .param .align 128 .b8 m0[128], .param .align 128 .b8 m1[128]",
      .registers = ".reg .pred %p<6>; .reg .b16 %h<6>; .reg .b32 %r<20>; .reg .b64 %d<10>;",
      .shared =
          ".shared .align 1024 .b8 tile[4096]; .shared .align 16 .b64 bar; .shared .align 16 .b64 other;",
      .start =
          "ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.b64 %d2, m0; cvta.param.u64 %d2, %d2;\n"
          "mov.b64 %d3, m1; cvta.param.u64 %d3, %d3; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n"
          "mov.u32 %r2, bar; setp.eq.u32 %p0, %r0, 0; mov.u32 %r3, 0; mov.u32 %r4, %cluster_ctarank;\n"
          "setp.eq.and.u32 %p1, %r4, 0, %p0; @%p0 mbarrier.init.shared.b64 [bar], 1;\n"
          "@%p0 mbarrier.init.shared.b64 [other], 1; @%p0 fence.mbarrier_init.release.cluster;\n"
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
      .body = body,
      .shape = {.grid = {ctas, 1, 1}, .block = {32, 1, 1}, .cluster = {ctas, 1, 1}},
      .buffers = {test::input(std::move(in)), test::output(kOut)},
      .all_written = false};
}
test::Left left_by(const test::Kernel& k, const machine::TensorMap& map) {
  launch::Launch l = k.launch();
  l.add_tensor_map(0, map);
  l.add_tensor_map(1, map);
  return k.run(std::move(l));
}
machine::TensorMap of_bytes(uint32_t rank, uint32_t columns, uint32_t rows) {
  machine::TensorMap m;
  m.type = machine::TensorType::u8;
  m.rank = rank;
  m.dims = {64, rank > 1 ? 8u : 1u, rank > 2 ? 2u : 1u, 1, 1};
  m.strides = {0, 64, 512, 512, 512};
  m.box = {columns, rows, 1, 1, 1};
  return m;
}
test::Left left_by(const test::Kernel& k) { return left_by(k, of_bytes(1, 16, 1)); }
const std::string kWait = "W: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0; @!%p4 bra W;\n";

// Two lanes whose copies differ in one operand make two copies, and nothing is to be noted.
struct Differing {
  const char* name;
  std::string start;  // by lanes 0 and 1: {operand} stands for `same` or `other`
  const char *same, *other;
  uint32_t rank = 0;
  const char* target = "sm_90a";
  bool im2col = false;
};
void PrintTo(const Differing& d, std::ostream* out) { *out << d.name; }

class DifferingCopies : public testing::TestWithParam<Differing> {};

TEST_P(DifferingCopies, AreTwo) {
  const Differing& d = GetParam();
  for (const bool differ : {false, true}) {
    // %r8 (and %d8, %h2) is `same` for lane 0, for lane 1 what the case says.
    const std::string value = differ ? d.other : d.same;
    const std::string copy = d.start;
    test::Kernel k = seldom(
        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048; setp.lt.u32 %p2, %r0, 2;\n"
        "mov.u32 %r9, " +
            std::string(d.same) + "; setp.eq.u32 %p3, %r0, 1; @%p3 mov.u32 %r9, " + value +
            ";\ncvt.u16.u32 %h2, %r9; cvt.u64.u32 %d8, %r9; add.u32 %r10, %r1, %r9; add.u64 %d9, %d0, %d8;\n"
            "add.u32 %r11, %r2, %r9; mov.u16 %h1, 1; mov.u16 %h0, 0;\n@%p2 " +
            copy + "\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
        d.target);
    k.start +=
        "\nst.shared.u32 [tile], 0; @%p0 st.shared.v4.u32 [tile], {%r3, %r3, %r3, %r3}; @%p0 "
        "st.shared.v4.u32 [tile+16], {%r3, %r3, %r3, %r3}; fence.proxy.async; bar.warp.sync -1;";
    machine::TensorMap map = of_bytes(std::max(d.rank, 1u), 16, 1);
    if (d.im2col) {
      map.box = {1, 1, 1, 1, 1};
      map.im2col.channels = 16;
      map.im2col.pixels = 4;
    }
    const test::Left left = left_by(k, map);
    const bool noted = std::any_of(left.notes.begin(), left.notes.end(), [](const run::Note& n) {
      return n.text.find("start the same copy") != std::string::npos;
    });
    EXPECT_EQ(left.fault, "");
    EXPECT_EQ(noted, !differ) << k.text();
  }
}

const std::string kLoad = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
std::string tensor_load(int rank, const std::string& more = "") {
  return "cp.async.bulk.tensor." + std::to_string(rank) + "d.shared::cluster.global" + more +
         ".mbarrier::complete_tx::bytes ";
}

INSTANTIATE_TEST_SUITE_P(
    All, DifferingCopies,
    testing::Values(
        Differing{"To", kLoad + "[%r10], [%d0], 16, [bar];", "0", "64"},
        Differing{"From", kLoad + "[tile], [%d9], 16, [bar];", "0", "64"},
        Differing{"Size", kLoad + "[tile], [%d0], %r9, [bar];", "16", "32"},
        Differing{"Barrier", kLoad + "[tile], [%d0], 16, [%r11];", "0", "16"},
        Differing{"StoreTo", "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r10], 16;", "0", "16"},
        Differing{"FirstCoordinate", tensor_load(2) + "[tile], [%d2, {%r9, %r3}], [bar];", "0", "16", 2},
        Differing{"LastCoordinate", tensor_load(2) + "[tile], [%d2, {%r3, %r9}], [bar];", "0", "1", 2},
        Differing{"ThirdCoordinate", tensor_load(3) + "[tile], [%d2, {%r3, %r3, %r9}], [bar];", "0", "1", 3},
        Differing{"FirstRow",
                  tensor_load(2, ".tile::gather4") + "[tile], [%d2, {%r3, %r9, %r3, %r3, %r3}], [bar];", "0",
                  "1", 2, "sm_100a"},
        Differing{"LastRow",
                  tensor_load(2, ".tile::gather4") + "[tile], [%d2, {%r3, %r3, %r3, %r3, %r9}], [bar];", "0",
                  "1", 2, "sm_100a"},
        Differing{"OffsetOfThree",
                  tensor_load(3, ".im2col") + "[tile], [%d2, {%r3, %r3, %r3}], [bar], {%h2};", "0", "1", 3,
                  "sm_90a", true},
        Differing{"LastOffsetOfFour",
                  tensor_load(4, ".im2col") + "[tile], [%d2, {%r3, %r3, %r3, %r3}], [bar], {%h0, %h2};", "0",
                  "1", 4, "sm_90a", true},
        Differing{"FirstOffsetOfFour",
                  tensor_load(4, ".im2col") + "[tile], [%d2, {%r3, %r3, %r3, %r3}], [bar], {%h2, %h0};", "0",
                  "1", 4, "sm_90a", true}),
    [](const auto& c) { return std::string(c.param.name); });

// A store beside a copy's bytes is nobody's fault, in the same line of 128 bytes too, and between the parts
// of several lanes.
TEST(SeldomCopies, StoresBesideThemHold) {
  const std::string bulk = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n@%p0 " + kLoad +
                           "[tile+64], [%d0], 32, [bar];\n";
  const std::string parts =  // of lanes 0 and 1, at 64 and at 128
      "setp.lt.u32 %p2, %r0, 2; mad.lo.u32 %r9, %r0, 64, %r1;\n@%p2 cp.async.ca.shared.global [%r9+64], "
      "[%d0], 16;\n";
  for (const int at : {0, 60, 64, 68, 76, 80, 92, 96, 100, 124, 128, 140, 144}) {
    const std::string store = "@%p0 st.shared.u32 [tile+" + std::to_string(at) + "], %r3;\n";
    const std::string by_bulk = left_by(seldom(bulk + store + kWait)).end();
    const std::string by_parts = left_by(seldom(parts + store + "cp.async.wait_all;")).end();
    EXPECT_EQ(by_bulk.find("is still to write") != std::string::npos, at >= 64 && at < 96) << at << by_bulk;
    EXPECT_EQ(by_bulk == "held", at < 64 || at >= 96) << at << by_bulk;
    const bool in_parts = (at >= 64 && at < 80) || (at >= 128 && at < 144);
    EXPECT_EQ(by_parts.find("is still to write") != std::string::npos, in_parts) << at << by_parts;
    EXPECT_EQ(by_parts == "held", !in_parts) << at << by_parts;
  }
}

// Lanes that store to several memories at once: each place is looked at by itself. Lane 0 stores to `first`,
// lane 1 to `second`, where a copy into tile + 64 of its own CTA is under way.
TEST(SeldomCopies, LanesThatStoreToSeveralMemories) {
  struct Case {
    const char *name, *first, *second;
    bool meets;
  };
  // %d4, %d5: tile + 64 and + 256 of the CTA's own, %d6 + 64 of the other's; %d1: `out`.
  for (const Case& c : {Case{"global", "%d1", "%d4", true},
                        {"global beside", "%d1", "%d5", false},
                        {"own, then global", "%d4", "%d1", true},
                        {"beside, then global", "%d5", "%d1", false},
                        {"the other", "%d6", "%d4", true},
                        {"own, then the other", "%d4", "%d6", true},
                        {"the other, beside", "%d6", "%d5", false}})
    for (const int rank : {0, 1}) {
      test::Kernel k = seldom(
          "cvt.u64.u32 %d4, %r1; cvta.shared.u64 %d4, %d4; add.u64 %d4, %d4, 64; add.u64 %d5, %d4, 192;\n"
          "xor.b32 %r9, %r4, 1; mapa.u64 %d6, %d4, %r9; setp.eq.u32 %p2, %r4, " +
              std::to_string(rank) +
              "; @!%p2 bra END;\n@%p0 cp.async.ca.shared.global [tile+64], [%d0], 16;\n"
              "setp.eq.u32 %p3, %r0, 1; mov.u64 %d7, " +
              c.first + "; @%p3 mov.u64 %d7, " + c.second +
              "; setp.lt.u32 %p3, %r0, 2;\n@%p3 st.u32 [%d7], %r3;\ncp.async.wait_all;\nEND: "
              "barrier.cluster.arrive; barrier.cluster.wait;\n",
          "sm_90a", 2);
      const std::string end = left_by(k).end();
      EXPECT_EQ(end.find("is still to write") != std::string::npos, c.meets) << c.name << ": " << end;
      EXPECT_EQ(end == "held", !c.meets) << c.name << ": " << end;
    }
}

// tf32 keeps ten bits of the fraction, rounded to nearest even, infinities as they are, and has one NaN
// (H200).
TEST(SeldomCopies, Tf32RoundsAndHasOneNaN) {
  const std::vector<std::pair<uint32_t, uint32_t>> values{
      {0x7F800000, 0x7F800000}, {0xFF800000, 0xFF800000}, {0x7F800001, 0x7FFFE000}, {0xFFC00000, 0x7FFFE000},
      {0x7F7FFFFF, 0x7F800000}, {0x3F800FFF, 0x3F800000}, {0x3F801000, 0x3F800000}, {0x3F803000, 0x3F804000},
      {0x3F801001, 0x3F802000}, {0x80000001, 0x80000000}, {0x00001001, 0x00002000}, {0xBF803001, 0xBF804000}};
  test::Kernel k = seldom("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n@%p0 " + tensor_load(1) +
                          "[tile], [%d2, {%r3}], [bar];\n" + kWait +
                          "setp.lt.u32 %p2, %r0, 16; mad.lo.u32 %r9, %r0, 4, %r1; mul.wide.u32 %d4, %r0, 4; "
                          "add.u64 %d4, %d4, %d1;\n"
                          "@%p2 ld.shared.u32 %r10, [%r9]; @%p2 st.global.u32 [%d4], %r10;\n");
  std::vector<std::byte>& in = k.buffers[0].bytes;
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&in[4 * i], &values[i].first, 4);
  machine::TensorMap map;
  map.type = machine::TensorType::tf32;
  map.rank = 1;
  map.dims = {16, 1, 1, 1, 1};
  map.box = {16, 1, 1, 1, 1};
  const test::Left left = left_by(k, map);
  ASSERT_EQ(left.end(), "held");
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(left.all<uint32_t>(1)[i], values[i].second) << std::hex << values[i].first;
}

// In lines of 128 bytes, by their number: 32 bytes change places by its lower two bits, and halves of 16 by
// the lowest (CUDA driver API, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B).
TEST(SeldomCopies, HalvesOf16BytesAreFlippedInOddLines) {
  for (const bool watched : {false, true}) {
    test::Kernel k = seldom(
        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 768;\n@%p0 " + tensor_load(2) +
            "[tile], [%d2, {%r3, %r3}], [bar];\n" + kWait +
            "mad.lo.u32 %r9, %r0, 4, %r1; mul.wide.u32 %d4, %r0, 4; add.u64 %d4, %d4, %d1; mov.u32 %r11, 0;\n"
            "L: ld.shared.u32 %r10, [%r9]; st.global.u32 [%d4], %r10; add.u32 %r9, %r9, 128; add.u64 %d4, "
            "%d4, 128;\n"
            "add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, 8; @%p2 bra L;\n",
        "sm_100a");
    k.start +=
        "\nmul.lo.u32 %r9, %r0, 32; add.u32 %r9, %r9, %r1; st.shared.v4.u32 [%r9], {%r3, %r3, %r3, %r3};\n"
        "st.shared.v4.u32 [%r9+16], {%r3, %r3, %r3, %r3}; fence.proxy.async; bar.warp.sync -1;";
    if (watched) k.options.observers = {{.tell = [](const machine::Event&) {}, .accesses = true}};
    machine::TensorMap map = of_bytes(2, 96, 8);
    map.dims = {128, 8, 1, 1, 1};
    map.strides[1] = 256;
    map.swizzle = machine::TensorSwizzle::b128_atom_32b_flip_8b;
    const test::Left left = left_by(k, map);
    ASSERT_EQ(left.end(), "held");
    const auto out = left.all<uint8_t>(1);
    std::vector<uint8_t> want(kOut);
    for (size_t y = 0; y < 8; ++y)
      for (size_t x = 0; x < 96; ++x)
        want[128 * y + ((x ^ (y % 4) << 5) ^ (y % 2) << 3)] = static_cast<uint8_t>(x);
    EXPECT_EQ(out, want);
  }
}

TEST(SeldomCopies, AMapMayStandInConstantMemory) {
  machine::TensorMap map = of_bytes(1, 32, 1);
  map.address = machine::kBuffers;  // where the first buffer stands
  std::string bytes;
  for (const std::byte b : machine::encode(map))
    bytes += (bytes.empty() ? "" : ", ") + std::to_string(static_cast<int>(b));
  const auto by = [&](const std::string& offset) {
    test::Kernel k = seldom("mov.u64 %d4, kept; cvta.const.u64 %d4, %d4; add.u64 %d4, %d4, " + offset +
                            ";\n@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n@%p0 " +
                            tensor_load(1) + "[tile], [%d4, {16}], [bar];\n" + kWait +
                            "@%p0 ld.shared.u32 %r9, [tile]; @%p0 st.global.u32 [%d1], %r9;");
    k.module = ".const .align 128 .b8 kept[128] = {" + bytes + "};";
    return left_by(k);
  };
  const test::Left left = by("0");
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(1)[0], 0x13121110u);
  EXPECT_NE(by("64").end().find("in no memory that may hold one"), std::string::npos) << by("64").end();
}

TEST(SeldomCopies, WhatTheyMeetIsNamed) {
  struct Case {
    const char* name;
    std::string body;
    const char* says;
    uint32_t ctas = 1;
  };
  const std::string peer = "mapa.shared::cluster.u32 %r9, %r1, 1; mapa.shared::cluster.u32 %r10, %r2, 1;\n";
  const std::string here = "@%p0 st.shared.v4.u32 [tile], {%r3, %r3, %r3, %r3}; fence.proxy.async;\n";
  const std::string meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  for (const Case& c : std::vector<Case>{
           {"a reduction of what was never written",
            peer + here +
                "setp.eq.and.u32 %p2, %r4, 1, %p0; @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], "
                "16;\n" +
                "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
                "[%r9+32], "
                "[tile], 16, [%r10];\n@!%p2 bra E;\n" +
                kWait + "E: bar.warp.sync -1;\n" + meet,
            "reads memory that was never written", 2},
           {"a small reduction of what was never written",
            peer +
                "setp.eq.and.u32 %p2, %r4, 1, %p0; @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;\n" +
                "@%p1 red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [%r9], "
                "1, [%r10];\n"
                "@!%p2 bra E;\n" +
                kWait + "E: bar.warp.sync -1;\n" + meet,
            "reads shared memory that was never written", 2},
           {"an mbarrier that comes to stand where a copy is to write",
            "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n@%p0 " + kLoad +
                "[tile], [%d0], 64, [bar];\n@%p0 mbarrier.init.shared.b64 [tile+16], 1;\n" + kWait,
            "mbarrier"},
           {"a copy into a CTA that has ended",
            peer + here +
                "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9+32], "
                "[tile], 16, [%r10];\n" +
                meet,
            "writes the shared memory of CTA rank 1, which has ended: it ended without waiting for the copy",
            2},
           {"a store into a CTA that has ended",
            peer + "@%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], 1, [%r10];\n" +
                meet,
            "writes the shared memory of a CTA that has ended", 2},
           {"a box for a buffer that is read-only",
            here + "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d2, {%r3}], [tile];\n",
            "a bulk copy to 'in', which is read-only"}}) {
    const test::Left left = left_by(seldom(c.body, "sm_90a", c.ctas), of_bytes(1, 16, 1));
    EXPECT_NE(left.fault.find(c.says), std::string::npos) << c.name << ": " << left.fault;
  }
}

// Reductions add to what stands there, element by element.
TEST(SeldomCopies, AReductionIntoAnotherCtaAddsToEach) {
  const test::Left left = left_by(
      seldom("mad.lo.u32 %r9, %r0, 4, %r1; add.u32 %r10, %r0, 100; mad.lo.u32 %r10, %r4, 1000, %r10; "
             "st.shared.u32 [%r9], %r10;\n"
             "fence.proxy.async; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
             "mapa.shared::cluster.u32 %r11, %r1, 1; mapa.shared::cluster.u32 %r12, %r2, 1;\n"
             "setp.eq.and.u32 %p2, %r4, 1, %p0; @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
             "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
             "[%r11], [tile], 128, "
             "[%r12];\nsetp.eq.u32 %p3, %r4, 0; @%p3 bra E;\n" +
                 kWait +
                 "ld.shared.u32 %r13, [%r9]; mul.wide.u32 %d4, %r0, 4; add.u64 %d4, %d4, %d1; st.global.u32 "
                 "[%d4], %r13;\n"
                 "E: barrier.cluster.arrive; barrier.cluster.wait;\n",
             "sm_90a", 2));
  ASSERT_EQ(left.end(), "held");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(left.all<uint32_t>(1)[i], 1200 + 2 * i);
}

// The warp copies a map once for each pair of places that its lanes name.
TEST(SeldomCopies, MapsAreCopiedToEveryPlaceThatALaneNames) {
  const test::Left left = left_by(seldom(
      "mad.lo.u32 %r9, %r0, 4, %r1; st.shared.u32 [%r9], %r0; bar.warp.sync -1; shr.u32 %r10, %r0, 4;\n"
      "mul.wide.u32 %d4, %r10, 256; add.u64 %d4, %d4, %d1;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d4], "
      "[%r1], 128;\n"));
  ASSERT_EQ(left.end(), "held");
  const auto out = left.all<uint32_t>(1);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i);
    EXPECT_EQ(out[64 + i], i);
    EXPECT_EQ(out[32 + i], 0u);
  }
}

// Channels before the first and behind the last are zeros; those between stand at their places.
TEST(SeldomCopies, ChannelsBesideThoseOfAnIm2colTensorAreZeros) {
  for (const int64_t channel : {int64_t{-8}, int64_t{0}, int64_t{8}, int64_t{16}})
    for (const uint32_t channels : {8u, 16u, 32u}) {
      TensorMap map = map_of(windows()[0]);
      map.im2col.channels = channels;
      map.im2col.pixels = 4;
      auto [text, l] = im2col_launch(map, {channel, 1, 2, 0}, {0, 0});
      const std::string all = std::to_string(kPixels * kChannels * 2);
      text.replace(text.find("[bar], " + all), 7 + all.size(), "[bar], " + std::to_string(4 * channels * 2));
      l.shape.block = {4 * channels / 8, 1, 1};
      l.buffers[0].bytes.resize(4 * channels * 2);
      test::run_ptx(text, l);
      for (int64_t pixel = 0; pixel < 4; ++pixel)
        for (int64_t c = 0; c < channels; ++c) {
          uint16_t is = 0;
          std::memcpy(&is, l.buffers[0].bytes.data() + 2 * (pixel * channels + c), 2);
          const int64_t at = channel + c;
          EXPECT_EQ(is, at < 0 ? 0 : element(at, 1 + pixel, 2, 0))
              << channel << " " << channels << " " << pixel << " " << c;
        }
    }
}

TEST(SeldomCopies, AnIm2colCopyStartsInsideItsWindowAtAWholeUnit) {
  for (const auto& [start, says] : std::vector<std::pair<std::array<int64_t, 4>, std::string>>{
           {{0, 0, 2, 0}, "an im2col copy starts at 0 of dimension 1, outside the box of pixels from 1 to 7"},
           {{0, 1, 1, 0}, "an im2col copy starts at 1 of dimension 2, outside the box of pixels from 2 to 4"},
           {{0, 1, 5, 0}, "an im2col copy starts at 5 of dimension 2"},
           {{4, 1, 2, 0}, "the copy starts at channel 4, which is not a multiple of 16 bytes"}}) {
    auto [text, l] = im2col_launch(map_of(windows()[4]), start, {0, 0});
    std::string said = "held";
    try {
      test::run_ptx(text, l);
    } catch (const machine::Fault& e) {
      said = e.what();
    }
    EXPECT_NE(said.find(says), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace bitwell::isa
