#include "experiments/study/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/budget/search.h"
#include "model/machine/failure.h"
#include "verify/session/time.h"

namespace bitwell::study {
namespace {

constexpr int kBarriers = 1024;  // bytes that barriers may take
constexpr int kLeastTile = 64;

struct Choice {
  int tile_m, tile_n, stages;
  int64_t shared;
};

// As `bitwell budget` counts it.
std::vector<Choice> choices(const std::array<int, 3>& shape) {
  const budget::Spec spec = budget::parse_spec(fmt::format(
      R"json({{"name": "a ring of stages", "capacity": "232448", "least_stages": "0",
        "names": {{"m": {}, "n": {}, "k": {}, "tile_m": 128, "tile_n": 128, "tile_k": {}, "ring": 2}},
        "legal": "(m % tile_m == 0) * (n % tile_n == 0) * (k >= tile_k * ring)",
        "shared": [
          {{"name": "barriers", "bytes": "{}"}},
          {{"name": "A", "bytes": "tile_m * tile_k * 2", "count": "ring"}},
          {{"name": "B", "bytes": "tile_n * tile_k * 2", "count": "ring"}}],
        "search": {{"tile_m": [64, 128], "tile_n": [64, 128, 256], "ring": [1, 2, 3, 4, 5, 6, 7, 8]}},
        "maximise": {{"stages": "ring"}}}})json",
      shape[0], shape[1], shape[2], kStagesTileK, kBarriers));
  std::vector<Choice> out;
  for (const budget::Choice& c : budget::search(spec).fitting)
    out.push_back({static_cast<int>(c.chosen.at("tile_m")), static_cast<int>(c.chosen.at("tile_n")),
                   static_cast<int>(c.chosen.at("ring")), c.fit.used});
  std::sort(out.begin(), out.end(), [](const Choice& a, const Choice& b) {
    return std::tuple(a.tile_m, a.tile_n, a.stages) < std::tuple(b.tile_m, b.tile_n, b.stages);
  });
  return out;
}

std::vector<std::vector<std::string>> rows_of(const StagesPlan& plan, const std::array<int, 3>& shape) {
  const std::vector<Choice> all = choices(shape);
  std::vector<launch::Launch> launches;
  std::vector<session::TimeAnswer> answers;
  const auto time = [&](const launch::Launch& launch, std::shared_ptr<const timing::Changed> costs) {
    session::TimeQuestion question = session::time_question(launch);
    question.most = static_cast<uint32_t>(plan.clusters);
    question.whole_up_to = 0;
    question.asks_ptxas = false;  // one kernel beside another, which it makes alike
    question.costs = std::move(costs);
    return session::time_of(question);
  };
  for (const Choice& c : all) {
    launches.push_back(stages_launch(c.tile_m, c.tile_n, c.stages, shape));
    answers.push_back(time(launches.back(), nullptr));
  }
  double best = 0;
  for (const session::TimeAnswer& a : answers) best = best == 0 ? a.us : std::min(best, a.us);
  std::vector<int> fastest(all.size());
  for (int draw = 0; draw < plan.draws; ++draw) {
    const auto costs = std::make_shared<const timing::Changed>(
        *timing::device("h200"), plan.seed * 1000 + static_cast<uint64_t>(draw));
    size_t first = all.size();
    double least = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (answers[i].us > kClose * best) continue;
      const double us = time(launches[i], costs).us;
      if (first == all.size() || us < least) {
        first = i;
        least = us;
      }
    }
    if (first < all.size()) ++fastest[first];
  }
  std::vector<std::vector<std::string>> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Choice& c = all[i];
    const session::TimeAnswer& a = answers[i];
    bool front = true;
    for (size_t j = 0; j < all.size(); ++j)
      if (answers[j].us <= a.us && all[j].shared <= c.shared &&
          (answers[j].us < a.us || all[j].shared < c.shared))
        front = false;
    const bool drawn = a.us <= kClose * best;
    out.push_back({std::to_string(shape[0]), std::to_string(shape[1]), std::to_string(shape[2]),
                   std::to_string(c.tile_m), std::to_string(c.tile_n), std::to_string(c.stages),
                   std::to_string(c.shared), digits(a.us), digits(a.low), digits(a.high),
                   std::string(a.launches.at(0).estimate.kind), front ? "1" : "0",
                   std::to_string(drawn ? plan.draws : 0), std::to_string(fastest[i])});
  }
  return out;
}

}  // namespace

std::string stages_kernel(int tile_m, int tile_n, int stages, const std::array<int, 3>& shape) {
  const int groups = tile_m / 64, sums = tile_n / 2, steps = shape[2] / kStagesTileK;
  const int a = tile_m * kStagesTileK * 2, b = tile_n * kStagesTileK * 2;
  const int consumers = 128 * groups;
  std::string init, registers, zeros, list, multiply, store;
  for (int s = 0; s < stages; ++s)
    init += fmt::format("mbarrier.init.shared.b64 [bars+{}], 1;\nmbarrier.init.shared.b64 [bars+{}], {};\n",
                        8 * s, 8 * (stages + s), groups);
  for (int i = 0; i < sums; ++i) {
    list += fmt::format("{}%f{}", i == 0 ? "" : ", ", i);
    zeros += fmt::format("mov.f32 %f{}, 0f00000000;\n", i);
  }
  for (int step = 0; step < kStagesTileK / 16; ++step)
    multiply += fmt::format(
        "wgmma.mma_async.sync.aligned.m64n{}k16.f32.bf16.bf16 {{{}}}, %d3, %d4, 1, 1, 1, 0, 0;\n"
        "add.s64 %d3, %d3, {};\nadd.s64 %d4, %d4, {};\n",
        tile_n, list, 2 * tile_m, 2 * tile_n);
  for (int i = 0; i < sums; i += 4)
    store += fmt::format("st.global.v4.f32 [%d5+{}], {{%f{}, %f{}, %f{}, %f{}}};\n", i / 4 * consumers * 16,
                         i, i + 1, i + 2, i + 3);
  const std::string slots =
      fmt::format("shl.b32 %r8, %r6, 3;\nadd.u32 %r9, %r2, %r8;\nadd.u32 %r10, %r9, {};\n", 8 * stages);
  const std::string next = fmt::format(
      "add.u32 %r6, %r6, 1;\nsetp.eq.u32 %p4, %r6, {};\n@%p4 xor.b32 %r7, %r7, 1;\n@%p4 mov.u32 %r6, 0;\n"
      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p5, %r5, {};\n",
      stages, steps);
  const char* const copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  // With one stage the products must be over before it is given back; with more, those of the one before are.
  const std::string release =
      stages == 1 ? "wgmma.wait_group.sync.aligned 0;\n@%p6 mbarrier.arrive.shared.b64 _, [%r10];\n"
                  : "wgmma.wait_group.sync.aligned 1;\n@%p7 mbarrier.arrive.shared.b64 _, [%r14];\n"
                    "mov.u32 %r14, %r10;\nmov.pred %p7, %p6;\n";
  return fmt::format(
      R"(.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
.reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .f32 %f<{}>;
.shared .align 8 .b8 bars[{}];
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [b];
ld.param.u64 %d2, [c];
mov.u32 %r0, %tid.x;
mov.u32 %r2, bars;
mov.u32 %r3, ring;
mov.u32 %r15, %ctaid.x;
mov.u32 %r16, %ctaid.y;
setp.eq.u32 %p0, %r0, 0;
@!%p0 bra ready;
{}fence.mbarrier_init.release.cluster;
ready:
bar.sync 0;
mov.u32 %r5, 0;
mov.u32 %r6, 0;
mov.u32 %r7, 0;
setp.lt.u32 %p1, %r0, {};
@%p1 bra multiply;
setp.ne.u32 %p2, %r0, {};
@%p2 bra finish;
mul.wide.u32 %d6, %r15, {};
add.s64 %d0, %d0, %d6;
mul.wide.u32 %d6, %r16, {};
add.s64 %d1, %d1, %d6;
fetch:
{}xor.b32 %r11, %r7, 1;
empty: mbarrier.try_wait.parity.shared.b64 %p3, [%r10], %r11;
@!%p3 bra empty;
mbarrier.arrive.expect_tx.shared.b64 _, [%r9], {};
mad.lo.u32 %r12, %r6, {}, %r3;
add.u32 %r13, %r12, {};
{} [%r12], [%d0], {}, [%r9];
{} [%r13], [%d1], {}, [%r9];
add.s64 %d0, %d0, {};
add.s64 %d1, %d1, {};
{}@%p5 bra fetch;
bra finish;
multiply:
shr.u32 %r17, %r0, 7;
and.b32 %r18, %r0, 127;
setp.eq.u32 %p6, %r18, 0;
mov.pred %p7, 0;
{}products:
{}full: mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r7;
@!%p3 bra full;
mad.lo.u32 %r12, %r6, {}, %r3;
add.u32 %r13, %r12, {};
mad.lo.u32 %r12, %r17, 1024, %r12;
shr.u32 %r12, %r12, 4;
shr.u32 %r13, %r13, 4;
cvt.u64.u32 %d3, %r12;
cvt.u64.u32 %d4, %r13;
or.b64 %d3, %d3, {};
or.b64 %d4, %d4, {};
wgmma.fence.sync.aligned;
{}wgmma.commit_group.sync.aligned;
{}{}@%p5 bra products;
wgmma.wait_group.sync.aligned 0;
mov.u32 %r19, %nctaid.x;
mad.lo.u32 %r19, %r16, %r19, %r15;
mul.wide.u32 %d6, %r19, {};
add.s64 %d5, %d2, %d6;
mul.wide.u32 %d6, %r0, 16;
add.s64 %d5, %d5, %d6;
{}finish:
ret;
}}
)",
      sums, 16 * stages, init, consumers, consumers, steps * a, steps * b, slots, a + b, a + b, a, copy, a,
      copy, b, a, b, next, zeros, slots, a + b, a, uint64_t(tile_m) << 16 | uint64_t{8} << 32,
      uint64_t(tile_n) << 16 | uint64_t{8} << 32, multiply, release, next, tile_m * tile_n * 4, store);
}

launch::Launch stages_launch(int tile_m, int tile_n, int stages, const std::array<int, 3>& shape) {
  launch::Launch l;
  l.module = std::make_shared<const isa::Module>(stages_kernel(tile_m, tile_n, stages, shape));
  l.entry = "k";
  l.shape.grid = {static_cast<uint32_t>(shape[0] / tile_m), static_cast<uint32_t>(shape[1] / tile_n), 1};
  l.shape.block = {static_cast<uint32_t>(128 * (tile_m / 64) + 32), 1, 1};
  l.shape.dynamic_shared =
      static_cast<uint64_t>(stages) * static_cast<uint64_t>(tile_m + tile_n) * kStagesTileK * 2;
  l.shape.registers = static_cast<uint32_t>(40 + tile_n / 2);  // a guess: sums, addresses and descriptors
  const auto buffer = [&](const char* name, uint64_t bytes, bool output) {
    launch::Buffer b;
    b.name = name;
    b.blank = bytes;
    b.output = output;
    b.read_only = !output;
    l.add_buffer(std::move(b));
  };
  const auto m = static_cast<uint64_t>(shape[0]), n = static_cast<uint64_t>(shape[1]),
             k = static_cast<uint64_t>(shape[2]);
  buffer("A", m * k * 2, false);
  buffer("B", n * k * 2, false);
  buffer("C", m * n * 4, true);
  return l;
}

Study stages_study(const StagesPlan& plan) {
  Study s;
  s.name = "stages";
  s.seed = plan.seed;
  std::string shapes;
  for (const auto& [m, n, k] : plan.shapes) {
    if (m < kLeastTile || n < kLeastTile || m % kLeastTile != 0 || n % kLeastTile != 0 || k < kStagesTileK ||
        k % kStagesTileK != 0)
      throw machine::InputError(
          fmt::format("a shape of this study is MxNxK of multiples of 64; got {}x{}x{}", m, n, k));
    shapes += fmt::format(" {}x{}x{}", m, n, k);
  }
  s.asked = fmt::format("an H200; shapes{}; {} clusters; {} draws of seed {}", shapes, plan.clusters,
                        plan.draws, plan.seed);
  s.columns = {"m",           "n",      "k",       "tile_m",   "tile_n", "stages", "shared_bytes",
               "modelled_us", "low_us", "high_us", "bound_by", "front",  "draws",  "fastest_in_draws"};
  s.pieces = plan.shapes.size();
  s.rows = [plan](size_t piece) { return rows_of(plan, plan.shapes[piece]); };
  return s;
}

StagesPoint stages_point(const std::vector<std::string>& r) {
  const auto whole = [&](size_t i) { return std::stoi(r.at(i)); };
  return {whole(0), whole(1),           whole(2),           whole(3),           whole(4),
          whole(5), std::stod(r.at(6)), std::stod(r.at(7)), std::stod(r.at(8)), std::stod(r.at(9)),
          r.at(10), r.at(11) == "1",    whole(12),          whole(13)};
}

}  // namespace bitwell::study
