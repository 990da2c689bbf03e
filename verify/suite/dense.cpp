// The dense NVFP4 GEMM of kernels/dense for Blackwell. No B200 has run it: what it should give is the
// oracle's arithmetic of tcgen05, which agrees with every published word.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <random>

#include "kernels/dense/launch.h"
#include "model/machine/failure.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/gemv.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/problem/contest.h"
#include "verify/problem/published.h"
#include "verify/suite/nvfp4_operand.h"
#include "verify/suite/published_outputs.h"
#include "verify/suite/schedules.h"
#include "verify/suite/suite.h"

namespace bitwell::verify {
namespace {

using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

constexpr size_t kResult = 4;  // buffer: d

size_t u(int v) { return static_cast<size_t>(v); }

// Of a kernel, its entry and its file.
std::string name_of(const dense::Tile& tile) {
  return "dense_m" + std::to_string(tile.ctas * dense::kRows) + "_n" + std::to_string(tile.n);
}

struct DenseCase {
  int m, n, k, l;
  OperandData data;
  uint64_t seed;
  std::string describe() const {
    return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
           " l=" + std::to_string(l) + " " + std::string(name_of(data)) + " seed " + std::to_string(seed);
  }
};

struct DenseProblem {
  DenseCase spec;
  Nvfp4Operand a, b;

  explicit DenseProblem(const DenseCase& c) : DenseProblem(c, OperandSource(c.data, c.seed)) {}
  // The part of a contest's problem that was published: m rows, n columns.
  DenseProblem(const problem::Inputs& whole, int m, int n)
      : spec{m, n, static_cast<int>(whole.a.k), 1, OperandData::problem, 0},
        a(whole.a, 0, m, 1, ScaleLayout::blocked),
        b(whole.b, 0, n, 1, ScaleLayout::blocked) {}
  DenseProblem(const DenseCase& c, OperandSource source)
      : spec(c),
        a(source, true, c.m, c.k, c.l, ScaleLayout::blocked),
        b(source, false, c.n, c.k, c.l, ScaleLayout::blocked) {
    if (c.k % dense::kStep != 0)
      throw machine::InputError("dense takes k a multiple of 64; got k = " + std::to_string(c.k));
  }

  // Codes, K innermost: boxes of 256 elements, 128 bytes, by `rows`.
  TensorMap codes(int rows, int box) const {
    TensorMap t;
    t.type = TensorType::u4x16_align8b;
    t.rank = 3;
    t.dims = {u(spec.k), u(rows), u(spec.l), 1, 1};
    t.strides = {0, u(spec.k) / 2, u(spec.k) / 2 * u(rows), 0, 0};
    t.box = {dense::kTileK, static_cast<uint32_t>(box), 1, 1, 1};
    t.swizzle = TensorSwizzle::b128;
    return t;
  }
  // Scales in atoms of 512 bytes: boxes of the steps of one stage.
  TensorMap scales(int rows) const {
    const size_t steps = u(spec.k / dense::kStep);
    const size_t atoms = u(dense::up(rows, 128));
    TensorMap t;
    t.type = TensorType::u16;
    t.rank = 4;
    t.dims = {dense::kAtom / 2, steps, atoms, u(spec.l), 1};
    t.strides = {2, dense::kAtom, dense::kAtom * steps, dense::kAtom * steps * atoms, 0};
    t.box = {dense::kAtom / 2, dense::kTileK / dense::kStep, 1, 1, 1};
    return t;
  }

  Launch launch(const dense::Tile& tile, const Build& build) const {
    Launch out;
    out.entry = name_of(tile);
    out.ptx = build.file("dense/" + out.entry);
    out.shape.block = {dense::kThreads, 1, 1};
    const auto ctas = static_cast<uint32_t>(tile.ctas);
    out.shape.cluster = {ctas, 1, 1};
    out.shape.grid = {ctas * static_cast<uint32_t>(dense::up(spec.m, tile.ctas * dense::kRows)),
                      static_cast<uint32_t>(dense::up(spec.n, tile.n)), static_cast<uint32_t>(spec.l)};
    out.shape.dynamic_shared = static_cast<uint32_t>(tile.shared_bytes());
    const auto hidden = [&](const char* name, const std::vector<std::byte>& bytes) {
      return out.add_hidden_buffer({name, bytes, true, true, false});
    };
    const size_t of_a = hidden("a", a.codes);
    const size_t of_b = hidden("b", b.codes);
    const size_t of_sfa = hidden("sfa", a.scales);
    const size_t of_sfb = hidden("sfb", b.scales);
    out.add_tensor_map(of_a, codes(spec.m, dense::kRows));
    out.add_tensor_map(of_b, codes(spec.n, tile.n / tile.ctas));
    out.add_tensor_map(of_sfa, scales(spec.m));
    out.add_tensor_map(of_sfb, scales(spec.n));
    out.add_buffer({"d", std::vector<std::byte>(u(spec.l) * u(spec.m) * u(spec.n) * 2), false, false, true});
    out.add_scalar(spec.m);
    out.add_scalar(spec.n);
    out.add_scalar(spec.k);
    return out;
  }

  // Steps of 64 in order, each one's sum the next one's addend; then to fp16, to nearest even.
  uint16_t element(const Nvfp4Operand::Row& row, const Nvfp4Operand::Row& column) const {
    uint32_t sum = 0;
    const std::vector<uint32_t> x(row.codes.begin(), row.codes.end());
    const std::vector<uint32_t> y(column.codes.begin(), column.codes.end());
    for (size_t k = 0; k < u(spec.k); k += dense::kStep)
      sum = oracle::scaled_fp4_dot(
          std::span(x).subspan(k, dense::kStep), std::span(y).subspan(k, dense::kStep), sum, false,
          std::span(row.scales).subspan(k / 16, 4), std::span(column.scales).subspan(k / 16, 4));
    return static_cast<uint16_t>(oracle::stored(std::bit_cast<float>(sum), oracle::Output::f16));
  }

  template <class Visit>
  void each_output(Visit visit) const {
    for (int batch = 0; batch < spec.l; ++batch) {
      std::vector<Nvfp4Operand::Row> columns;
      for (int n = 0; n < spec.n; ++n) columns.push_back(b.row(batch, n));
      for (int m = 0; m < spec.m; ++m) {
        const Nvfp4Operand::Row row = a.row(batch, m);
        for (const Nvfp4Operand::Row& column : columns) visit(row, column);
      }
    }
  }
  std::vector<std::byte> expected() const {
    std::vector<std::byte> out;
    each_output([&](const auto& row, const auto& column) {
      const uint16_t word = element(row, column);
      out.push_back(static_cast<std::byte>(word));
      out.push_back(static_cast<std::byte>(word >> 8));
    });
    return out;
  }
  std::vector<double> errors_ulp(const std::vector<std::byte>& outputs) const {
    std::vector<double> out;
    each_output([&](const auto& row, const auto& column) {
      uint16_t word = 0;
      std::memcpy(&word, &outputs[out.size() * 2], 2);
      out.push_back(
          oracle::error_ulp(word, oracle::dot(row.codes, column.codes, row.scales, column.scales), 5, 10));
    });
    return out;
  }
};

std::vector<DenseCase> dense_cases(const dense::Tile& tile) {
  std::vector<DenseCase> out;
  uint64_t seed = 4000;
  // Every kind of data on a ragged shape of several tiles, with padding that is NaN.
  for (const auto& [data, name] : kOperandData) out.push_back({50, tile.n + 9, 320, 1, data, seed++});
  constexpr OperandData kData = OperandData::moderate;
  out.push_back({1, 1, 64, 1, OperandData::all_codes, seed++});
  out.push_back({130, 8, 256, 2, kData, seed++});             // two tiles of rows, batches
  out.push_back({3, 3 * tile.n + 1, 128, 1, kData, seed++});  // every place of the shift, four tiles
  out.push_back({20, tile.n, 256 * 17 + 64, 1, OperandData::swamped_tiles,
                 seed++});  // round the ring twice, a part of a stage
  // Several tiles of rows and columns and batches, with every stage of an unrolled ring; and D's last column
  // at every place.
  out.push_back({tile.ctas * 128 + 2, tile.n + 8, 1408, 2, kData, seed++});
  for (const int steps : {2, 3, 6, 7, 9, 11, 15})  // the loop over k ends at each place of its unrolled body
    out.push_back({3, tile.n, 64 * steps, 1, kData, seed++});
  // An odd number of steps, the last in the ring's last stage.
  out.push_back({3, tile.n, 64 * (4 * tile.stages() - 3), 1, kData, seed++});
  for (int n = 2; n <= 16; ++n) out.push_back({2, n, 64, 1, kData, seed++});
  out.push_back({9, 24, 128, 1, OperandData::one_zero, seed++});
  return out;
}

DrawnCase drawn_of(const std::shared_ptr<const DenseProblem>& problem, const dense::Tile& tile) {
  DrawnCase out;
  out.result = kResult;
  out.element = 2;
  out.chain = [problem, tile](const Build& build) { return Chain{{problem->launch(tile, build)}, {}}; };
  out.expected = [problem] { return problem->expected(); };
  out.errors_ulp = [problem](const std::vector<std::byte>& outputs) { return problem->errors_ulp(outputs); };
  return out;
}

PlannedCase planned(const dense::Tile& tile, const DenseCase& c, bool full) {
  const auto draw = [tile, c] { return drawn_of(std::make_shared<const DenseProblem>(c), tile); };
  constexpr size_t kSchedules = 8;
  std::vector<isa::Schedule> all = schedules(kSchedules);
  if (c.k < 2048) all = {all[0], all[1 + c.seed % (kSchedules - 1)]};
  return {c.describe(), false, full, all, draw};
}

PlannedCase planned(const dense::Tile& tile, const problem::PublishedGemm& published) {
  PlannedCase out;
  out.name = "B200's outputs, " + std::to_string(published.m) + "x" + std::to_string(published.n) + "x" +
             std::to_string(published.k);
  out.schedules = schedules(2);
  out.published = true;
  out.draw = [tile, published] {
    const auto problem =
        std::make_shared<const DenseProblem>(problem::Inputs(problem::kGemm, u(published.m), u(published.n),
                                                             u(published.k), 1, problem::kPublishedSeed),
                                             1, static_cast<int>(published.outputs.size()));
    DrawnCase drawn = drawn_of(problem, tile);
    drawn.expected = [published] { return as_halves(published.outputs); };
    return drawn;
  };
  return out;
}

Kernel kernel_of(const dense::Tile& tile) {
  Kernel out;
  out.name = out.full_name = name_of(tile);
  out.entries = {{"dense/" + out.name.substr(6), "dense/" + out.name, out.name}};
  out.cases = [tile] {
    std::vector<PlannedCase> all;
    for (const DenseCase& c : dense_cases(tile)) all.push_back(planned(tile, c, false));
    all.push_back(planned(tile, {128, 512, 256, 1, OperandData::moderate, 4100}, true));
    all.push_back(planned(tile, {256, 512, 2048, 1, OperandData::moderate, 4101}, true));
    for (const problem::PublishedGemm& p : problem::kPublishedGemms) all.push_back(planned(tile, p));
    return all;
  };
  out.another = [tile](uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
    DenseCase c{};
    c.m = std::array{1, 127, 128, 129, 1 + below(200)}[u(below(5))];
    c.n = std::array{1, 64, tile.n, tile.n + 1, 1 + below(400)}[u(below(5))];
    c.k = 64 * std::array{1, 3, 4, 5, 1 + below(24)}[u(below(5))];
    c.l = 1 + below(2);
    c.data = kOperandData[u(below(static_cast<int>(kOperandData.size())))].first;
    c.seed = random();
    return planned(tile, c, false);
  };
  return out;
}

}  // namespace

Suite dense_suite() {
  Suite out;
  out.name = "dense";
  out.about = "the NVFP4 GEMM for Blackwell: TMA, mbarriers, tensor memory, tcgen05";
  out.description =
      "The dense NVFP4 GEMM for Blackwell: tiles of 128 rows by a CTA and 256 by a pair, of 64, 128, 192 and "
      "256 columns, ragged and adversarial "
      "cases, each under "
      "two schedules, long sums under eight. No B200 ran these kernels: the arithmetic is that of published "
      "words, and published outputs are compared";
  out.full = "128x512x256, which GPU MODE's NVFP4 GEMM contest tests, and 256x512x2048";
  out.archs = {"sm_100a"};
  out.words_kind = "nvfp4";
  out.gives_word = [](const problem::Word& w) {
    return oracle::scaled_fp4_dot(w.a, w.b, w.c, false, w.scales_a, w.scales_b) == w.d;
  };
  for (const int ctas : {1, 2})
    for (const int n : dense::kTilesN) out.kernels.push_back(kernel_of({n, ctas}));
  return out;
}

}  // namespace bitwell::verify
