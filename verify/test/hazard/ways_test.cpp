// Where what an instruction reads can come to.
#include "model/hazard/flow/ways.h"

#include <gtest/gtest.h>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

constexpr int kBodyLine = 10;  // line of the body's first instruction

Way way(const std::string& body, int line = kBodyLine, const std::string& functions = "") {
  const std::string target = body.find("wgmma") == std::string::npos ? "sm_100a" : "sm_90a";
  const isa::Program program = isa::compile(
      ptx::parse(".version 8.7\n.target " + target +
                 "\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                 ".reg .b32 %r<16>;\n.reg .b64 %a<16>;\n.reg .pred %q<4>;\n.shared .align 16 .b8 "
                 "one[64];\n" +
                 body + "\nret;\n}\n" + functions),
      "k");
  return Ways(program).from(line);
}

using Lines = std::vector<int>;

TEST(Ways, GoThroughRegistersToAStore) {
  const Way w =
      way("ld.shared.u32 %r0, [one];\nadd.u32 %r1, %r0, 1;\nmov.u32 %r2, 5;\n"
          "mul.lo.u32 %r3, %r2, %r1;\nst.global.u32 [%a0], %r3;");
  EXPECT_EQ(w.end, Way::End::output);
  EXPECT_EQ(w.lines, (Lines{10, 11, 13, 14}));
}

// Of several stores of one value the first in the program is told.
TEST(Ways, EndAtTheFirstOfSeveralOutputs) {
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nst.global.u32 [%a0], %r0;\nst.global.u32 [%a1], %r0;").lines,
            (Lines{10, 11}));
}

TEST(Ways, OfASurfaceAreOutputs) {
  const Way w = way("ld.shared.u32 %r0, [one];\nsust.b.1d.b32.trap [%a0, {%r1}], {%r0};");
  EXPECT_EQ(w.end, Way::End::output);
  EXPECT_EQ(w.lines, (Lines{10, 11}));
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nsust.b.1d.b32.trap [%a0, {%r1}], {%r2};").end, Way::End::none);
}

// ptxas takes %r01 for %r1 where a range declares it.
TEST(Ways, GoThroughRegistersHoweverTheirNumberIsWritten) {
  EXPECT_EQ(way("ld.shared.u32 %r01, [one];\nst.global.u32 [%a0], %r1;").end, Way::End::output);
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nst.global.u32 [%a0], %r000;").end, Way::End::output);
  EXPECT_EQ(way("ld.shared.u32 %r10, [one];\nst.global.u32 [%a0], %r1;").end, Way::End::none);
}

TEST(Ways, EndNowhereWhereNothingIsMadeOfIt) {
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nst.global.u32 [%a0], %r1;").end, Way::End::none);
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nadd.u32 %r1, %r0, 1;\nst.local.u32 [%a0], %r1;").end,
            Way::End::none);
  // Overwritten before it is used.
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nmov.u32 %r0, 1;\nst.global.u32 [%a0], %r0;").end, Way::End::none);
  EXPECT_TRUE(way("ld.shared.u32 %r0, [one];").lines.empty());
}

TEST(Ways, GoThroughMemory) {
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nst.shared.u32 [one+4], %r0;\nld.shared.u32 %r1, [one+4];\n"
                "st.global.u32 [%a0], %r1;")
                .lines,
            (Lines{10, 11, 12, 13}));
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nst.local.u32 [%a0], %r0;\nld.u32 %r1, [%a1];\n"
                "st.u32 [%a2], %r1;")
                .end,
            Way::End::output);
  EXPECT_EQ(
      way("st.shared.u32 [one], %r0;\ncp.async.bulk.global.shared::cta.bulk_group [%a0], [one], 64;").lines,
      (Lines{10, 11}));
  EXPECT_EQ(way("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [one], [%a0], 16, [%r1];\n"
                "tcgen05.mma.cta_group::1.kind::f16 [%r2], %a1, %a2, %r3, %q0;\n"
                "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r2];\nst.global.u32 [%a3], %r4;")
                .lines,
            (Lines{10, 11, 12, 13}));
}

TEST(Ways, ThroughABranchOrAnAddressAreTold) {
  const Way branch = way("ld.shared.u32 %r0, [one];\nsetp.eq.u32 %q0, %r0, 0;\n@%q0 bra there;\nthere:");
  EXPECT_EQ(branch.end, Way::End::branch);
  EXPECT_EQ(branch.lines, (Lines{10, 11, 12}));
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nld.shared.u32 %r1, [%r0];").end, Way::End::address);
  // An output comes before either.
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nld.shared.u32 %r1, [%r0];\nst.global.u32 [%a0], %r0;").end,
            Way::End::output);
  // Whether a store is done.
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nsetp.eq.u32 %q0, %r0, 0;\n@%q0 st.global.u32 [%a0], 1;").end,
            Way::End::output);
}

// What ends or branches a thread decides by its guard; any other instruction is done or not.
TEST(Ways, OfAGuardAreBranchesWhereItDecidesWhereAThreadGoes) {
  const std::string guard = "ld.shared.u32 %r0, [one];\nsetp.eq.u32 %q0, %r0, 0;\n@%q0 ";
  for (const char* decides : {"bra there;\nthere:", "ret;", "exit;", "trap;"})
    EXPECT_EQ(way(guard + decides).end, Way::End::branch) << decides;
  EXPECT_EQ(way(guard + "bar.sync 0;").end, Way::End::none);
  EXPECT_EQ(way(guard + "mov.u32 %r1, 1;\nst.global.u32 [%a0], %r1;").lines, (Lines{10, 11, 12, 13}));
}

// Which memory an instruction reads, and which it writes.
TEST(Ways, GoThroughTheMemoryThatAnInstructionReaches) {
  const std::string store = "st.shared.u32 [one], %r0;\n", out = "\nst.global.u32 [%a0], %r4;";
  const std::string load = "\nld.shared.u32 %r4, [one];" + out;
  struct Case {
    std::string body;
    Way::End end;
  };
  for (const Case& c :
       {// Behind a store to shared memory.
        Case{store +
                 "wmma.load.a.sync.aligned.m16n16k16.row.shared.f16 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, "
                 "[one];" +
                 out,
             Way::End::output},
        {store +
             "wmma.load.a.sync.aligned.m16n16k16.row.global.f16 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%a1];" +
             out,
         Way::End::none},
        {store + "wmma.load.a.sync.aligned.m16n16k16.row.f16 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%a1];" +
             out,
         Way::End::output},
        {store +
             "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r4,%r5,%r6,%r7}, %a2, %a3, 1, 1, 1, 0, 0;" +
             out,
         Way::End::output},
        {store + "wgmma.commit_group.sync.aligned;" + out, Way::End::none},
        {store + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r1];" + out, Way::End::output},
        {store + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r5};" + out, Way::End::none},
        {store + "atom.shared.add.u32 %r4, [one], 1;" + out, Way::End::output},
        {store + "atom.global.add.u32 %r4, [%a1], 1;" + out, Way::End::none},
        {store + "cp.async.cg.shared.global [one], [%a1], 16;", Way::End::none},
        {store + "cp.async.bulk.global.shared::cta.bulk_group [%a1], [one], 16;", Way::End::output},
        {store +
             "tcgen05.cp.cta_group::1.128x256b [%r1], %a2;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, "
             "[%r1];" +
             out,
         Way::End::output},
        {store + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];" + out, Way::End::none},
        {store +
             "tcgen05.mma.cta_group::1.kind::f16 [%r1], %a2, %a3, %r2, "
             "%q0;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];" +
             out,
         Way::End::output},
        {store + "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                 "[%a1], [one], 128;",
         Way::End::output},
        {store +
             "wmma.mma.sync.aligned.m16n16k16.row.row.f16.f16 {%r4,%r5,%r6,%r7}, "
             "{%r8,%r8,%r8,%r8,%r8,%r8,%r8,%r8}, {%r9,%r9,%r9,%r9,%r9,%r9,%r9,%r9}, {%r4,%r5,%r6,%r7};" +
             out,
         Way::End::none},
        {"ld.shared.u32 %r0, [one];\nwmma.mma.sync.aligned.m16n16k16.row.row.f16.f16 {%r4,%r5,%r6,%r7}, "
         "{%r0,%r8,%r8,%r8,%r8,%r8,%r8,%r8}, {%r9,%r9,%r9,%r9,%r9,%r9,%r9,%r9}, {%r4,%r5,%r6,%r7};",
         Way::End::none},
        {"atom.global.add.u32 %r5, [%a1], %r0;", Way::End::output},
        {"atom.shared.exch.b32 %r5, [one], %r0;" + load, Way::End::output},
        // Into shared memory, which is then read.
        {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};" + load, Way::End::output},
        {"wmma.store.d.sync.aligned.m16n16k16.row.shared.f16 [one], {%r0,%r1,%r2,%r3};" + load,
         Way::End::output},
        {"wmma.store.d.sync.aligned.m16n16k16.row.global.f16 [%a1], {%r0,%r1,%r2,%r3};", Way::End::output},
        {"cp.async.cg.shared.global [one], [%a1], 16;" + load, Way::End::output},
        {"cp.async.bulk.global.shared::cta.bulk_group [%a1], [one], 16;", Way::End::output},
        {"red.shared.add.u32 [one], %r0;" + load, Way::End::output},
        {"red.global.add.u32 [%a1], %r0;", Way::End::output},
        {"st.local.u32 [%a1], %r0;" + load, Way::End::none},
        {"st.local.u32 [%a1], %r0;\nld.local.u32 %r4, [%a1];" + out, Way::End::output},
        // Into tensor memory.
        {"tcgen05.shift.cta_group::1.down [%r1];\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];" + out,
         Way::End::output},
        {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r0};\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, "
         "[%r1];" +
             out,
         Way::End::output},
        {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r0};" + load, Way::End::none},
        {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r0};\ntcgen05.shift.cta_group::1.down "
         "[%r1];\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1];" +
             out,
         Way::End::output}})
    EXPECT_EQ(way(c.body).end, c.end) << c.body;
}

TEST(Ways, GoThroughLoops) {
  EXPECT_EQ(way("again:\nld.shared.u32 %r0, [one];\nst.global.u32 [%a0], %r1;\nadd.u32 %r1, %r1, %r0;\n"
                "@%q0 bra again;",
                11)
                .lines,
            (Lines{11, 13, 12}));
}

TEST(Ways, GoThroughCalls) {
  const std::string function =
      ".func (.param .b32 out) same(.param .b32 in)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [in];\n"
      "st.param.b32 [out], %r1;\nret;\n}\n";
  const std::string call =
      "{\n.param .b32 in0;\n.param .b32 out0;\nst.param.b32 [in0], %r0;\ncall.uni (out0), same, (in0);\n"
      "ld.param.b32 %r9, [out0];\n}\nst.global.u32 [%a0], %r9;";
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\n" + call, kBodyLine, function).end, Way::End::output);
}

// Whatever leaves the usual way is a branch, and what it hangs on decides.
TEST(Ways, EveryKindOfBranchIsDecided) {
  const std::string function = ".func f()\n{\nret;\n}\n";
  for (const char* branch : {"bra E;", "brx.idx %r2, T;", "ret;", "exit;", "trap;", "call f;"}) {
    const Way w = way("ld.shared.u32 %r0, [one];\nsetp.eq.u32 %q0, %r0, 0;\n@%q0 " + std::string(branch) +
                          "\nT: .branchtargets E;\nE:",
                      kBodyLine, function);
    EXPECT_EQ(w.end, Way::End::branch) << branch;
    EXPECT_EQ(w.lines, (Lines{10, 11, 12})) << branch;
  }
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nsetp.eq.u32 %q0, %r0, 0;\n@%q0 mov.u32 %r1, 1;").end,
            Way::End::none);
}

// An output is more than a branch or an address; of these two the first that is come to stays.
TEST(Ways, AnOutputIsSaidBeforeAllElse) {
  const std::string read = "ld.shared.u32 %r0, [one];\ncvt.u64.u32 %a1, %r0;\nsetp.eq.u32 %q0, %r0, 0;\n";
  const std::string address = "ld.local.u32 %r2, [%a1];\n", branch = "@%q0 bra E;\nE: ";
  const Way first = way(read + address + branch);
  EXPECT_EQ(first.end, Way::End::address);
  EXPECT_EQ(first.lines, (Lines{10, 11, 13}));
  EXPECT_EQ(way(read + address + branch + "add.u32 %r3, %r0, 1;\nst.global.u32 [%a0], %r3;").end,
            Way::End::output);
}

// What names one space only copies nothing from one to the other: how many bytes a prefetch takes is no
// output.
TEST(Ways, APrefetchIsNoOutput) {
  EXPECT_NE(way("ld.shared.u32 %r0, [one];\ncp.async.bulk.prefetch.L2.global [%a0], %r0;").end,
            Way::End::output);
}

TEST(Ways, AUniformLoadReadsAsOthersDo) {
  EXPECT_EQ(way("ld.shared.u32 %r0, [one];\nst.shared.u32 [one+4], %r0;\nldu.u32 %r1, [%a1];\nst.global.u32 "
                "[%a0], %r1;")
                .lines,
            (Lines{10, 11, 12, 13}));
}

}  // namespace
}  // namespace bitwell::hazard
