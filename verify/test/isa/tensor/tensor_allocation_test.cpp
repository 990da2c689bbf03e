// tcgen05.alloc, dealloc and relinquish_alloc_permit of a pair of CTAs (PTX ISA 9.0, 9.7.16.5
// and 9.7.16.7.1).
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "../../kernel.h"
#include "verify/probe/tensor_mma.h"

namespace bitwell::isa {
namespace {

std::vector<run::Schedule> schedules_of_allocation() {
  std::vector<run::Schedule> out;
  for (const run::PolicyName& p : run::kPolicies) out.push_back({p.policy, 0});
  for (uint64_t seed = 1; seed <= 24; ++seed) out.push_back({run::Policy::random, seed});
  return out;
}

// Takes the first line that starts with `start` out of `text`.
std::string taken(std::string& text, const std::string& start) {
  const size_t at = text.find(start);
  EXPECT_NE(at, std::string::npos) << start;
  if (at == std::string::npos) return "";
  std::string line = text.substr(at, text.find('\n', at) + 1 - at);
  text.erase(at, line.size());
  return line;
}

// The kernel of `p`, of a pair, whose CTAs meet before they allocate and not again before one of them issues.
std::string meeting_before(const probe::MmaCase& p) {
  std::string text = probe::kernel(p);
  const std::string alloc = taken(text, "@%p0 tcgen05.alloc");
  taken(text, "tcgen05.st.sync");
  const std::string meet = taken(text, "barrier.cluster.arrive") + taken(text, "barrier.cluster.wait");
  const std::string written = "fence.proxy.async.shared::cta;\n";
  text.insert(text.find(written) + written.size(), meet + alloc);
  const std::string issuers = "@!%p6 bra issued;";
  return text.insert(text.find(issuers), "bar.sync 0;\n");
}

// An MMA, alone or behind copies of its scales, by either CTA, as soon as its own CTA has columns.
TEST(TensorAllocation, WhatAPairIssuesFindsTheColumnsOfBoth) {
  for (const size_t kind : {size_t{0}, probe::kNvfp4})
    for (const uint32_t m : {128u, 256u})
      for (const uint32_t issuer : {0u, 1u}) {
        probe::MmaCase p = probe::draw(probe::kMmaKindsOf[kind], probe::kMmaSwizzles[3], m, 16, 2, 2);
        p.issuer = issuer;
        p.accumulate = false;
        const std::string text = meeting_before(p);
        for (const run::Schedule& s : schedules_of_allocation()) {
          try {
            ASSERT_EQ(probe::difference(p, probe::run(p, s, text)), "")
                << "CTA " << issuer << ", seed " << s.seed;
          } catch (const std::exception& e) {
            FAIL() << probe::kMmaKindsOf[kind].name << ", M " << m << ", CTA " << issuer << ", seed "
                   << s.seed << ": " << e.what();
          }
        }
      }
}

struct AllocationOutcome {
  std::string what;           // of a fault
  std::vector<uint32_t> out;  // by CTA
};
// CTAs of two warps; `code` runs in all of them. %r1 is the warp, %r2 the rank, %p0 of warp 0, %p1 of warp 1,
// %p2 of even ranks; `a`, `b` and `c` are words of shared memory, and each CTA has a word of `out` at %a0.
AllocationOutcome run_pairs(const std::string& code, uint32_t ctas, run::Schedule schedule) {
  test::Kernel k{.target = "sm_100a",
                 .parameters = ".param .u64 out",
                 .registers = ".reg .pred %p<4>;\n.reg .b32 %r<10>;\n.reg .b64 %a<3>;",
                 .shared = ".shared .align 4 .b32 a;\n.shared .align 4 .b32 b;\n.shared .align 4 .b32 c;",
                 .start =
                     "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\n"
                     "shr.u32 %r1, %r0, 5;\nmov.u32 %r2, %cluster_ctarank;\nmul.wide.u32 %a1, %r2, 4;\n"
                     "add.u64 %a0, %a0, %a1;\nsetp.eq.u32 %p0, %r1, 0;\nsetp.eq.u32 %p1, %r1, 1;\n"
                     "and.b32 %r3, %r2, 1;\nsetp.eq.u32 %p2, %r3, 0;",
                 .body = code,
                 .shape = {.grid = {ctas, 1, 1}, .block = {64, 1, 1}, .cluster = {ctas, 1, 1}},
                 .buffers = {test::output(size_t{4} * ctas)}};
  k.options.schedule = schedule;
  const test::Left left = k.run();
  return {left.fault, left.fault.empty() ? left.all<uint32_t>(0) : std::vector<uint32_t>()};
}

const char* const kMeet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
std::string alloc(const char* guard, const char* to, int columns) {
  return std::string(guard) + " tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [" + to + "], " +
         std::to_string(columns) + ";\n";
}
std::string dealloc(const char* guard, const char* from, int columns) {
  return std::string(guard) + " ld.shared.b32 %r4, [" + from + "];\n" + guard +
         " tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r4, " + std::to_string(columns) + ";\n";
}

// Warp 1 gives columns back while warp 0 asks for more: the two CTAs of a pair may be at different places of
// that, and are told the same column nonetheless.
TEST(TensorAllocation, BothCtasOfAPairGetTheSameColumns) {
  const std::string code = kMeet + alloc("@%p0", "a", 128) + alloc("@%p0", "b", 128) + "bar.sync 0;\n" +
                           dealloc("@%p1", "a", 128) + alloc("@%p0", "c", 128) + "bar.sync 0;\n" +
                           "ld.shared.b32 %r5, [c];\n@%p0 st.global.b32 [%a0], %r5;\n" + kMeet +
                           dealloc("@%p0", "b", 128) + dealloc("@%p0", "c", 128);
  std::set<uint32_t> columns;
  for (const uint32_t ctas : {2u, 4u})
    for (const run::Schedule& s : schedules_of_allocation()) {
      const AllocationOutcome o = run_pairs(code, ctas, s);
      ASSERT_EQ(o.what, "") << ctas << " CTAs, seed " << s.seed;
      for (uint32_t rank = 0; rank < ctas; rank += 2) {
        EXPECT_EQ(o.out[rank], o.out[rank + 1]) << ctas << " CTAs, seed " << s.seed;
        columns.insert(o.out[rank]);
      }
    }
  EXPECT_EQ(columns, (std::set<uint32_t>{0, 256}));  // both are tried
}

// Columns that the other CTA still holds are waited for, by both.
TEST(TensorAllocation, APairWaitsUntilBothHaveRoom) {
  const std::string code = kMeet + alloc("@%p0", "a", 512) + "bar.sync 0;\n" + alloc("@%p0", "b", 512) +
                           dealloc("@%p1", "a", 512) + "bar.sync 0;\nld.shared.b32 %r5, [b];\n" +
                           "@%p0 st.global.b32 [%a0], %r5;\n" + kMeet + dealloc("@%p0", "b", 512);
  for (const run::Schedule& s : schedules_of_allocation())
    EXPECT_EQ(run_pairs(code, 2, s).what, "") << s.seed;
}

TEST(TensorAllocation, APairThatDoesNotAllocateTogetherIsNamed) {
  const std::string one = run_pairs(kMeet + alloc("@%p0", "a", 32) + "bar.sync 0;\n", 2, {}).what;
  EXPECT_NE(one.find("the CTA ends with columns 0 to 31"), std::string::npos) << one;
  const std::string never =
      run_pairs("and.pred %p3, %p0, %p2;\n" + alloc("@%p3", "a", 32) + kMeet, 2, {}).what;
  EXPECT_NE(never.find("deadlock"), std::string::npos) << never;
  EXPECT_NE(never.find("for the tcgen05.alloc of the pair's other CTA"), std::string::npos) << never;
  const std::string other =
      run_pairs(
          "mov.u32 %r6, 32;\n@%p2 mov.u32 %r6, 64;\n@%p0 tcgen05.alloc.cta_group::2.sync.aligned"
          ".shared::cta.b32 [a], %r6;\n",
          2, {})
          .what;
  EXPECT_NE(other.find("where the pair's other CTA asks for 64"), std::string::npos) << other;
}

// Whoever of a pair has given columns and permit back may end, also while the other has not done so yet.
TEST(TensorAllocation, TheOtherCtaMayEndOnceItHasGivenBack) {
  const std::string permit = "@%p0 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n";
  const std::string begin = kMeet + alloc("@%p0", "a", 32);
  for (const std::string& end :
       {permit + kMeet + dealloc("@%p0", "a", 32), kMeet + dealloc("@%p0", "a", 32) + permit,
        kMeet + permit + dealloc("@%p0", "a", 32)})
    for (const uint32_t ctas : {2u, 4u})
      for (const run::Schedule& s : schedules_of_allocation())
        EXPECT_EQ(run_pairs(begin + end, ctas, s).what, "") << end << "seed " << s.seed;
  // One that ends without is no peer any more.
  const std::string gone =
      run_pairs(begin + kMeet + dealloc("@%p0", "a", 32) + "@%p2 ret;\n" + permit, 2, {}).what;
  EXPECT_NE(gone.find("whose other CTA, of rank 0, has ended"), std::string::npos) << gone;
}

}  // namespace
}  // namespace bitwell::isa
