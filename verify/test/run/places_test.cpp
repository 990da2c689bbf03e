// Where the memories begin and end: addresses right behind a window or a frame, lanes of which one is wrong,
// what an unchecked launch lets pass, and the values that a thread finds without a load.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "model/machine/memory/memory.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {
namespace {

// %r0 is the lane, %a0 the buffer of 64 words, 0 at first; %p1 holds in odd lanes.
test::Kernel placed(const std::string& body) {
  test::Kernel k;
  k.parameters = ".param .u64 out";
  k.registers = ".reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .b64 %a<8>;\n.reg .b128 %q<2>;\n";
  k.shared = ".shared .align 16 .b8 sv[64];\n.shared .align 8 .b64 barrier;\n";
  k.start =
      "ld.param.u64 %a0, [out];\nmov.u32 %r0, %laneid;\nand.b32 %r1, %r0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
      "mul.wide.u32 %a1, %r0, 4;\nadd.u64 %a1, %a0, %a1;\n";
  k.body = body;
  k.buffers = {{"out", std::vector<std::byte>(512), true, false, true}};
  return k;
}
std::string end_of(const std::string& body) { return placed(body).run().end(); }
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string hexed(uint64_t n) {
  std::ostringstream out;
  out << "0x" << std::hex << n;
  return out.str();
}

// Windows are 2^32 bytes: what lies behind is none of that memory.
TEST(Places, RightBehindAWindowThereIsGlobalMemory) {
  for (const uint64_t window :
       {machine::kSharedWindow, machine::kLocalWindow, machine::kConstWindow, machine::kParamWindow}) {
    const std::string at = std::to_string(window + machine::kWindowSize);
    const std::string end = end_of("mov.u64 %a2, " + at + ";\nld.u32 %r2, [%a2];\n");
    EXPECT_TRUE(says(end, hexed(window + machine::kWindowSize))) << end;
    EXPECT_TRUE(says(end, "near no buffer")) << end;
  }
  const std::string behind = std::to_string(machine::kSharedWindow + machine::kWindowSize);
  const std::string take = "mov.u64 %a2, " + behind + ";\n";
  std::string end = end_of(take + "mbarrier.init.b64 [%a2], 1;\n");
  EXPECT_TRUE(says(end, "a generic address that is not in shared memory")) << end;
  end = end_of(take + "mbarrier.init.shared.b64 [%a2], 1;\n");
  EXPECT_TRUE(says(end, "shared address " + behind)) << end;
  end = end_of(take + "st.shared.u32 [%a2], 1;\n");
  EXPECT_TRUE(says(end, hexed(machine::kSharedWindow + machine::kWindowSize))) << end;
}

// A mark there marks nothing; the first access is the parameter's.
TEST(Places, NothingIsFollowedBehindAWindow) {
  for (const uint64_t at : {machine::kSharedWindow + machine::kWindowSize, uint64_t{64}}) {
    test::Kernel k = placed("st.global.u32 [%a1], %r0;\n");
    Follow follow({{1, at, 4}, {2, at, 4}});
    k.options.follow = &follow;
    EXPECT_EQ(k.run().end(), "held");
    EXPECT_EQ(follow.met(), 0u);
  }
}

// Of lanes that are wrong the first that executes it is told.
TEST(Places, TheLaneThatIsToldExecutesIt) {
  const std::string end =
      end_of("setp.ge.u32 %p2, %r0, 4;\n@%p2 add.u64 %a1, %a1, 1;\n@%p1 st.global.u32 [%a1], 1;\n");
  EXPECT_TRUE(says(end, "misaligned")) << end;
  EXPECT_TRUE(says(end, "thread (5,0,0)")) << end;
}

TEST(Places, AnUncheckedLaunchReadsWhereItPoints) {
  test::Kernel k = placed("ld.global.u32 %r2, [%a1+1];\nst.global.u32 [%a1+128], %r2;\n");
  k.buffers[0].bytes[4] = std::byte{7};
  k.options.checked = false;
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[32], 7u << 24);
  // Nor is it looked at whether an mbarrier is read as a word.
  k = placed(
      "setp.eq.u32 %p2, %r0, 0;\n@%p2 mbarrier.init.shared.b64 [barrier], 1;\nmov.u64 %a3, barrier;\n"
      "cvta.shared.u64 %a3, %a3;\n@%p2 ld.u64 %a4, [%a3];\n");
  EXPECT_TRUE(says(k.run().end(), "of an mbarrier, which is live")) << k.run().end();
  k.options.checked = false;
  EXPECT_EQ(k.run().end(), "held");
}

TEST(Places, SharedOfACtaIsNotAnothers) {
  test::Kernel k = placed(
      "mov.u32 %r2, sv;\nmapa.shared::cluster.u32 %r3, %r2, 1;\nst.shared.u32 [sv], 1;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\nld.shared.u32 %r4, [%r3];\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\n");
  k.shape.grid = k.shape.cluster = {2, 1, 1};
  const std::string end = k.run().end();
  EXPECT_TRUE(says(end, "that is another CTA's")) << end;
}

// A thread has 512 KiB of local memory, for its frames together.
TEST(Places, FramesMayFillLocalMemory) {
  const auto with = [](size_t bytes) {
    test::Kernel k = placed("call.uni behind, ();\nst.global.u32 [%a1], %r0;\n");
    k.shared += ".local .align 16 .b8 frame[262144];\n";
    k.module = ".func behind()\n{\n.local .align 16 .b8 frame[" + std::to_string(bytes) +
               "];\n.reg .b64 %a<2>;\nmov.u64 %a0, frame;\nst.local.u32 [%a0], 1;\nret;\n}\n";
    return k.run().end();
  };
  EXPECT_EQ(with(256 << 10), "held");
  const std::string more = with((256 << 10) + 16);
  EXPECT_TRUE(says(more, "the local stack passes 512 KiB")) << more;
  test::Kernel deep = placed("call.uni down, ();\n");
  deep.module =
      ".func down()\n{\n.local .align 16 .b8 frame[4096];\n.reg .b64 %a<2>;\nmov.u64 %a0, "
      "frame;\nst.local.u32 "
      "[%a0], 1;\ncall.uni down, ();\nret;\n}\n";
  EXPECT_TRUE(says(deep.run().end(), "the local stack passes 512 KiB")) << deep.run().end();
}

// A new frame was never written, though one stood there before, nor does that of a function hide its
// caller's.
TEST(Places, EveryCallHasItsOwnFrame) {
  test::Kernel k = placed(
      "mov.u64 %a2, mine;\nst.local.u32 [%a2], 5;\ncall.uni leaf, ();\n{\n.param .b32 r;\ncall.uni (r), "
      "deeper, "
      "();\nld.param.b32 %r3, [r];\n}\ncall.uni leaf, ();\nld.local.u32 %r2, [%a2];\nadd.u32 %r2, %r2, "
      "%r3;\nst.global.u32 [%a1], %r2;\n");
  k.shared += ".local .align 16 .b8 mine[16];\n";
  k.module =
      ".func leaf()\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, 1;\nret;\n}\n.func (.param .b32 r) "
      "deeper()\n{\n.local .align "
      "16 .b8 own[16];\n.reg .b64 %a<2>;\n.reg .b32 %r<2>;\nmov.u64 %a0, own;\nst.local.u32 [%a0], "
      "7;\nld.local.u32 "
      "%r0, [%a0];\nst.param.b32 [r], %r0;\nret;\n}\n";
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[31], 12u);
  k.module.replace(k.module.find("st.local.u32 [%a0], 7;"), 22, "");
  k.body = "call.uni wrote, ();\n" + k.body;
  k.module +=
      ".func wrote()\n{\n.local .align 16 .b8 own[64];\n.reg .b64 %a<2>;\nmov.u64 %a0, own;\nst.local.u32 "
      "[%a0], "
      "7;\nst.local.u32 [%a0+4], 7;\nst.local.u32 [%a0+8], 7;\nst.local.u32 [%a0+12], 7;\nst.local.u32 "
      "[%a0+16], "
      "7;\nret;\n}\n";
  EXPECT_TRUE(says(k.run().end(), "never written")) << k.run().end();
}

// Of 128 bits a number is the low ones.
TEST(Places, NumbersOf128BitsStandInEveryLane) {
  test::Kernel k = placed("mul.wide.u32 %a2, %r0, 16;\nadd.u64 %a2, %a0, %a2;\nst.global.b128 [%a2], 258;\n");
  k.target = "sm_90a";
  const std::vector<uint32_t> words = k.held().all<uint32_t>(0);
  for (size_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ((std::vector<uint32_t>(words.begin() + 4 * lane, words.begin() + 4 * lane + 4)),
              (std::vector<uint32_t>{258, 0, 0, 0}))
        << lane;
}

// One multiprocessor, one grid: what the machine that is simulated says of itself.
TEST(Places, ThereIsOneMultiprocessor) {
  test::Kernel k = placed(
      "mov.u32 %r2, %smid;\nmov.u32 %r3, %nsmid;\nmov.u64 %a2, %gridid;\ncvt.u32.u64 %r4, %a2;\nmov.u32 %r5, "
      "%nwarpid;\nst.global.v4.u32 [%a0], {%r2, %r3, %r4, %r5};\n");
  k.shape.block = {1, 1, 1};
  const std::vector<uint32_t> words = k.held().all<uint32_t>(0);
  EXPECT_EQ((std::vector<uint32_t>(words.begin(), words.begin() + 4)), (std::vector<uint32_t>{0, 1, 0, 64}));
}

// The workspace of a cooperative grid stands in %envreg1 and 2, unless the launch gives them.
TEST(Places, GivenEnvironmentRegistersStay) {
  const std::string read =
      "mov.b32 %r2, %envreg1;\nmov.b32 %r3, %envreg2;\nst.global.v2.u32 [%a0], {%r2, %r3};\n";
  for (const auto& [first, second] : {std::pair{0u, 0u}, {5u, 0u}, {0u, 6u}, {5u, 6u}}) {
    test::Kernel k = placed(read);
    k.shape.block = {1, 1, 1};
    k.shape.cooperative = true;
    k.shape.environment[1] = first;
    k.shape.environment[2] = second;
    const std::vector<uint32_t> words = k.held().all<uint32_t>(0);
    if (first == 0 && second == 0) {
      EXPECT_NE(words[0] | words[1], 0u);
    } else {
      EXPECT_EQ(words[0], first);
      EXPECT_EQ(words[1], second);
    }
  }
}

// How often a loop whose wait gives up may count: 100,000 times it is waited for, and for ever nowhere.
TEST(Places, AWaitThatGivesUpIsCountedWithPatience) {
  const auto count = [](const std::string& most) {
    test::Kernel k = placed(
        "setp.eq.u32 %p2, %r0, 0;\n@!%p2 bra end;\nmbarrier.init.shared.b64 [barrier], 1;\nmov.u32 %r2, "
        "0;\nagain: add.u32 %r2, %r2, 1;\nmbarrier.try_wait.parity.shared.b64 %p3, [barrier], 0;\n@%p3 bra "
        "done;\nsetp.lt.u32 %p3, %r2, " +
        most + ";\n@%p3 bra again;\ndone: st.global.u32 [%a0], %r2;\nend:\n");
    return k.run();
  };
  const test::Left ends = count("100000");
  EXPECT_EQ(ends.end(), "held");
  EXPECT_EQ(ends.all<uint32_t>(0)[0], 100000u);
  EXPECT_TRUE(says(count("4000000000").end(), "deadlock")) << count("4000000000").end();
}

// Blocks of eight lanes of a warp's barrier, each with its own mask, whichever comes first.
TEST(Places, BarriersOfAWarpAreMetByTheirMask) {
  test::Kernel k = placed(
      "mov.u32 %r2, 0x0F0F0F0F;\nshr.u32 %r3, %r0, 2;\nand.b32 %r3, %r3, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 "
      "mov.u32 "
      "%r2, 0xF0F0F0F0;\nmov.u32 %r4, 0;\nsetp.lt.u32 %p3, %r0, 16;\n@%p3 bra low;\nbar.warp.sync %r2;\nbra "
      "behind;\nlow: add.u32 %r4, %r4, 1;\nbar.warp.sync %r2;\nbehind: st.global.u32 [%a1], %r4;\n");
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[0], 1u);
  EXPECT_EQ(left.all<uint32_t>(0)[31], 0u);
}

// Lanes 4 and 5 wait for lanes 0 to 3, which wait at another barrier for lane 6 first: though all six wait,
// these two do not go on.
TEST(Places, ABarrierOfAWarpCountsThoseWhoCameToIt) {
  test::Kernel k = placed(
      "mov.u32 %r2, sv;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r2, %r3;\nsetp.gt.u32 %p2, %r0, 6;\n@%p2 bra "
      "end;\nsetp.eq.u32 %p2, %r0, 6;\n@%p2 bra late;\nsetp.gt.u32 %p2, %r0, 3;\n@%p2 bra "
      "readers;\nbar.warp.sync "
      "0x4F;\nst.shared.u32 [%r3], %r0;\nbar.warp.sync 0x3F;\nbra end;\nlate: mov.u32 %r4, 0;\ncount: "
      "add.u32 %r4, "
      "%r4, 1;\nsetp.lt.u32 %p3, %r4, 100000;\n@%p3 bra count;\nbar.warp.sync 0x4F;\nbra end;\nreaders: "
      "bar.warp.sync 0x3F;\nld.shared.u32 %r5, [sv+12];\nst.global.u32 [%a1], %r5;\nend:\n");
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[4], 3u);
  EXPECT_EQ(left.all<uint32_t>(0)[5], 3u);
}

// Halves of a warp that come to a barrier from two places have their counts both.
TEST(Places, ABarriersResultIsThatOfEveryLane) {
  test::Kernel k = placed(
      "setp.lt.u32 %p2, %r0, 16;\n@%p2 bra low;\nbarrier.red.popc.u32 %r2, 0, %p1;\nbra behind;\nlow: "
      "barrier.red.popc.u32 %r2, 0, %p1;\nbehind: st.global.u32 [%a1], %r2;\n");
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  for (size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(left.all<uint32_t>(0)[lane], 16u) << lane;
}

// What is for a whole warp is a fault where a guard holds for a part of it, and not for the others' sake.
TEST(Places, WhatIsForAWholeWarpHasOneGuard) {
  for (const char* body : {"mov.u32 %r3, sv;\n@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];\n",
                           "@%p1 barrier.cluster.arrive.aligned;\n"}) {
    const std::string end = end_of(body);
    EXPECT_TRUE(says(end, "under a guard that differs between threads of a warp")) << end;
    EXPECT_TRUE(says(end, "thread (1,0,0)")) << end;
  }
}

// An mbarrier of another CTA, by an address that is to be its own's, or behind its end.
TEST(Places, AnMbarrierIsOfACtaThatIsThere) {
  test::Kernel k = placed(
      "mov.u32 %r2, barrier;\nmapa.shared::cluster.u32 %r3, %r2, 1;\nmbarrier.init.shared::cta.b64 [%r3], "
      "1;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n");
  k.shape.grid = k.shape.cluster = {2, 1, 1};
  k.shape.block = {1, 1, 1};
  EXPECT_TRUE(says(k.run().end(), "a shared::cta address that is another CTA's, of rank 1")) << k.run().end();
  k.body =
      "mov.u32 %r2, barrier;\nmapa.shared::cluster.u32 %r3, %r2, 1;\nmbarrier.init.shared::cta.b64 [%r2], "
      "5;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 %r4, %cluster_ctarank;\nsetp.eq.u32 %p2, "
      "%r4, "
      "1;\n@%p2 bra end;\nmov.u32 %r5, 0;\ncount: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 100000;\n@%p3 "
      "bra "
      "count;\nmbarrier.arrive.shared::cluster.b64 _, [%r3];\nend:\n";
  EXPECT_TRUE(says(k.run().end(), "the shared memory of CTA rank 1, which has ended")) << k.run().end();
}

// Warp 1 meets a barrier with half of its threads, while warps 0 and 2 meet at another one: it is warp 1 of
// whom it is said.
TEST(Places, ANoteOfABarrierNamesWhoMeetsIt) {
  test::Kernel k = placed(
      "mov.u32 %r2, %tid.x;\nshr.u32 %r2, %r2, 5;\nsetp.eq.u32 %p2, %r2, 1;\n@%p2 bra alone;\nsetp.eq.u32 "
      "%p2, %r2, "
      "0;\n@%p2 bra meet;\nmov.u32 %r3, 0;\ncount: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 100000;\n@%p3 "
      "bra "
      "count;\nmeet: bar.sync 1, 64;\nbra end;\nalone: @!%p1 bra end;\nbar.sync 0, 32;\nend:\n");
  k.shape.block = {96, 1, 1};
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  ASSERT_EQ(left.notes.size(), 1u);
  EXPECT_EQ(left.notes[0].place.thread, (std::array<uint32_t, 3>{33, 0, 0}));
  EXPECT_TRUE(says(left.notes[0].text, "have ended without it")) << left.notes[0].text;
}

// 200 CTAs of which a multiprocessor has room for one each: those that have ended are not counted.
TEST(Places, ADeadlockSaysHowManyCtasHaveNotEnded) {
  test::Kernel k = placed(
      "mov.u32 %r2, %ctaid.x;\nsetp.lt.u32 %p2, %r2, 5;\n@%p2 bra end;\nsetp.eq.u32 %p2, %r2, 199;\n@%p2 "
      "st.volatile.global.u32 [%a0], 1;\nagain: ld.volatile.global.u32 %r3, [%a0];\nsetp.eq.u32 %p3, %r3, "
      "0;\n@%p3 "
      "bra again;\nend:\n");
  k.module = ".extern .shared .align 16 .b8 much[];\n";
  k.shape.dynamic_shared = 200000;
  k.shape.grid = {200, 1, 1};
  k.shape.block = {1, 1, 1};
  const std::string end = k.run().end();
  EXPECT_TRUE(says(end, "132 clusters of this launch are resident at once")) << end;
  EXPECT_TRUE(says(end, "195 CTAs have not ended")) << end;
}

TEST(Places, ARegisterCountThatNoThreadHasIsRefused) {
  test::Kernel k = placed("st.global.u32 [%a1], %r0;\n");
  k.shape.registers = 255;
  EXPECT_EQ(k.run().end(), "held");
  k.shape.registers = 256;
  EXPECT_TRUE(says(k.run().end(), "registers is 256, it must be 1 to 255")) << k.run().end();
}

// Below the first bit of a factor that was never written the product is known.
TEST(Places, TheLowBitsOfAProductAreKnown) {
  const std::string half = "mov.b16 %h1, 3;\nmov.b32 %r2, {%h1, %h2};\n";
  test::Kernel k =
      placed(half + "mul.lo.u32 %r3, %r2, 5;\ncvt.u16.u32 %h3, %r3;\nst.global.u16 [%a1], %h3;\n");
  k.registers += ".reg .b16 %h<4>;\n";
  const test::Left left = k.run();
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[31], 15u);
}

// An address of 32 bits below the first variable has wrapped: it is told as near.
TEST(Places, AnAddressBelowSharedMemoryIsNear) {
  const std::string end = end_of("mov.u32 %r2, sv;\nsub.u32 %r2, %r2, 16;\nst.shared.u32 [%r2], 1;\n");
  EXPECT_TRUE(says(end, "16 bytes before 'sv'")) << end;
}

// A copy that is under way may be read by an unchecked launch alone.
TEST(Places, AnUncheckedLaunchReadsUnderACopy) {
  test::Kernel k = placed(
      "setp.ne.u32 %p2, %r0, 0;\n@%p2 bra end;\nmbarrier.init.shared.b64 [barrier], "
      "1;\nmbarrier.arrive.expect_tx.shared.b64 _, [barrier], "
      "16;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sv], [%a0], 16, "
      "[barrier];\nld.shared.u32 %r4, [sv];\nst.global.u32 [%a0+256], %r4;\nwait: "
      "mbarrier.try_wait.parity.shared.b64 %p3, [barrier], 0;\n@!%p3 bra wait;\nend:\n");
  EXPECT_TRUE(says(k.run().end(), "is still to write there")) << k.run().end();
  k.options.checked = false;
  EXPECT_EQ(k.run().end(), "held");
}

}  // namespace
}  // namespace bitwell::run
