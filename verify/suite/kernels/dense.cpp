// The cases of the dense NVFP4 GEMM of kernels/dense, and its suite.
#include "verify/suite/kernels/dense.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

#include "kernels/dense/launch.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/problem/contest.h"
#include "verify/problem/published.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/published_outputs.h"

namespace bitwell::suite {
namespace {

using dense::Output;
using dense::Variant;

constexpr OperandData kModerate = OperandData::moderate;

// The tiles that everything else is built on: one wave, fp16, stored from registers.
bool first_rung(const Variant& v) {
  return v.output == Output::f16 && v.tiles == dense::Tiles::single && v.store == dense::Store::direct &&
         v.cluster() == v.tile.ctas && v.start == dense::Start::late;
}

std::vector<DenseCase> tile_cases(const Variant& v) {
  std::vector<DenseCase> out;
  const int tile_n = v.tile.n;
  uint64_t seed = 4000;
  // Every kind of data on a ragged shape of several tiles, with padding that is NaN.
  for (const auto& [data, name] : kOperandData) out.push_back({50, tile_n + 9, 320, 1, data, seed++});
  out.push_back({1, 1, 64, 1, OperandData::all_codes, seed++});
  out.push_back({130, 8, 256, 2, kModerate, seed++});             // two tiles of rows, batches
  out.push_back({3, 3 * tile_n + 1, 128, 1, kModerate, seed++});  // every place of the shift, four tiles
  out.push_back({20, tile_n, 256 * 17 + 64, 1, OperandData::swamped_tiles,
                 seed++});  // round the ring twice, a part of a stage
  // Several tiles of rows and columns and batches, with every stage of an unrolled ring; and D's last column
  // at every place.
  out.push_back({v.tile.ctas * 128 + 2, tile_n + 8, 1408, 2, kModerate, seed++});
  for (const int steps : {2, 3, 6, 7, 9, 11, 15})  // the loop over k ends at each place of its unrolled body
    out.push_back({3, tile_n, 64 * steps, 1, kModerate, seed++});
  // An odd number of steps, the last in the ring's last stage, and in its first the second time round.
  for (const int steps : {4 * v.stages() - 3, 4 * v.stages() + 1})
    out.push_back({3, tile_n, 64 * steps, 1, kModerate, seed++});
  for (int n = 2; n <= 16; ++n) out.push_back({2, n, 64, 1, kModerate, seed++, 1, 1});
  out.push_back({9, 24, 128, 1, OperandData::one_zero, seed++});
  return out;
}

// What every kernel takes: the same problems for all, so that what they should give is worked out once.
std::vector<DenseCase> common_cases(const Variant& v) {
  const bool groups = v.output == Output::nvfp4;  // n is then a multiple of 16
  const auto n = [&](int any) { return groups ? dense::up(any, dense::kGroup) * dense::kGroup : any; };
  std::vector<DenseCase> out{
      {1, n(1), 32, 1, OperandData::all_codes, 4200},  // half a step
      {3, n(5), 96, 2, kModerate, 4201, 0.5f, 2.0f},
      // Every step of a last stage ends in its middle, with padding that is NaN.
      {2, n(3), 160, 1, kModerate, 4202, -1.0f, 0.0f},
      {2, n(3), 224, 1, kModerate, 4203, 1.0f, -0.25f},
      {2, n(3), 288, 1, kModerate, 4204, 0.0f, 1.0f},
      {20, n(72), 256 * 17 + 96, 1, OperandData::swamped_tiles, 4205, 1.0f, 0.0f},  // round the ring twice
      {140, n(330), 352, 1, OperandData::all_codes, 4206, 0.001f, 0.5f},  // odd tiles of every width
      {130, n(200), 320, 1, OperandData::nan_scales, 4207},
      {40, n(136), 320, 1, OperandData::cancellation, 4208, 3.0f, 1.0f},
      {40, n(136), 320, 1, OperandData::largest, 4209, 1e-5f, 0.0f},
      {40, n(136), 320, 1, OperandData::subnormal_scales, 4210, 1.0f, 0.0f},
      // Results of nothing but zeros, and too small for a scale of NVFP4.
      {40, n(136), 96, 1, OperandData::zeros, 4215, -1.0f, 0.0f},
      {9, n(40), 96, 1, kModerate, 4216, 1e-5f, 0.0f},
      {4, n(40), 256 * 27 + 32, 1, kModerate, 4217, 0.25f, 1.0f},  // round the ring twice by each of four
      {30, n(72), 1120, 1, OperandData::all_codes, 4213},          // sums that the order of parts of k tells
      // Many tiles for each of few CTAs, rows that are multiples of 16 bytes, batches.
      {300, n(528), 96, 2, kModerate, 4211, 1.0f, 1.0f, 2},
      {270, n(400), 288, 1, kModerate, 4212, 1.0f, 0.0f, 1},
      {300, n(528), 64, 1, kModerate, 4214},
      // Whole tiles of every size; C where rows are multiples of 8 bytes, and of 16.
      {256, n(768), 96, 1, kModerate, 4218, 1.0f, 0.0f, 1},
      {130, n(76), 96, 1, kModerate, 4219, 1.0f, 1.0f},
      {130, n(80), 96, 1, kModerate, 4220, 1.0f, 1.0f},
  };
  return out;
}

DrawnCase drawn_of(const std::shared_ptr<const DenseProblem>& problem, const Variant& v) {
  DrawnCase out;
  out.result = kDenseResult;
  out.element = static_cast<size_t>(dense::bytes_of(v.output));
  out.chain = [problem, v](const Build& build) { return Chain{{problem->launch(v, build)}, {}}; };
  out.expected = [problem, v] { return problem->expected(v); };
  out.errors_ulp = [problem, v](const std::vector<std::byte>& outputs) {
    return problem->errors_ulp(v, outputs);
  };
  return out;
}

PlannedCase planned(const Variant& v, const DenseCase& c, bool full) {
  const auto draw = [v, c] { return drawn_of(std::make_shared<const DenseProblem>(c), v); };
  // Roles that are tiles apart part in more ways, those that wait for an answer of the hardware in the most,
  // and so do the CTAs of a pair that both make scales beyond k zero.
  const bool turns = v.tiles != dense::Tiles::single && c.m > 256 && c.k != 64;
  const bool asks = v.tiles == dense::Tiles::asked && c.k == 64;
  const bool trims = v.tile.ctas == 2 && c.k == 96 && c.m > dense::kRows && c.m <= 2 * dense::kRows;
  std::vector<run::Schedule> all = launch::schedules(asks    ? static_cast<size_t>(64 / v.cluster())
                                                     : trims ? 24
                                                             : 9);
  if (c.contest)
    all.resize(1);
  else if (c.k < 2048 && !turns && !asks && !trims)
    all = {all[0], all[1 + c.seed % 8]};
  return {c.describe(), !full, full, all, draw};
}

// A kernel that stores fp16 gives all of them. The other formats' results follow where fp16 did not round:
// sums are multiples of a quarter, so that it is those below 512.
std::optional<PlannedCase> planned(const Variant& v, const problem::PublishedGemm& published) {
  const bool exact = std::all_of(published.outputs.begin(), published.outputs.end(),
                                 [](float o) { return std::abs(o) < 512; });
  if (v.output == Output::nvfp4 || (v.output != Output::f16 && !exact)) return std::nullopt;
  PlannedCase out;
  out.name = "B200's outputs, " + std::to_string(published.m) + "x" + std::to_string(published.n) + "x" +
             std::to_string(published.k);
  out.schedules = launch::schedules(2);
  out.published = true;
  out.draw = [v, published] {
    const auto u = [](int i) { return static_cast<uint64_t>(i); };
    const auto problem =
        std::make_shared<const DenseProblem>(problem::Inputs(problem::kGemm, u(published.m), u(published.n),
                                                             u(published.k), 1, problem::kPublishedSeed),
                                             1, static_cast<int>(published.outputs.size()));
    DrawnCase drawn = drawn_of(problem, v);
    drawn.expected = [v, published] {
      return as_stored(published.outputs, v.output == Output::f16    ? oracle::Output::f16
                                          : v.output == Output::bf16 ? oracle::Output::bf16
                                                                     : oracle::Output::f32);
    };
    return drawn;
  };
  return out;
}

// The contest's tests and benchmarks, m x n x k.
constexpr std::array<std::array<int, 3>, 13> kContestShapes{{{128, 256, 256},
                                                             {128, 1536, 7168},
                                                             {128, 3072, 1536},
                                                             {256, 7168, 256},
                                                             {256, 7168, 2048},
                                                             {2304, 4608, 7168},
                                                             {384, 7168, 2304},
                                                             {512, 512, 7168},
                                                             {512, 4096, 512},
                                                             {512, 1536, 7168},
                                                             {128, 7168, 16384},
                                                             {128, 4096, 7168},
                                                             {128, 7168, 2048}}};
// The kernels that take all of them.
constexpr std::array<std::string_view, 4> kWhole{"dense_m128_n64", "dense_m128_n192_fixed_tma",
                                                 "dense_m256_n128_2x2", "dense_m256_n256_asked_tma"};

std::vector<PlannedCase> cases_of(const Variant& v) {
  std::vector<PlannedCase> all;
  if (first_rung(v)) {
    for (const DenseCase& c : tile_cases(v)) all.push_back(planned(v, c, false));
    all.push_back(planned(v, {256, 512, 2048, 1, OperandData::moderate, 4101}, true));
  }
  for (const DenseCase& c : common_cases(v)) all.push_back(planned(v, c, false));
  // An odd number of steps, the last of them in the ring's first stage the second time round.
  if (v.tiles != dense::Tiles::single)
    all.push_back(planned(v, {3, 16, 64 * (4 * v.stages() + 1), 1, kModerate, 4221}, false));
  for (const problem::PublishedGemm& p : problem::kPublishedGemms)
    if (const auto one = planned(v, p)) all.push_back(*one);
  const bool whole = std::find(kWhole.begin(), kWhole.end(), v.name) != kWhole.end();
  for (const auto& [m, n, k] : kContestShapes) {
    if (!whole && int64_t{m} * n * k > 1 << 30) continue;
    DenseCase c{m, n, k, 1, OperandData::problem, problem::kPublishedSeed};
    c.clusters = 148 / v.cluster();  // an SM of a B200 for each CTA
    c.contest = true;
    all.push_back(planned(v, c, true));
  }
  return all;
}

Kernel kernel_of(const Variant& v) {
  Kernel out;
  out.name = out.full_name = v.name;
  out.entries = {{"dense/" + out.name.substr(6), "dense/" + out.name, out.name}};
  // Of a kernel that is built on one of the first, what is not in that.
  if (!first_rung(v))
    out.entries[0].unlike =
        "dense/dense_m" + std::to_string(v.tile.ctas * dense::kRows) + "_n" + std::to_string(v.tile.n);
  out.cases = [v] { return cases_of(v); };
  out.reserves = Reserves{"dense",
                          {{"tile_n", v.tile.n},
                           {"ctas", v.tile.ctas},
                           {"accumulators", v.accumulators()},
                           {"overlap", v.overlap()},
                           {"boxes", v.store == dense::Store::tma ? v.boxes() : 0},
                           {"split", v.split}},
                          v.stages(),
                          v.shared_bytes(),
                          v.columns()};
  out.another = [v](uint64_t seed) { return planned(v, dense_random_case(v, seed), false); };
  return out;
}

}  // namespace

DenseCase dense_random_case(const dense::Variant& v, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const auto pick = [&](auto... values) {
    const std::array list{values...};
    return list[random() % list.size()];
  };
  DenseCase c{};
  c.m = pick(1, 127, 128, 129, 1 + below(300));
  c.n = pick(1, 64, v.tile.n, v.tile.n + 1, 1 + below(400), 8 * (1 + below(60)));
  if (v.output == dense::Output::nvfp4) c.n = dense::up(c.n, dense::kGroup) * dense::kGroup;
  c.k = 32 * pick(1, 2, 3, 7, 8, 9, 1 + below(48));
  c.l = 1 + below(2);
  c.data = kOperandData[static_cast<size_t>(below(static_cast<int>(kOperandData.size())))].first;
  c.alpha = pick(1.0f, 1.0f, -1.0f, 0.0f, 0.37f, 1e-4f, 300.0f);
  c.beta = pick(0.0f, 0.0f, 1.0f, -2.0f, 0.1f);
  c.clusters = 1 + below(4);
  c.seed = random();
  return c;
}

Suite dense_suite() {
  Suite out;
  out.name = "dense";
  out.about = "the NVFP4 GEMM for Blackwell: TMA, mbarriers, tensor memory, tcgen05";
  out.description =
      "The dense NVFP4 GEMM for Blackwell, D = alpha * A * B + beta * C, step by step from one wave to "
      "persistent kernels with "
      "multicast, split k and NVFP4 results (kernels/README.md): ragged and adversarial cases, each under "
      "two schedules, long "
      "sums under nine. No B200 ran these kernels: the arithmetic is that of published words, and published "
      "outputs are "
      "compared";
  out.full =
      "the shapes of GPU MODE's NVFP4 GEMM contest with its inputs, all 13 for four kernels, small ones for "
      "the rest";
  out.archs = {"sm_100a"};
  out.words_kind = "nvfp4";
  out.gives_word = [](const problem::Word& w) {
    return oracle::scaled_fp4_dot(w.a, w.b, w.c, false, w.scales_a, w.scales_b) == w.d;
  };
  for (const dense::Variant& v : dense::kVariants)
    if (!std::string_view(v.name).starts_with("dense_wrong")) out.kernels.push_back(kernel_of(v));
  return out;
}

}  // namespace bitwell::suite
