// A run in the order of time: the same bits, and times that what is known of the device explains.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "model/run/turns/order.h"
#include "model/timing/cost.h"
#include "model/timing/lines.h"
#include "model/timing/multiprocessor.h"
#include "model/timing/server.h"
#include "one_kernel.h"
#include "verify/launch/start.h"
#include "verify/schedules/given.h"
#include "verify/session/process.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

session::TimeAnswer time_of(const launch::Launch& l, uint32_t most = 8) {
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  q.most = most;
  q.whole_up_to = 0;
  return session::time_of(q);
}
double cycles(const std::string& body, uint32_t threads = 32) {
  const launch::Launch l = launch_of(kernel(body), 1, threads);
  return time_of(l).launches.at(0).launch.cycles;
}
// The same a hundred times.
std::string repeat(const std::string& line) {
  std::string out;
  for (int i = 0; i < 100; ++i) out += line;
  return out;
}

// Words that two warps hand to each other through a barrier and a copy.
std::string pipeline(uint32_t bytes) {
  std::string out = kernel(R"(setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared.b64 [bar], 1;
fence.proxy.async;
bar.sync 0;
@!%p0 bra wait;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a0], 512, [bar];
wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
@!%p1 bra wait;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, tile;
add.u32 %r2, %r2, %r1;
ld.shared.u32 %r3, [%r2];
add.u32 %r3, %r3, %r0;
mov.u32 %r4, %ctaid.x;
mul.lo.u32 %r4, %r4, 256;
add.u32 %r4, %r4, %r1;
add.u32 %r4, %r4, 4096;
cvt.u64.u32 %a1, %r4;
add.u64 %a1, %a0, %a1;
st.global.u32 [%a1], %r3;
)");
  for (size_t at = 0; (at = out.find("512", at)) != std::string::npos; ++at)
    out.replace(at, 3, std::to_string(bytes));
  return out;
}
const std::string kPipeline = pipeline(512);

TEST(Timed, BitsAreThoseOfEverySchedule) {
  const launch::Launch l = launch_of(kPipeline, 150, 64);
  const launch::Start start(l);
  const launch::Ran lazy = start.run({}, true);
  schedules::Given timed("timed", 0, start, {});
  run::Options options;
  timed.attach(options);
  const launch::Ran other = start.run(options, true);
  EXPECT_EQ(lazy.buffer(l, 0), other.buffer(l, 0));
  EXPECT_EQ(lazy.result.warp_instructions, other.result.warp_instructions);
}

// What a probe of an H200 says: 4 cycles each, where each needs the one before; else one a cycle.
TEST(Timed, ChainsTakeTheirLatency) {
  const double chain = cycles(repeat("fma.rn.f32 %f0, %f0, %f0, %f0;\n") + "st.global.f32 [%a0], %f0;\n");
  EXPECT_NEAR(chain, 411, 60);
  const double free = cycles(repeat("fma.rn.f32 %f0, %f1, %f1, %f1;\n") + "st.global.f32 [%a0], %f0;\n");
  EXPECT_LT(free, 200);
}

TEST(Timed, ConflictsOfBanksCountByTheAddresses) {
  const auto load = [&](const std::string& stride) {
    return cycles("mul.lo.u32 %r1, %r0, " + stride + ";\nand.b32 %r1, %r1, 4095;\nmov.u32 %r2, tile;\n" +
                  "add.u32 %r2, %r2, %r1;\n" + repeat("ld.shared.u32 %r3, [%r2];\n"));
  };
  const double none = load("4"), all = load("128");
  EXPECT_NEAR(all - none, 100 * 31, 300);
  // Words so far apart, of the first lanes, of all or in steps: the most in one bank.
  for (const uint32_t step : {1, 2, 3})
    for (const uint32_t lanes : {32, 20}) {
      const auto took = [&](int words) {
        return cycles("rem.u32 %r3, %r0, " + std::to_string(step) +
                      ";\nsetp.eq.u32 %p0, %r3, 0;\nsetp.lt.and.u32 %p0, %r0, " + std::to_string(lanes) +
                      ", %p0;\nmad.lo.s32 %r1, %r0, " + std::to_string(4 * words) +
                      ", 2800;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\n" +
                      repeat("@%p0 ld.shared.u32 %r3, [%r2];\n"));
      };
      const double alone = took(0);
      for (const int words : {1, 2, 3, 4, 6, 8, 12, 16, 31, 32, 40, -2}) {
        std::map<int, size_t> banks;
        for (uint32_t lane = 0; lane < lanes; lane += step)
          ++banks[(700 + static_cast<int>(lane) * words) % 32];
        size_t most = 0;
        for (const auto& [bank, n] : banks) most = std::max(most, n);
        EXPECT_NEAR(took(words) - alone, 100.0 * static_cast<double>(most - 1), 60)
            << words << " words apart, every " << step << " of " << lanes;
      }
    }
}

// What 32 lanes reach that follow each other, or stand at one place, is told as one; what 31 of them reach,
// lane by lane. The last lane's bytes lie in a bank's round and a sector that others reach too.
TEST(Timed, ARunOfLanesCostsWhatItsLanesDo) {
  const std::pair<std::string, int> widths[] = {{"u8 %r3", 1},
                                                {"u16 %r3", 2},
                                                {"u32 %r3", 4},
                                                {"v2.u32 {%r3, %r4}", 8},
                                                {"v4.u32 {%r3, %r4, %r5, %r6}", 16}};
  for (const std::string place : {"shared", "global", "global.cg"})
    for (const auto& [registers, size] : widths)
      for (const int stride : {size, 0})
        for (const bool stores : {false, true}) {
          if (stores && place == "global.cg") continue;
          const std::string at = place == "shared" ? "[%r2]" : "[%a1]";
          const size_t space = registers.find(' ');
          const std::string type = place + "." + registers.substr(0, space), values = registers.substr(space);
          const std::string access =
              stores ? "st." + type + " " + at + "," + values : "ld." + type + values + ", " + at;
          const auto of_lanes = [&](const std::string& lanes) {
            return cycles("setp.lt.u32 %p0, %r0, " + lanes + ";\nmul.lo.u32 %r1, %r0, " +
                          std::to_string(stride) + ";\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\n" +
                          "cvt.u64.u32 %a1, %r1;\nadd.u64 %a1, %a0, %a1;\n" +
                          "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\n" +
                          repeat("@%p0 " + access + ";\n"));
          };
          EXPECT_EQ(of_lanes("32"), of_lanes("31")) << access << ", " << stride << " bytes apart";
        }
}

// A server that has room for what lies ahead serves as one that has much more, which grows where it must.
TEST(Timed, AServerWithLittleRoomServesAsOneWithMuch) {
  Time now = 0;
  Server<16> much, little(1, &now);
  uint64_t drawn = 1;
  for (int i = 0; i < 200000; ++i) {
    drawn = drawn * 6364136223846793005 + 1442695040888963407;
    const Time ahead = static_cast<Time>(drawn >> 33 & (i % 1000 == 0 ? 0x3fff : 0x3ff)) * kCycle;
    const Time amount = static_cast<Time>(drawn >> 50 & 31) * kCycle / 4;
    ASSERT_EQ(much.take(now + ahead, amount), little.take(now + ahead, amount)) << i;
    now += static_cast<Time>(drawn >> 60) * kCycle;
  }
}

TEST(Timed, ServersThatStandTogetherServeAsEachAlone) {
  uint64_t drawn = 1;
  for (int run = 0; run < 200; ++run) {
    Time now = 0;
    using Together = Servers<16, 3>;
    Together together(1, &now);
    std::array<Server<16>, 3> alone{Server<16>(1, &now), Server<16>(1, &now), Server<16>(1, &now)};
    for (int i = 0; i < 1000; ++i) {
      drawn = drawn * 6364136223846793005 + 1442695040888963407;
      const size_t which = (drawn >> 60) % 3, other = (which + 1) % 3;  // the first has the most to do
      const Time at = now + static_cast<Time>(drawn >> 33 & (i % 100 == 0 ? 0x3fff : 0x3ff)) * kCycle;
      const Time much = static_cast<Time>(drawn >> 50 & (i % 50 == 0 ? 255 : 31)) * kCycle / 4 + kCycle;
      const Time few = static_cast<Time>(drawn >> 40 & 7) * kCycle / 4 + kCycle;
      Together::Asks both, last;
      both.add(which, much, kCycle);
      both.add(other, few, few);
      ASSERT_EQ(together.run(at, both),
                std::max(alone[which].take(at, much) - kCycle, alone[other].take(at, few) - few))
          << run << ' ' << i;
      last.add(2, few, kCycle);
      ASSERT_EQ(together.run_last(at, last), alone[2].take(at, few) - kCycle) << run << ' ' << i;
      Together::Asks one;
      one.add(2, kCycle, kCycle);
      one.add(0, few, few);
      const Time begin = alone[2].take(at, kCycle) - kCycle;
      ASSERT_EQ(together.run_one(at, one), alone[0].take(begin, few) - few) << run << ' ' << i;
      now += static_cast<Time>(drawn >> 62) * kCycle;
    }
  }
}

// What is asked at one go may take longer than is remembered of each interval.
TEST(Timed, AServerRemembersThatItIsBusyForLong) {
  const Time now = 0;
  constexpr Time kLong = 100000;
  using Together = Servers<16, 3>;
  Together together(1, &now);
  Together::Asks much, one;
  much.add(0, kLong * kCycle, kCycle);
  for (const size_t which : {0, 1}) one.add(which, kCycle, kCycle);
  EXPECT_EQ(together.run(0, much), (kLong - 1) * kCycle);
  for (Time i = 0; i < 5000; ++i) ASSERT_GE(together.run(16 * i * kCycle, one), kLong * kCycle) << i;
}

// Each set of the first cache is a list of 16 lines, the most recent first, with the sectors that it has of
// each.
TEST(Timed, TheFirstCacheHoldsTheMostRecentLines) {
  uint64_t drawn = 1;
  for (const uint64_t sets : {1, 3, 18, 128}) {
    L1 cache;
    cache.set_size(sets * 16 * kLine + 1000);
    std::map<uint64_t, std::list<std::pair<uint64_t, uint32_t>>> lists;
    const uint64_t far = uint64_t{1} << 40;  // of another buffer's lines
    for (int i = 0; i < 100000; ++i) {
      drawn = drawn * 6364136223846793005 + 1442695040888963407;
      const uint64_t line = (drawn >> 33) % (20 * sets) + (drawn >> 63) * far;
      const auto sectors = static_cast<uint32_t>(drawn >> 58 & 15);
      auto& list = lists[(line ^ line >> 9) % sets];
      const auto at = std::find_if(list.begin(), list.end(), [&](const auto& l) { return l.first == line; });
      const uint32_t had = at == list.end() ? 0 : at->second;
      if (at != list.end()) list.erase(at);
      list.emplace_front(line, had | sectors);
      if (list.size() > 16) list.pop_back();
      const auto number = static_cast<uint32_t>(line % far + (line >= far ? 1 << 20 : 0));
      ASSERT_EQ(cache.misses(line, number, sectors), sectors & ~had) << sets << " sets, " << i;
    }
  }
}

// It is a queue by time, and then by number, of which the first is put back.
TEST(Timed, TheOrderIsThatOfAQueue) {
  using Who = std::pair<run::Instant, uint32_t>;
  uint64_t drawn = 1;
  for (int run = 0; run < 100; ++run) {
    run::Order order;
    std::set<Who> queue;
    uint32_t clusters = 0;
    for (int i = 0; i < 2000; ++i) {
      drawn = drawn * 6364136223846793005 + 1442695040888963407;
      const auto later = static_cast<run::Instant>(drawn >> 60) / 3;  // often the same time
      const uint32_t warp = drawn >> 50 & 3;
      const uint64_t what = (drawn >> 40) % 16;
      if (queue.empty() || what == 0) {
        order.push({later, clusters, warp});
        queue.emplace(later, clusters++);
      } else {
        const auto [at, cluster] = *queue.begin();
        queue.erase(queue.begin());
        if (what == 1) {
          order.pop();
        } else {
          order.replace({at + later, cluster, warp}, order.second());
          queue.emplace(at + later, cluster);
        }
      }
      ASSERT_EQ(order.empty(), queue.empty());
      if (queue.empty()) continue;
      ASSERT_EQ(order.first().cluster(), queue.begin()->second) << run << ' ' << i;
      ASSERT_EQ(order.second() == nullptr, queue.size() == 1);
      if (queue.size() == 1) continue;
      ASSERT_EQ(order.second()->cluster(), std::next(queue.begin())->second) << run << ' ' << i;
    }
  }
}

// Numbers are the same for a line whenever it is asked, and others for others.
TEST(Timed, LinesHaveNumbersOfTheirOwn) {
  Lines lines;
  constexpr uint64_t kApart = 512;
  const uint32_t first = lines.number(7), far = lines.number(uint64_t{1} << 50);
  EXPECT_NE(first, far);
  EXPECT_EQ(lines.number(8), first + 1);
  for (uint64_t i = 2; i < Lines::kMost / kApart; ++i) EXPECT_NE(lines.number(i * kApart), first);
  EXPECT_EQ(lines.number(7), first);
  EXPECT_EQ(lines.number(uint64_t{1} << 50), far);
  EXPECT_THROW(lines.number(uint64_t{1} << 51), machine::Unsupported);
}

TEST(Timed, MoreBytesAreNeverFaster) {
  double before = 0;
  for (const uint32_t bytes : {512U, 1024U, 2048U, 4096U, 8192U}) {
    std::string text = pipeline(bytes);
    const std::string from = "[%a0], ";
    text.replace(text.find(from), from.size(), "[%a3], ");
    const size_t copy = text.find("cp.async.bulk");
    text.insert(copy, "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %a3, %r5, 8192;\nadd.u64 %a3, %a0, %a3;\n");
    const double now = time_of(launch_of(text, 100, 64)).us;
    EXPECT_GE(now, before) << bytes;
    before = now;
  }
}

TEST(Timed, MoreClustersAreNeverFaster) {
  double before = 0;
  for (const uint32_t ctas : {1U, 100U, 800U, 3000U, 4000U}) {
    const double now = time_of(launch_of(kPipeline, ctas, 64)).us;
    EXPECT_GE(now, 0.99 * before) << ctas;
    before = now;
  }
}

// What an arithmetic instruction waits for is the load before it, although a store waits last.
TEST(Timed, TheWayBackNamesTheLoad) {
  const launch::Launch l = launch_of(
      kernel("ld.global.f32 %f0, [%a0];\nadd.f32 %f1, %f0, %f0;\nst.global.f32 [%a0+64], %f1;\n"), 1, 32);
  const std::vector<Path::Part> path = time_of(l).launches.at(0).launch.seen.path;
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front().cause, Cause::load);
}

// A sector may begin before the bytes that were adopted from a host.
TEST(Timed, BytesOfAHostAreThoseOfTheirRegion) {
  alignas(64) std::array<uint32_t, 96> host{};
  session::Process process;
  process.context().adopt("mine", &host[3], 128);
  Launches clocks(h200(), 0, {});
  run::Shape shape;
  shape.block = {32, 1, 1};
  session::Judging how;
  how.options.chooser = &clocks;
  const auto module = process.context().load(kernel(
      "shl.b32 %r1, %r0, 2;\ncvt.u64.u32 %a1, %r1;\nadd.u64 %a1, %a0, %a1;\nld.global.u32 %r2, [%a1];\n"
      "st.global.u32 [%a1], %r2;\n"));
  process.launch({module, "k", shape, {isa::argument(reinterpret_cast<uintptr_t>(&host[3]))}}, how);
  const Seen seen = clocks.timed().at(0).seen;
  ASSERT_EQ(seen.asked.size(), 1U);
  EXPECT_EQ(seen.asked.begin()->second.name, "mine");
  EXPECT_EQ(seen.asked.begin()->second.read, 160);
  EXPECT_EQ(seen.asked.begin()->second.written, 160);
}

// An instruction whose guard holds for none costs its place and no more.
TEST(Timed, AGuardThatHoldsForNoneSparesTheWait) {
  const std::string never = "setp.gt.u32 %p0, %r0, 100;\n";
  const double spared = cycles(never + repeat("@%p0 fence.acq_rel.sys;\n"));
  EXPECT_LT(spared, 300);
  EXPECT_GT(cycles(never + repeat("@!%p0 fence.acq_rel.sys;\n")), 90000);
}

TEST(Timed, FirstTouchComesFromMemory) {
  const launch::Launch l =
      launch_of(kernel("ld.global.u32 %r1, [%a0];\nst.global.u32 [%a0+64], %r1;\n"), 1, 32);
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  q.costs = even_dram_costs();
  EXPECT_NEAR(session::time_of(q).launches.at(0).launch.cycles, 680, 80);
}

// Of 64 CTAs that read one line at once, one brings it from DRAM; the others have it no sooner.
TEST(Timed, WhatIsOnItsWayIsWaitedFor) {
  const launch::Launch l =
      launch_of(kernel("ld.global.u32 %r1, [%a0];\nst.global.u32 [%a0+64], %r1;\n"), 64, 32);
  const Seen seen = time_of(l, 0).launches.at(0).launch.seen;
  ASSERT_EQ(seen.ends.size(), 64U);
  EXPECT_GT(seen.ends.front(), 600);
  EXPECT_LT(seen.ends.back(), 900);
  EXPECT_LT(seen.dram, 0.01) << "its bytes come once";
}

// The probe finds that a load stands for a third of the time in the queue of copies: it neither overtakes all
// of them nor waits for all.
TEST(Timed, ALoadWaitsForAPartOfTheCopiesQueue) {
  const auto of = [](bool copies) {
    std::string body = R"(setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared.b64 [bar], 1;
fence.proxy.async;
bar.sync 0;
setp.ge.u32 %p2, %r0, 32;
@%p2 bra loads;
@!%p0 bra end;
)";
    if (copies) {
      body += "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 131072;\n";
      for (int i = 1; i <= 16; ++i)
        body += "add.u64 %a1, %a0, " + std::to_string(8192 * i) +
                ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a1], 8192, "
                "[bar];\n";
      body += "wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n";
    }
    body +=
        "bra end;\nloads: mov.u32 %r2, 8;\nload: ld.global.cg.u32 %r1, [%a0];\nsub.u32 %r2, %r2, 1;\n"
        "add.u32 %r1, %r1, %r2;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra load;\n";
    return time_of(launch_of(kernel(body + "end: "), 1, 64), 0).launches.at(0).launch.cycles;
  };
  const double alone = of(false), beside = of(true);
  // 131,072 bytes are served in some 2,400 cycles, of which 1,700 are left behind the first load.
  EXPECT_NEAR(alone, 672 + 7 * 300, 500);
  EXPECT_GT(beside - alone, 250);
  EXPECT_LT(beside - alone, 900);
}

TEST(Timed, AnInstructionWithoutARowIsNamed) {
  const launch::Launch l =
      launch_of(kernel("sad.u32 %r1, %r0, %r0, %r0;\nst.global.u32 [%a0], %r1;\n"), 1, 32);
  const session::LaunchTime t = time_of(l).launches.at(0);
  EXPECT_EQ(t.launch.seen.without_row, (std::map<std::string, uint64_t>{{"sad.u32", 1}}));
  const launch::Launch known =
      launch_of(kernel("add.u32 %r1, %r0, %r0;\nst.global.u32 [%a0], %r1;\n"), 1, 32);
  const session::LaunchTime k = time_of(known).launches.at(0);
  EXPECT_GT(t.estimate.high / t.estimate.us, k.estimate.high / k.estimate.us);
}

// Products of tensor cores by the table of a device that has others.
TEST(Timed, ProductsWithoutARowAreNamed) {
  const launch::Launch l = launch_of(kernel(R"(shl.b32 %r2, %r0, 6;
mov.u32 %r1, tile;
add.u32 %r1, %r1, %r2;
mov.b32 %r3, 0;
st.shared.v4.b32 [%r1], {%r3,%r3,%r3,%r3};
fence.proxy.async.shared::cta;
bar.sync 0;
mov.u64 %a1, 0x4000000000010000;
mov.f32 %f0, 0f00000000;
mov.f32 %f1, %f0;
mov.f32 %f2, %f0;
mov.f32 %f3, %f0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %a1, %a1, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
)"),
                                     1, 128);
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  EXPECT_EQ(session::time_of(q).launches.at(0).launch.seen.without_row.size(), 0u);
  q.device = "b200";
  const session::LaunchTime t = session::time_of(q).launches.at(0);
  EXPECT_EQ(t.launch.seen.without_row, (std::map<std::string, uint64_t>{{"wgmma.mma_async", 1}}));
  EXPECT_GT(t.launch.cycles, 0);
}

TEST(Timed, ADeviceWithoutATableIsNamed) {
  const launch::Launch l = launch_of(kPipeline, 1, 64);
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  q.device = "h100";
  try {
    session::time_of(q);
    ADD_FAILURE();
  } catch (const machine::InputError& e) {
    EXPECT_EQ(std::string(e.what()), "there is no table of costs of 'h100'; there is one of h200, b200");
  }
}

TEST(Timed, CodeThatADeviceDoesNotRunIsSaid) {
  std::string text = kPipeline;
  text.replace(text.find("sm_90a"), 6, "sm_100a");
  const launch::Launch l = launch_of(text, 1, 64);
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  EXPECT_EQ(q.device, "b200");
  EXPECT_TRUE(session::time_of(q).foreign.empty());
  q.device = "h200";
  EXPECT_EQ(session::time_of(q).foreign, (std::set<std::string>{"sm_100a"}));
}

// Seven CTAs for each multiprocessor, of which six fit: the last has it for itself, in a sample too.
TEST(Timed, TheLastClusterOfAMultiprocessorIsAlone) {
  launch::Launch l =
      launch_of(kernel(repeat("fma.rn.f32 %f0, %f1, %f1, %f1;\nfma.rn.f32 %f2, %f1, %f1, %f1;\n") +
                       "st.global.f32 [%a0], %f0;\n"),
                7 * 132, 256);
  l.shape.registers = 40;
  const session::TimeAnswer sample = time_of(l), whole = time_of(l, 0);
  EXPECT_EQ(sample.launches[0].launch.extent.residents, 6U);
  EXPECT_EQ(sample.launches[0].launch.seen.begins.size(), 7U);
  EXPECT_NEAR(sample.us / whole.us, 1, 0.1);
}

// What computes only addresses goes before a product that does not need it, as machine code has it.
TEST(Timed, ArithmeticIsNotHeldBackByWhatStartsAnOperation) {
  const std::string chain = "add.u32 %r3, %r3, 1;\nxor.b32 %r3, %r3, %r0;\n";
  const auto of = [&](const std::string& order) {
    return cycles(repeat(chain + order) + "st.global.u32 [%a0], %r3;\n");
  };
  EXPECT_NEAR(of("cp.async.commit_group;\n"), of(""), 300);
  EXPECT_GT(of("fence.acq_rel.gpu;\n"), 20000);
}

// A sample says what the whole does.
TEST(Timed, ASampleIsLikeTheWhole) {
  const launch::Launch l = launch_of(kPipeline, 800, 64);
  const session::TimeAnswer sample = time_of(l, 4), whole = time_of(l, 0);
  EXPECT_TRUE(sample.launches[0].launch.sampled);
  EXPECT_FALSE(whole.launches[0].launch.sampled);
  EXPECT_NEAR(sample.us / whole.us, 1, 0.3);
}

}  // namespace
}  // namespace bitwell::timing
