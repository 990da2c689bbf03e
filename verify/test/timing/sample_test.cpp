// What is run of a launch stands for all of it.
#include <gtest/gtest.h>

#include "one_kernel.h"
#include "probed.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

constexpr uint32_t kAll = 0, kSample = 8;  // clusters of a multiprocessor

double cycles(const launch::Launch& l, uint32_t most) {
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  q.most = most;
  q.whole_up_to = 0;
  return session::time_of(q).launches.at(0).launch.cycles;
}

// A loop that comes round %r1 times.
std::string loop(const std::string& times, const std::string& body = "") {
  return kernel("mov.f32 %f0, 0f3F800000;\n" + times + "next:\n" + body +
                "add.f32 %f0, %f0, %f0;\nmul.f32 %f0, %f0, %f0;\nsub.s32 %r1, %r1, 1;\n"
                "setp.gt.s32 %p0, %r1, 0;\n@%p0 bra next;\nst.global.f32 [%a0], %f0;\n");
}

// What CTAs have to do may hang on where they are: those of one corner are not like the others.
TEST(Sample, LiesOverTheWholeGrid) {
  for (const char* const times :
       {"mov.u32 %r1, %ctaid.x;\n", "mov.u32 %r1, %ctaid.x;\nsub.u32 %r1, 1000, %r1;\n",
        "mov.u32 %r1, %ctaid.x;\nand.b32 %r1, %r1, 31;\nmul.lo.u32 %r1, %r1, 32;\n"}) {
    const launch::Launch l = launch_of(loop(times), 1000, 256);
    const double all = cycles(l, kAll);
    // Eight CTAs by chance, beside the multiprocessor that has most to do.
    EXPECT_NEAR(cycles(l, kSample), all, 0.35 * all) << times;
  }
}

// A sample may have met none of the clusters that have most to do. A launch that takes the host no time is
// run whole.
TEST(Sample, IsNotTakenOfALaunchThatExecutesLittle) {
  // One CTA of 40 goes round 2000 times, the others once: 2 warps, 5 instructions a round, and 10 more.
  const std::string times =
      "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p0, %r1, 17;\nselp.b32 %r1, 2000, 1, %p0;\n";
  const launch::Launch l = launch_of(loop(times), 40, 64);
  const auto asked = [&](double whole_up_to) {
    session::TimeQuestion q = session::time_question(l);
    q.asks_ptxas = false;
    q.most = 1;
    q.whole_up_to = whole_up_to;
    return session::time_of(q).launches.at(0).launch;
  };
  constexpr double kAsSampled = 40 * 2 * 15;  // as the sample has them
  const double all = cycles(l, kAll);
  const TimedLaunch sampled = asked(kAsSampled / 2), whole = asked(kAsSampled * 2);
  EXPECT_TRUE(sampled.sampled);
  EXPECT_LT(sampled.cycles, 0.3 * all);
  EXPECT_FALSE(whole.sampled);
  EXPECT_NEAR(whole.cycles, all, 0.02 * all);
}

// One CTA of those that take the next tile from a counter would do what all of them do: where all are there
// at once, all are run. One that counts once, or whose number nobody reads, is like the others.
TEST(Sample, IsNotTakenOfClustersThatTakeWorkFromOneAnother) {
  std::string sums;
  for (int i = 0; i < 200; ++i) sums += "add.f32 %f0, %f0, %f0;\n";
  const std::string begin = "mov.f32 %f0, 0f3F800000;\nmov.u32 %r1, 0;\n",
                    end = "st.global.f32 [%a0+4096], %f0;\n";
  const auto takes = [&](const std::string& update, const std::string& number) {
    return kernel(begin + "next:\n" + update + number + sums +
                  "setp.lt.u32 %p0, %r1, 160;\n@%p0 bra next;\n" + end);
  };
  const auto of = [](const std::string& text, uint32_t ctas) {
    const launch::Launch l = launch_of(text, ctas, 32);
    session::TimeQuestion q = session::time_question(l);
    q.asks_ptxas = false;
    q.most = 2;
    q.whole_up_to = 0;
    return session::time_of(q).launches.at(0).launch;
  };
  const std::string count = "add.u32 %r1, %r1, 16;\n";
  for (const char* const update : {"atom.global.add.u32 %r2, [%a0], 1;\n", "atom.add.u32 %r2, [%a0], 1;\n",
                                   "atom.global.inc.u32 %r2, [%a0], 100000;\n"}) {
    const std::string text = takes(update, "mov.u32 %r1, %r2;\n");
    const TimedLaunch given = of(text, 16);
    EXPECT_FALSE(given.sampled) << update;
    EXPECT_NEAR(given.cycles, cycles(launch_of(text, 16, 32), kAll), 1) << update;
    EXPECT_TRUE(of(text, 132 * 40).sampled) << "more than are there at once";
  }
  EXPECT_TRUE(of(takes("atom.global.add.u32 %r2, [%a0], 1;\n", count), 16).sampled) << "read by nobody";
  EXPECT_TRUE(
      of(takes("atom.global.add.u32 %r2, [%a0], 1;\n", count + "mov.u32 %r2, 0;\nadd.u32 %r3, %r2, 1;\n"), 16)
          .sampled)
      << "another value";
  EXPECT_TRUE(
      of(takes("atom.shared.add.u32 %r2, [tile], 1;\n", count + "add.u32 %r3, %r2, 1;\n"), 16).sampled)
      << "the CTA's own";
  EXPECT_TRUE(of(kernel(begin + "atom.global.add.u32 %r2, [%a0], 1;\nadd.u32 %r1, %r2, 1;\nnext:\n" + sums +
                        count + "setp.lt.u32 %p0, %r1, 160;\n@%p0 bra next;\n" + end),
                 16)
                  .sampled)
      << "once";
}

// Those that are resident together end at once, wave after wave.
TEST(Sample, WavesThatEndAtOnceCountEachOnce) {
  std::string sums;
  for (int i = 0; i < 256; ++i) sums += "add.f32 %f0, %f0, %f0;\n";
  for (const uint32_t each : {3U, 45U}) {
    const launch::Launch l = launch_of(loop("mov.u32 %r1, 40;\n", sums), 132 * each, 256);
    const double all = cycles(l, kAll);
    EXPECT_NEAR(cycles(l, kSample), all, 0.05 * all) << each << " CTAs a multiprocessor";
  }
}

// L2 does sums in one word one after the other, whichever multiprocessors they come from; and those in words
// of their own side by side.
TEST(Sample, SumsInOneWordQueueForAllMultiprocessors) {
  const auto row =
      probes().find({"red.global.add.f32", "interval of a warp, all lanes one word, 16 CTAs of 8 warps"});
  ASSERT_NE(row, probes().end());
  constexpr uint32_t kCtas = 132 * 8, kThreads = 256, kSums = 4;
  const double expected = row->second / 16 / 32 * kCtas * kThreads * kSums;
  std::string sums;
  for (uint32_t i = 0; i < kSums; ++i) sums += "red.global.add.f32 [%a0], 0f3F800000;\n";
  const std::string own =
      "mov.u32 %r1, %ctaid.x;\nand.b32 %r1, %r1, 1023;\nmad.lo.u32 %r1, %r1, 256, %r0;\n"
      "mul.wide.u32 %a1, %r1, 4;\nadd.u64 %a0, %a0, %a1;\n";
  for (const uint32_t most : {kAll, kSample}) {
    EXPECT_NEAR(cycles(launch_of(kernel(sums), kCtas, kThreads), most), expected, 0.15 * expected) << most;
    EXPECT_LT(cycles(launch_of(kernel(own + sums), kCtas, kThreads), most), 0.05 * expected) << most;
  }
}

}  // namespace
}  // namespace bitwell::timing
