// What a report calls the cause of a hang: the mistake itself and not its consequences, and, where several
// fit, all of them.
#include <gtest/gtest.h>

#include <string>

#include "../kernel.h"
#include "verify/capture/captures.h"
#include "verify/suite/kernels/gemm.h"

namespace bitwell::suite {
namespace {

// A GEMM of persistent clusters of two by two CTAs, whose kernel's text is changed: what the fault says.
std::string changed_gemm(const std::function<void(std::string&)>& change) {
  const GemmVariant& variant = gemm_variant("gemm_m128_split2_f16");
  const GemmProblem problem({130, 264, 1040, 1, OperandData::moderate, 2, 1, 7});
  Chain chain = problem.chain(variant, {capture::share_folder("kernels"), "sm_90a"});
  try {
    const auto changed = [&](const launch::Launch& l) {
      std::string text = launch::read_file(l.ptx);
      if (&l == &chain.launches.back()) change(text);
      return std::make_shared<const isa::Module>(text);
    };
    simulate(chain, changed, {}, true);
  } catch (const machine::Fault& fault) {
    return fault.what();
  }
  return "held";
}

void replace_all(std::string& text, const std::string& from, const std::string& to, size_t begin,
                 size_t end) {
  for (size_t at = text.find(from, begin); at < end; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    end = end - from.size() + to.size();
  }
}

// The first waiter that is listed is the one whose wait shows the mistake, and its cause stands below it.
void expect_cause(const std::string& text, const std::string& waiter, const std::string& cause) {
  const size_t first = text.find("\n  ");
  ASSERT_NE(first, std::string::npos) << text;
  const size_t second = text.find("\n  CTA", first + 1);
  const std::string top = text.substr(first, second - first);
  EXPECT_NE(top.find(waiter), std::string::npos) << text;
  EXPECT_NE(top.find("\n    " + cause), std::string::npos) << text;
}

const std::string kWait = "mbarrier.try_wait.parity";

TEST(Cause, AWrongInitialParityIsNoByteMismatch) {
  const std::string text = changed_gemm([](std::string& ptx) {
    // The producer's wait for an empty stage: parity ^ 1.
    const size_t flip = ptx.rfind("xor.b32", ptx.find(kWait));
    const size_t one = ptx.find(", 1;", flip);
    ptx.replace(one, 4, ", 0;");
  });
  expect_cause(text, "pending 16 of 16 arrivals", "wrong initial phase: this is the warp's first wait here");
}
TEST(Cause, AMissingRemoteArriveIsNoWrongInitialPhase) {
  const std::string text = changed_gemm([](std::string& ptx) {
    const std::string arrive = "mbarrier.arrive.shared::cluster.b64 _, [";
    replace_all(ptx, arrive, "prefetch.global.L2 [", 0,
                ptx.rfind(arrive));  // all but the last: that of the sums
    replace_all(ptx, "prefetch.global.L2 [%r", "// [%r", 0, ptx.size());
  });
  expect_cause(text, "for parity 0: phase 0, pending 16 of 16 arrivals",
               "under-arrival: nobody ever arrived, of 16 arrivals a phase");
  EXPECT_EQ(text.find("wrong initial phase"), std::string::npos) << text;
}
TEST(Cause, AParityThatIsNotFlippedIsNoUnderArrival) {
  const std::string text = changed_gemm([](std::string& ptx) {
    // The wait for room for sums: round ^ 1, where round then is that.
    const size_t flip =
        ptx.find("xor.b32", ptx.rfind("mbarrier.arrive.shared::cluster", ptx.rfind("mapa") - 1));
    ASSERT_NE(flip, std::string::npos);
    const size_t flipped = ptx.find('%', flip);
    const std::string to = ptx.substr(flipped, ptx.find(',', flipped) - flipped);
    const size_t round = ptx.find('%', ptx.find(',', flipped));
    const std::string from = ptx.substr(round, ptx.find(',', round) - round);
    const std::string next = "mov.u32 \t" + from + ", " + to + ";";
    const size_t at = ptx.find(next);
    ASSERT_NE(at, std::string::npos) << next;
    ptx.replace(at, next.size(), "mov.u32 \t" + from + ", 0;");
  });
  expect_cause(text, "for parity 1", "parity not flipped: this warp's last wait here, at PTX line");
}

// Small kernels: two warps, a barrier for one arrival and one for all threads, a tile that a copy fills.
std::string small(const std::string& body, run::Policy policy = run::Policy::lazy) {
  test::Kernel k{.parameters = ".param .u64 pin, .param .u64 pout",
                 .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<4>;",
                 .shared = ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;",
                 .start =
                     "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x; "
                     "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;",
                 .body = body,
                 .shape = {.block = {64, 1, 1}},
                 .buffers = {test::input(std::vector<std::byte>(4096)), test::output(256)}};
  k.options.schedule = {policy, 3};
  return k.run().end();
}

TEST(Cause, ADivergentBarrierIsNamedAsSuch) {
  const std::string text = small(
      "and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, 16;\n@%p1 bra L;\nbar.sync 0;\nbra E;\nL: bar.sync "
      "0;\nE:\n");
  EXPECT_NE(
      text.find(
          "divergent barrier: 'bar.sync' is for all threads of a warp at once; 16 threads of this one are "
          "here, 16 at PTX line "),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("member mask"), std::string::npos) << text;
}
// The barrier's phase ends with the first half of what the copies bring; the load then meets bytes that are
// still to come, and is at fault though nobody uses them.
TEST(Cause, HalfOfAnExpectationIsSaidWhereTheLoadMeetsIt) {
  const std::string copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  const std::string text = small(
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n@%p0 " + copy +
      "[tile], [%q0], 512, [bar];\n@%p0 " + copy +
      "[tile+512], [%q0], 512, [bar];\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"
      "ld.shared.u32 %r1, [tile+512];\n");
  EXPECT_EQ(
      text.find("PTX line 15, CTA (0,0,0), thread (0,0,0): a read of 'tile' + 512 (shared address 512); the"),
      0u)
      << text;
  for (const char* part :
       {"the copy of PTX line 12 is still to write there",
        "mbarrier 'bar' (shared address 1024), whose last phase ended with the 512 bytes that it expected"})
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}
// Whichever instruction it is that reads too early.
TEST(Cause, ALoadFromTheDestinationOfACopyUnderWay) {
  const std::string copy =
      "@!%p0 bra E;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%q0], 512, [bar];\n"
      "E: bar.warp.sync -1; mov.u32 %r4, tile;\n";
  const std::string wait =
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\nbar.warp.sync -1;\n";
  for (const char* load :
       {"ld.shared.u8 %r1, [tile+511];\n", "ld.shared.v4.u32 {%r1, %r2, %r3, %r5}, [tile];\n",
        "cvta.shared.u64 %q2, 0; add.u64 %q2, %q2, 64; ld.b32 %r1, [%q2];\n",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r4];\n"}) {
    const std::string text = small(copy + load + wait);
    EXPECT_EQ(text.find("PTX line 14, CTA (0,0,0), thread (0,0,0): a read of 'tile'"), 0u) << load << text;
    EXPECT_NE(text.find("the copy of PTX line 12 is still to write there; it completes on mbarrier 'bar'"),
              std::string::npos)
        << text;
    EXPECT_EQ(small(copy + wait + load), "held") << load;
  }
  EXPECT_EQ(small(copy + "ld.shared.u32 %r1, [tile+512];\n" + wait), "held") << "beside the copy";
}
// A wait that several mistakes explain names them all.
TEST(Cause, WhereSeveralFitAllAreNamed) {
  const std::string text = small(
      "@!%p0 bra E;\nmbarrier.init.shared.b64 [tile], 4;\nmbarrier.arrive.shared.b64 _, [tile], 2;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [tile], 0;\n@!%p1 bra W;\nE: bar.sync 1;\n");
  EXPECT_NE(text.find("\n    count mismatch: initialised for 4 arrivals a phase, and only 2 came"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n    or under-arrival: 2 of 4 arrivals never come"), std::string::npos) << text;
}

// Said at the line that does it.
TEST(Cause, AStoreIntoTheDestinationOfACopyUnderWay) {
  const std::string text = small(
      "@!%p0 bra E;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%q0], 512, [bar];\n"
      "st.shared.u32 [tile+508], %r0;\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra "
      "W;\nE:\n");
  EXPECT_EQ(text.find("PTX line 13, CTA (0,0,0), thread (0,0,0): a write to 'tile' + 508"), 0u) << text;
  EXPECT_NE(text.find("which the copy of PTX line 12 is still to write"), std::string::npos) << text;
  const std::string beside = small(
      "@!%p0 bra E;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%q0], 512, [bar];\n"
      "st.shared.u32 [tile+512], %r0;\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra "
      "W;\nE:\n");
  EXPECT_EQ(beside, "held");
}
TEST(Cause, AnAtomicOrAMatrixStoreIntoTheDestinationOfACopyUnderWay) {
  const std::string copy =
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
      "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%q0], 512, [bar];\n";
  const std::string wait = "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n";
  for (const char* write : {"@%p0 atom.shared.exch.b32 %r1, [tile+16], %r0;\n",
                            "setp.ge.u32 %p2, %r0, 32;\n@%p2 bra W;\nmov.u32 %r2, tile; "
                            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r0};\n"}) {
    const std::string text = small(copy + write + wait);
    EXPECT_NE(text.find("a write to 'tile'"), std::string::npos) << text;
    EXPECT_NE(text.find("which the copy of PTX line 11 is still to write"), std::string::npos) << text;
  }
}
// Two consumers take phases in turn, so that each waits for the same parity again and again: no mistake of
// theirs.
TEST(Cause, WarpsThatTakePhasesInTurnAreNotToBlame) {
  // Warp 1 waits for phases 0 and 2 of 'bar', warp 0 arrives for phases 0 and 1, and waits for phase 1
  // itself.
  const std::string turns = small(
      "setp.ge.u32 %p2, %r0, 32;\n@%p2 bra C;\n@%p0 mbarrier.arrive.shared.b64 _, [bar];\nbar.sync 1;\n"
      "@%p0 mbarrier.arrive.shared.b64 _, [bar];\n"
      "A: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;\n@!%p1 bra A;\nbar.sync 2;\nbra E;\n"
      "C: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra C;\nbar.sync 1;\nbar.sync 2;\n"
      "D: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra D;\nE:\n");
  EXPECT_EQ(turns.find("parity not flipped"), std::string::npos) << turns;
  EXPECT_EQ(turns.find("lapped"), std::string::npos) << turns;
  EXPECT_NE(turns.find("exited peer"), std::string::npos) << turns;
}
TEST(Cause, APrintfOfAValueThatWasNeverWritten) {
  const test::Kernel k{
      .module =
          ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
          ".global .align 1 .b8 format[4] = {37, 100, 10, 0};",
      .registers = ".local .align 8 .b8 values[8]; .reg .b64 %q<4>; .reg .b32 %r<2>;",
      .body =
          "mov.u64 %q0, values; cvta.local.u64 %q0, %q0; mov.u64 %q1, format; cvta.global.u64 %q1, %q1;\n"
          "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %q1; st.param.b64 [b], %q0;\n"
          "call.uni (c), vprintf, (a, b); }",
      .shape = {.block = {1, 1, 1}}};
  const std::string fault = k.run().fault;
  EXPECT_EQ(fault,
            "PTX line 10, CTA (0,0,0), thread (0,0,0): printf prints argument 1, of 4 bytes, which was never "
            "written");
}

}  // namespace
}  // namespace bitwell::suite
