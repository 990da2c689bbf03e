// What comes of bytes that an access reads, writes or changes (model/run/watch/follow.h): to which bytes of
// buffers, and what else they are used as. A kernel of one warp, whose instructions from PTX line 10 on have
// a line each; of the first 4 bytes that one of them meets (of lane 0), each byte is one of the 4 of a word.
#include "model/run/watch/follow.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <sstream>

#include "../kernel.h"

namespace bitwell::run {
namespace {

std::string text_of(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 "
         "out)\n{\n"
         ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 128 .b8 "
         "sv[1024];\n"
         "ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; "
         "add.u64 %d3, %d1, %d2;\n"
         "add.u64 %d4, %d0, %d2; setp.eq.u32 %p1, %r0, 0; mov.u32 %r8, sv; shl.b32 %r7, %r0, 2; add.u32 %r7, "
         "%r8, %r7;\n"
         "st.shared.u32 [%r7], 1; st.shared.u32 [%r7+128], 2;\n" +
         body + "\nret;\n}\n";
}

struct Left {
  std::string outputs, uses;  // "out 0-4 by 11", "an address by 12 twice"
  size_t met;
  std::vector<std::byte> out;
};

RunResult run(const test::Module& module, launch::Launch& l, const run::Options& options) {
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  l.add_buffer({"in", std::vector<std::byte>(256, std::byte{1}), true, false, false});
  l.add_buffer({"out", std::vector<std::byte>(256), true, false, true});
  return test::run_ptx(module, l, options, false);
}

// Follows what the access of that line meets from `offset` on; of several the one of that number.
Left followed(const std::string& body, int line, uint64_t bytes = 4, uint64_t offset = 0, int number = 0,
              Follow::How how = Follow::How::as_unwritten, uint32_t but = 0) {
  const test::Module module = test::module_of(text_of(body));
  Follow::Mark mark{0, 0, bytes, but};
  uint64_t accesses = 0;
  run::Options watched;
  machine::Observer observer;
  observer.accesses = true;
  observer.steps = false;
  observer.tell = [&](const machine::Event& event) {
    const auto* a = std::get_if<machine::Access>(&event.what);
    if (a == nullptr) return;
    ++accesses;
    if (a->ptx_line != line || mark.access != 0 || number-- > 0) return;
    mark.access = accesses;
    mark.address = a->addresses[0] + offset;
  };
  watched.observers.push_back(observer);
  launch::Launch first;
  run(module, first, watched);
  EXPECT_NE(mark.access, 0u) << "no access of line " << line;
  Follow follow({mark}, how);
  run::Options options;
  options.follow = &follow;
  launch::Launch second;
  run(module, second, options);
  std::ostringstream outputs, uses;
  for (const Follow::Output& o : follow.outputs()) {
    outputs << (outputs.str().empty() ? "" : "; ") << o.buffer;
    for (const auto& [from, behind] : o.runs) outputs << ' ' << from << '-' << behind;
    outputs << " (" << o.bytes() << ") by " << o.ptx_line;
  }
  for (const Follow::Use& u : follow.uses())
    uses << (uses.str().empty() ? "" : "; ") << u.as << " by " << u.ptx_line
         << (u.times == 1 ? "" : ", " + std::to_string(u.times));
  return {outputs.str(), uses.str(), follow.met(), second.buffers[1].bytes};
}

uint32_t word(const Left& left, size_t n) {
  uint32_t out = 0;
  std::memcpy(&out, &left.out[4 * n], 4);
  return out;
}

TEST(Follow, WhatIsReadComesToAnOutput) {
  const std::string body = "ld.global.u32 %r1, [%d4];\nadd.u32 %r2, %r1, 5;\nst.global.u32 [%d3+8], %r2;";
  const Left left = followed(body, 10);
  EXPECT_EQ(left.outputs, "out 8-12 (4) by 12");
  EXPECT_EQ(left.uses, "");
  EXPECT_EQ(left.met, 1u);
  EXPECT_EQ(word(left, 2), 0x01010106u) << "the run is as it was";
  EXPECT_EQ(followed(body, 10, 4, 8).outputs, "out 16-20 (4) by 12");   // another lane's word
  EXPECT_EQ(followed(body, 10, 8, 4).outputs, "out 12-20 (8) by 12");   // of two lanes
  EXPECT_EQ(followed(body, 10, 128).outputs, "out 8-136 (128) by 12");  // of all
}

// Lanes that read one word by one instruction, of which one's is not followed: as the writer's own.
TEST(Follow, NotEachLaneThatReadsAWord) {
  using How = Follow::How;
  const auto bytes = [](uint32_t lanes) {
    std::ostringstream out;
    out << "out";
    for (uint32_t i = 0, from = 0; i <= 32; ++i) {
      const bool in = i < 32 && (lanes >> i & 1) != 0;
      if (in && (i == 0 || (lanes >> (i - 1) & 1) == 0)) from = 4 * i;
      if (!in && i > 0 && (lanes >> (i - 1) & 1) != 0) out << ' ' << from << '-' << 4 * i;
    }
    return out.str();
  };
  for (const std::string load :
       {"ld.global.u32 %r1, [%d0];", "ld.shared.u32 %r1, [%r8];", "ld.u32 %r1, [%d0];",
        "ld.global.v2.u32 {%r1, %r2}, [%d0];", "ld.volatile.global.u32 %r1, [%d0];"})
    for (const uint32_t but : {1u, 1u << 7, 1u << 31}) {
      const Left left = followed(load + "\nst.global.u32 [%d3], %r1;", 10, 4, 0, 0, How::as_unwritten, but);
      EXPECT_EQ(left.outputs.substr(0, left.outputs.find(" (")), bytes(~but)) << load;
      EXPECT_EQ(left.uses, "");
      const uint32_t was = load.find("shared") == std::string::npos ? 0x01010101 : 1;
      const Left inverted = followed(load + "\nst.global.u32 [%d3], %r1;", 10, 4, 0, 0, How::inverted, but);
      for (size_t i = 0; i < 32; ++i)
        EXPECT_EQ(word(inverted, i), (but >> i & 1) != 0 ? was : ~was) << load << " lane " << i;
    }
  // Lanes side by side, each with a word of its own.
  const std::string own = "ld.global.u32 %r1, [%d4];\nst.global.u32 [%d3], %r1;";
  EXPECT_EQ(followed(own, 10, 128, 0, 0, How::as_unwritten, 2).outputs, "out 0-4 8-128 (124) by 11");
  EXPECT_EQ(word(followed(own, 10, 128, 0, 0, How::inverted, 2), 1), 0x01010101u);
  EXPECT_EQ(word(followed(own, 10, 128, 0, 0, How::inverted, 2), 2), ~0x01010101u);
  EXPECT_EQ(followed("ld.global.u32 %r1, [%d0];\nsetp.eq.u32 %p2, %r0, 3;\n@%p2 st.global.u32 [%d3], %r1;",
                     10, 4, 0, 0, How::as_unwritten, 8)
                .outputs,
            "");
}

TEST(Follow, ToTheByte) {
  const std::string body = "ld.global.u32 %r1, [%d4];\nst.global.u32 [%d3], %r1;";
  EXPECT_EQ(followed(body, 10, 1).outputs, "out 0-1 (1) by 11");
  EXPECT_EQ(followed(body, 10, 1, 3).outputs, "out 3-4 (1) by 11");
  EXPECT_EQ(followed(body, 10, 2, 5).outputs, "out 5-7 (2) by 11");
  const std::string signs = "ld.global.s8 %r1, [%d4];\nst.global.u32 [%d3], %r1;";
  EXPECT_EQ(followed(signs, 10, 1).outputs, "out 0-4 (4) by 11");  // the sign reaches all of it
  const std::string zeros = "ld.global.u8 %r1, [%d4];\nst.global.u32 [%d3], %r1;";
  EXPECT_EQ(followed(zeros, 10, 1).outputs, "out 0-1 (1) by 11");
}

TEST(Follow, OneAccessAndNotTheNext) {
  const std::string body =
      "ld.global.u32 %r1, [%d4];\nld.global.u32 %r2, [%d4];\nst.global.u32 [%d3], %r1;\nst.global.u32 "
      "[%d3+128], %r2;";
  EXPECT_EQ(followed(body, 10).outputs, "out 0-4 (4) by 12");
  EXPECT_EQ(followed(body, 11).outputs, "out 128-132 (4) by 13");
}

TEST(Follow, RunsThatTouchAreOne) {
  const std::string body =
      "ld.global.u32 %r1, [%d4];\n@%p1 st.global.u32 [%d3+16], %r1;\n@%p1 st.global.u32 [%d3], %r1;\n"
      "@%p1 st.global.u32 [%d3+8], %r1;\n@%p1 st.global.u32 [%d3+20], %r1;\n@%p1 st.global.u32 [%d3+4], %r1;";
  EXPECT_EQ(followed(body, 10).outputs, "out 0-12 16-24 (20) by 11");
  EXPECT_EQ(followed(body + "\n@%p1 st.global.u32 [%d3+12], %r1;", 10).outputs, "out 0-24 (24) by 11");
  EXPECT_EQ(followed(body + "\n@%p1 st.global.u32 [%d3+4], %r1;", 10).outputs, "out 0-12 16-24 (20) by 11");
  EXPECT_EQ(
      followed("ld.global.u32 %r1, [%d4];\n@%p1 st.global.u32 [%d3], %r1;\n@%p1 st.global.u32 [%d0+64], %r1;",
               10)
          .outputs,
      "out 0-4 (4) by 11; in 64-68 (4) by 12");
}

TEST(Follow, ThroughSharedMemoryAndOtherLanes) {
  EXPECT_EQ(
      followed("ld.shared.u32 %r1, [%r7];\nst.shared.u32 [%r7+256], %r1;\nld.shared.u32 %r2, [%r7+256];\n"
               "st.global.u32 [%d3], %r2;",
               10)
          .outputs,
      "out 0-4 (4) by 13");
  EXPECT_EQ(
      followed("ld.shared.u32 %r1, [%r7];\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nst.global.u32 [%d3], %r2;",
               10)
          .outputs,
      "out 0-128 (128) by 12");
  EXPECT_EQ(followed("ld.shared.u32 %r1, [%r7];\n@%p1 red.global.add.u32 [%d1], %r1;", 10).outputs,
            "out 0-4 (4) by 11");
}

// What an atomic makes of bytes that are followed is followed, but an exchange's.
TEST(Follow, AtomicsCarryItOn) {
  const auto ends = [](const std::string& atomic) {
    return followed(
        "ld.shared.u32 %r1, [%r7];\n@%p1 st.shared.u32 [sv], %r1;\n@%p1 " + atomic +
            "\n@%p1 ld.shared.u32 %r3, [sv];\n@%p1 st.global.u32 [%d1+4], %r3;\n@%p1 st.global.u32 "
            "[%d1], %r2;",
        10);
  };
  EXPECT_EQ(ends("atom.shared.add.u32 %r2, [sv], 1;").outputs, "out 0-8 (8) by 14");
  EXPECT_EQ(ends("atom.shared.exch.b32 %r2, [sv], 1;").outputs, "out 0-4 (4) by 15");
  EXPECT_EQ(ends("mov.u32 %r2, 1;").outputs, "out 4-8 (4) by 14");
  // In global memory it is an output as soon as it is there.
  EXPECT_EQ(followed("@%p1 atom.global.add.u32 %r1, [%d1+8], 1;", 10).outputs, "out 8-12 (4) by 10");
  EXPECT_EQ(followed("@%p1 red.global.add.v2.f32 [%d1+8], {%r7, %r7};", 10, 4, 4).outputs,
            "out 12-16 (4) by 10");
  EXPECT_EQ(
      followed("ld.shared.u32 %r1, [%r7];\n@%p1 red.global.add.v2.f32 [%d1+8], {%r7, %r1};", 10).outputs,
      "out 12-16 (4) by 11");
}

TEST(Follow, WhatIsAddedToSharedMemoryIsAUse) {
  EXPECT_EQ(
      followed(
          "st.shared.u32 [%r7], 3; st.shared.u32 [%r7+512], 4;\n.shared .align 8 .b64 bar;\n"
          "@%p1 mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async.shared::cta;\n"
          "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
          "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
          "[sv+512], [sv], 16, [bar];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra W;",
          10)
          .uses,
      "what a reduction adds by 15");
}

TEST(Follow, WhatIsWrittenStandsThereFromThenOn) {
  const std::string body = "st.shared.u32 [%r7], 3;\nld.shared.u32 %r1, [%r7];\nst.global.u32 [%d3], %r1;";
  EXPECT_EQ(followed(body, 10).outputs, "out 0-4 (4) by 12");
  EXPECT_EQ(followed("st.shared.u32 [%r7], 3;\nst.shared.u32 [%r7], 4;\nld.shared.u32 %r1, "
                     "[%r7];\nst.global.u32 [%d3], %r1;",
                     10)
                .outputs,
            "");                                                                           // overwritten
  EXPECT_EQ(followed("@%p1 st.global.u32 [%d1+4], 3;", 10).outputs, "out 4-8 (4) by 10");  // an output itself
  EXPECT_EQ(
      followed(
          "@%p1 st.global.u32 [%d1+4], 3;\nld.global.u32 %r1, [%d1+4];\n@%p1 st.global.u32 [%d1+64], %r1;",
          10)
          .outputs,
      "out 4-8 64-68 (8) by 10");
}

TEST(Follow, WhatDecidesOrAddressesIsAUse) {
  EXPECT_EQ(followed("ld.global.u32 %r1, [%d4];\nsetp.eq.u32 %p2, %r1, 77;\n@%p2 bra done;\ndone:", 10).uses,
            "a guard predicate by 12");
  EXPECT_EQ(followed("ld.shared.u32 %r1, [%r8];\nand.b32 %r1, %r1, 4;\nadd.u32 %r1, %r1, %r8;\nld.shared.u32 "
                     "%r2, [%r1];",
                     10)
                .uses,
            "an address by 13");
  EXPECT_EQ(
      followed(
          "mov.u32 %r2, 0;\nL:\nld.shared.u32 %r1, [%r8];\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 3;\n"
          "setp.lt.and.u32 %p3, %r1, 99, %p2;\n@%p3 bra L;",
          12)
          .uses,
      "a guard predicate by 16");
  EXPECT_EQ(
      followed(
          "ld.shared.u32 %r1, [%r8];\nmov.u32 %r2, 0;\nL:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 3;\n"
          "setp.lt.and.u32 %p3, %r1, 99, %p2;\n@%p3 bra L;",
          10)
          .uses,
      "a guard predicate by 16, 3");
}

TEST(Follow, ABulkCopyCarriesItOn) {
  const std::string copy =
      "fence.proxy.async.shared::cta;\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [sv], 64;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
  EXPECT_EQ(followed("st.shared.u32 [%r7], 3;\n" + copy, 10).outputs, "out 0-4 (4) by 12");
  EXPECT_EQ(followed("st.shared.u32 [%r7], 3;\n" + copy, 10, 64).outputs, "out 0-64 (64) by 12");
  EXPECT_EQ(followed("st.shared.u32 [%r7], 3;\n" + copy, 12, 16, 16).outputs, "out 16-32 (16) by 12");
  const std::string sum =
      "fence.proxy.async.shared::cta;\n@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
      "[%d1], [sv], 64;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
  const Left left = followed("st.shared.u32 [%r7], 3;\n" + sum, 10);
  EXPECT_EQ(left.outputs, "out 0-4 (4) by 12");
  EXPECT_EQ(word(left, 15), 3u);
}

TEST(Follow, InvertedItsBitsAreTheOthers) {
  const std::string body =
      "ld.global.u32 %r1, [%d4];\nst.global.u32 [%d3], %r1;\nld.global.u32 %r2, [%d4];\nst.global.u32 "
      "[%d3+128], %r2;";
  const Left left = followed(body, 10, 4, 4, 0, Follow::How::inverted);
  EXPECT_EQ(left.outputs, "");
  EXPECT_EQ(left.met, 1u);
  EXPECT_EQ(word(left, 0), 0x01010101u);
  EXPECT_EQ(word(left, 1), 0xFEFEFEFEu);
  EXPECT_EQ(word(left, 2), 0x01010101u);
  EXPECT_EQ(word(left, 33), 0x01010101u) << "for that one access";
  const Left written =
      followed("st.shared.u32 [%r7], 3;\nld.shared.u32 %r1, [%r7];\nst.global.u32 [%d3], %r1;", 10, 4, 8, 0,
               Follow::How::inverted);
  EXPECT_EQ(word(written, 2), ~3u);
  EXPECT_EQ(word(written, 3), 3u);
}

}  // namespace
}  // namespace bitwell::run
