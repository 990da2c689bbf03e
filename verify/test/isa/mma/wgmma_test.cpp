// What goes wrong around wgmma is found and named.
#include <gtest/gtest.h>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// 128 threads; %desc0 and %desc1 describe matrices of zeros, %d0..3 the accumulator, %d0 is the output.
test::Kernel wgmma_kernel(const std::string& body, uint32_t threads = 128,
                          run::Policy policy = run::Policy::lazy) {
  test::Kernel k{
      .parameters = ".param .u64 out",
      .registers =
          ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<4>; .reg .b64 %desc<3>; .reg .f32 %d<4>; "
          ".reg .b32 %a<4>;",
      .shared = ".shared .align 1024 .b8 tile[8192];",
      .start = R"(ld.param.u64 %q0, [out];
mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 4; add.u64 %q0, %q0, %q1;
mov.u32 %r1, tile; shl.b32 %r2, %r0, 5; add.u32 %r1, %r1, %r2; mov.b32 %r3, 0;
st.shared.v4.b32 [%r1], {%r3,%r3,%r3,%r3}; st.shared.v4.b32 [%r1+16], {%r3,%r3,%r3,%r3};
fence.proxy.async.shared::cta;
bar.sync 0;
mov.u64 %desc0, 0x4000000000010000; mov.u64 %desc1, %desc0;
mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;
shr.u32 %r4, %r0, 5; setp.eq.u32 %p0, %r4, 0;
)",
      .body = body,
      .finish = "st.global.f32 [%q0], %d0;",
      .shape = {.block = {threads, 1, 1}},
      .buffers = {{"out", std::vector<std::byte>(4 * threads), false, false, true}}};
  k.options.schedule.policy = policy;
  return k;
}

constexpr const char* kMma =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, %desc0, %desc1, 1, 1, 1, 0, 0;\n";
constexpr const char* kFence = "wgmma.fence.sync.aligned;\n";
constexpr const char* kDone = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";

std::string wgmma_outcome(const std::string& body, uint32_t threads = 128,
                          run::Policy policy = run::Policy::lazy) {
  return wgmma_kernel(body, threads, policy).run().end();
}

void expect_wgmma(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

TEST(Wgmma, AKernelThatWaitsHoldsUnderEverySchedule) {
  for (const run::PolicyName& p : run::kPolicies)
    EXPECT_EQ(wgmma_outcome(std::string(kFence) + kMma + kMma + kDone, 128, p.policy), "held") << p.name;
}
TEST(Wgmma, AccumulatorsHoldNothingBeforeTheWait) {
  expect_wgmma(wgmma_outcome(std::string(kFence) + kMma + "wgmma.commit_group.sync.aligned;\n"),
               {"never written"});
  expect_wgmma(wgmma_outcome(std::string(kFence) + kMma + "wgmma.commit_group.sync.aligned;\n" + kMma +
                             "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"),
               {"never written"});
}
TEST(Wgmma, AnAccumulatorMayNotBeWrittenBeforeTheWait) {
  expect_wgmma(wgmma_outcome(std::string(kFence) + kMma + "mov.f32 %d0, 0f3F800000;\n" + kDone),
               {"accumulator", "written before wgmma.wait_group"});
  expect_wgmma(wgmma_outcome(std::string(kFence) + kMma + "mov.f32 %d0, 0f3F800000;\n" + kMma + kDone),
               {"accumulator", "written before wgmma.wait_group"});
}
TEST(Wgmma, TheFirstNeedsAFence) {
  expect_wgmma(wgmma_outcome(std::string(kMma) + kDone), {"without any wgmma.fence"});
}
TEST(Wgmma, OneWarpAloneIsADeadlockThatSaysHowManyIssued) {
  expect_wgmma(wgmma_outcome(std::string("@!%p0 bra skip;\n") + kFence + kMma + kDone + "skip:\n"),
               {"deadlock", "wgmma.wait_group", "issued by 1 of the 4 warps"});
}
TEST(Wgmma, TheWarpsOfAWarpgroupMustAgree) {
  expect_wgmma(wgmma_outcome(std::string("@%p0 add.u64 %desc1, %desc1, 2;\n") + kFence + kMma + kDone),
               {"different wgmma", "PTX line"});
  expect_wgmma(wgmma_outcome(std::string(kFence) + "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra some;\n" + kMma +
                             "some:\n" + kDone),
               {"deadlock"});
  expect_wgmma(wgmma_outcome("add.u32 %r5, %r0, 0;\ncvt.u64.u32 %q2, %r5;\nadd.u64 %desc1, %desc1, %q2;\n" +
                             std::string(kFence) + kMma + kDone),
               {"differs between threads of a warp"});
}
TEST(Wgmma, ItNeedsFourWarps) {
  expect_wgmma(wgmma_outcome(std::string(kFence) + kMma + kDone, 96), {"warpgroup of 4 warps", "has 3"});
}
TEST(Wgmma, SharedMemoryMustHoldSomething) {
  // The tile's second half was never written.
  expect_wgmma(wgmma_outcome("add.u64 %desc1, %desc1, 256;\n" + std::string(kFence) + kMma + kDone),
               {"reads B", "never written"});
  expect_wgmma(wgmma_outcome("add.u64 %desc0, %desc0, 0x200;\n" + std::string(kFence) + kMma + kDone),
               {"descriptor of A", "of shared memory, which has 8192"});
}
TEST(Wgmma, ReservedDescriptorBitsAreRefused) {
  expect_wgmma(wgmma_outcome("or.b64 %desc0, %desc0, 0x8000;\n" + std::string(kFence) + kMma + kDone),
               {"bit 15 of a matrix descriptor", "PTX line"});
}
// Source operands are read when the MMA is done: a store after the issue is seen by the lazy schedule, one
// before it by none.
TEST(Wgmma, SharedMemoryOverwrittenTooEarlyChangesTheResult) {
  const std::string late = "bar.sync 0;\nmov.b32 %r5, 0x3C003C00;\nst.shared.b32 [%r1], %r5;\nbar.sync 0;\n";
  const auto value = [&](run::Policy policy) {
    return wgmma_kernel(std::string(kFence) + kMma + late + kDone, 128, policy).held().all<uint32_t>(0);
  };
  EXPECT_NE(value(run::Policy::lazy), value(run::Policy::eager));
}

// Of ones: every MMA adds 16. MMAs of a group run one after the other, whatever the next does with the
// accumulators of the one before: it adds to the same, to the same in another order, to others, or to none.
TEST(Wgmma, AGroupsMmasLeaveTheirSumsOneAfterTheOther) {
  const std::string ones =
      ".reg .f32 %e<4>;\nmov.b32 %r3, 0x3C003C00;\n"
      "st.shared.v4.b32 [%r1], {%r3,%r3,%r3,%r3}; st.shared.v4.b32 [%r1+16], {%r3,%r3,%r3,%r3};\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "mov.f32 %d0, 0f3F800000; mov.f32 %d1, 0f40000000; mov.f32 %d2, 0f40400000; mov.f32 %d3, 0f40800000;\n"
      "mov.f32 %e0, 0f42C80000; mov.f32 %e1, %e0; mov.f32 %e2, %e0; mov.f32 %e3, %e0;\n";
  const auto mma = [](const char* d, int scale_d) {
    return std::string("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {") + d + "}, %desc0, %desc1, " +
           std::to_string(scale_d) + ", 1, 1, 0, 0;\n";
  };
  const char* d = "%d0,%d1,%d2,%d3";
  const char* turned = "%d2,%d3,%d0,%d1";
  const char* e = "%e0,%e1,%e2,%e3";
  const struct {
    std::string mmas, after;
    float left;  // in %d0
  } cases[] = {
      {mma(d, 1) + mma(d, 1) + mma(d, 1), "", 49},
      {mma(d, 1) + mma(turned, 1) + mma(d, 1), "", 49},
      {mma(d, 1) + mma(d, 0) + mma(d, 1), "", 32},
      {mma(d, 1) + mma(e, 1) + mma(d, 1), "", 33},
      {mma(d, 1) + mma(e, 1) + mma(e, 1), "mov.f32 %d0, %e0;\n", 132},
      {mma(d, 1) + mma(d, 1) + kDone + kFence + mma(d, 1), "", 49},
  };
  for (const auto& c : cases)
    for (const run::PolicyName& p : run::kPolicies) {
      const std::vector<float> left =
          wgmma_kernel(ones + kFence + c.mmas + kDone + c.after, 128, p.policy).held().all<float>(0);
      for (size_t t = 0; t < 128; ++t)
        ASSERT_EQ(left[t], c.left) << p.name << ", thread " << t << ":\n" << c.mmas;
    }
}

// All four warps issue one instruction with the same descriptors, and all or none add to D.
TEST(Wgmma, TheWarpsOfAWarpgroupAgreeInEverything) {
  const std::string by_predicate =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, %desc0, %desc1, %p1, 1, 1, 0, "
      "0;\n";
  const std::string fence = kFence;
  const std::string alike = "setp.ge.u32 %p1, %r4, 0;\n", apart = "setp.lt.u32 %p1, %r4, 2;\n";
  EXPECT_EQ(wgmma_outcome(alike + fence + by_predicate + kDone), "held");
  for (const std::string& body :
       {"@%p0 add.u64 %desc0, %desc0, 2;\n" + fence + kMma,
        "@%p0 add.u64 %desc1, %desc1, 2;\n" + fence + kMma, apart + fence + by_predicate,
        apart + "setp.ge.u32 %p1, %r4, 3;\n" + fence + by_predicate,
        fence + "@%p0 bra one;\n" + kMma + "bra both;\none: " + kMma + "both:\n"})
    expect_wgmma(wgmma_outcome(body + kDone), {"the warps of a warpgroup issue different wgmma"});
}

// Ones in the tile: an MMA gives 16. %d0 to %d3 are 1 to 4 before.
std::string with_ones(const std::string& body) {
  return ".reg .f32 %e<4>;\nmov.b32 %r3, 0x3C003C00;\n"
         "st.shared.v4.b32 [%r1], {%r3,%r3,%r3,%r3}; st.shared.v4.b32 [%r1+16], {%r3,%r3,%r3,%r3};\n"
         "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
         "mov.f32 %d0, 0f3F800000; mov.f32 %d1, 0f40000000; mov.f32 %d2, 0f40400000; mov.f32 %d3, "
         "0f40800000;\n"
         "setp.eq.u32 %p1, %r0, %r0; setp.ne.u32 %p2, %r0, %r0;\n" +
         body;
}
std::string mma_with(const std::string& d, const std::string& scale_d) {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" + d + "}, %desc0, %desc1, " + scale_d +
         ", 1, 1, 0, 0;\n";
}
constexpr const char* kD = "%d0,%d1,%d2,%d3";

TEST(Wgmma, WhetherItAddsMayBeThePredicatesContrary) {
  for (const auto& [scale_d, want] :
       {std::pair{"%p1", 17.0F}, {"%p2", 16.0F}, {"!%p1", 16.0F}, {"!%p2", 17.0F}})
    EXPECT_EQ(wgmma_kernel(with_ones(kFence + mma_with(kD, scale_d) + kDone)).held().all<float>(0),
              std::vector<float>(128, want))
        << scale_d;
}

// Of accumulators that an MMA under way has not all: written in between, they are another's.
TEST(Wgmma, AccumulatorsThatTwoMmasShareInPart) {
  const std::string both = kFence + mma_with(kD, "1");
  const std::string shared = "mov.f32 %e0, 0f00000000; mov.f32 %e1, %e0; mov.f32 %e2, %e0;\n";
  expect_wgmma(wgmma_outcome(with_ones(shared + both + "mov.f32 %d3, 0f3F800000;\n" +
                                       mma_with("%d3,%e0,%e1,%e2", "1") + kDone)),
               {"accumulator", "written before wgmma.wait_group"});
  EXPECT_EQ(wgmma_outcome(with_ones(shared + both + mma_with("%d3,%e0,%e1,%e2", "1") + kDone)), "held");
}

// D is read where it is added to: by every thread.
TEST(Wgmma, AccumulatorsThatNobodyHasWritten) {
  const std::string e = "%e0,%e1,%e2,%e3";
  const std::string some =
      "mov.f32 %e0, 0f00000000; @%p3 mov.f32 %e1, %e0; mov.f32 %e2, %e0; mov.f32 %e3, %e0;\n";
  EXPECT_EQ(wgmma_outcome(with_ones(kFence + mma_with(e, "0") + kDone)), "held");
  expect_wgmma(wgmma_outcome(with_ones(kFence + mma_with(e, "1") + kDone)),
               {"a value that was never written is used as an accumulator"});
  for (const char* who :
       {"setp.ne.u32 %p3, %r0, 0;\n", "setp.ne.u32 %p3, %r0, 31;\n", "setp.ne.u32 %p3, %r0, 96;\n"})
    expect_wgmma(wgmma_outcome(with_ones(who + some + kFence + mma_with(e, "1") + kDone)),
                 {"a value that was never written is used as an accumulator"});
  EXPECT_EQ(
      wgmma_outcome(with_ones("setp.le.u32 %p3, %r0, 127;\n" + some + kFence + mma_with(e, "1") + kDone)),
      "held");
}

TEST(Wgmma, ACtaThatEndsHasWaited) {
  test::Kernel k = wgmma_kernel(std::string(kFence) + kMma + "wgmma.commit_group.sync.aligned;\nret;\n");
  k.all_written = false;
  expect_wgmma(k.run().end(), {"wgmma.mma_async of a CTA that has ended without waiting for it"});
}

// The registers of a call are its own: those of the one before, which did not wait, are gone.
TEST(Wgmma, EveryCallHasItsOwnAccumulators) {
  const std::string call =
      "{ .param .b64 x; .param .b64 y; .param .b64 z; .param .b32 w;\nst.param.b64 [x], %desc0; "
      "st.param.b64 [y], %desc1; st.param.b64 [z], %q0; st.param.b32 [w], WAITS;\n"
      "call one, (x, y, z, w); }\n";
  const auto with = [&](const char* waits) {
    return std::string(call).replace(call.find("WAITS"), 5, waits);
  };
  for (const run::PolicyName& p : run::kPolicies) {
    test::Kernel k = wgmma_kernel(with_ones(with("0") + with("1")), 128, p.policy);
    k.finish.clear();
    k.module = R"(.func one(.param .b64 a, .param .b64 b, .param .b64 out, .param .b32 waits) {
.reg .f32 %d<4>; .reg .b64 %desc<2>; .reg .b64 %q; .reg .b32 %w; .reg .pred %p;
ld.param.b64 %desc0, [a]; ld.param.b64 %desc1, [b]; ld.param.b64 %q, [out]; ld.param.b32 %w, [waits];
mov.f32 %d0, 0f3F800000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;
wgmma.fence.sync.aligned;
)" + mma_with(kD, "1") +
               R"(wgmma.commit_group.sync.aligned;
setp.eq.u32 %p, %w, 0;
@%p bra E;
wgmma.wait_group.sync.aligned 0;
st.global.f32 [%q], %d0;
E: ret;
}
)";
    EXPECT_EQ(k.held().all<float>(0), std::vector<float>(128, 17.0F)) << p.name;
  }
}

// PTX ISA 9.0, 9.7.15.5.2, "PTX ISA Notes": .u8 and .s8 at once since 8.4. Registers of two types are none of
// one.
TEST(Wgmma, TypesThatDoNotGoTogether) {
  const auto with = [](const char* version, const std::string& types, const std::string& registers) {
    test::Kernel k = wgmma_kernel("wgmma.mma_async.sync.aligned.m64n8k32.s32." + types + " {" + registers +
                                  "}, %desc0, %desc1, 1;\n");
    k.version = version;
    k.registers += " .reg .s32 %s<4>; .reg .u32 %u<4>;";
    return k.refusal();
  };
  const std::string d = "%s0,%s1,%s2,%s3";
  for (const char* version : {"8.0", "8.3"}) {
    EXPECT_EQ(with(version, "s8.s8", d), "") << version;
    expect_wgmma(with(version, "s8.u8", d), {"types that differ need PTX 8.4"});
    expect_wgmma(with(version, "u8.s8", d), {"types that differ need PTX 8.4"});
  }
  EXPECT_EQ(with("8.4", "u8.s8", d), "");
  test::Kernel k = wgmma_kernel(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%s3}, %desc0, %desc1, 1, 1, 1, 0, "
      "0;\n");
  k.registers += " .reg .s32 %s<4>;";
  expect_wgmma(k.refusal(), {"D has registers of two types, .f32 and .s32"});
}

}  // namespace
}  // namespace bitwell::isa
