// Where clusters are told of apart, the race check is not told of reads of what nobody changes. What it finds
// is what it finds where one check is told of every access in order, to the numbers of the accesses.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "apart.h"
#include "model/machine/memory/memory.h"

namespace bitwell::hazard::passed_over {
namespace {

// The first sixteen are told of every access: what they only read counts as only read from then on.
constexpr uint32_t kCtas = 40;
constexpr size_t kOwn = 256;  // bytes of a CTA's own

// Two warps a CTA; %r0 is its number, %p0 holds in warp 0. %a0 is what all may reach, %a1 the CTA's own, %a2
// and %a3 the thread's word in the one and in the other.
launch::Launch launch_of(const std::string& body, bool read_only = false) {
  launch::Launch out;
  out.module = test::module_of(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 table, .param .u64 own, .param .align 128 .b8 rows[128])\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %a<6>;\n.reg .pred %p<8>;\n"
      ".shared .align 128 .b8 word[512];\n.shared .align 8 .b64 barrier;\n"
      "mov.b64 %a5, rows;\ncvta.param.u64 %a5, %a5;\n"
      "ld.param.u64 %a0, [table];\nld.param.u64 %a1, [own];\nmov.u32 %r0, %ctaid.x;\n"
      "mul.wide.u32 %a4, %r0, " +
      std::to_string(kOwn) +
      ";\nadd.u64 %a1, %a1, %a4;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 32;\n"
      "mul.wide.u32 %a4, %r1, 4;\nadd.u64 %a2, %a0, %a4;\nadd.u64 %a3, %a1, %a4;\n"
      "mov.u32 %r2, 0;\ncount: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 400;\n@%p1 bra count;\n" +
      body + "ret;\n}\n");
  out.ptx = "k.ptx";
  out.entry = "k";
  out.shape.grid = {kCtas, 1, 1};
  out.shape.block = {64, 1, 1};
  out.add_buffer({"table", std::vector<std::byte>(kOwn), true, read_only, false});
  out.add_buffer({"own", std::vector<std::byte>(kCtas * kOwn), true, false, true});
  machine::TensorMap rows;  // of 32 bytes each
  rows.rank = 2;
  rows.dims = {64, 4, 1, 1, 1};
  rows.strides = {0, 64, 0, 0, 0};
  rows.box = {32, 4, 1, 1, 1};
  out.add_tensor_map(0, rows);
  return out;
}

// Apart on one and on seven threads as in order; returns that on seven.
End same(const launch::Launch& launch, const std::string& what) {
  const End in_order = ended(launch, false, 0);
  End out;
  for (const unsigned threads : {1U, 7U}) {
    out = ended(launch, false, threads);
    EXPECT_TRUE(out.as(in_order)) << what << "\n"
                                  << threads << " threads, " << out.host.why_not_all << "\n"
                                  << out.found << out.fault << "\nin order\n"
                                  << in_order.found << in_order.fault;
  }
  return out;
}

const std::string kRace = "@%p0 st.shared.u32 [word], %r0;\n@!%p0 ld.shared.u32 %r4, [word];\n";
const std::string kReads = "ld.global.u32 %r3, [%a2];\n@%p0 ld.global.nc.u32 %r3, [%a2+128];\n";

// The accesses of a race are told by their numbers among all: those that are passed over count.
TEST(PassedOver, CountAllTheSame) {
  for (const bool read_only : {false, true}) {
    const End got = same(launch_of(kReads + kRace + kReads + kRace, read_only), "");
    EXPECT_EQ(got.host.clusters, kCtas) << got.host.why_not_all;
    EXPECT_NE(got.found, "");
  }
}

// What copies read counts by its rows: of a tensor, and by each thread.
TEST(PassedOver, CountWhatCopiesRead) {
  const std::string copies =
      "mov.u32 %r5, barrier;\nmov.u32 %r6, word;\nsetp.eq.u32 %p2, %r1, 0;\n"
      "@%p2 mbarrier.init.shared.b64 [%r5], 1;\n@%p2 fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "@%p0 st.shared.u32 [word+64], %r0;\n"
      "mov.u32 %r7, 0;\n@%p2 "
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%r6], [%a5, {%r7, %r7}], [%r5];\n"
      "@%p2 mbarrier.arrive.expect_tx.shared.b64 %a4, [%r5], 128;\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r5], 0;\n@!%p3 bra wait;\n"
      "@%p0 cp.async.ca.shared.global [word+256], [%a2], 4;\ncp.async.wait_all;\n";
  for (const bool read_only : {false, true}) {
    const End got = same(launch_of(kReads + kRace + "bar.sync 0;\n" + copies + kRace, read_only), "");
    EXPECT_EQ(got.fault, "");
    EXPECT_EQ(got.host.clusters, kCtas) << got.host.why_not_all;
    EXPECT_NE(got.found.find("operation-race"), std::string::npos) << got.found;
  }
}

// Nothing is kept of them.
TEST(PassedOver, TakeNoRoom) {
  const std::string body = "st.global.u32 [%a3], %r0;\nld.global.u32 %r3, [%a2];\n";
  const End told = same(launch_of(body), ""), passed = same(launch_of(body, true), "");
  EXPECT_EQ(told.host.clusters, kCtas);
  EXPECT_EQ(told.cost.touched, passed.cost.touched + kOwn);
  EXPECT_LT(passed.cost.shadow, told.cost.shadow);
}

// CTA 30 alone changes what all have read before it: the race is its own, or with those behind it, or none.
TEST(PassedOver, WhatIsChangedAfterAll) {
  const std::string late =
      "setp.eq.u32 %p2, %r0, 30;\nsetp.eq.and.u32 %p3, %r0, 30, %p0;\n"
      "setp.eq.and.u32 %p4, %r0, 30, !%p0;\nsetp.gt.u32 %p5, %r0, 30;\n";
  struct Case {
    std::string body;
    bool races;
  };
  const Case cases[] = {
      {kReads + late + "@%p3 st.global.u32 [%a0], %r0;\n@%p4 ld.global.u32 %r4, [%a0];\n", true},
      {kReads + late + "@%p4 ld.global.u32 %r4, [%a0];\n@%p3 st.global.u32 [%a0], %r0;\n", true},
      {"@%p0 ld.global.u32 %r3, [%a2];\n" + late +
           "@%p3 st.global.u32 [%a0+252], %r0;\n@%p5 ld.global.u32 %r4, [%a0+252];\n",
       true},
      {"@%p0 ld.global.u32 %r3, [%a2];\n" + late + "@%p3 st.global.u32 [%a0+252], %r0;\n", false},
      {"@%p0 ld.global.u32 %r3, [%a2];\n" + late + "@%p3 red.global.add.u32 [%a0+252], 1;\n", false},
      {kReads + late + "@%p3 red.global.add.u32 [%a2], 1;\n", true}};
  for (const Case& c : cases) {
    const End got = same(launch_of(c.body), c.body);
    EXPECT_EQ(got.found != "", c.races) << c.body;
    EXPECT_EQ(got.host.clusters, 0U) << c.body;
  }
}

// Loads, stores and barriers by chance, of which some change what all read.
TEST(PassedOver, AsInOrderWhateverComes) {
  uint32_t state = 1;
  const auto chance = [&](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  size_t apart = 0, in_order = 0, found_apart = 0, found_in_order = 0;
  for (int round = 0; round < 120; ++round) {
    std::string body;
    const bool changes = chance(3) == 0;
    for (uint32_t i = 0; i < 14; ++i) {
      const std::string word = std::to_string(4 * chance(32)), cta = std::to_string(chance(kCtas));
      if (chance(5) == 0) {
        body += "bar.sync 0;\n";
        continue;
      }
      const char* const ctas[] = {"ge", "lt", "eq"};
      const char* const warps[] = {", %p0", ", !%p0"};
      const bool all_warps = chance(3) == 0;
      body += "setp." + std::string(ctas[chance(3)]) + (all_warps ? "" : ".and") + ".u32 %p2, %r0, " + cta +
              (all_warps ? "" : warps[chance(2)]) + ";\n@%p2 ";
      const bool table = chance(2) == 0, each = chance(2) == 0;
      const std::string of = table  ? each ? "[%a2]" : "[%a0+" + word + "]"
                             : each ? "[%a3]"
                                    : "[%a1+" + word + "]";
      if (table && chance(6) == 0)
        body += "cp.async.ca.shared.global [word+" + word + "], " + of + ", 4;\n" +
                (chance(2) == 0 ? "cp.async.wait_all;\n" : "");
      else if (chance(6) == 0)
        body += chance(2) == 0 ? "st.shared.u32 [word], %r0;\n" : "ld.shared.u32 %r3, [word];\n";
      else if (table ? changes && chance(6) == 0 : chance(3) == 0)
        body += "st.global.u32 " + of + ", %r0;\n";
      else
        body += (table && chance(3) == 0 ? "ld.global.nc.u32 %r3, " : "ld.global.u32 %r3, ") + of + ";\n";
    }
    const End got = same(launch_of(body), body);
    ++(got.host.clusters != 0 ? apart : in_order);
    if (got.found != "") ++(got.host.clusters != 0 ? found_apart : found_in_order);
  }
  std::cout << apart << " apart, " << found_apart << " with findings; " << in_order << " in order, "
            << found_in_order << " with findings\n";
  EXPECT_GE(found_apart, 10U);
  EXPECT_GE(found_in_order, 10U);
}

}  // namespace
}  // namespace bitwell::hazard::passed_over
