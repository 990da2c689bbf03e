// SVDQuant W4A4 of kernels/svdquant: problems, cases and suite. No B200 has run these kernels: both kinds of
// MMA are the oracle's arithmetic of tcgen05, which agrees with every published word.
#include "verify/suite/kernels/svdquant.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/svdquant/launch.h"
#include "model/machine/failure.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/gemv.h"
#include "verify/oracle/scaled_rows.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/halves.h"
#include "verify/suite/kernels/svdquant_wgmma.h"
#include "verify/suite/nvfp4/nvfp4_maps.h"
#include "verify/suite/once.h"
#include "verify/suite/parallel.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

using machine::InputError;
using svdquant::Definition;

const SvdquantCase& checked(const SvdquantCase& c) {
  if (c.m < 1 || c.n < 1)
    throw InputError("svdquant takes m and n of at least 1; got m = " + std::to_string(c.m) +
                     ", n = " + std::to_string(c.n));
  if (c.k < nvfp4::kStep || c.k % nvfp4::kStep != 0)
    throw InputError("svdquant takes k a positive multiple of 64; got k = " + std::to_string(c.k) +
                     ": pad A and B with zeros");
  if (c.rank < svdquant::kRankStep || c.rank % svdquant::kRankStep != 0 || c.rank > svdquant::kMostRank)
    throw InputError("svdquant takes a rank of 16, 32, ... 256; got " + std::to_string(c.rank) +
                     ": pad both LoRA operands with zeros");
  if (c.clusters < 0)
    throw InputError("svdquant's clusters are 1 or more, or 0 for one a tile; got " +
                     std::to_string(c.clusters));
  return c;
}

// The value of an fp16 or bf16 code that is a number.
// Numbers of both signs around 2^`exponent`, of all fractions.
std::vector<uint16_t> drawn(std::mt19937_64& random, size_t count, bool bf16, int exponent) {
  std::vector<uint16_t> out(count);
  for (uint16_t& v : out) {
    const uint64_t r = random();
    const auto field =
        static_cast<uint32_t>((bf16 ? 127 : 15) + exponent - 3 + static_cast<int>(r >> 32 & 3));
    v = static_cast<uint16_t>((r >> 48 & 1) << 15 | field << (bf16 ? 7 : 10) | (r & (bf16 ? 0x7F : 0x3FF)));
  }
  return out;
}

// A LoRA operand [rows][rank], in boxes of `box` rows.
machine::TensorMap rank_map(int rows, int rank, bool bf16, int box) {
  machine::TensorMap t;
  t.type = bf16 ? machine::TensorType::bf16 : machine::TensorType::f16;
  t.rank = 2;
  t.dims = {u(rank), u(rows), 1, 1, 1};
  t.strides = {2, u(rank) * 2, 0, 0, 0};
  t.box = {svdquant::kRankTile, w(box), 1, 1, 1};
  t.swizzle = machine::TensorSwizzle::b128;
  return t;
}

// One output's sums, step after step.
struct Element {
  const svdquant::Variant& v;
  const oracle::ScaledRow &a, &b;
  std::span<const uint32_t> down, up;

  uint32_t lora_step(int step, uint32_t sum) const {
    static constexpr oracle::FusedDot kRule{16, 25, 0, -133};  // fp16 and bf16 of kind::f16, fp32 sums
    const oracle::FieldFormat format =
        v.bf16 ? oracle::FieldFormat{8, 7, 127, 1, 0} : oracle::FieldFormat{5, 10, 15, 1, 0};
    const size_t from = u(step) * svdquant::kRankStep;
    return oracle::fused_dot(kRule, format, down.subspan(from, svdquant::kRankStep), format,
                             up.subspan(from, svdquant::kRankStep), sum);
  }
  float operator()(int k, float wcscale, float bias) const {
    const int main = k / nvfp4::kStep, lora = static_cast<int>(down.size()) / svdquant::kRankStep;
    uint32_t sum = 0, apart = 0;
    uint32_t& low_rank = v.definition == Definition::apart ? apart : sum;
    int next = 0;
    for (int step = 0; step < main; ++step) {
      sum = oracle::scaled_sum(a, b, sum, u(step) * nvfp4::kStep, u(step + 1) * nvfp4::kStep);
      for (const int until = svdquant::lora_after(v.order, step + 1, main, lora); next < until; ++next)
        low_rank = lora_step(next, low_rank);
    }
    const float y = std::fma(std::bit_cast<float>(sum), wcscale, bias);
    return v.definition == Definition::apart ? y + std::bit_cast<float>(apart) : y;
  }
};

struct Row {
  Nvfp4Operand::Row stored;
  oracle::ScaledRow ready;
  std::vector<uint32_t> rank;
};
Row row_of(const Nvfp4Operand& of, const std::vector<uint16_t>& lora, int row, int rank) {
  Nvfp4Operand::Row stored = of.row(0, row);
  for (uint8_t& s : stored.scales) s &= 0x7F;
  const auto from = lora.begin() + row * rank;
  return {stored, {stored.codes, stored.scales}, {from, from + rank}};
}

}  // namespace

std::string SvdquantCase::describe() const {
  return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
         " rank=" + std::to_string(rank) + " " + std::string(name_of(data)) + " seed " +
         std::to_string(seed) + (clusters == 0 ? "" : " clusters " + std::to_string(clusters));
}

SvdquantProblem::SvdquantProblem(const SvdquantCase& c, bool bf16)
    : SvdquantProblem(checked(c), bf16, OperandSource(c.data, c.seed)) {}
SvdquantProblem::SvdquantProblem(const SvdquantCase& c, bool bf16, OperandSource source)
    : spec(c),
      a(source, true, c.m, c.k, 1, ScaleLayout::blocked),
      b(source, false, c.n, c.k, 1, ScaleLayout::blocked) {
  std::mt19937_64 random(c.seed ^ 0x5D);
  // Small beside what main steps add and take away again: where LoRA's steps stand among them then shows in
  // y.
  down = drawn(random, u(c.m) * u(c.rank), bf16, -1);
  up = drawn(random, u(c.n) * u(c.rank), bf16, -2);
  wcscale = drawn(random, u(c.n), bf16, 0);
  bias = drawn(random, u(c.n), bf16, -6);
}

launch::Launch SvdquantProblem::launch(const svdquant::Variant& v, const Build& build) const {
  launch::Launch out;
  out.entry = v.name;
  out.ptx = build.file("svdquant/" + out.entry);
  out.shape.block = {svdquant::kThreads, 1, 1};
  const int down_tiles = nvfp4::up(spec.m, v.ctas * nvfp4::kRows),
            across = nvfp4::up(spec.n, svdquant::kTileN), tiles = down_tiles * across;
  out.shape.cluster = {w(v.ctas), 1, 1};
  out.shape.grid = {w(v.ctas * down_tiles), w(across), 1};
  if (v.tiles != svdquant::Tiles::single)
    out.shape.grid = {w(v.ctas * (spec.clusters == 0 ? tiles : std::min(spec.clusters, tiles))), 1, 1};
  out.shape.dynamic_shared = w(v.shared_bytes());
  const auto hidden = [&](const char* name, const std::vector<std::byte>& bytes,
                          const machine::TensorMap& map) {
    out.add_tensor_map(out.add_hidden_buffer({name, bytes, true, true, false}), map);
  };
  hidden("a", a.codes, code_map(a, nvfp4::kRows));
  hidden("b", b.codes, code_map(b, v.up_rows()));
  hidden("sfa", a.scales, scale_map(a));
  hidden("sfb", b.scales, scale_map(b));
  hidden("down", bytes_of(down), rank_map(spec.m, spec.rank, v.bf16, nvfp4::kRows));
  hidden("up", bytes_of(up), rank_map(spec.n, spec.rank, v.bf16, v.up_rows()));
  out.add_buffer({"wcscale", bytes_of(wcscale), true, true, false});
  out.add_buffer({"bias", bytes_of(bias), true, true, false});
  out.add_buffer({"y", std::vector<std::byte>(u(spec.m) * u(spec.n) * 2), false, false, true});
  for (const int size : {spec.m, spec.n, spec.k, spec.rank}) out.add_scalar(size);
  return out;
}

std::vector<std::byte> SvdquantProblem::expected(const svdquant::Variant& v) const {
  const auto all = once<std::vector<std::byte>>(
      "svdquant " + std::to_string(static_cast<int>(v.order)) +
          std::to_string(static_cast<int>(v.definition)) + (v.bf16 ? " bf16 " : " fp16 ") + spec.describe(),
      [&] {
        std::vector<std::byte> out(u(spec.m) * u(spec.n) * 2);
        std::vector<Row> columns;
        for (int n = 0; n < spec.n; ++n) columns.push_back(row_of(b, up, n, spec.rank));
        each_in_parallel(u(spec.m), 0, [&](size_t m) {
          const Row row = row_of(a, down, static_cast<int>(m), spec.rank);
          for (size_t n = 0; n < columns.size(); ++n) {
            const Element element{v, row.ready, columns[n].ready, row.rank, columns[n].rank};
            const float y = element(spec.k, value_of(wcscale[n], v.bf16), value_of(bias[n], v.bf16));
            const uint32_t word = oracle::stored(y, v.bf16 ? oracle::Output::bf16 : oracle::Output::f16);
            std::memcpy(&out[(m * columns.size() + n) * 2], &word, 2);
          }
        });
        return out;
      });
  return *all;
}

std::vector<double> SvdquantProblem::errors_ulp(Definition definition, bool bf16,
                                                const std::vector<std::byte>& outputs) const {
  std::vector<double> out;
  std::vector<Row> columns;
  for (int n = 0; n < spec.n; ++n) columns.push_back(row_of(b, up, n, spec.rank));
  for (int m = 0; m < spec.m; ++m) {
    const Row row = row_of(a, down, m, spec.rank);
    for (size_t n = 0; n < columns.size(); ++n) {
      const oracle::ExactDot dot =
          oracle::dot(row.stored.codes, columns[n].stored.codes, row.stored.scales, columns[n].stored.scales);
      long double lora = 0;
      for (size_t r = 0; r < row.rank.size(); ++r)
        lora += static_cast<long double>(value_of(static_cast<uint16_t>(row.rank[r]), bf16)) *
                static_cast<long double>(value_of(static_cast<uint16_t>(columns[n].rank[r]), bf16));
      const auto scale = static_cast<long double>(value_of(wcscale[n], bf16));
      const auto add = static_cast<long double>(value_of(bias[n], bf16));
      const long double main = std::ldexp(static_cast<long double>(dot.units), -20);
      const long double exact =
          definition == Definition::apart ? main * scale + add + lora : (main + lora) * scale + add;
      uint16_t word = 0;
      std::memcpy(&word, &outputs[out.size() * 2], 2);
      out.push_back(oracle::error_ulp(word,
                                      dot.is_nan ? std::numeric_limits<long double>::quiet_NaN() : exact,
                                      bf16 ? 8 : 5, bf16 ? 7 : 10));
    }
  }
  return out;
}

namespace {

// Whether the manual orders the MMAs that add to one accumulator.
bool promised(const svdquant::Variant& v) {
  return !svdquant::unordered(v.order) || v.definition == Definition::apart;
}

PlannedCase planned(const svdquant::Variant& v, const SvdquantCase& c, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  // Without an order between kinds the bits depend on the schedule: what it should give, it gives in the
  // default one.
  out.schedules = launch::schedules(promised(v) ? c.k >= 2048 || c.clusters != 0 ? 9 : 2 : 1);
  if (full) out.schedules.resize(1);
  out.draw = [v, c] {
    const auto problem = std::make_shared<const SvdquantProblem>(c, v.bf16);
    DrawnCase drawn_case;
    drawn_case.result = kSvdquantResult;
    drawn_case.element = 2;
    drawn_case.chain = [problem, v](const Build& build) { return Chain{{problem->launch(v, build)}, {}}; };
    drawn_case.expected = [problem, v] { return problem->expected(v); };
    drawn_case.errors_ulp = [problem, v](const std::vector<std::byte>& y) {
      return problem->errors_ulp(v.definition, v.bf16, y);
    };
    return drawn_case;
  };
  return out;
}

// For what few schedules show: under that many, where the bits are promised. No GPU records it.
PlannedCase directed(const svdquant::Variant& v, const SvdquantCase& c, size_t count) {
  PlannedCase out = planned(v, c, false);
  out.recorded = false;
  if (out.schedules.size() > 1) out.schedules = launch::schedules(count);
  return out;
}

std::vector<PlannedCase> cases_of(const svdquant::Variant& v) {
  constexpr OperandData kData = OperandData::moderate;
  std::vector<SvdquantCase> quick;
  uint64_t seed = 7000;
  for (const OperandData data :
       {OperandData::all_codes, OperandData::moderate, OperandData::zeros, OperandData::cancellation,
        OperandData::swamped_tiles, OperandData::subnormal_scales, OperandData::nan_scales})
    quick.push_back({18, 30, 320, 32, data, seed++});
  quick.push_back({1, 1, 64, 16, kData, seed++});
  quick.push_back({5, 9, 1024, 256, kData, seed++});  // as many LoRA steps as main ones
  quick.push_back({5, 9, 128, 256, kData, seed++});   // more: round the LoRA ring behind the last
  quick.push_back(
      {7, 8, 832, 80, kData, seed++});  // a rank that ends inside a stage, steps that do not divide
  quick.push_back({130, 134, 192, 48, kData, seed++});    // four tiles
  quick.push_back({3, 8, 256 * 19, 128, kData, seed++});  // round the ring
  std::vector<PlannedCase> out;
  for (const SvdquantCase& c : quick) out.push_back(planned(v, c, false));
  // A LoRA step behind each main one, and sums that cross powers of two at most of them: a step that goes on
  // before its turn shows in the bits. The last 16 columns of y lack one.
  out.push_back(directed(v, {33, 47, 256, 64, OperandData::cancellation, 7100}, 28));
  // Two stages more than a ring of four holds: what the thread that fetches waits for at the end has other
  // phases in each half of the ring, and it may come late.
  out.push_back(directed(v, {1, 15, 1344, 16, kData, 7101}, 20));
  if (v.tiles != svdquant::Tiles::single) {
    // Tile after tile in one place: rings go on from tile to tile, sums wait for room. Few rows of y in most
    // tiles; in each of the pair's CTAs; the last columns lack some.
    out.push_back(planned(v, {131, 383, 320, 80, kData, 7200, 1}, false));
    out.push_back(planned(v, {130, 600, 64, 16, OperandData::all_codes, 7201, 2}, false));
    out.push_back(planned(v, {258, 140, 1344, 48, OperandData::all_codes, 7202, 1}, false));
  }
  // The production shapes of "Implementing SVDQuant W4A4 on Blackwell", n x k and rank, a few rows of them,
  // for one kernel of each definition, and for pairs, few of which make all tiles.
  const std::string_view name = v.name;
  if (name != "svdquant_ordered" && name != "svdquant_apart" && name != "svdquant_pair") return out;
  for (const auto& [n, k, rank] :
       {std::array{3072, 3840, 128}, {15360, 3840, 128}, {3840, 15360, 128}, {3072, 10240, 32}})
    out.push_back(planned(v, {2, n, k, rank, kData, seed++, 4}, true));
  return out;
}

Kernel kernel_of(const svdquant::Variant& v) {
  Kernel out;
  out.name = out.full_name = v.name;
  out.entries = {{"svdquant/" + out.name.substr(9), "svdquant/" + out.name, out.name}};
  if (&v != svdquant::kVariants) out.entries[0].unlike = "svdquant/svdquant_ordered";
  out.cases = [v] { return cases_of(v); };
  out.reserves = Reserves{"svdquant-bitwell",
                          {{"ctas", v.ctas},
                           {"up_ctas", v.ctas},
                           {"lora_stages", v.lora_stages},
                           {"apart", v.definition == svdquant::Definition::apart ? 1 : 0},
                           {"accumulators", v.accumulators()}},
                          v.stages,
                          v.shared_bytes(),
                          v.columns()};
  out.another = [v](uint64_t seed) { return planned(v, svdquant_random_case(seed), false); };
  if (!promised(v))
    out.note =
        "MMAs of two kinds add to one accumulator with no wait between them, an order that the manual does "
        "not "
        "promise: judged under the default schedule alone";
  return out;
}

}  // namespace

SvdquantCase svdquant_random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  SvdquantCase c{};
  c.m = 1 + below(130);
  c.n = 1 + below(20);
  c.k = 64 * (1 + below(24));
  c.rank = 16 * (1 + below(16));
  c.data = kOperandData[static_cast<size_t>(below(static_cast<int>(kOperandData.size())))].first;
  c.seed = random();
  c.clusters = below(3);
  return c;
}

Suite svdquant_suite() {
  Suite out;
  out.name = "svdquant";
  out.about =
      "SVDQuant W4A4 for Blackwell and Hopper: NVFP4 GEMM and LoRA's in one accumulator, scale and bias";
  out.description =
      "SVDQuant W4A4 for Blackwell: an NVFP4 GEMM with a low-rank one in fp16 or bf16 among its steps, scale "
      "and bias a column; "
      "both published definitions, LoRA's MMAs ordered after and before the others' by a commit and a wait, "
      "serial, or unordered; by one CTA a tile or by pairs, tile after tile. "
      "The manual promises an order of MMAs of one kind alone: what svdquant_unordered and "
      "svdquant_published give is not promised, and they are judged under "
      "the default schedule. svdquant_wgmma and what is named so are Hopper's; no B200 ran the others: the "
      "arithmetic "
      "is that of published words";
  out.full =
      "two rows of the four production shapes of \"Implementing SVDQuant W4A4 on Blackwell\", for one kernel "
      "of each definition and for pairs";
  out.archs = {"sm_100a"};
  out.words_kind = "nvfp4";
  out.gives_word = [](const problem::Word& word) {
    return oracle::scaled_fp4_dot(word.a, word.b, word.c, false, word.scales_a, word.scales_b) == word.d;
  };
  for (const svdquant::Variant& v : svdquant::kVariants)
    if (v.mistake == svdquant::Mistake::none) out.kernels.push_back(kernel_of(v));
  for (Kernel& k : svdquant_wgmma_kernels()) out.kernels.push_back(std::move(k));
  return out;
}

}  // namespace bitwell::suite
