// What is known of machine code takes the place of what PTX lets guess.
#include <gtest/gtest.h>

#include <cmath>

#include "model/timing/launches.h"
#include "one_kernel.h"

namespace bitwell::timing::with_code {
namespace {

using Opcodes = std::map<uint32_t, uint32_t>;
constexpr uint32_t kFfma = 0x023, kImad = 0x024, kImadHigh = 0x027, kDfma = 0x02b, kLop3 = 0x012,
                   kMufu = 0x108, kLds = 0x184, kUiadd3 = 0x090, kNop = 0x118, kBra = 0x147, kBssy = 0x145;

// A line of PTX, and what it becomes; after which the warp stalls for so many cycles, or for one of each.
struct Line {
  std::string ptx;
  Opcodes code;
  uint32_t stalls = 0;
};
using Body = std::vector<Line>;

Body repeated(int n, const Body& what) {
  Body out;
  for (int i = 0; i < n; ++i) out.insert(out.end(), what.begin(), what.end());
  return out;
}
Body operator+(Body a, const Body& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// `waits`: of lines of the body, counted from 0.
TimedLaunch timed(const Body& body, uint32_t ctas, uint32_t threads, uint32_t registers = 0,
                  uint32_t said = 0, const std::map<int64_t, std::vector<int64_t>>& waits = {}) {
  std::string lines;
  for (const Line& line : body) lines += line.ptx + "\n";
  const std::string text = kernel(lines);
  const std::string before = text.substr(0, text.find(lines));
  auto at = static_cast<int64_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto code = std::make_shared<MachineCode>();
  code->registers = registers;
  for (const auto& [line, behind] : waits)
    for (const int64_t before_it : behind) code->waits[at + line].push_back(at + before_it);
  for (const Line& line : body) {
    auto& opcodes = code->lines[at++];
    for (const auto& [opcode, times] : line.code)
      opcodes[opcode] = {times, line.stalls != 0 ? line.stalls : times};
  }
  launch::Launch l = launch_of(text, ctas, threads);
  l.shape.registers = said;
  Launches clocks(even_dram(), 0, {});
  clocks.set_code(code);
  run::Options options;
  options.checked = false;
  options.chooser = &clocks;
  launch::simulate(l, options, false);
  return clocks.timed().at(0);
}

// An address is a sum that became part of the load: it is there when what it comes of is, though two warps
// hold each other up in what stands before it.
TEST(WithCode, WhatIsPartOfAnotherWaitsForNothingElse) {
  const Line logic{"lop3.b32 %r2, %r2, %r1, %r4, 0x96;", {{kLop3, 1}}, 3};
  const Line use{"xor.b32 %r2, %r2, %r3;", {{kLop3, 1}}, 3};
  const auto cycles = [&](const std::string& address, const Body& sum) {
    const Body load{{"ld.shared.b32 %r3, [" + address + "];", {{kLds, 1}}}};
    return timed(Body{{"mov.b32 %r5, 64;", {{kLop3, 1}}}} + repeated(60, {logic}) + sum + load +
                     repeated(60, {use}),
                 1, 256)
        .cycles;
  };
  EXPECT_NEAR(cycles("%r6", {{"add.s32 %r6, %r5, 256;", {}}}), cycles("%r5+256", {}), 5);
}

// A warp issues in the order of machine code: where that has a load behind the use of another, it waits for
// that. Registers hold several values one after the other; it waits for that load's, not for a later one's.
TEST(WithCode, ALoadWaitsForThoseThatAreUsedBeforeIt) {
  const auto load = [](const std::string& to, const std::string& from) {
    return Line{"ld.global.nc.b32 " + to + ", [" + from + "];", {{0x181, 1}}};
  };
  const Line wide{"mad.wide.u32 %a1, %r1, 4, %a0;", {{kImad, 1}}};
  using Waits = std::map<int64_t, std::vector<int64_t>>;
  const auto cycles = [](const Body& body, const Waits& waits) {
    return timed(body, 1, 32, 0, 0, waits).cycles;
  };
  // Each from a line of DRAM of its own.
  const Body apart{load("%r1", "%a0"), load("%r2", "%a0+65536"), load("%r3", "%a0+131072")};
  const double one = cycles(apart, {}), two = cycles(apart, {{1, {0}}}) - one;
  EXPECT_GT(two, 500);
  EXPECT_LT(one, 1.5 * two);
  EXPECT_NEAR(cycles(apart, {{2, {0}}}), one + two, 30);
  EXPECT_NEAR(cycles(apart, {{2, {0, 1}}}), one + two, 30);
  EXPECT_NEAR(cycles(apart, {{1, {0}}, {2, {1}}}), one + 2 * two, 30);
  // What is no load, or stands nowhere, is waited for by nobody.
  EXPECT_NEAR(cycles(apart, {{2, {7}}, {9, {0}}}), one, 1);
  // The second needs the first, and takes its register.
  const Body again{load("%r1", "%a0"), wide, load("%r1", "%a1+65536"), load("%r3", "%a0+131072")};
  EXPECT_NEAR(cycles(again, {}), one + two, 60);
  EXPECT_NEAR(cycles(again, {{3, {0}}}), one + two, 60);
  EXPECT_NEAR(cycles(again, {{3, {2}}}), one + 2 * two, 60);
}

// Cycles of a quarter by which one more of what is repeated is slower, with eight warps of each quarter.
double each(const Body& first, const Body& what) {
  constexpr int kMany = 64, kThreads = 1024, kWarps = kThreads / 32 / 4;
  const auto of = [&](int n) { return timed(first + repeated(n, what), 1, kThreads).cycles; };
  return (of(2 * kMany) - of(kMany)) / kMany / kWarps;
}

// A load says that all stands there once.
const Body kSet{
    {"mov.b32 %r1, %r0;", {}}, {"mov.b32 %r3, %r0;", {}}, {"ld.shared.b32 %r7, [tile];", {{kLds, 1}}}};

// An H200's probes have 1.04 cycles of a quarter for fma, 2.04 for lop3, 2 for mad.lo, 4 for mul.hi, 2 for
// fma.f64, 8 for ex2.
TEST(WithCode, ALineCostsWhatItBecame) {
  const struct {
    const char* what;
    Opcodes code;
    double cycles;
  } cases[] = {
      {"nothing", {}, 0},
      {"what fills up", {{kNop, 3}}, 0},
      {"one lop3", {{kLop3, 1}}, 2.04},
      {"three", {{kLop3, 3}}, 6.12},
      {"a product and sum of fp32", {{kFfma, 1}}, 1.04},
      {"two of whole numbers", {{kImad, 2}}, 4},
      {"the high half of one", {{kImadHigh, 1}}, 4},
      {"one of fp64", {{kDfma, 1}}, 2},
      {"a function", {{kMufu, 1}}, 8},
      {"what all lanes have in common", {{kUiadd3, 2}}, 2},
  };
  for (const auto& c : cases)
    for (const char* ptx : {"fma.rn.f32 %f2, %f1, %f1, %f1;", "add.s32 %r2, %r1, %r3;", "mov.b32 %r2, %r1;"})
      EXPECT_NEAR(each(kSet, {{ptx, c.code}}), c.cycles, 0.05 * c.cycles + 0.02) << c.what << ": " << ptx;
}

// Cycles of a pass through the body by each of so many warps of a quarter, one of which takes the first.
double a_pass(const Body& body, uint32_t warps) {
  const auto of = [&](int rounds) {
    Body all = kSet + Body{{"mov.b32 %r5, 0;", {}}, {"$again:", {}}} + body;
    all = all + Body{{"add.s32 %r5, %r5, 1;", {}},
                     {"setp.lt.s32 %p1, %r5, " + std::to_string(rounds) + ";", {}},
                     {"@%p1 bra $again;", {{kBra, 1}}}};
    return timed(all, 1, 128 * warps).cycles;
  };
  return (of(40) - of(20)) / 20 / warps;
}

// ptxas says how long a warp may not issue the next: until what it computed is there, or a pipe is free. A
// warp alone takes that; many are as fast as the pipe.
TEST(WithCode, AWarpStallsAsItsCodeSays) {
  const auto body = [](uint32_t stalls) {
    return repeated(64, {{"and.b32 %r2, %r1, %r3;", {{kLop3, 1}}, stalls}});
  };
  for (const uint32_t stalls : {1u, 2u, 4u, 6u, 13u})
    EXPECT_NEAR(a_pass(body(stalls), 1), 64 * std::max(2.04, 1.0 * stalls), 0.02 * 64 * stalls + 8) << stalls;
  for (const uint32_t stalls : {1u, 4u}) EXPECT_NEAR(a_pass(body(stalls), 8), 64 * 2.04, 7) << stalls;
  // One that needs what the last one computed waits no longer: the stall has that in it.
  EXPECT_NEAR(a_pass(repeated(64, {{"and.b32 %r2, %r2, %r3;", {{kLop3, 1}}, 4}}), 1), 64 * 4, 8);
}

// By probes that are not kept: a decoder of NVFP4 that stalls for 2,188 cycles a round, 700 of which it needs
// of its busiest pipe, takes 2231, 1244, 955, 849, 777 and 757 cycles a round on an H200, by 1, 2, 3, 4, 6
// and 8 warps of a quarter: more than if they took turns without a gap. So does another of 1,046 cycles and
// 652: 1117, 735, 665, 657, 651, 648.
TEST(WithCode, WarpsSideBySideMeetInAPipe) {
  const struct {
    uint32_t lines, stalls;  // of each, ten times
    std::array<double, 6> cycles;
  } cases[] = {{343, 64, {2231, 1244, 955, 849, 777, 757}}, {320, 33, {1117, 735, 665, 657, 651, 648}}};
  constexpr std::array<uint32_t, 6> kWarps{1, 2, 3, 4, 6, 8};
  for (const auto& c : cases) {
    Body body;
    for (uint32_t i = 0; i < c.lines; ++i)
      body.push_back({"and.b32 %r2, %r1, %r3;", {{kLop3, 1}}, (i + 1) * c.stalls / 10 - i * c.stalls / 10});
    for (size_t k = 0; k < kWarps.size(); ++k)
      EXPECT_NEAR(a_pass(body, kWarps[k]), c.cycles[k], 0.1 * c.cycles[k]) << c.lines << ", " << kWarps[k];
  }
}

// On an H200 a branch that half of the lanes take costs a warp 17 cycles more than one that none takes, and
// one of those within another 44; a predicate costs nothing.
TEST(WithCode, LanesThatGoDifferentWaysCostMore) {
  constexpr int kOver = 12;
  const auto leap = [](const std::string& at, const Opcodes& branch) {
    Body body{{"and.b32 %r6, %r0, 31;", {}}, {"setp.lt.s32 %p2, %r6, " + at + ";", {{kLop3, 1}}}};
    for (int i = 0; i < 8; ++i) {
      const std::string label = "$by" + std::to_string(i);
      body = body + Body{{"@%p2 bra " + label + ";", branch}} +
             repeated(kOver, {{"and.b32 %r2, %r1, %r3;", {{kLop3, 1}}}}) +
             Body{{label + ":", {}}, {"and.b32 %r4, %r1, %r3;", {{kLop3, 1}}}};
    }
    return a_pass(body, 1) / 8;
  };
  const double none = leap("0", {{kBra, 1}}), some = leap("16", {{kBra, 1}});
  EXPECT_GT(some - none, 16);
  EXPECT_LT(some - none, 45);
  EXPECT_LT(leap("32", {{kBra, 1}}), none);
  EXPECT_NEAR(leap("0", {}), leap("16", {}), 0.1);
}

// ptxas makes one instruction of a copy where it knows that one thread alone comes there, else a loop over
// lanes; by PTX alone that is guessed from an elect.sync.
TEST(WithCode, ACopyOfAnElectedThreadIsIssuedAtOnce) {
  constexpr uint32_t kCopy = 0x1ba;
  // Of one more, behind so many that the first ones have come.
  const auto each = [&](const std::string& before, const Opcodes& code) {
    const auto cycles = [&](int copies) {
      const Body begin{
          {before, {}},
          {"mbarrier.init.shared.b64 [bar], 1;", {}},
          {"mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(16 * copies) + ";", {}}};
      const Line copy{
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a0], 16, [bar];",
          code};
      const Body end{
          {"wait:", {}}, {"mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;", {}}, {"@!%p0 bra wait;", {}}};
      return timed(begin + repeated(copies, {copy}) + end, 1, 1).cycles;
    };
    constexpr int kCopies = 256;
    return (cycles(2 * kCopies) - cycles(kCopies)) / kCopies;
  };
  const double looped = h200().value(Key::copy_issue), alone = h200().value(Key::copy_issue_elected);
  ASSERT_GT(looped, alone + 30);
  const std::string elect = "elect.sync _|%p1, 1;", none;
  EXPECT_NEAR(each(none, {{kCopy, 1}, {kBra, 1}}), looped, 0.5);
  EXPECT_NEAR(each(none, {{kCopy, 1}}), alone, 0.5);
  EXPECT_NEAR(each(elect, {{kCopy, 1}, {kBra, 1}}), looped, 0.5);
  EXPECT_NEAR(each(none, {}), looped, 0.5) << "by PTX alone";
  EXPECT_NEAR(each(elect, {}), alone, 0.5) << "by PTX alone";
}

// Its 8 registers hold 16 rows of 32 bytes twice: ptxas makes one ldmatrix of it, of four wavefronts.
TEST(WithCode, AFragmentComesByOneLdmatrix) {
  constexpr uint32_t kLdsm = 0x03b, kWarps = 16;
  const Body begin{{".reg .b32 %w<8>;", {}}, {"mov.u32 %r1, 24;", {}}};  // elements: rows meet in no bank
  const Line load{
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, [tile], "
      "%r1;",
      {{kLdsm, 1}}};
  const auto of = [&](int loads) { return timed(begin + repeated(loads, {load}), 1, 32 * kWarps); };
  constexpr int kLoads = 64;
  const TimedLaunch more = of(2 * kLoads);
  const double each = (more.cycles - of(kLoads).cycles) / kLoads / kWarps;
  EXPECT_NEAR(each, 4 * h200().value(Key::shared_interval), 0.1);
  EXPECT_NEAR(more.seen.issue, 0.25 / each, 0.02) << "of a quarter";
}

// A loop that stands in the code four times: all of its lines but those that count have four of each.
TEST(WithCode, CopiesOfALoopCostAsOne) {
  const auto loop = [](uint32_t copies, uint32_t leaps, const Line& anchor, int rounds) {
    Body body = kSet + Body{{"mov.b32 %r5, 0;", {}}, {"$again:", {}}, anchor};
    const Opcodes one{{kLop3, copies}};
    body = body + repeated(6, {{"and.b32 %r2, %r1, %r3;", one}});
    return body + Body{{"add.s32 %r5, %r5, 1;", {{kLop3, leaps}}},
                       {"setp.lt.s32 %p1, %r5, " + std::to_string(rounds) + ";", {{kLop3, leaps}}},
                       {"@%p1 bra $again;", {{kBra, leaps}}}};
  };
  const auto a_round = [&](uint32_t copies, uint32_t leaps, const Line& anchor) {
    const auto of = [&](int rounds) { return timed(loop(copies, leaps, anchor, rounds), 1, 1024).cycles; };
    return (of(40) - of(20)) / 20;
  };
  const std::string load = "ld.shared.b32 %r6, [tile];";
  for (const uint32_t copies : {2u, 4u}) {
    const double once = a_round(1, 1, {load, {{kLds, 1}}});
    EXPECT_NEAR(a_round(copies, copies, {load, {{kLds, copies}}}), once, 0.01 * once) << copies;
    EXPECT_LT(a_round(copies, 1, {load, {{kLds, copies}}}), 0.95 * once) << copies;
    // Without an access most lines say how many copies there are.
    const Line none{"mov.b32 %r6, %r1;", {}};
    const double alone = a_round(1, 1, none);
    EXPECT_NEAR(a_round(copies, copies, none), alone, 0.01 * alone) << copies;
    EXPECT_LT(a_round(copies, 1, none), alone) << copies;
    EXPECT_GT(a_round(copies, 1, none), 0.5 * alone) << copies;
  }
}

// Where machine code has no branch, all is issued, whoever leaps over it.
TEST(WithCode, WhatAPredicateLeapsOverIsIssued) {
  constexpr int kOver = 20;
  const auto leap = [](const Opcodes& branch, int n) {
    Body out = kSet + Body{{"setp.ge.s32 %p1, %r0, 0;", {{kLop3, 1}}}};
    for (int i = 0; i < n; ++i) {
      const std::string label = "$over" + std::to_string(i);
      out = out + Body{{"@%p1 bra " + label + ";", branch}} +
            repeated(kOver, {{"and.b32 %r2, %r1, %r3;", {{kLop3, 1}}}}) + Body{{label + ":", {}}};
    }
    return out;
  };
  const auto each_of = [&](const Opcodes& branch) {
    const auto of = [&](int n) { return timed(leap(branch, n), 1, 1024).cycles; };
    return (of(24) - of(8)) / 16 / 8;
  };
  EXPECT_NEAR(each_of({}), 2.04 * kOver, 2.5);
  // Lanes that come together there are no branch.
  EXPECT_NEAR(each_of({{kBssy, 1}}), 2.04 * (kOver + 1), 2.5);
  EXPECT_LT(each_of({{kBra, 1}}), 0.5 * 2.04 * kOver);
}

// 65,536 registers are there: as many CTAs of 512 threads at once as these allow. A launch knows better.
TEST(WithCode, RegistersSayHowManyAreThereAtOnce) {
  const Body body = kSet + Body{{"and.b32 %r2, %r1, %r3;", {{kLop3, 1}}}};
  for (const auto& [registers, said, residents] :
       {std::array{128u, 0u, 1u}, {64u, 0u, 2u}, {32u, 0u, 4u}, {128u, 32u, 4u}, {0u, 64u, 2u}}) {
    const TimedLaunch l = timed(body, 4 * 132, 512, registers, said);
    EXPECT_EQ(l.extent.residents, residents) << registers << ", " << said;
    EXPECT_TRUE(l.sure_of_residents) << registers << ", " << said;
  }
  EXPECT_FALSE(timed(body, 4 * 132, 512).sure_of_residents);
}

}  // namespace
}  // namespace bitwell::timing::with_code
