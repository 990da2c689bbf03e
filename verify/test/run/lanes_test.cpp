// What each thread of a warp gets of instructions that look at its place or at the other threads (PTX
// ISA 9.0, 9.7.9.5 to 9.7.9.7, 9.7.13.1 to 9.7.13.11, chapter 10). Expected values: the manual's pseudocode,
// written out for a lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>

#include "../kernel.h"

namespace bitwell::run {
namespace {

constexpr uint32_t kUntouched = 0xABCDEF01;

// Runs `body` in `ctas` clusters of so many CTAs of `threads`; it leaves a thread's word in %r9, which is
// kUntouched before. %r0 is the thread's number in its CTA, %p1 whether it is odd. The words of all CTAs.
std::vector<uint32_t> run(const std::string& body, uint32_t threads = 32,
                          std::array<uint32_t, 3> cluster = {1, 1, 1}, uint32_t ctas = 1) {
  const std::array<uint32_t, 3> grid{cluster[0] * ctas, cluster[1], cluster[2]};
  const test::Left left =
      test::Kernel{
          .module = ".global .align 8 .b8 gv[64]; .const .align 8 .b8 cv[64];",
          .parameters = ".param .u64 out",
          .registers =
              ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .b64 %a<4>; "
              ".reg .b128 %q<2>;",
          .shared = ".shared .align 16 .b8 sv[64]; .local .align 16 .b8 lv[64];",
          .start =
              "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r16, %ctaid.z;\nmov.u32 %r15, "
              "%nctaid.y;\n"
              "mov.u32 %r18, %ctaid.y;\nmad.lo.u32 %r18, %r16, %r15, %r18;\nmov.u32 %r15, %nctaid.x;\n"
              "mov.u32 %r16, %ctaid.x;\nmad.lo.u32 %r18, %r18, %r15, %r16;\nmov.u32 %r19, %ntid.x;\n"
              "mad.lo.u32 %r18, %r18, %r19, %r0;\nmul.wide.u32 %a1, %r18, 4;\nadd.u64 %a1, %a0, %a1;\n"
              "and.b32 %r17, %r0, 1;\nsetp.ne.u32 %p1, %r17, 0;\nmov.u32 %r9, " +
              std::to_string(kUntouched) + ";\n",
          .body = body,
          .finish = "st.global.u32 [%a1], %r9;",
          .shape = {.grid = grid, .block = {threads, 1, 1}, .cluster = cluster, .non_portable_cluster = true},
          .buffers = {test::output(size_t{4} * threads * grid[0] * grid[1] * grid[2])}}
          .held();
  return left.all<uint32_t>(0);
}

void expect_lanes(const std::string& body, const std::function<uint32_t(uint32_t)>& wanted,
                  uint32_t threads = 32) {
  const std::vector<uint32_t> got = run(body, threads);
  for (uint32_t lane = 0; lane < got.size(); ++lane)
    EXPECT_EQ(got[lane], wanted(lane)) << body << ", thread " << lane;
}

constexpr uint32_t kOdd = 0xAAAAAAAA;

TEST(Lanes, MasksAreOfTheLanesBelowAndAbove) {
  expect_lanes("mov.u32 %r9, %lanemask_eq;", [](uint32_t n) { return 1u << n; });
  expect_lanes("mov.u32 %r9, %lanemask_lt;", [](uint32_t n) { return (1u << n) - 1; });
  expect_lanes("mov.u32 %r9, %lanemask_le;",
               [](uint32_t n) { return static_cast<uint32_t>((uint64_t{2} << n) - 1); });
  expect_lanes("mov.u32 %r9, %lanemask_ge;", [](uint32_t n) { return ~((1u << n) - 1); });
  expect_lanes("mov.u32 %r9, %lanemask_gt;",
               [](uint32_t n) { return ~static_cast<uint32_t>((uint64_t{2} << n) - 1); });
  expect_lanes(
      "mov.u32 %r9, %laneid;", [](uint32_t n) { return n % 32; }, 64);
  expect_lanes(
      "mov.u32 %r9, %warpid;", [](uint32_t n) { return n / 32; }, 64);
}

// ptxas 13.0 takes them; its machine code has the low bits (R2 as SR_LANEID, then PRMT 0x8880 for .s8).
TEST(Lanes, NarrowReadsOfSpecialRegistersAreOfTheirLowBits) {
  const auto wide = [](const std::string& read) { return "mov.u32 %r9, 0;\n" + read; };
  for (const char* type : {"u16", "s16", "b16"})
    expect_lanes(
        "mov." + std::string(type) + " %h1, %tid.x;\ncvt.u32.u16 %r9, %h1;", [](uint32_t n) { return n; },
        320);
  for (const char* one : {"%ctaid.y", "%gridid"})
    expect_lanes(wide("mov.u16 %h1, " + std::string(one) + ";\ncvt.u32.u16 %r9, %h1;"),
                 [](uint32_t) { return 0u; });
  expect_lanes(
      "mov.u16 %h1, %ntid.x;\nmov.u16 %h2, %nctaid.z;\nmov.b32 %r9, {%h1, %h2};",
      [](uint32_t) { return 320u | 1u << 16; }, 320);
  expect_lanes(
      "cvt.u32.u16 %r9, %tid.x;", [](uint32_t n) { return n; }, 320);
  expect_lanes(
      "cvt.u32.u8 %r9, %tid.x;", [](uint32_t n) { return n % 256; }, 320);
  expect_lanes(
      "cvt.s32.s8 %r9, %tid.x;", [](uint32_t n) { return static_cast<uint32_t>(static_cast<int8_t>(n)); },
      320);
  expect_lanes("cvt.u32.u16 %r9, %lanemask_ge;", [](uint32_t n) { return ~((1u << n) - 1) & 0xFFFFu; });
  expect_lanes("cvt.s32.s16 %r9, %lanemask_eq;", [](uint32_t n) {
    return n == 15 ? 0xFFFF8000u : n < 15 ? 1u << n : 0u;
  });
  expect_lanes("cvt.u32.u8 %r9, %envreg3;", [](uint32_t) { return 0u; });
  expect_lanes("cvt.u32.u16 %r9, %reserved_smem_offset_cap;", [](uint32_t) { return 1024u; });
  for (const char* refused : {"mov.u16 %h1, %laneid;", "mov.u16 %h1, %clock;", "mov.u16 %h1, %clusterid.x;",
                              "add.u16 %h1, %h1, %tid.x;", "cvt.u64.u64 %d1, %tid.x;"})
    EXPECT_THROW(run(refused), machine::InputError) << refused;
}

TEST(Lanes, TheActiveMaskIsOfThoseThatExecuteIt) {
  expect_lanes("activemask.b32 %r9;", [](uint32_t) { return ~0u; });
  expect_lanes(
      "activemask.b32 %r9;", [](uint32_t) { return 0xFFFu; }, 12);
  expect_lanes("@%p1 activemask.b32 %r9;", [](uint32_t n) { return n % 2 != 0 ? kOdd : kUntouched; });
}

TEST(Lanes, OneIsElected) {
  const std::string odd_lead = "setp.ne.u32 %p2, %r0, 99;\n@%p1 elect.sync %r9|%p2, 0xAAAAAAAA;\n";
  expect_lanes("elect.sync %r9|%p2, -1;", [](uint32_t) { return 0u; });
  expect_lanes(odd_lead, [](uint32_t n) { return n % 2 != 0 ? 1 : kUntouched; });
  expect_lanes(odd_lead + "selp.u32 %r9, 1, 0, %p2;",
               [](uint32_t n) { return n % 2 == 0 || n == 1 ? 1u : 0u; });
  expect_lanes("elect.sync _|%p2, -1;\nselp.u32 %r9, 1, 0, %p2;",
               [](uint32_t n) { return n == 0 ? 1u : 0u; });
}

TEST(Lanes, VotesAreOfTheMembersAlone) {
  const auto voted = [](const std::string& mode, const std::string& predicate, const std::string& guard = "",
                        const std::string& members = "-1") {
    return "setp.ne.u32 %p2, %r0, 99;\nsetp.eq.u32 %p3, %r0, 99;\n" + guard + "vote.sync." + mode +
           ".pred %p4, " + predicate + ", " + members + ";\n" + guard + "selp.u32 %r9, 1, 0, %p4;";
  };
  const auto always = [](uint32_t value) { return [value](uint32_t) { return value; }; };
  const auto odd = [](uint32_t value) {
    return [value](uint32_t n) { return n % 2 != 0 ? value : kUntouched; };
  };
  expect_lanes(voted("all", "%p1"), always(0));
  expect_lanes(voted("all", "%p2"), always(1));
  expect_lanes(voted("all", "!%p3"), always(1));
  expect_lanes(voted("all", "%p1", "@%p1 ", "0xAAAAAAAA"), odd(1));
  expect_lanes(voted("any", "%p1"), always(1));
  expect_lanes(voted("any", "%p3"), always(0));
  expect_lanes(voted("any", "!%p1", "@%p1 ", "0xAAAAAAAA"), odd(0));
  expect_lanes(voted("uni", "%p1"), always(0));
  expect_lanes(voted("uni", "%p2"), always(1));
  expect_lanes(voted("uni", "%p3"), always(1));
  expect_lanes(voted("uni", "!%p2"), always(1));
  expect_lanes("vote.sync.ballot.b32 %r9, %p1, -1;", always(kOdd));
  expect_lanes("vote.sync.ballot.b32 %r9, !%p1, -1;", always(~kOdd));
  expect_lanes("setp.lt.u32 %p2, %r0, 8;\n@%p1 vote.sync.ballot.b32 %r9, %p2, 0xAAAAAAAA;", odd(0xAA));
}

TEST(Lanes, MatchNamesThoseOfTheSameValue) {
  const std::string by_eight = "shr.u32 %r1, %r0, 3;\n";
  expect_lanes(by_eight + "match.any.sync.b32 %r9, %r1, -1;", [](uint32_t n) { return 0xFFu << (n & ~7u); });
  expect_lanes(by_eight + "@%p1 match.any.sync.b32 %r9, %r1, 0xAAAAAAAA;",
               [](uint32_t n) { return n % 2 != 0 ? 0xAAu << (n & ~7u) : kUntouched; });
  expect_lanes("mov.b64 %d1, {7, %r17};\nmatch.any.sync.b64 %r9, %d1, -1;",
               [](uint32_t n) { return n % 2 != 0 ? kOdd : ~kOdd; });
  expect_lanes(by_eight + "match.all.sync.b32 %r9|%p2, %r1, -1;", [](uint32_t) { return 0u; });
  expect_lanes("mov.u32 %r1, 5;\nmatch.all.sync.b32 %r9|%p2, %r1, -1;", [](uint32_t) { return ~0u; });
  for (const bool same : {false, true})
    expect_lanes((same ? "mov.u32 %r1, 5;\n" : by_eight) +
                     "match.all.sync.b32 %r9|%p2, %r1, -1;\nselp.u32 %r9, 1, 0, %p2;",
                 [same](uint32_t) { return same ? 1u : 0u; });
  expect_lanes("@%p1 match.all.sync.b32 %r9|%p2, %r17, 0xAAAAAAAA;",
               [](uint32_t n) { return n % 2 != 0 ? kOdd : kUntouched; });
}

// Of the lower halves, and of the upper ones, which differ here: both are joined with what the predicate was
// before.
TEST(Lanes, PairsOfHalvesMayBeJoinedWithTheirOwnResult) {
  const std::string compared =
      "mov.b32 %r1, 0x3C000000;\nmov.b32 %r2, 0;\nsetp.ne.and.f16x2 %p1|%p2, %r1, %r2, %p1;\n";
  expect_lanes(compared + "selp.u32 %r9, 1, 0, %p1;", [](uint32_t) { return 0u; });
  expect_lanes(compared + "selp.u32 %r9, 1, 0, %p2;", [](uint32_t n) { return n % 2; });
}

TEST(Lanes, ReductionsAreOfTheMembers) {
  // a = 7 n + 3 of the lane n.
  const std::string value = "mad.lo.u32 %r1, %r0, 7, 3;\n";
  const auto over = [](uint32_t mask, const std::function<uint32_t(uint32_t, uint32_t)>& f) {
    std::optional<uint32_t> all;
    for (uint32_t n = 0; n < 32; ++n)
      if ((mask >> n & 1) != 0) all = all ? f(*all, 7 * n + 3) : 7 * n + 3;
    return *all;
  };
  const std::pair<const char*, std::function<uint32_t(uint32_t, uint32_t)>> operations[] = {
      {"add.u32", std::plus<>()},
      {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
      {"max.s32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
      {"and.b32", std::bit_and<>()},
      {"or.b32", std::bit_or<>()},
      {"xor.b32", std::bit_xor<>()}};
  for (const auto& [name, f] : operations) {
    expect_lanes(value + "redux.sync." + name + " %r9, %r1, -1;",
                 [&, &f = f](uint32_t) { return over(~0u, f); });
    expect_lanes(value + "@%p1 redux.sync." + name + " %r9, %r1, 0xAAAAAAAA;",
                 [&, &f = f](uint32_t n) { return n % 2 != 0 ? over(kOdd, f) : kUntouched; });
  }
}

// The manual's pseudocode of shfl.sync.
std::pair<uint32_t, bool> shuffled(const std::string& mode, uint32_t lane, uint32_t b, uint32_t c) {
  const auto segment = static_cast<int>(c >> 8 & 31), clamp = static_cast<int>(c & 31);
  const int n = static_cast<int>(lane), by = static_cast<int>(b & 31);
  const int max_lane = (n & segment) | (clamp & ~segment), min_lane = n & segment;
  int j = 0;
  bool p = false;
  if (mode == "up") p = (j = n - by) >= max_lane;
  if (mode == "down") p = (j = n + by) <= max_lane;
  if (mode == "bfly") p = (j = n ^ by) <= max_lane;
  if (mode == "idx") p = (j = min_lane | (by & ~segment)) <= max_lane;
  return {p ? static_cast<uint32_t>(j) : lane, p};
}

TEST(Lanes, ShufflesTakeTheLaneThatTheManualSays) {
  for (const char* mode : {"up", "down", "bfly", "idx"})
    for (const uint32_t b : {0u, 1u, 5u, 16u, 31u, 33u})
      for (const uint32_t c : {0u, 31u, 0x1C00u, 0x1C1Fu, 0x181Fu, 0x1007u}) {
        const std::string shuffle = "add.u32 %r1, %r0, 100;\nshfl.sync." + std::string(mode) +
                                    ".b32 %r9|%p2, %r1, " + std::to_string(b) + ", " + std::to_string(c) +
                                    ", -1;";
        expect_lanes(shuffle, [&](uint32_t n) { return shuffled(mode, n, b, c).first + 100; });
        expect_lanes(shuffle + "\nselp.u32 %r9, 1, 0, %p2;",
                     [&](uint32_t n) { return shuffled(mode, n, b, c).second ? 1u : 0u; });
      }
}

// Several groups execute one instruction, each with a member mask of its own: those of the same %r0 % groups.
TEST(Lanes, GroupsOfOneInstructionDoNotSeeEachOther) {
  for (const uint32_t groups : {1u, 2u, 3u, 7u, 31u, 32u})
    for (const bool few : {false, true}) {  // all lanes, or those behind the fifth
      const uint32_t first = few ? 5 : 0;
      const std::string own = "rem.u32 %r1, %r0, " + std::to_string(groups) + ";\nsetp.ge.u32 %p3, %r0, " +
                              std::to_string(first) + ";\nvote.sync.ballot.b32 %r3, %p3, -1;\n" +
                              "@%p3 match.any.sync.b32 %r2, %r1, %r3;\n";
      const auto members = [=](uint32_t n) {
        uint32_t out = 0;
        for (uint32_t i = first; i < 32; ++i)
          if (i % groups == n % groups) out |= 1u << i;
        return out;
      };
      const auto of_group = [=](const std::function<uint32_t(uint32_t)>& wanted) {
        return [=](uint32_t n) { return n < first ? kUntouched : wanted(n); };
      };
      // From the highest lane of the group.
      expect_lanes(own +
                       "bfind.u32 %r4, %r2;\nmul.lo.u32 %r5, %r0, 3;\n@%p3 shfl.sync.idx.b32 %r9|%p2, %r5, "
                       "%r4, 31, %r2;",
                   of_group([&](uint32_t n) {
                     return 3 * (31u - static_cast<uint32_t>(std::countl_zero(members(n))));
                   }));
      expect_lanes(own + "@%p3 vote.sync.ballot.b32 %r9, %p1, %r2;",
                   of_group([&](uint32_t n) { return members(n) & kOdd; }));
      expect_lanes(own + "@%p3 redux.sync.add.u32 %r9, %r0, %r2;", of_group([&](uint32_t n) {
                     uint32_t sum = 0;
                     for (uint32_t i = 0; i < 32; ++i) sum += (members(n) >> i & 1) * i;
                     return sum;
                   }));
      expect_lanes(own + "@%p3 match.any.sync.b32 %r9, %r17, %r2;",
                   of_group([&](uint32_t n) { return members(n) & (n % 2 != 0 ? kOdd : ~kOdd); }));
    }
}

TEST(Lanes, BarriersReduceOverAllWarps) {
  const std::string few = "setp.lt.u32 %p2, %r0, 40;\n";
  expect_lanes(
      few + "bar.red.popc.u32 %r9, 1, %p2;", [](uint32_t) { return 40u; }, 96);
  expect_lanes(
      few + "bar.red.popc.u32 %r9, 1, !%p2;", [](uint32_t) { return 56u; }, 96);
  expect_lanes(
      few + "barrier.cta.red.popc.u32 %r9, 2, 96, %p2;", [](uint32_t) { return 40u; }, 96);
  for (const auto& [limit, all, any] : {std::tuple{0, 0u, 0u}, {40, 0u, 1u}, {96, 1u, 1u}}) {
    const std::string some = "setp.lt.u32 %p2, %r0, " + std::to_string(limit) + ";\n";
    expect_lanes(
        some + "bar.red.and.pred %p3, 1, %p2;\nselp.u32 %r9, 1, 0, %p3;",
        [all = all](uint32_t) { return all; }, 96);
    expect_lanes(
        some + "bar.red.or.pred %p3, 1, %p2;\nselp.u32 %r9, 1, 0, %p3;",
        [any = any](uint32_t) { return any; }, 96);
    expect_lanes(
        some + "bar.red.and.pred %p3, 1, !%p2;\nselp.u32 %r9, 1, 0, %p3;",
        [any = any](uint32_t) { return 1 - any; }, 96);
  }
}

TEST(Lanes, ClustersNumberTheirCtas) {
  const std::vector<uint32_t> size = run("mov.u32 %r9, %cluster_nctarank;", 32, {2, 2, 2});
  for (const uint32_t got : size) EXPECT_EQ(got, 8u);
  const std::vector<uint32_t> wide = run("mov.u32 %r9, %cluster_nctarank;", 32, {4, 1, 1}, 2);
  for (const uint32_t got : wide) EXPECT_EQ(got, 4u);
  const std::vector<uint32_t> rank = run("mov.u32 %r9, %cluster_ctarank;", 32, {4, 1, 1}, 2);
  for (size_t n = 0; n < rank.size(); ++n) EXPECT_EQ(rank[n], n / 32 % 4);
  // Each CTA leaves its rank in the shared memory of the next one.
  for (const uint32_t ctas : {1u, 8u, 9u, 13u, 16u}) {
    const std::vector<uint32_t> from =
        run("mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, %cluster_nctarank;\nadd.u32 %r3, %r1, 1;\n"
            "rem.u32 %r3, %r3, %r2;\nmov.u32 %r4, sv;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
            "mapa.shared::cluster.u32 %r5, %r4, %r3;\nst.shared::cluster.u32 [%r5], %r1;\n"
            "barrier.cluster.arrive;\nbarrier.cluster.wait;\nld.shared.u32 %r6, [sv];\n"
            "mad.lo.u32 %r9, %r2, 100, %r6;",
            32, {ctas, 1, 1}, 2);
    for (size_t n = 0; n < from.size(); ++n)
      EXPECT_EQ(from[n], 100 * ctas + (n / 32 + ctas - 1) % ctas) << ctas << " CTAs, thread " << n;
  }
  for (const uint32_t ctas : {1u, 2u})
    for (const uint32_t got :
         run("mov.pred %p2, %is_explicit_cluster;\nselp.u32 %r9, 1, 0, %p2;", 32, {ctas, 1, 1}))
      EXPECT_EQ(got, ctas == 2 ? 1u : 0u);
}

// Which windows a generic address is in: its own space's, and shared memory of the CTA is in the cluster's.
TEST(Lanes, AnAddressIsInItsSpace) {
  const std::pair<const char*, const char*> places[] = {
      {"cvta.global.u64 %d1, gv;", "global"},
      {"mov.u64 %d1, %a0;", "global"},
      {"cvta.shared.u64 %d1, sv;", "shared shared::cta shared::cluster"},
      {"mov.u64 %d2, lv;\ncvta.local.u64 %d1, %d2;", "local"},
      {"cvta.const.u64 %d1, cv;", "const"},
      {"cvta.param.u64 %d1, out;", "param"}};
  for (const auto& [address, spaces] : places)
    for (const std::string space :
         {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"}) {
      const bool in = (" " + std::string(spaces) + " ").find(" " + space + " ") != std::string::npos;
      // By odd threads alone: what others had stays.
      const std::string body = std::string(address) + "\nsetp.eq.u32 %p2, %r0, %r0;\n@%p1 isspacep." + space +
                               " %p2, %d1;\nselp.u32 %r9, 1, 0, %p2;";
      if (space == "param" && in) continue;  // a kernel's parameters are read by another way too
      expect_lanes(body, [in](uint32_t n) { return n % 2 == 0 || in ? 1u : 0u; });
    }
}

TEST(Lanes, AnAddressKeepsItsOffset) {
  expect_lanes("mov.u64 %d1, gv;\nmov.u64 %d2, gv+12;\nsub.u64 %d1, %d2, %d1;\ncvt.u32.u64 %r9, %d1;",
               [](uint32_t) { return 12u; });
  expect_lanes("mov.u32 %r1, sv;\nmov.u32 %r2, sv+12;\nsub.u32 %r9, %r2, %r1;", [](uint32_t) { return 12u; });
  expect_lanes("mov.u64 %d1, lv;\nmov.u64 %d2, lv+12;\nsub.u64 %d1, %d2, %d1;\ncvt.u32.u64 %r9, %d1;",
               [](uint32_t) { return 12u; });
  expect_lanes("mov.u32 %r1, lv;\nmov.u32 %r2, lv+8;\nsub.u32 %r9, %r2, %r1;", [](uint32_t) { return 8u; });
  expect_lanes("mov.u32 %r1, lv;\nst.local.u32 [lv+4], %r0;\nld.local.u32 %r9, [%r1+4];",
               [](uint32_t n) { return n; });
  expect_lanes("st.shared.u32 [sv], 77;\ncvta.shared.u64 %d1, sv;\nld.u32 %r9, [%d1];",
               [](uint32_t) { return 77u; });
  expect_lanes(
      "st.shared.u32 [sv+4], 78;\ncvta.shared.u64 %d1, sv+4;\ncvta.to.shared.u64 %d2, %d1;\nld.shared.u32 "
      "%r9, [%d2];",
      [](uint32_t) { return 78u; });
}

TEST(Lanes, MovesSplitAndJoin) {
  expect_lanes("mov.b32 {%h1, %h2}, 0x12345678;\nmov.b32 %r9, {%h2, %h1};",
               [](uint32_t) { return 0x56781234u; });
  expect_lanes("mov.b64 %d1, {%r0, 7};\nmov.b64 {_, %r9}, %d1;", [](uint32_t) { return 7u; });
  expect_lanes("mov.b64 %d1, {%r0, 7};\nmov.b64 {%h1, %h2, %h3, %h4}, %d1;\nmov.b32 %r9, {%h3, %h1};",
               [](uint32_t n) { return 7u | n << 16; });
  expect_lanes(
      "mov.b64 %d1, {%r0, 7};\nmov.b64 %d2, {9, 11};\nmov.b128 %q0, {%d1, %d2};\nmov.b128 {%d3, %d4}, %q0;\n"
      "mov.b64 {%r1, %r2}, %d3;\nmov.b64 {%r3, %r4}, %d4;\nadd.u32 %r9, %r1, %r2;\nadd.u32 %r9, %r9, "
      "%r3;\nadd.u32 %r9, %r9, %r4;",
      [](uint32_t n) { return n + 27; });
  expect_lanes("mov.pred %p2, 1;\nmov.pred %p3, 0;\n@%p1 mov.pred %p2, %p3;\nselp.u32 %r9, 1, 0, %p2;",
               [](uint32_t n) { return n % 2 != 0 ? 0u : 1u; });
}

}  // namespace
}  // namespace bitwell::run
