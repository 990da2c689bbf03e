// Cluster launch control (PTX ISA 9.0, 9.7.13.18 and 9.7.13.19): every cluster's work is done once, by
// whoever runs or takes it.
#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"
#include "../../uses_against.h"

namespace bitwell::isa {
namespace {

// The leading thread of each CTA does its cluster's work, asks for another and goes on with that one until
// there is none. The work of CTA (x, y, z) of the grid: out[4 * i] += 1 at its linear index i,
// out[4 * i + 1] = the linear index of the CTA that did it. `multicast`: rank 0 asks for all.
std::string persistent(bool multicast, const std::string& after = "", const std::string& before = "") {
  const std::string request =
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" +
      std::string(multicast ? ".multicast::cluster::all" : "") + ".b128 [response], [bar];\n";
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<24>;\n.reg .b64 %a<8>;\n.reg .b128 %q<4>;\n"
         ".shared .align 16 .b8 response[16];\n.shared .align 8 .b8 bar[8];\n"
         "ld.param.u64 %a0, [out];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ctaid.z;\n"
         "mov.u32 %r3, %cluster_ctaid.x;\nmov.u32 %r4, %cluster_ctaid.y;\nmov.u32 %r5, %nctaid.x;\n"
         "mov.u32 %r6, %nctaid.y;\nmov.u32 %r7, %cluster_ctarank;\n"
         "mad.lo.u32 %r8, %r2, %r6, %r1;\nmad.lo.u32 %r8, %r8, %r5, %r0;\n"  // own linear index
         "mov.u32 %r10, 0;\nmbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" +
         before +
         "WORK:\n"
         "mad.lo.u32 %r9, %r2, %r6, %r1;\nmad.lo.u32 %r9, %r9, %r5, %r0;\n"
         "mul.wide.u32 %a1, %r9, 16;\nadd.u64 %a1, %a0, %a1;\nred.global.add.u32 [%a1], 1;\n"
         "st.global.u32 [%a1+4], %r8;\n"
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n" +
         (multicast ? "setp.ne.u32 %p1, %r7, 0;\n@%p1 bra WAIT;\n" : "") + request +
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], %r10;\n@!%p0 bra WAIT;\n"
         "xor.b32 %r10, %r10, 1;\nld.shared.b128 %q0, [response];\nmov.b128 %q1, %q0;\n"
         "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q1;\n@!%p0 bra END;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r2, _}, %q1;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r11, %q1;\nsub.u32 %r11, %r11, "
         "%r0;\n"
         "add.u32 %r0, %r0, %r11;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r11, %q1;\nsub.u32 %r11, %r11, "
         "%r1;\n"
         "add.u32 %r0, %r0, %r11;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r11, %q1;\nsub.u32 %r11, %r11, "
         "%r2;\n"
         "add.u32 %r0, %r0, %r11;\n"
         "add.u32 %r0, %r0, %r3;\nadd.u32 %r1, %r1, %r4;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nbra WORK;\nEND:\n" +
         after + "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n}\n";
}

struct Outcome {
  std::string what;
  std::vector<uint32_t> out;
  std::vector<run::Progress> progress;
};
Outcome run(const std::string& text, const run::Shape& shape, run::Schedule schedule = {},
            bool strict = false) {
  launch::Launch l;
  l.entry = "k";
  l.shape = shape;
  const size_t ctas = size_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  l.add_buffer({"out", std::vector<std::byte>(16 * ctas), true, false, true});
  Outcome o;
  try {
    run::Options options;
    options.schedule = schedule;
    options.strict = strict;
    options.progress = [&](const run::Progress& p) { o.progress.push_back(p); };
    test::run_ptx(text, l, options);
    o.out.resize(4 * ctas);
    std::memcpy(o.out.data(), l.buffers[0].bytes.data(), l.buffers[0].bytes.size());
  } catch (const machine::Fault& e) {
    o.what = e.what();
  }
  return o;
}
run::Shape shape(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> cluster = {1, 1, 1}) {
  return {grid, {1, 1, 1}, cluster, 0};
}

void expect_all_done_once(const Outcome& o) {
  ASSERT_EQ(o.what, "");
  for (size_t i = 0; i < o.out.size() / 4; ++i) EXPECT_EQ(o.out[4 * i], 1u) << "CTA " << i;
}

TEST(ClusterLaunch, TheFirstClusterTakesAllThatHaveNotStarted) {
  const Outcome o = run(persistent(false), shape({3, 2, 4}));
  expect_all_done_once(o);
  for (size_t i = 0; i < o.out.size() / 4; ++i) EXPECT_EQ(o.out[4 * i + 1], 0u) << "CTA " << i;
  ASSERT_FALSE(o.progress.empty());
  EXPECT_EQ(o.progress.size(), 1u) << "one cluster ran";
  EXPECT_EQ(o.progress.back().done, 24u);
  EXPECT_EQ(o.progress.back().all, 24u);
}

TEST(ClusterLaunch, AMulticastResponseReachesEveryCtaOfTheCluster) {
  for (const std::array<uint32_t, 3> cluster : {std::array<uint32_t, 3>{2, 1, 1}, {2, 2, 1}, {1, 4, 1}}) {
    const Outcome o = run(persistent(true), shape({4, 4, 2}, cluster));
    expect_all_done_once(o);
    // The same rank of the first cluster has done what that rank of each other had to do.
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(o.out[4 * i + 1], i % cluster[0] + 4 * (i / 4 % 4 % cluster[1])) << "CTA " << i;
    EXPECT_EQ(o.progress.back().done, 32u);
  }
}

TEST(ClusterLaunch, TouchesWhatItsUsesSay) {
  for (const bool multicast : {false, true}) {
    launch::Launch l;
    l.entry = "k";
    l.shape = shape({4, 1, 1}, {multicast ? 2u : 1u, 1, 1});
    l.add_buffer({"out", std::vector<std::byte>(16 * 4), true, false, true});
    const test::Module module = test::module_of(persistent(multicast));
    const std::shared_ptr<const Program> program = module->program("k");
    test::UsesAgainst against(*program);
    run::Options options;
    options.observers.push_back(against.observer());
    test::run_ptx(module, l, options);
    EXPECT_EQ(against.wrong(), "");
    EXPECT_EQ(against.unseen(), "");
  }
}

// Under random schedules some requests come too late, and later clusters run themselves.
TEST(ClusterLaunch, WhoeverDoesIt) {
  size_t workers = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Outcome o = run(persistent(true), shape({16, 1, 1}, {2, 1, 1}), {run::Policy::random, seed});
    expect_all_done_once(o);
    EXPECT_EQ(o.progress.back().done, 16u);
    std::array<bool, 16> did{};
    for (size_t i = 0; i < 16; ++i) did[o.out[4 * i + 1]] = true;
    for (size_t i = 2; i < 16; i += 2) workers += did[i];
  }
  EXPECT_GT(workers, 40u) << "later clusters hardly ever work";
  for (const run::Policy policy :
       {run::Policy::eager, run::Policy::starve_producer, run::Policy::starve_consumer})
    expect_all_done_once(run(persistent(true), shape({8, 1, 1}, {2, 1, 1}), {policy, 0}));
}

void expect_fault(const std::string& text, const std::string& part, const run::Shape& s = shape({1, 1, 1})) {
  const Outcome o = run(text, s);
  EXPECT_NE(o.what.find(part), std::string::npos) << o.what;
}
constexpr const char* kRequest =
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 ";

// The CuTe DSL's persistent kernels get it before they look whether they may.
TEST(ClusterLaunch, WhatAFailedRequestGivesIsNoValue) {
  for (const char* part : {"::x", "::y", "::z"}) {
    const std::string get =
        "clusterlaunchcontrol.query_cancel.get_first_ctaid" + std::string(part) + ".b32.b128 %r0, %q0;\n";
    EXPECT_EQ(run(persistent(false, get), shape({1, 1, 1})).what, "") << part;
    EXPECT_EQ(run(persistent(false, get + "selp.u32 %r1, %r0, 7, %p0;\nst.global.u32 [%a0+4], %r1;\n"),
                  shape({1, 1, 1}))
                  .out.at(1),
              7u)
        << part;
    expect_fault(persistent(false, get + "st.global.u32 [%a0], %r0;\n"), "never written");
    const Outcome strict = run(persistent(false, get), shape({1, 1, 1}), {}, true);
    EXPECT_NE(strict.what.find("get_first_ctaid of a request that has failed"), std::string::npos)
        << strict.what;
  }
}

// CUTLASS's pingpong kernels (its example 79b) have one warpgroup write them for the other.
TEST(ClusterLaunch, ZerosCountAsARequestThatHasFailed) {
  const std::string ask =
      "mov.b64 %a5, 0;\nmov.b128 %q0, {%a5, %a5};\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q0;\n"
      "selp.u32 %r20, 1, 2, %p0;\nst.global.u32 [%a0+4], %r20;\n";
  const Outcome o = run(persistent(false, ask), shape({1, 1, 1}));
  EXPECT_EQ(o.what, "");
  EXPECT_EQ(o.out.at(1), 2u);
  // Zeros before the first request are no end of the launches: it takes over all others as without them.
  const Outcome asked = run(persistent(false, "", ask), shape({3, 1, 1}));
  expect_all_done_once(asked);
  EXPECT_EQ(asked.progress.size(), 1u) << "one cluster ran";
  const Outcome strict = run(persistent(false, "", ask), shape({1, 1, 1}), {}, true);
  EXPECT_NE(strict.what.find("16 bytes of zeros"), std::string::npos) << strict.what;
}

TEST(ClusterLaunch, WhatIsUndefinedIsAFault) {
  expect_fault(persistent(false, std::string(kRequest) + "[response], [bar];\n"), "has seen one fail");
  expect_fault(persistent(false,
                          "mov.b128 %q0, {%a0, %a0};\n"
                          "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q0;\n"),
               "no response of clusterlaunchcontrol.try_cancel");
  expect_fault(persistent(false, "",
                          "ld.shared.b128 %q0, [response];\n"
                          "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q0;\n"),
               "a response");
  expect_fault(persistent(false, "", std::string(kRequest) + "[response+8], [bar];\n"),
               "not a multiple of 16");
  expect_fault(persistent(false, "", std::string(kRequest) + "[response], [bar+4];\n"),
               "not a multiple of 8");
  expect_fault(persistent(false, "", std::string(kRequest) + "[response], [response+8];\n"), "no mbarrier");
  expect_fault(persistent(false, "", std::string(kRequest) + "[bar], [bar];\n"), "writes over an mbarrier");
  // The response may come at any time: what waits for nothing reads nothing.
  expect_fault(persistent(false, "",
                          std::string(kRequest) + "[response], [bar];\nld.shared.b128 %q0, [response];\n"
                                                  "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 "
                                                  "%p0, %q0;\n"),
               "whose first phase has not ended");
  expect_fault(persistent(false, "", std::string(kRequest) + "[response], [bar];\nret;\n"),
               "ended without waiting");
  expect_fault(
      persistent(false, "", std::string(kRequest) + "[response], [bar];\nst.shared.u32 [response+4], 0;\n"),
      "still to write");
  // Rank 1 is gone by the time that rank 0 asks for both.
  expect_fault(persistent(true, "",
                          "setp.ne.u32 %p3, %r7, 0;\n@%p3 ret;\nmov.u32 %r20, 0;\n"
                          "AGAIN:\nadd.u32 %r20, %r20, 1;\nsetp.lt.u32 %p3, %r20, 10000;\n@%p3 bra AGAIN;\n"
                          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                          ".multicast::cluster::all.b128 [response], [bar];\n"),
               "for all CTAs of the cluster, of which rank 1 has ended", shape({2, 1, 1}, {2, 1, 1}));
}

TEST(ClusterLaunch, TheFourthCoordinateIsNoValue) {
  std::string text = persistent(false);
  const std::string from = "{%r0, %r1, %r2, _}, %q1;\n";
  text.replace(text.find(from), from.size(), "{%r0, %r1, %r2, %r20}, %q1;\nst.global.u32 [%a1+8], %r20;\n");
  expect_fault(text, "a value that was never written is used as an output", shape({2, 1, 1}));
}

// Registers of 128 bits: what they hold, bit by bit, through memory and moves.
TEST(WideRegisters, HoldWhatWasLoaded) {
  const std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .b128 %q<6>;\n.reg .s16 %h;\n"
      ".shared .align 16 .b8 sm[1024];\nld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\n"
      "mul.lo.u32 %r1, %r0, 16;\nmov.u32 %r2, sm;\nadd.u32 %r2, %r2, %r1;\n"
      "mul.lo.u32 %r4, %r0, 3;\nst.shared.v4.u32 [%r2], {%r0, %r4, 7, 0xFFFFFFFE};\n"
      "ld.shared.b128 %q0, [%r2];\nsetp.lt.u32 %p0, %r0, 16;\nmov.b128 %q1, %q0;\n"
      "mov.b128 %q5, {%a0, %a0};\nsetp.eq.u32 %p1, %r0, 40;\n@%p1 mov.b128 %q1, %q5;\n"
      "@%p0 mov.b128 {%a1, %a2}, %q1;\n@%p0 mov.b128 %q1, {%a2, %a1};\n"
      "mul.wide.u32 %a3, %r0, 64;\nadd.u64 %a3, %a0, %a3;\nst.global.b128 [%a3], %q1;\n"
      // Registers wider than the type: zeros or the sign above.
      "ld.shared.b32 %q2, [%r2+12];\nst.global.b128 [%a3+16], %q2;\n"
      "ld.shared.v2.b64 {%q3, %q4}, [%r2];\nst.global.b128 [%a3+32], %q4;\n"
      "st.global.b64 [%a3+48], %q0;\nst.global.b32 [%a3+56], %q1;\nst.global.u32 [%a3+60], 0;\nret;\n}\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(64 * 32), true, false, true});
  test::run_ptx(text, l);
  std::vector<uint32_t> out(16 * 32);
  std::memcpy(out.data(), l.buffers[0].bytes.data(), 64 * 32);
  for (uint32_t t = 0; t < 32; ++t) {
    const std::array<uint32_t, 4> plain{t, 3 * t, 7, 0xFFFFFFFE};
    const std::array<uint32_t, 4> swapped{7, 0xFFFFFFFE, t, 3 * t};
    const std::array<uint32_t, 4> first = t < 16 ? swapped : plain;
    const std::array<uint32_t, 16> want{first[0], first[1], first[2], first[3],   0xFFFFFFFE, 0,
                                        0,        0,        7,        0xFFFFFFFE, 0,          0,
                                        t,        3 * t,    first[0], 0};
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(out[16 * t + i], want[i]) << "thread " << t << ", word " << i;
  }
}

}  // namespace
}  // namespace bitwell::isa
