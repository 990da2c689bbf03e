// Barriers and collectives that a part of the threads meets. What an H200 takes is a note and a fault where
// that is asked for; what hung there in one form is a fault that names both places.
#include <gtest/gtest.h>

#include "../../kernel.h"
#include "verify/schedules/schedules.h"

namespace bitwell::isa {
namespace {

// What two warps come to whose lanes find themselves in %r0, their lane in %r1; %p0: below lane 16, %p1: in
// warp 0, %p2: thread 0. "held", its notes behind it, or the fault. The body starts at PTX line 9.
std::string end(const std::string& body, const run::Schedule& schedule = {}, bool strict = false,
                uint32_t threads = 64) {
  test::Kernel kernel{
      .registers = ".reg .pred %p<8>; .reg .b32 %r<8>;",
      .start =
          "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; setp.lt.u32 %p0, %r1, 16; setp.lt.u32 %p1, %r0, 32;\n"
          "setp.eq.u32 %p2, %r0, 0; mov.u32 %r2, 0; shr.u32 %r3, %r1, 4;\n\n",
      .body = body,
      .shape = {.block = {threads, 1, 1}}};
  kernel.options.strict = strict;
  kernel.options.schedule = schedule;
  const test::Left left = kernel.run();
  std::string out = left.end();
  for (const run::Note& n : left.notes) out += "; line " + std::to_string(n.place.ptx_line) + ": " + n.text;
  return out;
}

const std::string kBarrier = "threads of a warp that meets this aligned barrier have ended without it";
const std::string kMask = "the member mask names threads that have ended";

void expect_note(const std::string& body, int line, const std::string& note) {
  for (const run::Schedule& s : launch::schedules(8))
    EXPECT_EQ(end(body, s), "held; line " + std::to_string(line) + ": " + note)
        << body << launch::describe(s);
  const std::string strict = end(body, {}, true);
  EXPECT_EQ(strict.find("PTX line " + std::to_string(line) + ", "), 0u) << body << strict;
  EXPECT_NE(strict.find(note), std::string::npos) << body << strict;
}

// The forms that were launched on an H200, CTAs of 64 threads, and ended without an error: where the manual
// does not say so of a part of a warp,
TEST(EndedThreads, OfAWarpAtAnAlignedBarrierAreANote) {
  expect_note("@%p0 exit;\nbar.sync 0;", 10, kBarrier);       // half of each warp ends before it
  expect_note("@%p0 bra E;\nbar.sync 0;\nE:", 10, kBarrier);  // half of each warp skips it
  expect_note("@!%p0 bar.sync 0;", 9, kBarrier);              // by a guard
  expect_note("@%p0 exit;\nbar.sync 1, 64;", 10, kBarrier);
  expect_note("@%p0 exit;\nbarrier.sync.aligned 0;", 10, kBarrier);
  expect_note("@%p0 exit;\nbar.red.popc.u32 %r4, 0, %p1;", 10, kBarrier);
}

// and where it does, of whole warps and of barriers that are not aligned.
TEST(EndedThreads, AreNoPartOfABarrierOfAll) {
  for (const char* body :
       {"@%p1 exit;\nbar.sync 0;", "@%p1 bra E;\nbar.sync 0;\nE:", "@%p0 bra E;\nbarrier.sync 0;\nE:",
        "bar.sync 0;\nbar.sync 0;\nbar.sync 0;\n@%p1 bra E;\nbar.sync 0;\nE:", "bar.sync 0;",
        "@%p1 exit;\nbar.sync 1, 32;", "@%p1 bra E;\nbar.sync 1, 32;\nE:"})
    for (const run::Schedule& s : launch::schedules(8))
      EXPECT_EQ(end(body, s, true), "held") << body << launch::describe(s);
  EXPECT_EQ(end("bar.sync 0;", {}, true, 40), "held");  // of a warp that is not full
  // A warp that has ended is none of those that a count is of.
  EXPECT_NE(end("@%p1 exit;\nbar.sync 1, 64;").find("deadlock"), std::string::npos);
}

// Two halves at two barriers passed on an H200, one thread at one while the others loop and come to another
// hung.
TEST(EndedThreads, AWarpAtTwoBarriersIsAFaultWithBothPlaces) {
  const std::string halves = "@%p0 bra L;\nbar.sync 0;\nbra E;\nL: bar.sync 0;\nE:";
  const std::string one =
      "@%p2 bra L;\nM: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 9;\n@%p3 bra M;\nbar.sync 0;\nbra E;\n"
      "L: bar.sync 0;\nE:";
  for (const run::Schedule& s : launch::schedules(8)) {
    const std::string both = end(halves, s);
    EXPECT_NE(both.find("divergent barrier: 'bar.sync' is for all threads of a warp at once"),
              std::string::npos)
        << both;
    EXPECT_NE(both.find("PTX line 10"), std::string::npos) << both;
    EXPECT_NE(both.find("PTX line 12"), std::string::npos) << both;
    const std::string hung = end(one, s);
    EXPECT_NE(hung.find("divergent barrier"), std::string::npos) << hung;
    EXPECT_NE(hung.find("PTX line 13"), std::string::npos) << hung;
    EXPECT_NE(hung.find("PTX line 15"), std::string::npos) << hung;
  }
}

// The lower half comes to the barrier first, the upper half has a guard that lets it do so in the second
// round alone.
TEST(EndedThreads, WhoPassesABarrierByMayNotComeToItBehindOthersThatWait) {
  const std::string text =
      end("M: setp.eq.u32 %p3, %r2, %r3;\n@%p3 bar.sync 0;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p4, %r2, "
          "2;\n@%p4 bra "
          "M;");
  EXPECT_NE(text.find("PTX line 10, CTA (0,0,0), thread (16,0,0): a divergent barrier"), std::string::npos)
      << text;
  // Where its others wait for something that comes behind the barrier, nothing can run.
  const std::string waits =
      end("@%p0 bra L;\nbar.sync 0;\nbar.warp.sync -1;\nbra E;\nL: bar.warp.sync -1;\nE:");
  EXPECT_NE(waits.find("deadlock"), std::string::npos) << waits;
  EXPECT_NE(waits.find("PTX line 10"), std::string::npos) << waits;
  EXPECT_NE(waits.find("PTX line 13"), std::string::npos) << waits;
}

TEST(EndedThreads, ElectionsMatchesAndVotesTellOfMembersThatHaveEnded) {
  for (const std::string mask : {"-1", "0xFFFF0000"})
    for (const std::string collective :
         {"elect.sync _|%p3, ", "match.any.sync.b32 %r4, %r1, ", "match.all.sync.b32 %r4|%p3, %r2, ",
          "vote.sync.ballot.b32 %r4, %p1, ", "vote.sync.any.pred %p3, %p1, "}) {
      const std::string body = "@%p0 exit;\n" + collective + mask + ";";
      if (mask == "-1")
        expect_note(body, 10, kMask);
      else
        EXPECT_EQ(end(body, {}, true), "held") << body;
    }
}

}  // namespace
}  // namespace bitwell::isa
