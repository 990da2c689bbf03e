// The model of time is asked what an H200 was asked: the same kernels, a loop over one thing each, of which
// the H200 said what a pass costs (experiments/results/time_probes.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probed.h"
#include "verify/contraction/ptxas.h"
#include "verify/cost_probe/cost.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

double modelled(const cost_probe::Probe& probe, bool by_code) {
  if (probe.tells_another) return std::nan("");
  const auto module = std::make_shared<const isa::Module>(cost_probe::text_of(probe));
  const auto cycles = [&](uint32_t passes) {
    launch::Launch l = cost_probe::launch_of(probe, passes);
    l.module = module;
    session::TimeQuestion question = session::time_question(l);
    question.asks_ptxas = by_code;
    question.most = 0;  // in full: what was touched before is in L2
    return session::time_of(question).launches.at(0).launch.cycles;
  };
  // So many settle what a pass costs, as no two runs of the model differ.
  const uint32_t few = std::max(4U, probe.settles);
  return (cycles(2 * few) - cycles(few)) / few;
}

// Where the model says another thing, and why.
struct Other {
  std::string_view what, with;  // in the row's
  const char* why;
  bool covers(const cost_probe::Row& r) const {
    return r.what.find(what) != std::string::npos && r.with.find(with) != std::string::npos;
  }
};
constexpr Other kOthers[] = {
    {"ld.shared.u32", "latency", "the end of a pass is in it"},
    {"cp.async.bulk.tensor", "elected thread",
     "alone it gets 104 bytes a cycle, and 62 beside seven of its GPC"},
    {"fence.sc.cta", "nothing to order", "the same"},
    {"fence.mbarrier_init", "nothing to order", "the same"},
    {"wgmma bf16 SS", "m64n8k16, 1 in a group, 1 left", "the same"},
    {"clz.b32", "one warp, 8", "a warp alone is slower there than its quarter"},
    {"redux.sync", "one warp, 8", "the same"},
    {"cvt.rn.satfinite.e4m3x2", "latency", "ptxas makes one instruction of the conversion and the move"},
    {"shr.s32, add.s32", "latency", "ptxas makes one instruction of the shift and the sum"},
    {"shl.b64, add.s64", "latency", "the same"},
    {"add.s64", "latency", "ptxas adds up what is added"},
    {"mad.wide.u32", "", "the higher word of a pair, which its next one needs, is moved first"},
    {"cvt.rni", "one warp, 8", "a warp alone is slower there than its quarter"},
    {"cvt.rmi.f32.f32", "one warp, 8", "the same"},
    {"mul.hi.u64", "one warp, 8", "instructions of several, which wait for each other"},
    {"div.s32", "one warp, 8", "the same"},
    {"div.u32", "one warp, 8", "the same"},
    {"rem.", "one warp, 8", "the same"},
    {"vote.sync.ballot", "latency", "the comparison and the vote overlap there"},
    {"ldmatrix.x1", "latency", "two operations of the probe's own are in it"},
    {"atom.shared", "each lane", "the same"},
    {"mbarrier.arrive", "token", "the same"},
    {"atom.acq_rel", "", "the fence that it is has no cost here"},
    {"red.global.add.u32", "one lane", "nothing else is done there meanwhile"},
    {"atom.global", "interval of a warp", "ptxas has all 16 under way before the first one's value is used"},
    {"red.global", "each lane of each CTA its word, 16", "16 multiprocessors side by side share a way to L2"},
    {"bar.arrive", "", "what the other warp does at its own barrier is in it"},
    {"mbarrier hand-over", "", "branches around it are in it"},
    {"mbarrier.arrive.shared::cluster", "",
     "the fence before it takes a fifth longer behind another arrival"},
    {"m16n8k32.row.col.f32.e4m3", "8 chains", "several instructions there"},
    {"fence", "with a store", "what a fence has to wait for costs nothing here"},
    {"wgmma", "64 in a group", "registers that ptxas spills, with A in registers"},
    {"wgmma", "dependent operations", "ptxas leaves them behind the products, the model has them beside"},
    {"", "rounds", "ptxas unrolls the loop, whose end then costs nothing"},
    {"wgmma", "3 left under way", "a narrow product with A in registers is slower there"},
    {"RS", "wait for it", "with A in registers the wait is shorter there by less than 9 cycles"},
    {"RS", "1 left under way", "the same"},
    {"cp.async.bulk", "at once, L2", "a multiprocessor alone has more of L2 there"},
    {"cp.async.bulk", "latency, L2", "the same, of 32 KiB and more"},
    {"cp.async.bulk to global", "", "small ones, by 20 cycles"},
    {"ld.global.ca", "lanes 516 bytes apart, 8", "no line without a neighbour is slower there"},
    {"ld.volatile.global", "lanes 32 bytes apart, 1", "a multiprocessor alone has more of L2 there"},
    {"st.volatile.global", ", 16 CTAs", "16 multiprocessors side by side share a way to L2"},
    {"st.volatile.global", "64 bytes apart, 1", "between 18 and 48 cycles there, in one run or another"},
    {"cp.async of 4 bytes", "32 lanes a row", "cp.async.ca finds it in L1 there; here it asks L2 always"},
    {"cp.async of 8 bytes", "32 lanes a row, 16 of each of 1 warps", "the same"},
    {"a step of mma.sync", "4 warps, 24 ldmatrix",
     "what a warp waits for between two of its own is not found out"},
    {"bra over 10 fma.f32", "none takes, 1",
     "how long a warp stalls for lanes to meet, machine code alone says"},
    {"bra over 10 fma.f32", "half", "the same, and that lanes which part cost more"},
};

TEST(Probes, TheModelGivesBackWhatAnH200Said) {
  size_t asked = 0, near = 0;
  std::set<const Other*> met;
  for (const auto group : {cost_probe::instructions, cost_probe::memory, cost_probe::barriers,
                           cost_probe::tensor, cost_probe::copies})
    for (const cost_probe::Row& r :
         group([](const cost_probe::Probe&p, uint32_t) { return modelled(p, false); })) {
      if (std::isnan(r.value)) continue;
      const auto said = probes().find({r.what, r.with});
      ASSERT_NE(said, probes().end()) << r.what << ", " << r.with;
      ++asked;
      if (std::abs(r.value - said->second) <= std::max(0.15 * said->second, 3.5)) {
        ++near;
        continue;
      }
      bool known = false;
      for (const Other& o : kOthers)
        if (o.covers(r)) {
          met.insert(&o);
          known = true;
        }
      EXPECT_TRUE(known) << r.what << ", " << r.with << ": " << said->second << " cycles there, " << r.value
                         << " here";
    }
  EXPECT_EQ(asked, 1102U);
  EXPECT_GE(near, 890U);
  for (const Other& o : kOthers)
    EXPECT_TRUE(met.contains(&o)) << o.what << ", " << o.with << ": no row is off (" << o.why << ")";
}

// With the machine code of ptxas: of one warp and of several, where what each stalls for is known.
TEST(Probes, MachineCodeGivesBackBranchesAndWarpsSideBySide) {
  try {
    contraction::ptxas_path();
  } catch (const machine::InputError& e) {
    GTEST_SKIP() << e.what();
  }
  const auto of_these = [](const cost_probe::Probe& p, uint32_t) {
    const bool branches =
        p.body.find("@q bra L") != std::string::npos && p.body.find("fma") != std::string::npos;
    const bool in_no_order =
        p.body.find("shf") != std::string::npos && p.body.find("mad.lo") != std::string::npos;
    return branches || in_no_order ? modelled(p, true) : std::nan("");
  };
  size_t asked = 0;
  for (const cost_probe::Row& r : cost_probe::instructions(of_these)) {
    if (std::isnan(r.value)) continue;
    ++asked;
    const double said = probes().at({r.what, r.with});
    // Of lanes that part it is not known how many did before.
    const double most = r.what.find("no order") != std::string::npos ? 0.06
                        : r.with.find("half") != std::string::npos   ? 0.3
                                                                     : 0.2;
    EXPECT_NEAR(r.value, said, most * said) << r.what << ", " << r.with;
  }
  EXPECT_EQ(asked, 14U);
}

// Warps that come from a barrier load together, and then multiply together: each stands until its product is
// taken, so that none comes to the next barrier early.
TEST(Probes, MachineCodeGivesBackAStepBehindABarrier) {
  try {
    contraction::ptxas_path();
  } catch (const machine::InputError& e) {
    GTEST_SKIP() << e.what();
  }
  size_t asked = 0;
  for (const cost_probe::Row& r : cost_probe::tensor([](const cost_probe::Probe&p, uint32_t) {
         const bool both =
             p.body.find("ldmatrix") != std::string::npos && p.body.find("mma.sync") != std::string::npos;
         return both && p.warps >= 8 ? modelled(p, true) : std::nan("");
       })) {
    if (std::isnan(r.value)) continue;
    ++asked;
    const double said = probes().at({r.what, r.with});
    EXPECT_NEAR(r.value, said, 0.1 * said) << r.what << ", " << r.with;
  }
  EXPECT_EQ(asked, 4U);
}

// How long warps stand that hand products over: what a loop behind them takes more than one alone. It is 1.15
// to 1.44 times as much here as there.
TEST(Probes, TheModelGivesBackWhatALoopBesideProductsTakes) {
  std::map<std::pair<std::string, std::string>, double> here;
  for (const cost_probe::Row& r : cost_probe::tensor([](const cost_probe::Probe&p, uint32_t) {
         return p.body.find("ROUND") != std::string::npos ? modelled(p, false) : std::nan("");
       }))
    if (!std::isnan(r.value)) here[{r.what, r.with}] = r.value;
  size_t asked = 0;
  for (const auto& [row, value] : here) {
    const auto& [what, with] = row;
    // The tensor core is busy for a part of these.
    if (with.find("then 16 rounds") == std::string::npos || with.find("m64n256") == 0) continue;
    ++asked;
    const std::pair<std::string, std::string> loop{"a loop of dependent operations",
                                                   "16 rounds, " + with.substr(with.rfind(", ") + 2)};
    const double more = probes().at(row) - probes().at(loop);
    EXPECT_GT(value - here.at(loop), 0.9 * more) << what << ", " << with;
    EXPECT_LT(value - here.at(loop), 1.4 * more + 15) << what << ", " << with;
  }
  EXPECT_EQ(asked, 8U);
}

// A warpgroup that hands four products over, which take 512 cycles, and then computes: until they are done
// logic takes twice as long, sums of fp32 do not.
TEST(Probes, ProductsSlowDownLogicAndNotFp32) {
  const auto cycles = [](const char* operation, int products) {
    cost_probe::Probe p;
    p.warps = 4;
    p.shared = 96 << 10;
    p.declare = ".reg .b32 c<8>, d<128>, r; .reg .b64 left; .reg .pred q, one;";
    p.before =
        "setp.eq.u32 one, 0, 0; shr.u32 r, t_sh, 4; cvt.u64.u32 left, r;"
        "or.b64 left, left, 0x4000004000010000;" +
        cost_probe::repeat(128, "mov.b32 d#, 0;") + cost_probe::repeat(8, "add.u32 c#, t_tid, #;");
    std::string d = "d0";
    for (int i = 1; i < 128; ++i) d += ", d" + std::to_string(i);
    p.body = "wgmma.fence.sync.aligned;\n";
    for (int i = 0; i < products; ++i)
      p.body +=
          "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" + d + "}, left, left, one, 1, 1, 0, 0;\n";
    p.body += "wgmma.commit_group.sync.aligned;\nmov.u32 r, 0;\nROUND:\n";
    for (int i = 0; i < 4; ++i) p.body += cost_probe::repeat(8, std::string(operation) + "\n");
    p.body += "add.u32 r, r, 1; setp.lt.u32 q, r, 16; @q bra ROUND;\nwgmma.wait_group.sync.aligned 0;\n";
    return modelled(p, false);
  };
  constexpr int kProducts = 4;
  constexpr double kTake = 512;
  const double stands =
      kProducts * (256 * h200().value(Key::wgmma_issue) - h200().value(Key::wgmma_issue_shared));
  const char* const logic = "lop3.b32 c#, c#, t_zero, t_tid, 0x96;";
  const char* const sum = "fma.rn.f32 c#, c#, c#, c#;";
  // What would have been done meanwhile, half of it is.
  const double slowed = (kTake - stands) * (1 - 1 / h200().value(Key::wgmma_beside));
  EXPECT_NEAR(cycles(logic, kProducts) - cycles(logic, 0), stands + slowed, 0.25 * (stands + slowed));
  EXPECT_NEAR(cycles(sum, kProducts) - cycles(sum, 0), stands, 0.25 * stands);
}

}  // namespace
}  // namespace bitwell::timing
