// Of which lanes a warp's values are known where some lanes hold nothing; and arrivals by lanes, each at its
// barrier with its count.
#include "../known_lanes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// Lanes of %r13 that are not known where %r10, the lane's number plus 100, is not in the lanes `unknown`; the
// values of the others. `participants` execute the instruction.
KnownLanes run_lanes(const std::string& instruction, uint32_t unknown, uint32_t participants) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout) "
      "{\n"
      ".reg .pred %p<4>; .reg .b32 %r<24>; .reg .b64 %q<8>;\n.shared .align 16 .b8 nothing[16];\n"
      "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 4;\n"
      "add.u64 %q1, %q1, %q2; mov.u32 %r2, 1; shl.b32 %r2, %r2, %r0; ld.global.u32 %r3, [%q0]; and.b32 %r3, "
      "%r3, "
      "%r2; setp.ne.u32 %p0, %r3, 0; ld.global.u32 %r3, [%q0+4]; and.b32 %r3, %r3, %r2; setp.ne.u32 %p1, "
      "%r3, 0;\n"
      "add.u32 %r10, %r0, 100; mov.u32 %r13, 7; @%p0 ld.shared.u32 %r10, [nothing]; ld.global.u32 %r9, "
      "[%q0+8]; "
      "@!%p1 bra E;\n" +
      instruction +
      "\nE: ld.global.u32 %r3, [%q0+12]; and.b32 %r3, %r3, %r2; setp.ne.u32 %p2, %r3, 0; selp.b32 %r4, 0, "
      "%r13, "
      "%p2;\nst.global.u32 [%q1], %r4;\nret;\n}\n";
  return known_lanes(test::module_of(text), {unknown, participants, participants});
}

// PTX ISA 9.0, 9.7.9.6: the source lane; itself where that is outside its segment.
int source_of(char mode, int lane, int b, int c) {
  const int segment = c >> 8 & 31, clamp = c & 31;
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int from = 0;
  bool inside = false;
  switch (mode) {
    case 'u': from = lane - b, inside = from >= most; break;
    case 'd': from = lane + b, inside = from <= most; break;
    case 'b': from = lane ^ b, inside = from <= most; break;
    default: from = least | (b & ~segment), inside = from <= most;
  }
  return inside ? from : lane;
}

// and and or of two predicates are known where one of them decides; where both are known they are, whatever
// other lanes lack. The first hangs on %r10, the lane's number plus 100.
TEST(KnownLanes, OfTwoPredicatesAreThoseThatOneDecides) {
  for (const std::string op : {"and", "or", "xor"})
    for (const bool turned : {false, true})
      for (const uint32_t unknown : {0u, 1u, 0x00010002u, 0x0F0F3C5Au, ~0u}) {
        const std::string both = turned ? "%p2, %p3" : "%p3, %p2";
        const KnownLanes got =
            run_lanes("setp.ge.u32 %p3, %r10, 116; and.b32 %r5, %r0, 1; setp.ne.u32 %p2, %r5, 0;\n" + op +
                          ".pred %p3, " + both + "; selp.u32 %r13, 1, 0, %p3;",
                      unknown, ~0u);
        EXPECT_EQ(got.wrong, "");
        for (uint32_t lane = 0; lane < 32; ++lane) {
          const bool lacks = (unknown >> lane & 1) != 0, first = lane >= 16, second = (lane & 1) != 0;
          const bool decided = op == "and" ? !second : op == "or" && second;
          EXPECT_EQ((got.unknown >> lane & 1) != 0, lacks && !decided) << op << unknown << " lane " << lane;
          if (lacks && !decided) continue;
          const bool value = lacks         ? second
                             : op == "and" ? first && second
                             : op == "or"  ? first || second
                                           : first != second;
          EXPECT_EQ(got.values[lane], value ? 1u : 0u) << op << unknown << " lane " << lane;
        }
      }
}

TEST(KnownLanes, OfAShuffleAreThoseOfItsSources) {
  std::mt19937 random(3);
  for (int draw = 0; draw < 60; ++draw) {
    const char mode = "udbi"[draw % 4];
    const int b = static_cast<int>(random() % 32), segment = 32 - (32 >> random() % 4);
    const int c = segment << 8 | (mode == 'u' ? 0 : 31);
    const uint32_t unknown = static_cast<uint32_t>(random()) & static_cast<uint32_t>(random());
    const std::string name = mode == 'u' ? "up" : mode == 'd' ? "down" : mode == 'b' ? "bfly" : "idx";
    const KnownLanes lanes = run_lanes(
        "shfl.sync." + name + ".b32 %r13, %r10, " + std::to_string(b) + ", " + std::to_string(c) + ", -1;",
        unknown, ~0u);
    ASSERT_EQ(lanes.wrong, "");
    for (int lane = 0; lane < 32; ++lane) {
      const int from = source_of(mode, lane, b, c);
      EXPECT_EQ(lanes.unknown >> lane & 1, unknown >> from & 1)
          << name << " " << b << ", " << c << ", lane " << lane << " from " << from;
      if ((unknown >> from & 1) == 0) {
        EXPECT_EQ(lanes.values[static_cast<size_t>(lane)], static_cast<uint32_t>(from + 100));
      }
    }
  }
}

// What all lanes are needed for is known where all have been written, those that do not take part aside.
TEST(KnownLanes, OfWhatAllLanesGiveAreAllOrNone) {
  for (const char* const instruction :
       {"redux.sync.add.u32 %r13, %r10, %r9;", "redux.sync.xor.b32 %r13, %r10, %r9;",
        "redux.sync.max.s32 %r13, %r10, %r9;", "match.any.sync.b32 %r13, %r10, %r9;",
        "match.all.sync.b32 %r13, %r10, %r9;",
        "setp.gt.u32 %p3, %r10, 1000; vote.sync.ballot.b32 %r13, %p3, %r9;",
        "setp.gt.u32 %p3, %r10, 1000; vote.sync.any.pred %p3, %p3, %r9; selp.b32 %r13, 1, 2, %p3;"})
    for (const uint32_t participants : {~0u, 0xFFFFu, 0x80000001u, 0x0F0F0F0Fu}) {
      EXPECT_EQ(run_lanes(instruction, 0, participants).wrong, "");
      EXPECT_EQ(run_lanes(instruction, 0, participants).unknown, 0u) << instruction;
      EXPECT_EQ(run_lanes(instruction, ~participants, participants).unknown, 0u) << instruction;
      for (const uint32_t one : {participants & -participants, 1u << (31 - __builtin_clz(participants))}) {
        const KnownLanes lanes = run_lanes(instruction, one, participants);
        EXPECT_TRUE(lanes.unknown != 0 || !lanes.wrong.empty()) << instruction << " of " << participants;
        EXPECT_EQ(lanes.unknown & ~participants, 0u);
      }
    }
}

// Lanes arrive at two barriers in any pattern, with counts, some of them for the last time: a phase is over
// where its counts are all there, and the next one needs those that have not left.
TEST(Arrivals, OfLanesCountEachAtItsBarrier) {
  std::mt19937 random(5);
  for (int draw = 0; draw < 80; ++draw) {
    std::array<uint32_t, 35> in{};  // of a lane: barrier, count, whether it arrives, whether it leaves
    std::array<uint32_t, 2> sums{}, left{};
    const bool same_barrier = draw % 3 == 0, same_count = draw % 2 == 0, all = draw % 5 == 0,
               none_leaves = draw % 4 == 0;
    const uint32_t count_of_all = 1 + random() % 3;
    for (size_t lane = 0; lane < 32; ++lane) {
      const uint32_t barrier = same_barrier ? 1 : random() % 2,
                     count = same_count ? count_of_all : 1 + random() % 3;
      const bool arrives = all || random() % 2 == 0, leaves = !none_leaves && random() % 3 == 0;
      in[lane] = barrier | count << 1 | (arrives ? 8u : 0u) | (leaves ? 16u : 0u);
      if (!arrives) continue;
      sums[barrier] += count;
      if (leaves) left[barrier] += count;
    }
    const uint32_t missing = random() % 2;
    for (size_t b = 0; b < 2; ++b)
      in[32 + b] = std::max(1u, sums[b] + missing + (sums[b] == left[b] ? 1 : 0));
    const std::string text =
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 "
        "pout) {\n"
        ".reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %q<8>;\n.shared .align 8 .b64 bars[2];\n"
        "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 4;\n"
        "add.u64 %q2, %q0, %q2; ld.global.u32 %r1, [%q2]; and.b32 %r2, %r1, 1; bfe.u32 %r3, %r1, 1, 2;\n"
        "and.b32 %r4, %r1, 8; setp.ne.u32 %p0, %r4, 0; and.b32 %r4, %r1, 16; setp.ne.and.u32 %p1, %r4, 0, "
        "%p0;\n"
        "setp.eq.and.u32 %p2, %r4, 0, %p0; mov.u32 %r5, bars; shl.b32 %r6, %r2, 3; add.u32 %r6, %r5, %r6;\n"
        "setp.eq.u32 %p3, %r0, 0; ld.global.u32 %r7, [%q0+128]; ld.global.u32 %r8, [%q0+132];\n"
        "@%p3 mbarrier.init.shared.b64 [bars], %r7; @%p3 mbarrier.init.shared.b64 [bars+8], %r8; "
        "bar.warp.sync -1;\n"
        "@%p2 mbarrier.arrive.shared.b64 _, [%r6], %r3;\n@%p1 mbarrier.arrive_drop.shared.b64 _, [%r6], "
        "%r3;\n"
        "bar.warp.sync -1; @!%p3 bra E;\n";
    std::string rest;
    for (int b = 0; b < 2; ++b) {
      const std::string at = "[bars+" + std::to_string(8 * b) + "]";
      const auto tell = [&](const std::string& parity, int place) {
        rest += "mbarrier.test_wait.parity.shared.b64 %p4, " + at + ", " + parity +
                "; selp.b32 %r9, 1, 0, %p4; st.global.u32 [%q1+" + std::to_string(16 * b + 4 * place) +
                "], %r9;\n";
      };
      const uint32_t expected = in[32 + static_cast<size_t>(b)], sum = sums[static_cast<size_t>(b)];
      tell("0", 0);
      if (expected > sum)
        rest += "mbarrier.arrive.shared.b64 _, " + at + ", " + std::to_string(expected - sum) + ";\n";
      tell("0", 1);
      const uint32_t next = expected - left[static_cast<size_t>(b)];
      if (next > 1) rest += "mbarrier.arrive.shared.b64 _, " + at + ", " + std::to_string(next - 1) + ";\n";
      tell("1", 2);
      rest += "mbarrier.arrive.shared.b64 _, " + at + ", 1;\n";
      tell("1", 3);
    }
    launch::Launch l;
    l.entry = "k";
    l.shape.block = {32, 1, 1};
    std::vector<std::byte> bytes(sizeof in);
    std::memcpy(bytes.data(), in.data(), sizeof in);
    l.add_buffer({"in", bytes, true, true, false});
    l.add_buffer({"out", std::vector<std::byte>(32), true, false, true});
    test::run_ptx(text + rest + "E: ret;\n}\n", l);
    for (size_t b = 0; b < 2; ++b) {
      std::array<uint32_t, 4> out{};
      std::memcpy(out.data(), l.buffers[1].bytes.data() + 16 * b, 16);
      EXPECT_EQ(out[0], sums[b] == in[32 + b] ? 1u : 0u) << draw;
      EXPECT_EQ(out[1], 1u) << draw;
      EXPECT_EQ(out[2], 0u) << draw;
      EXPECT_EQ(out[3], 1u) << draw;
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
