// Memory that knows: each fault names the PTX line, the thread and the address; and what a launch may not be.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "../../kernel.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

// A kernel of one warp whose body starts at PTX line 12: %r0 is the lane, %rd0 points at `in`, %rd1 at `out`.
test::Kernel kernel(const std::string& body) {
  return {
      .parameters = ".param .u64 pin, .param .u64 pout",
      .registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;",
      .shared = ".shared .align 16 .b8 sh[64]; .local .align 8 .b8 lo[16];",
      .start =
          "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [pin];\nld.param.u64 %rd1, [pout];\n"
          "mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd3, %rd1, %rd2;",
      .body = body};
}

launch::Launch launch_of(size_t in = 128, size_t out = 128) {
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  l.add_buffer({"in", std::vector<std::byte>(in), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(out), false, false, true});
  return l;
}

std::string run(const std::string& body, bool all_written = false, uint32_t threads = 32) {
  launch::Launch l = launch_of();
  l.shape.block = {threads, 1, 1};
  try {
    run::Options options;
    options.step_limit = 1 << 20;
    test::run_ptx(kernel(body).text(), l, options, all_written);
  } catch (const machine::Fault& f) {
    return f.what();
  }
  return "no fault";
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(Faults, ACorrectKernelHasNone) { EXPECT_EQ(run("st.global.u32 [%rd3], %r0;", true), "no fault"); }
TEST(Faults, ReadPastABuffer) {
  expect_parts(
      run("ld.global.u32 %r1, [%rd0+128];"),
      {"PTX line 12", "thread (0,0,0)", "out-of-bounds read of 4 bytes", "128 bytes into 'in' of 128 bytes"});
}
TEST(Faults, WritePastABufferByOneThread) {
  expect_parts(run("add.u64 %rd4, %rd3, 4;\nst.global.u32 [%rd4], %r0;"),
               {"PTX line 13", "thread (31,0,0)", "out-of-bounds write", "'out'"});
}
TEST(Faults, ReadBeforeABuffer) {
  expect_parts(run("ld.global.u32 %r1, [%rd0+-4];"), {"out-of-bounds read"});
}
TEST(Faults, SharedMemory) {
  expect_parts(run("st.shared.u32 [sh+64], %r0;"),
               {"out-of-bounds write", "shared memory, which has 64 bytes"});
}
TEST(Faults, LocalMemory) {
  expect_parts(run("st.local.u32 [lo+4096], %r0;"), {"out-of-bounds write", "local memory"});
}
TEST(Faults, NullPointer) {
  expect_parts(run("mov.u64 %rd4, 0;\nld.u32 %r1, [%rd4];"), {"out-of-bounds read of 4 bytes at 0x0"});
}
TEST(Faults, Misaligned) {
  expect_parts(run("ld.global.u32 %r1, [%rd0+2];"), {"misaligned read of 4 bytes", "thread (0,0,0)"});
  expect_parts(run("ld.global.v2.u32 {%r1, %r2}, [%rd0+4];"),
               {"misaligned read of 8 bytes at 0x", ", 4 bytes into 'in' of 128 bytes"});
  expect_parts(run("st.shared.u32 [sh+6], %r0;"),
               {"misaligned write of 4 bytes at 0x6, 6 bytes into 'sh' of 64 bytes"});
}
// Of a function its caller is named, by .loc; where the function has none, its callers alone.
TEST(Faults, TheCallsThatLedThere) {
  const auto said = [](const std::string& loc, const std::string& of_caller) {
    test::Kernel k = kernel(".loc 1 9 3\ncall outer;");
    k.module = ".file 1 \"/folder/k.cu\"\n.func inner()\n{\n.reg .b64 %a<2>;\n" + loc +
               "\nmov.u64 %a0, 0;\nst.global.u32 [%a0], 1;\nret;\n}\n.func outer()\n{\n" + of_caller +
               "\ncall inner;\nret;\n}\n";
    launch::Launch l = launch_of();
    try {
      test::run_ptx(k.text(), l, {}, false);
    } catch (const machine::Fault& f) {
      const size_t from = std::string_view(f.what()).find('('), to = std::string_view(f.what()).find(')');
      return std::string(f.what()).substr(from, to + 1 - from);
    }
    return std::string("no fault");
  };
  EXPECT_EQ(said(".loc 1 2 3", ".loc 1 5 3"), "(k.cu:2, called from k.cu:5, called from k.cu:9)");
  EXPECT_EQ(said("", ".loc 1 5 3"), "(called from k.cu:5, called from k.cu:9)");
  EXPECT_EQ(said(".loc 1 2 3", ""), "(k.cu:2, called from k.cu:9)");
}
// A loop that polls is found anywhere in it; it is named by what it polls with.
TEST(Faults, ALoopThatPollsNamesTheRead) {
  const std::string poll =
      "L: mov.u32 %r3, 7;\natom.global.cas.b32 %r1, [%rd1], %r3, 1;\nmov.u32 %r2, %r1;\nsetp.ne.u32 %p1, "
      "%r2, 5;\n";
  expect_parts(run("setp.eq.u32 %p2, %r0, 0;\n@%p2 st.global.u32 [%rd1], 3;\nbar.warp.sync 0xffffffff;\n" +
                   poll + "@%p1 bra L;"),
               {"in a loop that nothing can end any more, around 'atom.global.cas.b32' of PTX line 16"});
}
TEST(Faults, WriteToAReadOnlyArgument) {
  expect_parts(run("st.global.u32 [%rd0], %r0;"), {"write to 'in', which is read-only"});
}
TEST(Faults, UnwrittenRegisterAsOutput) {
  expect_parts(run("st.global.u32 [%rd3], %r5;"),
               {"PTX line 12", "a value that was never written is used as an output"});
  expect_parts(run("add.u32 %r6, %r5, 1;\nst.global.u32 [%rd3], %r6;"),
               {"PTX line 13", "as an output"});  // through arithmetic
}
TEST(Faults, UnwrittenRegisterAsAddress) {
  expect_parts(run("ld.global.u32 %r1, [%rd5];"), {"as an address"});
}
TEST(Faults, UnwrittenRegisterAsPredicate) {
  expect_parts(run("setp.eq.u32 %p1, %r5, 0;\n@%p1 bra L;\nst.global.u32 [%rd3], %r0;\nL:"),
               {"a value that was never written is used as a guard predicate"});
}
TEST(Faults, RegisterWrittenOnOnePathOnly) {
  expect_parts(run("setp.lt.u32 %p1, %r0, 16;\n@%p1 mov.u32 %r5, 1;\nst.global.u32 [%rd3], %r5;"),
               {"thread (16,0,0)", "as an output"});
}
TEST(Faults, UnwrittenMemory) {
  expect_parts(run("ld.global.u32 %r1, [%rd3];\nst.global.u32 [%rd3], %r1;"),
               {"PTX line 13", "as an output"});
  expect_parts(run("ld.shared.u32 %r1, [sh];\nst.global.u32 [%rd3], %r1;"), {"as an output"});
  expect_parts(run("ld.local.u32 %r1, [lo];\nst.global.u32 [%rd3], %r1;"), {"as an output"});
}
TEST(Faults, CopyingUnwrittenValuesIsLegal) {
  EXPECT_EQ(run("ld.shared.u32 %r1, [sh];\nst.shared.u32 [sh+8], %r1;\nmov.u32 %r2, %r1;"), "no fault");
}
TEST(Faults, AnOutputLeftUnwritten) {
  expect_parts(run("nanosleep.u32 1;", true), {"byte 0 of output 'out' was never written"});
}
TEST(Faults, BarrierThatNotAllReach) {
  expect_parts(run("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra L;\nbar.sync 0;\nL: bar.sync 1;", false, 64),
               {"deadlock", "barrier 0", "barrier 1", "PTX line"});
}
TEST(Faults, ShuffleWithAMemberThatNeverComes) {
  expect_parts(run("setp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\nshfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nbra "
                   "M;\nL: bar.warp.sync 0xFFFF;\nlp: bra lp;\nM:"),
               {"deadlock", "its member mask names", "in a loop that nothing can end any more"});
}
TEST(Faults, MemberMaskWithoutOneself) {
  expect_parts(run("bar.warp.sync 0xFFFFFFFE;"), {"thread (0,0,0)", "does not name the thread"});
}
TEST(Faults, EndlessLoop) {
  expect_parts(run("L: bra L;"), {"deadlock", "in a loop that nothing can end any more"});
  expect_parts(run("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra L;"), {"no end after", "it hangs"});
}
// Not only after the warp's turn, which is 65,536 iterations long.
TEST(Faults, TheStepLimitHoldsInsideATurn) {
  const Program program = isa::compile(
      ptx::parse(
          kernel("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nst.global.u32 [%rd3], %r1;\nbra L;").text()),
      "k");
  machine::Memory memory;
  std::vector<std::vector<std::byte>> arguments;
  const machine::Region* out = nullptr;
  for (const char* name : {"in", "out"}) {
    out = &memory.allocate(name, 128);
    const uint64_t address = out->base();
    arguments.emplace_back(sizeof address);
    std::memcpy(arguments.back().data(), &address, sizeof address);
  }
  run::Options options;
  options.step_limit = 3000;
  EXPECT_THROW(run::run(program, launch_of().shape, arguments, memory, options), machine::Fault);
  uint32_t iterations = 0;
  std::memcpy(&iterations, out->raw_bytes(), sizeof iterations);
  EXPECT_GT(iterations, 900u);
  EXPECT_LT(iterations, 1100u);
}
TEST(Faults, DivergentSpinOnAnotherLaneEnds) {
  // Lanes 1..31 spin until lane 0, on the other side of the branch, writes: legal since sm_70.
  EXPECT_EQ(run("mov.u32 %r1, 0;\nst.shared.u32 [sh], %r1;\nbar.warp.sync -1;\nsetp.eq.u32 %p1, %r0, "
                "0;\n@%p1 bra W;\n"
                "S: ld.volatile.shared.u32 %r2, [sh];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra S;\nbra E;\nW: "
                "mov.u32 %r3, 1;\nst.shared.u32 [sh], %r3;\nE:"),
            "no fault");
}

// Runs `body` and returns out[lane] of every lane as 32-bit words.
std::vector<uint32_t> values(const std::string& body, uint32_t threads = 32) {
  launch::Launch l = launch_of(128, 4 * std::max(threads, 32u));
  l.shape.block = {threads, 1, 1};
  run::Options options;
  options.step_limit = 1 << 22;
  test::run_ptx(kernel(body).text(), l, options, false);
  std::vector<uint32_t> out(threads);
  std::memcpy(out.data(), l.buffers[1].bytes.data(), 4 * threads);
  return out;
}

TEST(Divergence, ALaneThatLeftALoopKeepsItsRegisters) {
  // Predicates and 16-bit values written by lanes still in the loop must not touch the rows of those that
  // left.
  const auto out = values(
      "mov.u32 %r1, 0;\nL: setp.eq.u32 %p1, %r1, 99;\nselp.b32 %r2, 7, 8, %p1;\nadd.u32 %r3, %r1, "
      "100;\nadd.u32 %r1, %r1, 1;\n"
      "setp.le.u32 %p2, %r1, %r0;\n@%p2 bra L;\nadd.u32 %r3, %r3, %r2;\nst.global.u32 [%rd3], %r3;");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane + 108) << lane;
}
TEST(Divergence, WarpBarriersMeetAtDifferentInstructions) {
  EXPECT_EQ(
      run("setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nbar.warp.sync -1;\nbra E;\nA: bar.warp.sync -1;\nE:"),
      "no fault");
}
TEST(Divergence, BarriersCountWarpsWhateverWayTheirLanesArrive) {
  EXPECT_EQ(run("setp.lt.u32 %p1, %r0, 10;\n@%p1 bra A;\nbarrier.sync 0;\nbra E;\nA: barrier.sync 0;\nE:",
                false, 20),
            "no fault");
  EXPECT_EQ(run("setp.lt.u32 %p1, %r0, 16;\n@%p1 bra A;\nret;\nA: barrier.sync 0;"), "no fault");
}
TEST(Divergence, SpinLoopsYieldWhateverTheirShape) {
  // Warp 1 spins, through a divergent branch, until warp 0 has passed the barrier and set the flag.
  EXPECT_EQ(run("setp.ge.u32 %p1, %r0, 32;\nmov.u32 %r1, 0;\nst.shared.u32 [sh], %r1;\nbar.sync 0;\nand.b32 "
                "%r2, %r0, 1;\nsetp.eq.u32 %p3, %r2, 1;\n"
                "@%p1 bra S;\nmov.u32 %r3, 1;\nst.shared.u32 [sh], %r3;\nbra E;\n"
                "S: @%p3 bra T;\nadd.u32 %r4, %r0, 1;\nT: ld.volatile.shared.u32 %r5, [sh];\nsetp.eq.u32 "
                "%p2, %r5, 0;\n@%p2 bra S;\nE:",
                false, 64),
            "no fault");
}
TEST(Faults, EndlessLoopsOfEveryShapeEnd) {
  expect_parts(
      run("mov.u32 %r1, 0;\nbra M;\nL: add.u32 %r1, %r1, 1;\nM: setp.ne.u32 %p1, %r0, -1;\n@%p1 bra L;"),
      {"it hangs"});
}
TEST(Faults, NegativeSharedAddresses) {
  expect_parts(run("mul.wide.u32 %rd4, %r0, 4;\nst.shared.u32 [%rd4+-64], %r0;"),
               {"out-of-bounds write", "shared memory"});
  expect_parts(run("mul.wide.u32 %rd4, %r0, 4;\nadd.u64 %rd4, %rd4, -8;\nst.shared.u32 [%rd4], %r0;"),
               {"out-of-bounds write", "shared memory"});
}
TEST(Faults, BarrierNumbersThatDiffer) {
  expect_parts(run("and.b32 %r1, %r0, 1;\nbar.sync %r1;"), {"differ"});
}
TEST(Definedness, SelectionNeedsOnlyWhatItChooses) {
  EXPECT_EQ(run("setp.lt.u32 %p1, %r0, 16;\n@%p1 mov.u32 %r4, 5;\nselp.b32 %r5, %r4, 0, %p1;\nst.global.u32 "
                "[%rd3], %r5;",
                true),
            "no fault");
}
TEST(Definedness, PredicateLogicNeedsOnlyWhatDecides) {
  EXPECT_EQ(run("setp.lt.u32 %p1, %r0, 16;\n@%p1 setp.eq.u32 %p2, %r0, 3;\nand.pred %p3, %p1, %p2;\n@%p3 bra "
                "L;\nL:"),
            "no fault");
}
TEST(Definedness, AnExchangeMayInitialise) {
  EXPECT_EQ(run("setp.eq.u32 %p1, %r0, 0;\n@%p1 atom.shared.exch.b32 %r1, [sh], %r0;"), "no fault");
}
TEST(Loads, AnUnusedElementOfAWideVectorOverwritesNothing) {
  const auto out = values(
      "mov.u32 %r5, 77;\nld.global.v2.u32 {%rd4, _}, [%rd0];\ncvt.u32.u64 %r6, %rd4;\nadd.u32 %r5, %r5, "
      "%r6;\nst.global.u32 [%rd3], %r5;");
  for (const uint32_t v : out) EXPECT_EQ(v, 77u);
}
TEST(Comments, ASlashStarSlashDoesNotEndAComment) {
  const auto out = values("mov.u32 %r1, 1; /*/ mov.u32 %r1, 2; /*/ st.global.u32 [%rd3], %r1;");
  EXPECT_EQ(out[0], 1u);
}

// Hostile files are refused, not followed.
std::string outcome(const std::string& text, const std::string& entry = "k") {
  try {
    launch::Launch l = launch_of();
    l.arguments.clear();
    l.entry = entry;
    run::Options options;
    options.step_limit = 1 << 22;
    test::run_ptx(text, l, options, false);
  } catch (const machine::InputError& e) {
    return std::string("input: ") + e.what();
  } catch (const machine::Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  } catch (const machine::Fault& e) {
    return std::string("fault: ") + e.what();
  }
  return "ran";
}
const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

TEST(Hostile, SizesNestingAndRecursion) {
  expect_parts(outcome(kHead + ".visible .entry k() { .local .b8 x[4294967296]; ret; }"),
               {"unsupported", "512 KiB of local memory"});
  expect_parts(
      outcome(kHead +
              ".global .b8 g[1099511627776];\n.visible .entry k() { .reg .b64 %rd1; mov.u64 %rd1, g; ret; }"),
      {"input", "variables 1099511627776", "sm_90a devices have"});
  std::string registers = "a";
  for (int i = 0; i < 1 << 20; ++i) registers += ", a" + std::to_string(i);
  expect_parts(outcome(kHead + ".visible .entry k() { .reg .b32 " + registers + "; ret; }"),
               {"unsupported", "million registers"});
  expect_parts(outcome(kHead + ".visible .entry k() { .local .b8 x[-1]; ret; }"), {"not PTX"});
  expect_parts(outcome(kHead + ".visible .entry k() { .reg .b32 %r1; mov.u32 %r1, " +
                       std::string(200000, '(') + "1; ret; }"),
               {"not PTX", "nested too deep"});
  expect_parts(outcome(kHead + ".visible .entry k() " + std::string(200000, '{')),
               {"not PTX", "nested too deep"});
  expect_parts(outcome(kHead + ".func f() { call f; ret; }\n.visible .entry k() { call f; ret; }"),
               {"fault", "recursion"});
}
TEST(Programs, TilesOfAWarpEachHaveTheirMemberMask) {
  const std::string halves = R"(shr.u32 %r1, %r0, 4;
shl.b32 %r1, %r1, 4;
mov.u32 %r2, 0xFFFF;
shl.b32 %r3, %r2, %r1;
)";
  EXPECT_EQ(run(halves + R"(shfl.sync.idx.b32 %r4, %r0, 3, 0x101F, %r3;
add.u32 %r5, %r1, 3;
setp.ne.u32 %p1, %r4, %r5;
@%p1 trap;
redux.sync.add.u32 %r4, %r0, %r3;
mad.lo.u32 %r5, %r1, 16, 120;
setp.ne.u32 %p1, %r4, %r5;
@%p1 trap;
setp.ge.u32 %p2, %r0, 16;
vote.sync.any.pred %p3, %p2, %r3;
xor.pred %p1, %p2, %p3;
@%p1 trap;
st.shared.u8 [sh], 1;
bar.warp.sync %r3;)"),
            "no fault");
  // One half waits for a thread that never comes; the other is through.
  expect_parts(run(halves + R"(setp.eq.u32 %p0, %r0, 31;
@%p0 bra L;
shfl.sync.idx.b32 %r4, %r0, 3, 0x101F, %r3;
bra M;
L: bar.sync 1;
M:)"),
               {"deadlock", "15 of 16 threads", "shfl.sync.idx"});
}

TEST(Faults, ArrivalsOfTheClustersBarrierTakeTurnsWithWaits) {
  expect_parts(outcome(kHead + R"(.visible .entry k() { barrier.cluster.arrive; barrier.cluster.arrive;
barrier.cluster.wait; ret; })"),
               {"fault", "twice without a barrier.cluster.wait"});
}

TEST(Faults, ReductionsOverABarrierAreNotMixedWithOtherUses) {
  expect_parts(run("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 32;\n@%p0 bra A;\nbar.sync 0;\nbra B;\nA: "
                   "bar.red.popc.u32 %r2, 0, %p0;\nB:",
                   false, 64),
               {"barrier 0 is used by bar.red and by bar.sync or bar.arrive at once"});
}

TEST(Faults, AnEndedCtaIsNamedWithTheThreadThatReachesForIt) {
  launch::Launch l = launch_of();
  l.shape.grid = l.shape.cluster = {2, 1, 1};
  const std::string body = R"(mov.u32 %r1, %cluster_ctarank;
setp.eq.u32 %p0, %r1, 0;
@%p0 ret;
barrier.cluster.arrive;
barrier.cluster.wait;
mov.u32 %r2, sh;
setp.eq.u32 %p1, %r0, 17;
selp.u32 %r3, 0, 1, %p1;
mapa.shared::cluster.u32 %r4, %r2, %r3;
st.shared::cluster.u32 [%r4], %r0;)";
  try {
    test::run_ptx(kernel(body).text(), l, {}, false);
    ADD_FAILURE() << "no fault";
  } catch (const machine::Fault& f) {
    expect_parts(f.what(), {"CTA rank 0, which has ended", "thread (17,0,0)"});
  }
}

TEST(Faults, NoCompleteMayBeTheLastArrivalOfAPhaseThatBytesHoldOpen) {
  const auto arrive = [](const char* before) {
    return run(std::string("setp.eq.u32 %p0, %r0, 0;\n@!%p0 ret;\nmbarrier.init.shared.b64 [sh], 1;\n") +
               before + "mbarrier.arrive.noComplete.shared.b64 %rd4, [sh], 1;");
  };
  EXPECT_EQ(arrive("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [sh], 16;\n"), "no fault");
  expect_parts(arrive(""), {".noComplete ends the phase"});
}

TEST(Programs, SharedMemoryOfAnotherCtaIsNotSharedCta) {
  launch::Launch l = launch_of();
  l.shape.grid = l.shape.cluster = {2, 1, 1};
  const std::string body = R"(cvta.shared.u64 %rd4, sh;
mov.u32 %r1, %cluster_ctarank;
xor.b32 %r2, %r1, 1;
mapa.u64 %rd5, %rd4, %r2;
isspacep.shared %p0, %rd4;
@!%p0 trap;
isspacep.shared::cta %p0, %rd5;
@%p0 trap;
isspacep.shared::cluster %p0, %rd5;
@!%p0 trap;)";
  EXPECT_NO_THROW(test::run_ptx(kernel(body).text(), l, {}, false));
}

TEST(Hostile, PrintfFormatsReachNothingOnTheHost) {
  const auto print = [](const std::string& hex_format) {
    return outcome(
        kHead +
        ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n.global .b8 fmt[16] = {" +
        hex_format +
        "};\n.visible .entry k() { .reg .b64 %rd<3>; .reg .b32 %r1; .local .align 8 .b8 args[16]; mov.u64 "
        "%rd0, args; mov.u64 %rd2, 0; st.local.u64 [args], %rd2; st.local.u64 [args+8], %rd2;\n"
        "cvta.local.u64 %rd0, %rd0; mov.u64 %rd1, fmt; { .param .b64 p0; .param .b64 p1; .param .b32 q; "
        "st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd0;\n"
        "call (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; } ret; }");
  };
  EXPECT_EQ(print("37, 100"), "ran");                                 // %d
  expect_parts(print("37, 108, 110"), {"unsupported", "printf"});     // %ln
  expect_parts(print("37, 52, 36, 115"), {"unsupported", "printf"});  // %4$s
}

std::string refused(const std::function<void(launch::Launch&)>& change, const std::string& directives = "") {
  launch::Launch l = launch_of();
  change(l);
  try {
    test::Kernel k = kernel("");
    k.directives = directives;
    test::run_ptx(k.text(), l, {}, false);
  } catch (const machine::InputError& e) {
    return e.what();
  } catch (const machine::Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  }
  return "accepted";
}

TEST(Launches, BeyondTheLimitsAreRefusedByName) {
  expect_parts(refused([](launch::Launch& l) { l.entry = "nothing"; }), {"no entry 'nothing'", "there is k"});
  expect_parts(refused([](launch::Launch& l) { l.arguments.pop_back(); }),
               {"takes 2 arguments, the launch gives 1"});
  expect_parts(refused([](launch::Launch& l) {
                 l.arguments.pop_back();
                 l.add_scalar(1);
               }),
               {"argument 1 ('pout') has 8 bytes, the launch gives 4"});
  expect_parts(refused([](launch::Launch& l) { l.shape.block = {1025, 1, 1}; }), {"block.x is 1025"});
  expect_parts(refused([](launch::Launch& l) {
                 l.shape.block = {64, 32, 1};
               }),
               {"2048 threads, the limit is 1024"});
  expect_parts(refused([](launch::Launch& l) { l.shape.grid = {1, 65536, 1}; }), {"grid.y is 65536"});
  expect_parts(refused([](launch::Launch& l) { l.shape.grid = {0, 1, 1}; }), {"grid.x is 0"});
  expect_parts(refused([](launch::Launch& l) { l.shape.dynamic_shared = 228 << 10; }),
               {"bytes of shared memory", "sm_90a has 232448"});
  expect_parts(refused([](launch::Launch& l) {
                 l.shape.cluster = {2, 1, 1};
               }),
               {"not a multiple of cluster.x, which is 2"});
  expect_parts(refused([](launch::Launch& l) {
                 l.shape.grid = {9, 1, 1};
                 l.shape.cluster = {9, 1, 1};
               }),
               {"9 x 1 x 1", "9 CTAs, the limit is 8"});
  expect_parts(refused(
                   [](launch::Launch& l) {
                     l.shape.block = {64, 1, 1};
                   },
                   ".maxntid 32, 1, 1"),
               {".maxntid allows 32"});
  expect_parts(refused(
                   [](launch::Launch& l) {
                     l.shape.block = {16, 1, 1};
                   },
                   ".reqntid 32, 1, 1"),
               {".reqntid wants 32"});
}

TEST(Programs, WhatIsWrongIsNamedWithItsLine) {
  const auto wrong = [](const std::string& body) {
    try {
      isa::compile(ptx::parse(kernel(body).text()), "k");
    } catch (const ptx::SyntaxError& e) {
      return std::string("syntax: ") + e.what();
    } catch (const machine::InputError& e) {
      return std::string(e.what());
    } catch (const machine::Unsupported& e) {
      return std::string("unsupported: ") + e.what();
    }
    return std::string("accepted");
  };
  expect_parts(wrong("add.u32 %r1, %r2, %nothing;"), {"line 12", "unknown name '%nothing'"});
  expect_parts(wrong("add.u32 %r1, %r2, %rd1;"), {"line 12", "'%rd1' is .b64 where .u32 is needed"});
  expect_parts(wrong("add.u32 %r1, %r2;"), {"takes 3 operands, found 2"});
  expect_parts(wrong("add.rq.f32 %f1, %f1, %f1;"), {"unsupported: line 12", "modifier '.rq'"});
  expect_parts(wrong("wonder.b32 %r1, %r2;"), {"unsupported: line 12", "opcode 'wonder'"});
  expect_parts(wrong("mov.u32 _, %r1;"), {"line 12", "'_' where the result cannot be discarded"});
  expect_parts(wrong("add.f16x2 %r1, %r1, 128;"), {"line 12", "a constant where a register is needed"});
  expect_parts(wrong("cvt.rn.f16x2.e4m3x2 %f1, %h1;"), {"line 12", "'%f1' is .f32"});
  expect_parts(wrong(".reg .b32 twice;\n.local .b32 twice;"), {"line 13", "'twice' is declared twice"});
  expect_parts(wrong("bra nowhere;"), {"line 12", "unknown label 'nowhere'"});
  expect_parts(wrong("add.u32 %r1, %r2, %r3"), {"syntax: line 13"});
  expect_parts(wrong(".reg .f64 %d;\nrsqrt.approx.f64 %d, %d;"), {"unsupported: line 13", "approximate"});
  expect_parts(wrong("cvt.rn.f16x2.e2m1x2 %r1, %h1;"), {"line 12", "not available on sm_90a"});
  expect_parts(wrong(".reg .b32 %v<2+3>;"), {"syntax: line 12", "expected '>'"});
  expect_parts(wrong(".reg .b32 %v<08>;"), {"syntax: line 12", "expected an integer"});
  expect_parts(wrong(".reg .b32 %v<0xFFFFFFFF>;"), {"syntax: line 12", "below 2^31"});
  expect_parts(wrong(".reg .b32 %v<010>;\nmov.b32 %v8, 1;"), {"line 13", "unknown register '%v8'"});
  expect_parts(wrong(".reg .b32 %v<20>;\n.reg .b64 %v1<3>;"),
               {"unsupported: line 13", "'%v<20>' and '%v1<3>'"});
  expect_parts(wrong(".reg .b32 %v1<3>;\n.reg .b64 %v<11>;"),
               {"unsupported: line 13", "'%v1<3>' and '%v<11>'"});
  expect_parts(wrong(".reg .b32 %v<3>;\n.reg .b64 %v<3>;"), {"line 13", "'%v<3>' is declared twice"});
  expect_parts(wrong(".reg .b32 %v<3>;\n.reg .b64 %v<0>;"), {"line 13", "'%v<0>' is declared twice"});
  expect_parts(wrong(".reg .b32 %v<3>;\n.reg .b32 %v2;"), {"line 13", "'%v2' is declared twice"});
  expect_parts(wrong(".reg .b32 %v02;\n.reg .b32 %v<3>;"), {"line 13", "'%v02' is declared twice"});
  expect_parts(wrong(".shared .b32 v2;\n.reg .b32 v<3>;"), {"line 13", "'v2' is declared twice"});
  expect_parts(wrong(".reg .b32 v<3>;\n.shared .b32 v2;"), {"line 13", "'v2' is declared twice"});
  expect_parts(wrong(".reg .b32 %v<20>;\nmov.b32 %v020, 1;"), {"line 13", "unknown register '%v020'"});
  expect_parts(wrong(".reg .bf16 %v;"), {"syntax: line 12", "expected a type"});
  expect_parts(wrong(".shared .pred v;"), {"syntax: line 12", "must be a register"});
  expect_parts(wrong(".param .b8 v[8];\nmov.u64 %rd1, v;"), {"line 13", "address of parameter 'v'"});
  expect_parts(wrong("cvt.rna.tf32.f32 %f1, %f2;"), {"line 12", "'%f1' is .f32 where .tf32"});
  expect_parts(wrong(".reg .u16 %us;\ncvt.rn.satfinite.e4m3x2.f32 %us, %f1, %f2;"),
               {"line 13", ".u16 where .b16"});
  expect_parts(wrong("dp4a.s32.s32 %f1, %r1, %r1, %r1;"), {"line 12", "'%f1' is .f32"});
  expect_parts(wrong(".reg .b32 %v<0>;\nmov.b32 %v, 1;"), {"line 13", "unknown register '%v'"});
}

// As ptxas has it.
TEST(Programs, ARegisterRangeIsAnyIntegerLiteral) {
  for (const char* count : {"8", "8U", "0x8", "0b1000", "010"})
    EXPECT_EQ(kernel(".reg .b32 %v<" + std::string(count) + ">, %none<0>;\nmov.b32 %v7, 1;").refusal(), "")
        << count;
}

// What a generic access does depends on each lane's own space: atomics on shared memory keep subnormals, and
// only outputs must be defined.
TEST(Programs, LanesOfAGenericAccessMayLieInDifferentSpaces) {
  const std::string mixed =
      "cvta.shared.u64 %rd4, sh;\nsetp.eq.u32 %p0, %r0, 0;\nselp.b64 %rd5, %rd4, %rd3, %p0;\n";
  EXPECT_EQ(
      run(mixed + "mov.u32 %r1, 1;\nst.u32 [%rd5], %r1;\nmov.b32 %f0, %r1;\natom.add.f32 %f1, [%rd5], %f0;\n"
                  "ld.u32 %r2, [%rd5];\nselp.u32 %r3, 2, 0, %p0;\nsetp.ne.u32 %p1, %r2, %r3;\n@%p1 trap;"),
      "no fault");
  EXPECT_EQ(run(mixed + "@!%p0 mov.u32 %r5, 3;\nst.u32 [%rd5], %r5;"), "no fault");
  expect_parts(run(mixed + "@%p0 mov.u32 %r5, 3;\nst.u32 [%rd5], %r5;"), {"thread (1,0,0)", "never written"});
}

// As ptxas has it: a register of a range costs nothing until it is used, and its number may have leading
// zeros.
TEST(Programs, ARegisterRangeMayBeLargerThanItsUse) {
  const std::string sum = R"(.reg .b32 %v<2000000000>, %v;
mov.b32 %v1999999999, 5;
mov.b32 %v, 6;
{ .reg .b64 %v<3>; mov.b64 %v2, 7; }
add.u32 %v2, %v01999999999, %v;
setp.ne.u32 %p1, %v2, )";
  EXPECT_EQ(run(sum + "11;\n@%p1 trap;"), "no fault");
  expect_parts(run(sum + "12;\n@%p1 trap;"), {"PTX line 18", "trap"});
}

// CUTLASS has one where no tile can come to.
TEST(Programs, ABreakpointIsAFaultWhereItIsReached) {
  const std::string never = ".reg .b32 %v;\nmov.b32 %v, 1;\nsetp.ne.u32 %p1, %v, ";
  EXPECT_EQ(run(never + "1;\n@%p1 brkpt;"), "no fault");
  expect_parts(run(never + "2;\n@%p1 brkpt;"), {"brkpt", "debugger"});
}

// As ptxas has it.
TEST(Programs, MemoryInstructionsTakeAnyWiderRegisterForBits) {
  for (const char* body :
       {"ld.global.b8 %f1, [%rd1];", "st.global.b16 [%rd1], %f1;", "ld.global.b32 %rd1, [%rd1];",
        ".reg .f16x2 %v;\nld.global.u32 %v, [%rd1];", ".reg .f16x2 %v;\ncvt.u32.u8 %r1, %v;"})
    EXPECT_EQ(kernel(body).refusal(), "") << body;
}

}  // namespace
}  // namespace bitwell::isa
