// What the race check says where it hangs on both accesses, or on how many there are: scopes, readers past
// the cache, scales of tcgen05.mma. Each kernel in every form that the rule tells apart.
#include <gtest/gtest.h>

#include "verify/bugs/catalogue/catalogue.h"

namespace bitwell::hazard {
namespace {

constexpr size_t kSchedulesOfEach = 8;

// As what the kernel is found: "scope at lines 12 and 14", "fault"; "" where it is clean.
std::string said(const std::string& text, uint32_t ctas, uint32_t threads, std::vector<size_t> buffers) {
  bugs::Exhibit e;
  e.name = "both sides";
  e.text = text;
  e.launch.entry = "kernel";
  e.launch.shape.grid = {ctas, 1, 1};
  e.launch.shape.block = {threads, 1, 1};
  for (size_t i = 0; i < buffers.size(); ++i)
    e.launch.add_buffer({"b" + std::to_string(i), std::vector<std::byte>(buffers[i]), true, false, true});
  const bugs::Tally t = bugs::examine(e, nullptr, kSchedulesOfEach);
  return t.said == "fault" || t.said == "note" ? t.where : t.said;
}

std::string entry(const std::string& body, const std::string& target = "sm_90a") {
  return ".version 9.0\n.target " + target +
         "\n.address_size 64\n.visible .entry kernel(.param .u64 words, .param .u64 out)\n{\n"
         ".reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %a<10>;\n"
         "ld.param.u64 %a0, [words];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, "
         "%ctaid.x;\n" +
         body + "ret;\n}\n";
}

// Two CTAs meet in one word: both scopes must reach the other.
TEST(BothSides, TheScopesOfBothAccessesMustReach) {
  const std::vector<std::string> accesses{
      "st.relaxed.SCOPE.global.u32 [%a0], 1;\n", "ld.relaxed.SCOPE.global.u32 %r2, [%a0];\n",
      "atom.relaxed.SCOPE.global.add.u32 %r2, [%a0], 1;\n", "red.relaxed.SCOPE.global.add.u32 [%a0], 1;\n"};
  const auto with = [](std::string text, const std::string& scope) {
    return text.replace(text.find("SCOPE"), 5, scope);
  };
  for (const std::string& first : accesses)
    for (const std::string& second : accesses) {
      if (first.starts_with("ld") && second.starts_with("ld")) continue;
      for (const std::string a : {"cta", "cluster", "gpu", "sys"})
        for (const std::string b : {"cta", "cluster", "gpu", "sys"}) {
          const bool reach = (a == "gpu" || a == "sys") && (b == "gpu" || b == "sys");
          const std::string text = entry("setp.ne.u32 %p0, %r1, 0;\n@%p0 bra other;\n" + with(first, a) +
                                         "ret;\nother:\n" + with(second, b));
          const std::string what = said(text, 2, 1, {4, 4});
          EXPECT_EQ(what.substr(0, 5), reach ? "" : "scope") << what << " of\n"
                                                             << with(first, a) << with(second, b);
        }
    }
}

// Two rows of an stmatrix at one place, as Triton stores a vector that its lanes have twice: with the same
// bytes it is no matter which is the later, else nobody says it.
TEST(BothSides, RowsOfAMatrixStoredAtOnePlaceHaveTheSameBytes) {
  for (const bool two : {false, true})
    for (const bool same : {true, false}) {
      // Matrices of 8 rows: lane L names row L, and holds bytes of row L / 4.
      const std::string place = two ? "and.b32 %r3, %r0, 7;\n" : "and.b32 %r3, %r0, 3;\n";
      const std::string value = same && !two ? "and.b32 %r4, %r0, 15;\n" : "mov.b32 %r4, %r0;\n";
      const std::string store = two ? "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r4, " +
                                          std::string(same ? "%r4" : "%r3") + "};\n"
                                    : "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r4};\n";
      const std::string text = entry(".shared .align 16 .b8 tile[128];\nmov.u32 %r5, tile;\n" + place +
                                     value + "shl.b32 %r6, %r3, 4;\nadd.u32 %r5, %r5, %r6;\n" + store);
      const std::string what = said(text, 1, 32, {4, 4});
      EXPECT_EQ(what.substr(0, 9), same ? "" : "warp-race") << what << " of\n" << store;
    }
}

// Warps that store a word at one place, as compilers do with what all of them have: equal words are a note,
// whichever element of the store they are in and whatever was there before; else it is a race.
TEST(BothSides, EqualWordsOfSeveralWarpsAreANote) {
  struct Case {
    std::string store, value;
    bool equal;
  };
  const std::string warp = "shr.u32 %r2, %r0, 5;\n", first = "mov.b32 %r3, 7;\n";
  const Case cases[] = {
      {"st.shared.u32 [tile], %r3;\n", first, true},
      {"st.shared.u32 [tile], %r3;\n", "add.u32 %r3, %r2, 7;\n", false},
      {"st.shared.u8 [tile], %r3;\n", "shl.b32 %r3, %r2, 8;\n", true},  // the low bits alone are stored
      {"st.shared.u16 [tile], %r3;\n", "shl.b32 %r3, %r2, 8;\n", false},
      {"st.shared.v2.u32 [tile], {%r3, %r3};\n", first, true},
      {"st.shared.v2.u32 [tile], {%r2, %r3};\n", first, false},
      {"st.shared.v2.u32 [tile], {%r3, %r2};\n", first, false},
      {"st.shared.v4.u32 [tile], {%r3, %r3, %r3, %r2};\n", first, false},
      {"st.global.u32 [%a1], %r3;\n", first, true},
      {"st.global.u32 [%a1], %r2;\n", first, false},
      {"@%p0 st.global.u32 [%a1+4], 0;\n@!%p0 st.global.u32 [%a1+4], %r3;\n", "mov.b32 %r3, 0;\n", true},
      {"@%p0 st.global.u32 [%a1+4], 0;\n@!%p0 st.global.u32 [%a1+4], %r3;\n", "add.u32 %r3, %r2, 7;\n",
       false},
      // each lane another word at one place, of which the last lane's remains
      {"st.shared.u32 [tile], %r6;\n", first, true},
      {"st.shared.u32 [tile], %r0;\n", first, false},
      // 32 words one behind the other
      {"st.shared.u32 [%r4], %r3;\n", "and.b32 %r3, %r0, 31;\n", true},
      {"st.shared.u32 [%r4], %r0;\n", first, false},
      {"mul.wide.u32 %a2, %r6, 4;\nadd.u64 %a2, %a2, %a1;\nst.global.u32 [%a2], %r6;\n", first, true},
      {"mul.wide.u32 %a2, %r6, 4;\nadd.u64 %a2, %a2, %a1;\nst.global.u32 [%a2], %r0;\n", first, false},
      // all of them the zeros that global memory starts as
      {"st.global.u32 [%a1], %r3;\n", "mov.b32 %r3, 0;\n", true},
  };
  for (const Case& c : cases)
    for (const uint32_t warps : {2u, 4u}) {
      const std::string what =
          said(entry(".shared .align 16 .b8 tile[128];\nsetp.lt.u32 %p0, %r0, 32;\nand.b32 "
                     "%r6, %r0, 31;\nshl.b32 %r4, %r6, 2;\nmov.u32 %r5, tile;\nadd.u32 "
                     "%r4, %r4, %r5;\n" +
                     warp + c.value + c.store),
               1, 32 * warps, {4, 128});
      EXPECT_EQ(what.substr(0, 5), c.equal ? "equal" : "race ") << what << " of\n" << c.value << c.store;
    }
}

// A load past the cache is remembered, however often its lane and others load the word as usual behind it.
TEST(BothSides, ALoadPastTheCacheIsNotForgottenForLaterOnes) {
  for (const uint32_t warps : {1u, 2u, 8u, 24u})
    for (const int times : {1, 4, 20})
      for (const std::string usual :
           {"ld.global.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32"}) {
        std::string body = "setp.ne.u32 %p0, %r0, 0;\n@!%p0 ld.global.nc.u32 %r2, [%a0];\n";
        for (int i = 0; i < times; ++i) body += usual + " %r3, [%a0];\n";
        body += "bar.sync 0;\n@!%p0 st.global.u32 [%a0], 1;\n";
        const std::string what = said(entry(body), 1, 32 * warps, {4, 4});
        EXPECT_EQ(what.substr(0, 16), "non-coherent-war")
            << what << " of " << warps << " warps, " << times << " of " << usual;
      }
}

// The halves of .16x32bx2 stand apart, and what is between them is not theirs: Triton stores an accumulator
// by two such instructions, the second into the gap of the first, and waits for both.
TEST(BothSides, WhatStandsBetweenTwoHalvesIsNotReached) {
  const auto columns = [](uint32_t first) {
    return std::vector<uint32_t>{first, first + 1, first + 8, first + 9};
  };
  for (const bool loads : {false, true})
    for (uint32_t apart = 0; apart <= 12; ++apart) {
      const std::string second = loads ? "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r4, %r5}, [%r11], "
                                         "8;\ntcgen05.wait::ld.sync.aligned;\n"
                                       : "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r11], 8, {%r0, %r0};\n";
      const std::string filled =
          "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r10], {%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, "
          "%r0, %r0, "
          "%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0, "
          "%r0};\n"
          "tcgen05.wait::st.sync.aligned;\n";
      const std::string what =
          said(entry(".shared .align 4 .b32 base;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
                     "[base], 32;\n"
                     "bar.warp.sync -1;\nld.shared.b32 %r10, [base];\nadd.u32 %r11, %r10, " +
                         std::to_string(apart) + ";\n" + filled +
                         "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r10], 8, {%r0, %r0};\n" + second +
                         "tcgen05.wait::st.sync.aligned;\nbar.warp.sync -1;\n"
                         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\n",
                     "sm_100a"),
               1, 32, {4, 4});
      bool meet = false;
      for (const uint32_t a : columns(0))
        for (const uint32_t b : columns(apart)) meet = meet || a == b;
      EXPECT_EQ(what.substr(0, 12), meet ? "tcgen05-wait" : "") << what << apart << loads;
    }
}

// When one column of scales is stored again: before the MMA without wait::st, while it runs, when it has
// ended.
enum class When : uint8_t { before, meanwhile, after };

// An NVFP4 MMA of N columns, and such a store by one warp.
std::string mma(uint32_t n, uint32_t column, uint32_t warp, When when) {
  const std::string store =
      "setp.ne.u32 %p6, %r2, " + std::to_string(warp) + ";\n@%p6 bra stored;\nadd.u32 %r17, %r11, " +
      std::to_string(column) +
      ";\nadd.u32 %r17, %r17, %r3;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r17], {%r15};\n" +
      (when == When::before ? "" : "tcgen05.wait::st.sync.aligned;\n") + "stored:\nbar.warp.sync -1;\n";
  const std::string wait =
      "bar.warp.sync -1;\nwait:\nmbarrier.try_wait.parity.shared.b64 %p3, [done], 0;\n@!%p3 bra wait;\n"
      "tcgen05.fence::after_thread_sync;\n";
  return entry(
      ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b8 done[8];\n.shared .align 4 .b32 base;\n"
      "shr.u32 %r2, %r0, 5;\nshl.b32 %r3, %r2, 21;\nsetp.eq.u32 %p0, %r2, 0;\nsetp.eq.u32 %p1, %r0, 0;\n"
      "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 128;\n"
      "@%p1 mbarrier.init.shared.b64 [done], 1;\nmov.u32 %r6, tile;\nshl.b32 %r7, %r0, 6;\nadd.u32 %r7, %r6, "
      "%r7;\n"
      "shr.u32 %r9, %r6, 4;\ncvt.u64.u32 %a2, %r9;\nor.b64 %a2, %a2, 0x0000401000080000;\nadd.u64 %a3, %a2, "
      "256;\n"
      "mov.u32 %r15, 0x38383838;\nsetp.ne.u32 %p4, %r0, %r0;\n"
      "mov.u32 %r8, 0x22222222;\n"
      "st.shared.v4.b32 [%r7], {%r8, %r8, %r8, %r8};\nst.shared.v4.b32 [%r7+16], {%r8, %r8, %r8, %r8};\n"
      "st.shared.v4.b32 [%r7+32], {%r8, %r8, %r8, %r8};\nst.shared.v4.b32 [%r7+48], {%r8, %r8, %r8, %r8};\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\nld.shared.b32 %r10, "
      "[base];\n"
      "add.u32 %r11, %r10, 64;\nadd.u32 %r12, %r10, 72;\nadd.u32 %r13, %r11, %r3;\nadd.u32 %r14, %r12, %r3;\n"
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r13], {%r15, %r15, %r15, %r15, %r15, %r15, %r15, %r15};\n"
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r14], {%r15, %r15, %r15, %r15, %r15, %r15, %r15, %r15};\n"
      "tcgen05.wait::st.sync.aligned;\n" +
          (when == When::before ? store : "") +
          "tcgen05.fence::before_thread_sync;\nbar.sync 1;\ntcgen05.fence::after_thread_sync;\nmov.u32 "
          "%r18, " +
          std::to_string(0x08000480 + (n / 8 << 17)) +
          ";\n@%p1 tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r10], %a2, %a3, %r18, "
          "[%r11], [%r12], %p4;\n"
          "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n"
          // the store is behind what issues, and not behind what runs
          "tcgen05.fence::before_thread_sync;\nbar.sync 2;\ntcgen05.fence::after_thread_sync;\n" +
          (when == When::before  ? wait + "tcgen05.wait::st.sync.aligned;\n"
           : when == When::after ? wait + store
                                 : store + wait) +
          "tcgen05.fence::before_thread_sync;\nbar.sync 3;\ntcgen05.fence::after_thread_sync;\n"
          "@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 128;\n",
      "sm_100a");
}

TEST(BothSides, EveryColumnOfScalesIsReadWhileTheMmaRuns) {
  constexpr uint32_t kOfA = 4;  // columns of 128 rows
  for (const uint32_t n : {8u, 16u, 24u, 32u, 40u, 48u, 64u}) {
    const uint32_t of_b = (n + 31) / 32;
    for (const uint32_t warp : {0u, 3u})
      for (uint32_t column = 0; column < 12; ++column) {
        const bool read = column < kOfA || (column >= 8 && column < 8 + of_b);
        const bool own = column >= kOfA || column == warp;  // a quarter of A's rows in the lanes of its warp
        const auto found = [&](When when) { return said(mma(n, column, warp, when), 1, 128, {4, 4}); };
        const std::string where = " at N = " + std::to_string(n) + ", column " + std::to_string(column);
        const std::string early = found(When::before), late = found(When::meanwhile);
        if (read && own) {
          EXPECT_TRUE(early.find("tcgen05.wait::st is missing") != std::string::npos ||
                      early.starts_with("tcgen05-wait"))
              << early << where;
          // as the MMA comes before the store or behind it
          EXPECT_TRUE(late.starts_with("operation-race") || late.starts_with("tcgen05-wait"))
              << late << where;
        }
        if (!read) {
          EXPECT_EQ(early, "") << where;
          EXPECT_EQ(late, "") << where;
        }
        if (read && column % 4 == 0) {
          EXPECT_EQ(found(When::after), "") << where;
        }
      }
  }
}

}  // namespace
}  // namespace bitwell::hazard
