// What is asked of the model of time beside a figure: other costs, roles, loops, suites, stages. Laws, not
// microseconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "experiments/study/stages.h"
#include "kernels/dense/launch.h"
#include "kernels/grouped/launch.h"
#include "kernels/svdquant/launch.h"
#include "model/timing/cost.h"
#include "model/timing/dram.h"
#include "model/timing/loops.h"
#include "verify/suite/kernels/dense.h"
#include "verify/suite/kernels/grouped.h"
#include "verify/suite/kernels/svdquant.h"
#include "verify/verdict/time.h"

namespace bitwell::timing {
namespace {

constexpr std::array<int, 3> kShape{256, 256, 512};

session::TimeAnswer answer_of(const launch::Launch& l, std::shared_ptr<const Changed> costs = nullptr) {
  session::TimeQuestion q = session::time_question(l);
  q.most = 2;
  q.whole_up_to = 0;
  q.costs = std::move(costs);
  return session::time_of(q);
}

// One behind another may be a little later where something else is earlier: what queues is a sampled order.
constexpr double kOrder = 1.01;

TEST(Doors, NothingThatCostsHalfMakesItSlower) {
  for (const int stages : {1, 3}) {
    const launch::Launch l = study::stages_launch(128, 128, stages, kShape);
    const double us = answer_of(l).us;
    double least = us;
    for (const Part part : {Part::dram, Part::l2, Part::latency, Part::tensor, Part::arithmetic, Part::beside,
                            Part::barriers, Part::launch}) {
      const double changed = answer_of(l, std::make_shared<const Changed>(h200(), part, 0.5)).us;
      EXPECT_LE(changed, kOrder * us) << static_cast<int>(part) << ", " << stages;
      least = std::min(least, changed);
    }
    EXPECT_LT(least, 0.99 * us) << stages;
  }
}

TEST(Doors, WhatCostsTwiceIsSlower) {
  const launch::Launch l = study::stages_launch(128, 128, 1, kShape);
  const double us = answer_of(l).us;
  for (const Part part : {Part::latency, Part::tensor, Part::barriers, Part::launch})
    EXPECT_GT(answer_of(l, std::make_shared<const Changed>(h200(), part, 2)).us, us)
        << static_cast<int>(part);
}

TEST(Doors, AChangeIsOfItsPartAlone) {
  const Changed dram(h200(), Part::dram, 0.5);
  for (const Cost& c : h200().costs)
    EXPECT_DOUBLE_EQ(dram.device().value(c.key),
                     c.key == Key::memory_clock_free_bandwidth ? 2 * c.value : c.value)
        << c.name;
  EXPECT_DOUBLE_EQ(dram.device().wgmma_interval(128, false), h200().wgmma_interval(128, false));
  const Changed tensor(h200(), Part::tensor, 0.5);
  EXPECT_DOUBLE_EQ(tensor.device().wgmma_interval(128, false), h200().wgmma_interval(128, false) / 2);
  const TensorMmaCost half = Changed(*device("b200"), Part::tensor, 0.5).device().tensor_mma(1, 128, 128);
  EXPECT_DOUBLE_EQ(half.interval, device("b200")->tensor_mma(1, 128, 128).interval / 2);
  // A load from DRAM that is sooner than others is not sooner by as much where all take half as long.
  const Changed latency(h200(), Part::latency, 0.5);
  const auto soonest = [](const Device& d) {
    const DramLatency loads(d);
    Time out = INT64_MAX;
    for (uint64_t k = 0; k < 10000; ++k) out = std::min(out, loads.beside_mean(4096 * k, 0));
    return d.value(Key::dram_latency) + cycles_of(out);
  };
  EXPECT_GE(soonest(latency.device()), soonest(h200()) / 2);
  EXPECT_LT(soonest(latency.device()), h200().value(Key::dram_latency) / 2);
  // Arithmetic takes no less than by itself.
  const Changed beside(h200(), Part::beside, 0);
  for (const Cost& c : h200().costs)
    EXPECT_DOUBLE_EQ(beside.device().value(c.key), c.key == Key::wgmma_beside ? 1 : c.value) << c.name;
  // A copy that is waited for by a wait that costs nothing comes no later.
  const Changed barriers(h200(), Part::barriers, 0);
  EXPECT_DOUBLE_EQ(barriers.device().copy_latency(4096, true) - barriers.device().value(Key::mbarrier_wait),
                   h200().copy_latency(4096, true) - h200().value(Key::mbarrier_wait));
}

TEST(Doors, DrawnCostsAreWithinTheirRows) {
  for (const Device& d : devices())
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Changed drawn(d, seed), again(d, seed);
      for (const Cost& c : d.costs) {
        EXPECT_GE(drawn.device().value(c.key), c.low) << c.name;
        EXPECT_LE(drawn.device().value(c.key), c.high) << c.name;
        EXPECT_EQ(drawn.device().value(c.key), again.device().value(c.key)) << c.name;
      }
      EXPECT_NE(drawn.device().value(Key::dram_latency),
                Changed(d, seed + 1).device().value(Key::dram_latency));
    }
}

TEST(Doors, WhatIfIsSortedAndOfTheSameLaunch) {
  const launch::Launch l = study::stages_launch(128, 128, 2, kShape);
  session::TimeQuestion q = session::time_question(l);
  q.most = 2;
  q.whole_up_to = 0;
  q.what_if = true;
  const session::TimeAnswer a = session::time_of(q);
  ASSERT_EQ(a.what_if.size(), 9U);
  std::set<std::string_view> names;
  for (size_t i = 0; i < a.what_if.size(); ++i) {
    names.insert(a.what_if[i].name);
    EXPECT_LE(a.what_if[i].us, kOrder * a.us) << a.what_if[i].name;
    EXPECT_GE(a.what_if[i].us, a.what_if[i - (i > 0 ? 1 : 0)].us);
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_TRUE(names.contains("epilogue_half"));
  EXPECT_TRUE(names.contains("beside_free"));
  // The same question with those costs.
  for (const session::WhatIf& w : a.what_if)
    if (w.name == "latency_half") {
      const double again = answer_of(l, std::make_shared<const Changed>(h200(), Part::latency, 0.5)).us;
      EXPECT_NEAR(again / w.us, 1, 0.02);
    }
}

// The end waits for the epilogue of the last tile at least; what computes there takes half then. (Where
// stores bind, it spares little.)
TEST(Doors, HalfAnEpilogueIsLessOfIt) {
  const suite::DenseProblem problem({128, 128, 256, 1, suite::OperandData::zeros, 1});
  const launch::Launch l =
      problem.launch(::dense::variant("dense_m128_n192_fixed_tma"), {BITWELL_KERNELS, "sm_100a"});
  session::TimeQuestion q = session::time_question(l);
  q.what_if = true;
  const session::TimeAnswer a = session::time_of(q);
  // tcgen05 has its sums in tensor memory: that it slows arithmetic down nobody says.
  for (const session::WhatIf& w : a.what_if) EXPECT_NE(w.name, "beside_free");
  double of_epilogue = 0;
  const session::LaunchTime& t = a.launches.at(0);
  for (const Path::Part& p : t.launch.seen.path)
    if (p.role == Role::reads && t.epilogue.contains(p.line)) of_epilogue += p.cycles;
  ASSERT_GT(of_epilogue, 500);
  const auto at = std::find_if(a.what_if.begin(), a.what_if.end(),
                               [](const session::WhatIf& w) { return w.name == "epilogue_half"; });
  ASSERT_NE(at, a.what_if.end());
  const double spared = (a.us - at->us) * device("b200")->value(Key::clock);
  EXPECT_GT(spared, 0.05 * of_epilogue);
  EXPECT_LT(spared, 0.6 * of_epilogue);
}

std::set<int> lines_with(const isa::Program& program, std::string_view text) {
  std::set<int> out;
  for (const isa::Function& f : program.functions)
    for (const isa::Line& line : f.lines)
      if (line.text.find(text) != std::string::npos) out.insert(line.ptx);
  return out;
}

// One warp copies, four or eight multiply; the stores come behind.
TEST(Doors, RolesAreWhatWarpsDo) {
  const launch::Launch l = study::stages_launch(128, 64, 1, kShape);  // so that it waits for copies
  const session::LaunchTime t = answer_of(l).launches.at(0);
  const std::set<int> copies = lines_with(*t.program, "cp.async.bulk"),
                      products = lines_with(*t.program, "wgmma.mma"),
                      stores = lines_with(*t.program, "st.global");
  size_t of_copies = 0, of_products = 0;
  for (const Path::Part& p : t.launch.seen.path) {
    if (copies.contains(p.line)) {
      EXPECT_EQ(p.role, Role::copies) << p.line;
      ++of_copies;
    }
    if (products.contains(p.line) || stores.contains(p.line)) {
      EXPECT_EQ(p.role, Role::multiplies) << p.line;
      ++of_products;
    }
  }
  EXPECT_GT(of_copies, 0U);
  EXPECT_GT(of_products, 0U);
  for (const int line : stores) EXPECT_TRUE(t.epilogue.contains(line)) << line;
  for (const int line : copies) EXPECT_FALSE(t.epilogue.contains(line)) << line;
  for (const int line : products) EXPECT_FALSE(t.epilogue.contains(line)) << line;
  EXPECT_FALSE(t.epilogue.contains(*lines_with(*t.program, "mbarrier.init").begin()));
}

TEST(Doors, WhatAnInstructionMakesOfAWarp) {
  EXPECT_EQ(does("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"), kCopies);
  EXPECT_EQ(does("cp.async.cg.shared.global"), kCopies);
  EXPECT_EQ(does("cp.async.bulk.global.shared::cta.bulk_group"), 0);
  EXPECT_EQ(does("cp.async.bulk.wait_group.read"), 0);
  EXPECT_EQ(does("tcgen05.mma.cta_group::1.kind::f16"), kMultiplies);
  EXPECT_EQ(does("tcgen05.ld.sync.aligned.32x32b.x8.b32"), kReads);
  EXPECT_EQ(does("ld.shared.b32"), 0);
}

// A kernel of a B200 whose host says so: one warp copies, one multiplies, four read tensor memory.
TEST(Doors, AWarpThatReadsAccumulatorsIsNamed) {
  const suite::Case c =
      suite::cases_of(suite::suite("dense"), suite::kernel(suite::suite("dense"), "dense_m128_n64"),
                      "sm_100a", false)
          .front();
  const suite::Chain chain = suite::planned(c).draw().chain({BITWELL_KERNELS, c.arch});
  launch::Modules modules;
  session::TimeQuestion q = verdict::time_question(chain, modules);
  q.device = "b200";
  const session::LaunchTime t = session::time_of(q).launches.at(0);
  std::set<Role> roles;
  for (const Path::Part& p : t.launch.seen.path) roles.insert(p.role);
  EXPECT_TRUE(roles.contains(Role::reads));
  EXPECT_FALSE(roles.contains(Role::both));
  for (const int line : lines_with(*t.program, "tcgen05.ld")) EXPECT_TRUE(t.epilogue.contains(line)) << line;
}

// By shared memory four of 500 CTAs would be at once on a multiprocessor, of which each takes 256 of 512
// columns of tensor memory.
TEST(Doors, ColumnsOfTensorMemoryLimitWhatIsResident) {
  const suite::GroupedProblem problem({{128}, {64000}, {64}, suite::OperandData::zeros, 1, 2, false});
  const launch::Launch l =
      problem.launch(::grouped::variant("grouped_warps_1"), {BITWELL_KERNELS, "sm_100a"}, problem.metadata());
  session::TimeQuestion q = session::time_question(l);
  q.device = "b200";
  q.most = 1;
  q.whole_up_to = 0;
  EXPECT_EQ(session::time_of(q).launches.at(0).launch.extent.residents, 2U);
}

// What the way back to the end says of a svdquant kernel of 4 tiles, by one pair of CTAs that has all of L2.
struct Waited {
  double cycles = 0, copies = 0, products = 0, epilogue = 0;  // and those of the way
  double us = 0;
};
Waited waited(const char* name) {
  const ::svdquant::Variant v = ::svdquant::variant(name);
  const suite::SvdquantProblem problem({512, 256, 3840, 128, suite::OperandData::zeros, 1, 1}, v.bf16);
  const launch::Launch l = problem.launch(v, {BITWELL_KERNELS, "sm_100a"});
  session::TimeQuestion q = session::time_question(l);
  q.device = "b200";
  q.most = 0;
  const session::TimeAnswer a = session::time_of(q);
  Waited out;
  out.us = a.us;
  const session::LaunchTime& t = a.launches.at(0);
  for (const Path::Part& p : t.launch.seen.path) {
    out.cycles += p.cycles;
    const bool copy = p.cause == Cause::copy || p.cause == Cause::l2 || p.cause == Cause::dram;
    if (copy && p.role == Role::copies) out.copies += p.cycles;
    if (p.role == Role::multiplies) out.products += p.cycles;
    if (p.role == Role::reads) out.epilogue += p.cycles;
  }
  return out;
}

// "Implementing SVDQuant W4A4 on Blackwell": its budget gave half the main stages that fit, and the mend made
// the kernel 1.45 times as fast. With two stages the thread that multiplies waits for copies; with four
// hardly ever, and then for itself and for the warps that read accumulators, for which both wait alike.
TEST(Doors, WithHalfTheStagesTheEndWaitsForCopies) {
  const Waited half = waited("svdquant_wrong_half"), all = waited("svdquant_published");
  EXPECT_GT(half.us, 1.2 * all.us);
  EXPECT_GT(half.copies, 0.3 * half.cycles);
  EXPECT_LT(all.copies, 0.5 * half.copies);
  EXPECT_GT(all.products + all.epilogue, 0.6 * all.cycles);
  EXPECT_NEAR(half.epilogue / all.epilogue, 1, 0.2);
  // Nearly all that the mend spares are copies' latencies.
  EXPECT_GT(half.copies - all.copies, 0.5 * (half.cycles - all.cycles));
}

TEST(Doors, LoopsAreFoundAndNoRunBeatsTheirBounds) {
  for (const int tile_n : {64, 128, 256}) {
    const launch::Launch l = study::stages_launch(128, tile_n, 2, kShape);
    const session::LaunchTime t = answer_of(l).launches.at(0);
    const std::vector<LoopBound>& loops = t.launch.seen.loops;
    ASSERT_EQ(loops.size(), 2U);  // what waits for a barrier is none
    const int product = *lines_with(*t.program, "wgmma.mma").begin();
    const bool first = loops[0].first <= product && product <= loops[0].last;
    const LoopBound &multiplies = loops[first ? 0 : 1], &copies = loops[first ? 1 : 0];
    EXPECT_EQ(multiplies.warps, 8U);
    EXPECT_EQ(copies.warps, 1U);
    // Four products of 64 x N each, of two warpgroups.
    EXPECT_EQ(multiplies.by, "tensor core");
    EXPECT_NEAR(multiplies.resource,
                8 * h200().wgmma_interval(static_cast<uint32_t>(tile_n), false) * t.launch.extent.residents,
                1);
    EXPECT_GE(multiplies.modelled, 0.95 * std::max(multiplies.resource, multiplies.recurrence));
    EXPECT_GE(copies.modelled, 0.95 * copies.recurrence);
  }
}

// What a round needs of the one before: 5 of fma, 4 cycles each.
// What needs itself of the round before, and what stands behind a division's branches, which nothing passes.
TEST(Doors, ARecurrenceIsTheLatencyOfItsCircle) {
  const auto recurrence = [](const std::string& round) {
    launch::Launch l;
    l.module = std::make_shared<const isa::Module>(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .pred "
        "%p0;\n"
        ".reg .b32 %r<4>;\n.reg .b64 %a0;\n.reg .f32 %f<4>;\nld.param.u64 %a0, [x];\nmov.u32 %r0, 0;\n"
        "mov.f32 %f0, 0f3F800000;\nmov.f32 %f1, 0f3F800000;\nagain:\n" +
        round +
        "fma.rn.f32 %f2, %f1, %f1, %f1;\nst.global.f32 [%a0], %f2;\nadd.u32 %r0, %r0, 1;\n"
        "setp.lt.u32 %p0, %r0, 50;\n@%p0 bra again;\nst.global.f32 [%a0], %f0;\nret;\n}\n");
    l.entry = "k";
    l.shape.block = {32, 1, 1};
    l.add_buffer({"x", std::vector<std::byte>(64), true, false, true});
    const std::vector<LoopBound> loops = answer_of(l).launches.at(0).launch.seen.loops;
    EXPECT_EQ(loops.size(), 1U);
    if (loops.size() != 1) return 0.0;
    EXPECT_EQ(loops[0].times, 50U);
    return loops[0].recurrence;
  };
  const auto latency = [](const char* name) { return h200().op(name)->latency; };
  std::string sums, quotients;
  for (int k = 0; k < 5; ++k) sums += "fma.rn.f32 %f0, %f0, %f0, %f0;\n";
  for (int k = 0; k < 3; ++k) quotients += "div.rn.f32 %f3, %f1, %f1;\n";
  EXPECT_NEAR(recurrence(sums), 5 * latency("fma.rn.f32"), 0.5);
  EXPECT_NEAR(recurrence(quotients), 3 * latency("div.rn.f32"), 0.5);
}

TEST(Doors, ASuiteIsSortedAndSaysWhatItCouldNotTime) {
  verdict::Plan plan;
  plan.ptx = BITWELL_KERNELS;
  plan.kernels = {"naive", "fused"};
  plan.archs = {"sm_90a"};
  const std::vector<verdict::TimedCase> all = verdict::time_suite(suite::suite("gemv"), plan, "");
  ASSERT_EQ(all.size(), 2U);
  for (const verdict::TimedCase& t : all) {
    for (const suite::Case& c : suite::cases_of(
             suite::suite("gemv"), suite::kernel(suite::suite("gemv"), t.of.kernel), t.of.arch, false))
      EXPECT_LE(verdict::size_of(verdict::shape_of(c.of)), verdict::size_of(t.shape)) << c.of;
    EXPECT_GT(t.us, 0);
    EXPECT_LE(t.low, t.us);
    EXPECT_GE(t.high, t.us);
    EXPECT_EQ(t.device, "H200");
    EXPECT_EQ(t.why_not, "");
  }
  EXPECT_LE(all[0].us, all[1].us);
  EXPECT_THROW(verdict::time_suite(suite::suite("gemv"), plan, "h100"), machine::InputError);
  verdict::Plan rtx;
  rtx.ptx = BITWELL_KERNELS;
  rtx.kernels = {suite::suite("rtx").kernels.front().name};
  const std::vector<verdict::TimedCase> none = verdict::time_suite(suite::suite("rtx"), rtx, "");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].us, 0);
  EXPECT_EQ(none[0].why_not, "no table of costs for sm_120a");
}

TEST(Doors, AShapeIsWhatACaseBeginsWith) {
  EXPECT_EQ(verdict::shape_of("m=37 k=1152 l=1 problem row-major seed 1000"), "m=37 k=1152 l=1");
  EXPECT_EQ(verdict::shape_of("another 17"), "");
  EXPECT_EQ(verdict::size_of("m=37 k=1152 l=2"), 37.0 * 1152 * 2);
}

TEST(Doors, MoreStagesNeverTakeLessMemoryAndTheFrontIsNotBeaten) {
  study::StagesPlan plan;
  plan.shapes = {kShape};
  plan.clusters = 1;
  plan.draws = 2;
  const study::Study s = study::stages_study(plan);
  std::vector<study::StagesPoint> all;
  for (const std::vector<std::string>& row : s.rows(0)) {
    ASSERT_EQ(row.size(), s.columns.size());
    all.push_back(study::stages_point(row));
  }
  ASSERT_GT(all.size(), 20U);
  int fastest = 0, fronts = 0;
  for (const study::StagesPoint& a : all) {
    EXPECT_LE(a.low, a.us);
    EXPECT_GE(a.high, a.us);
    EXPECT_LE(a.shared, 232448);
    EXPECT_GE(a.shared, a.stages * (a.tile_m + a.tile_n) * study::kStagesTileK * 2);
    bool beaten = false;
    for (const study::StagesPoint& b : all) {
      const bool more = a.tile_m == b.tile_m && a.tile_n == b.tile_n && a.stages < b.stages;
      EXPECT_TRUE(!more || a.shared < b.shared) << a.tile_m << "x" << a.tile_n << ", " << a.stages;
      beaten = beaten || (b.us < a.us && b.shared < a.shared);
    }
    EXPECT_FALSE(a.front && beaten) << a.tile_m << "x" << a.tile_n << ", " << a.stages;
    EXPECT_LE(a.fastest, a.drawn);
    fastest += a.fastest;
    fronts += a.front ? 1 : 0;
  }
  EXPECT_EQ(fastest, plan.draws);
  EXPECT_GE(fronts, 2);
  plan.shapes = {{100, 256, 512}};
  EXPECT_THROW(study::stages_study(plan), machine::InputError);
}

}  // namespace
}  // namespace bitwell::timing
