// Control as kernels seldom have it: collectives under a guard of which a part waits, requests of one CTA of
// a cluster alone or of its second CTA, an arrival that neither completes nor stays.
#include <gtest/gtest.h>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// Lanes 0 to 7 and lanes 8 to 15 come in the first round, lanes 24 to 31 in the second, where lanes 8 to 15
// wait for them: lanes 16 to 23 never come.
TEST(SeldomControl, APartOfAGuardedCollectiveWaits) {
  for (const run::PolicyName& p : run::kPolicies) {
    test::Kernel k{
        .parameters = ".param .u64 out",
        .registers = ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %a<2>;",
        .start =
            "ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a0, %a0, %a1;\n"
            "and.b32 %r1, %r0, 1; setp.ne.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r0, 8; mov.u32 %r5, "
            "0xFF00FF00;\n"
            "@%p2 mov.u32 %r5, 0xFF; mov.u32 %r4, 5; mov.u32 %r2, 0;",
        .body =
            "again: setp.eq.u32 %p4, %r2, 0; setp.lt.and.u32 %p2, %r0, 16, %p4; not.pred %p4, %p4;\n"
            "setp.ge.and.u32 %p3, %r0, 24, %p4; or.pred %p2, %p2, %p3;\n"
            "@%p2 vote.sync.ballot.b32 %r4, %p1, %r5;\n"
            "add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 2; @%p5 bra again; st.global.u32 [%a0], %r4;",
        .buffers = {test::output(128)}};
    k.options.schedule = {p.policy, 1};
    const test::Left left = k.run();
    ASSERT_EQ(left.end(), "held") << p.name;
    for (uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(left.all<uint32_t>(0)[lane], lane < 8                  ? 0xAAu
                                             : lane >= 16 && lane < 24 ? 5u
                                                                       : 0xAA00AA00u)
          << lane << " " << p.name;
  }
}

// Two clusters of two CTAs; %r0: the rank; %a0: `out`.
test::Left asked_by_two(const std::string& start, const std::string& body, uint64_t bytes) {
  return test::Kernel{.target = "sm_100a",
                      .parameters = ".param .u64 out",
                      .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<2>; .reg .b128 %q;",
                      .shared = ".shared .align 16 .b8 response[16]; .shared .align 8 .b8 bar[8];",
                      .start = "ld.param.u64 %a0, [out]; mov.u32 %r0, %cluster_ctarank;\n" + start,
                      .body = body,
                      .finish = "barrier.cluster.arrive; barrier.cluster.wait;",
                      .shape = {.grid = {4, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}},
                      .buffers = {test::output(bytes)}}
      .run();
}

const char* const kExpects =
    "mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n";
// Whether it was cancelled, and the first CTA's x, at %a0.
const char* const kAnswered =
    "wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra wait;\n"
    "ld.shared.b128 %q, [response];\n"
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q; selp.u32 %r2, 1, 0, %p0;\n"
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q;\n"
    "st.global.v2.u32 [%a0], {%r2, %r3};\n";

// A CTA of a cluster of two asks for itself: the other has no mbarrier there, and gets no response.
TEST(SeldomControl, ARequestOfOneCtaIsItsOwn) {
  for (const std::string asks : {"0", "1"}) {
    const test::Left left = asked_by_two(
        "mov.u32 %r1, 0; setp.ne.u32 %p1, %r0, " + asks + ";\n@%p1 bra other;",
        std::string(kExpects) +
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], "
            "[bar];\n" +
            kAnswered +
            "bra meet;\nother: st.shared.u32 [response], 77; ld.shared.u32 %r1, [response];\n"
            "st.global.u32 [%a0+8], %r1;\nmeet: mov.u32 %r1, 0;",
        12);
    EXPECT_EQ(left.end(), "held") << asks;
    EXPECT_EQ(left.all<uint32_t>(0), (std::vector<uint32_t>{1, 2, 77})) << asks;
  }
}

// Both CTAs get what one of them asked for, whichever it is.
TEST(SeldomControl, ARequestForAllReachesBothFromEither) {
  for (const std::string asks : {"0", "1"}) {
    const test::Left left =
        asked_by_two("mul.wide.u32 %a1, %r0, 8; add.u64 %a0, %a0, %a1;\nsetp.eq.u32 %p1, %r0, " + asks + ";",
                     std::string(kExpects) +
                         "barrier.cluster.arrive; barrier.cluster.wait;\n"
                         "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                         ".multicast::cluster::all.b128 [response], [bar];\n" +
                         kAnswered,
                     16);
    EXPECT_EQ(left.end(), "held") << asks;
    EXPECT_EQ(left.all<uint32_t>(0), (std::vector<uint32_t>{1, 2, 1, 2})) << asks;
  }
}

// Of lanes that ask what a failed request has given the first is told of.
TEST(SeldomControl, TheFirstLaneOfAFailedRequestIsNamed) {
  for (const auto& [guard, lane] : {std::pair{"", 0u}, {"@%p1 ", 1u}, {"@!%p1 ", 0u}}) {
    const test::Kernel k{
        .target = "sm_100a",
        .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a; .reg .b128 %q;",
        .start =
            "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.ne.u32 %p1, %r1, 0; mov.b64 %a, 0; mov.b128 %q, "
            "{%a, %a};\n"
            "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q;",
        .body =
            std::string(guard) + "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q;"};
    const test::Left left = k.run();
    ASSERT_EQ(left.end(), "held");
    size_t found = 0;
    for (const run::Note& n : left.notes) {
      if (n.text.find("get_first_ctaid of a request that has failed") == std::string::npos) continue;
      ++found;
      EXPECT_EQ(n.place.thread, (std::array<uint32_t, 3>{lane, 0, 0})) << guard;
    }
    EXPECT_EQ(found, 1u) << guard;
  }
}

// An arrival that drops and may not complete the phase: one more arrives less in the next (PTX ISA 9.0,
// 9.7.13.16.14).
TEST(SeldomControl, AnArrivalThatDropsAndDoesNotComplete) {
  const test::Kernel k{
      .parameters = ".param .u64 out",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;",
      .shared = ".shared .align 8 .b8 bar[8];",
      .start = "ld.param.u64 %a0, [out]; mov.u32 %r2, 0;",
      .body =
          "mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive_drop.noComplete.shared.b64 %a1, [bar], 1;\n"
          "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;\n"
          "@%p0 or.b32 %r2, %r2, 1;\n"
          "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;\n"
          "@%p0 or.b32 %r2, %r2, 2;\n"
          "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.parity.shared.b64 %p0, [bar], 1;\n"
          "@%p0 or.b32 %r2, %r2, 4;\n"
          "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.parity.shared.b64 %p0, [bar], 1;\n"
          "@%p0 or.b32 %r2, %r2, 8;\nst.global.u32 [%a0], %r2;",
      .shape = {.block = {1, 1, 1}},
      .buffers = {test::output(4)}};
  EXPECT_EQ(k.held().all<uint32_t>(0)[0], 10u);
}

// A product of doubles that is no number is the one that fma gives of the same.
TEST(SeldomControl, AProductOfDoublesThatIsNoNumber) {
  for (const auto& [a, b, c] : {std::tuple{"0d7FF0000000000000", "0d0000000000000000", "0d3FF0000000000000"},
                                {"0dFFF0000000000000", "0d0000000000000000", "0d3FF0000000000000"},
                                {"0d3FF0000000000000", "0d7FF0000000000000", "0dFFF0000000000000"},
                                {"0d7FF8000000000123", "0d3FF0000000000000", "0d3FF0000000000000"},
                                {"0d3FF0000000000000", "0d3FF0000000000000", "0dFFF8000000000123"},
                                {"0d7FF8000000000123", "0d3FF0000000000000", "0d7FF8000000000456"},
                                {"0d3FF0000000000000", "0d7FF8000000000123", "0d7FF8000000000456"},
                                {"0d7FF8000000000123", "0d7FF8000000000456", "0d3FF0000000000000"},
                                {"0d7FF0000000000000", "0d0000000000000000", "0d7FF8000000000456"},
                                {"0d7FF0000000000123", "0d3FF0000000000000", "0d3FF0000000000000"},
                                {"0d3FF0000000000000", "0d4000000000000000", "0d3FF0000000000000"}}) {
    const test::Kernel k{
        .parameters = ".param .u64 out",
        .registers =
            ".reg .b32 %r<4>; .reg .b64 %p<3>; .reg .f64 %a; .reg .f64 %b; .reg .f64 %c; .reg .f64 %d<4>;",
        .start =
            "ld.param.u64 %p0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %p1, %r0, 32; add.u64 %p0, %p0, %p1;",
        .body = "mov.f64 %a, " + std::string(a) + "; mov.f64 %b, " + b + "; mov.f64 %c, " + c +
                ";\nmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%a}, {%b}, {%c, %c};\n"
                "fma.rn.f64 %d2, %a, %b, %c; fma.rn.f64 %d2, %a, %b, %d2; fma.rn.f64 %d2, %a, %b, %d2;\n"
                "fma.rn.f64 %d2, %a, %b, %d2;\nst.global.v2.f64 [%p0], {%d0, %d1}; st.global.v2.f64 "
                "[%p0+16], {%d2, "
                "%d2};",
        .buffers = {test::output(1024)}};
    const std::vector<uint64_t> out = k.held().all<uint64_t>(0);
    for (size_t i = 0; i < out.size(); i += 4) {
      ASSERT_EQ(out[i], out[i + 2]) << a << " " << b << " " << c << ", lane " << i / 4;
      ASSERT_EQ(out[i + 1], out[i + 2]) << a << " " << b << " " << c << ", lane " << i / 4;
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
