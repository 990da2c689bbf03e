// Loads from DRAM: of many at once the last one is waited for, and that is later than the mean.
#include "model/timing/dram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "one_kernel.h"
#include "probed.h"

namespace bitwell::timing {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 36;

double beside(const DramLatency& dram, uint64_t address, uint64_t cycles) {
  return cycles_of(dram.beside_mean(address, static_cast<Time>(cycles) * kCycle));
}

// One after the other they take what an H200 took, of which the table has four rows, and one fitted to that
// of 90 %.
TEST(Dram, SingleLoadsTakeWhatTheyTookThere) {
  const DramLatency dram(h200());
  std::mt19937_64 random(1);
  std::vector<double> all;
  double sum = 0;
  for (int i = 0; i < 200000; ++i) {
    all.push_back(beside(dram, random() % kMost, random() % 1000000));
    sum += all.back();
  }
  EXPECT_NEAR(sum / static_cast<double>(all.size()), 0, 3) << "the mean is another row";
  std::sort(all.begin(), all.end());
  const auto here = [&](double percent) {
    return all[static_cast<size_t>(percent / 100 * static_cast<double>(all.size() - 1))];
  };
  const auto there = [](const char* percent) {
    return probes().at({"ld.volatile.global", std::string("latency, DRAM, of ") + percent + " % at most"});
  };
  for (const char* const percent : {"1", "10", "80", "90", "95", "98", "99"})
    EXPECT_NEAR(here(std::stod(percent)) - here(65), there(percent) - there("65"), 40) << percent << " %";
}

// By the bytes of a KiB that are asked for at one time: all of them meet a refresh, or none does.
TEST(Dram, AKibibyteIsRefreshedAtOnceAndFarOnesAreNot) {
  const DramLatency dram(h200());
  const double waits = h200().value(Key::dram_far) - h200().value(Key::dram_near) +
                       (h200().value(Key::dram_refreshed) - h200().value(Key::dram_far)) / 2;
  std::mt19937_64 random(2);
  constexpr int kTimes = 4000, kBursts = 16;
  int one = 0, near = 0, apart = 0;  // times at which one that is asked for waits for long
  for (int i = 0; i < kTimes; ++i) {
    const uint64_t at = random() % 1000000, kibibyte = random() % kMost / 1024 * 1024;
    bool of_near = false, of_apart = false;
    for (uint64_t k = 0; k < kBursts; ++k) {
      of_near |= beside(dram, kibibyte + 64 * k, at) > waits;
      of_apart |= beside(dram, random() % kMost, at) > waits;
    }
    one += beside(dram, kibibyte, at) > waits ? 1 : 0;
    near += of_near ? 1 : 0;
    apart += of_apart ? 1 : 0;
  }
  EXPECT_GT(one, kTimes / 60);
  EXPECT_LT(near, 2 * one);
  EXPECT_GT(apart, 5 * one);
}

// Cycles of 64 rounds, in each of which a warp asks for eight rows of 64 bytes so far apart, and waits.
double rounds(const Device& device, const std::string& asks, uint32_t apart) {
  const std::string body =
      "shr.u32 %r1, %r0, 2;\nand.b32 %r2, %r0, 3;\nmul.lo.u32 %r1, %r1, " + std::to_string(apart) +
      ";\nmad.lo.u32 %r1, %r2, 16, %r1;\ncvt.u64.u32 %a1, %r1;\nadd.u64 %a1, %a0, %a1;\nmov.u32 %r3, tile;\n"
      "mad.lo.u32 %r3, %r0, 16, %r3;\nmov.u32 %r4, 64;\nround:\n" +
      asks + "add.u64 %a1, %a1, 131072;\nsub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p0, %r4, 0;\n@%p0 bra round;\n";
  Launches clocks(device, 0, {});
  run_by(clocks, launch_of(kernel(body), 1, 32, 64 * 131072 + (1 << 17)));
  return clocks.timed().at(0).seen.cycles;
}

TEST(Dram, TheLastOfSeveralRowsIsWaitedFor) {
  constexpr int kRounds = 64;
  for (const char* const asks :
       {"cp.async.cg.shared.global [%r3], [%a1], 16;\ncp.async.wait_all;\n",
        "ld.global.cg.v4.u32 {%r2, %r5, %r6, %r7}, [%a1];\nadd.u32 %r4, %r4, %r2;\n"}) {
    const double together = rounds(h200(), asks, 64), apart = rounds(h200(), asks, 12288);
    EXPECT_GT(apart - together, 120 * kRounds) << asks;
    EXPECT_LT(apart - together, 450 * kRounds) << asks;
    EXPECT_NEAR(rounds(even_dram(), asks, 12288), rounds(even_dram(), asks, 64), 30 * kRounds) << asks;
  }
}

}  // namespace
}  // namespace bitwell::timing
