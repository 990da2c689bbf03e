// No B200 has run these kernels: what they should give is the oracle's arithmetic of tcgen05, which agrees
// with every published word.
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <random>

#include "kernels/dense/launch.h"
#include "model/machine/failure.h"
#include "verify/oracle/epilogue.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/oracle/whole_scales.h"
#include "verify/suite/kernels/dense.h"
#include "verify/suite/nvfp4/nvfp4_maps.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

using dense::Output;
using dense::Variant;
using machine::InputError;
using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

oracle::Output stored_as(Output o) {
  return o == Output::f32    ? oracle::Output::f32
         : o == Output::bf16 ? oracle::Output::bf16
                             : oracle::Output::f16;
}

// D, as a warp stores it.
TensorMap stored(const DenseCase& s, Output output) {
  const size_t element = u(dense::bytes_of(output));
  TensorMap t;
  t.type = output == Output::f16    ? TensorType::f16
           : output == Output::bf16 ? TensorType::bf16
                                    : TensorType::f32;
  t.rank = 3;
  t.dims = {u(s.n), u(s.m), u(s.l), 1, 1};
  t.strides = {element, element * u(s.n), element * u(s.n) * u(s.m), 0, 0};
  t.box = {static_cast<uint32_t>(128 / element), dense::kBoxRows, 1, 1, 1};
  t.swizzle = TensorSwizzle::b128;
  return t;
}

size_t scale_bytes(const DenseCase& s) {
  return u(s.l) * u(dense::up(s.m, 128)) * u(dense::up(s.n, dense::kStep)) * dense::kAtom;
}
size_t result_bytes(const DenseCase& s, Output output) {
  const size_t outputs = u(s.l) * u(s.m) * u(s.n);
  return output == Output::nvfp4 ? outputs / 2 + scale_bytes(s) : outputs * u(dense::bytes_of(output));
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// A row of an operand as whole MMA steps: k's end is filled with zeros. Scales are UE4M3, which has no sign:
// its bit is not looked at.
struct Steps {
  Nvfp4Operand::Row row;
  std::vector<uint32_t> codes;
  std::vector<uint8_t> scales;
  explicit Steps(Nvfp4Operand::Row r) : row(std::move(r)), codes(row.codes.begin(), row.codes.end()) {
    for (uint8_t& s : row.scales) s &= 0x7F;
    scales = row.scales;
    codes.resize(u(dense::up(static_cast<int>(codes.size()), dense::kStep) * dense::kStep));
    scales.resize(codes.size() / 16);
  }
};

float sum_of(const Steps& a, const Steps& b, size_t from, size_t to) {
  uint32_t sum = 0;
  for (size_t k = from; k < to; k += dense::kStep)
    sum = oracle::scaled_fp4_dot(
        std::span(a.codes).subspan(k, dense::kStep), std::span(b.codes).subspan(k, dense::kStep), sum, false,
        std::span(a.scales).subspan(k / 16, 4), std::span(b.scales).subspan(k / 16, 4));
  return std::bit_cast<float>(sum);
}

DenseSums evaluated(const DenseProblem& p, size_t part) {
  DenseSums out;
  for (int batch = 0; batch < p.spec.l; ++batch) {
    std::vector<Steps> columns;
    for (int n = 0; n < p.spec.n; ++n) columns.emplace_back(p.b.row(batch, n));
    for (int m = 0; m < p.spec.m; ++m) {
      const Steps row(p.a.row(batch, m));
      for (const Steps& column : columns) {
        const size_t k = row.codes.size();
        float sum = sum_of(row, column, 0, std::min(part, k));
        for (size_t from = part; from < k; from += part)
          sum += sum_of(row, column, from, std::min(from + part, k));
        out.sums.push_back(std::bit_cast<uint32_t>(sum));
        out.exact.push_back(oracle::dot(row.row.codes, column.row.codes, row.row.scales, column.row.scales));
      }
    }
  }
  return out;
}

DenseSums evaluated_exactly(const DenseProblem& p) {
  DenseSums out;
  std::vector<std::vector<int16_t>> columns;
  const auto halves = [](const Nvfp4Operand::Row& row) { return oracle::halves(row.codes, row.scales); };
  for (int n = 0; n < p.spec.n; ++n) columns.push_back(halves(p.b.row(0, n)));
  for (int m = 0; m < p.spec.m; ++m) {
    const std::vector<int16_t> row = halves(p.a.row(0, m));
    for (const auto& column : columns)
      out.sums.push_back(std::bit_cast<uint32_t>(oracle::whole_dot(row, column)));
  }
  return out;
}

}  // namespace

std::string DenseCase::describe() const {
  std::string out = "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
                    " l=" + std::to_string(l) + " " + (contest ? "contest" : std::string(name_of(data))) +
                    " seed " + std::to_string(seed);
  const auto number = [](float v) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(v));
    return std::string(text);
  };
  if (alpha != 1 || beta != 0) out += " alpha " + number(alpha) + " beta " + number(beta);
  if (clusters != 2) out += " clusters " + std::to_string(clusters);
  return out;
}

namespace {

const DenseCase& checked(const DenseCase& c) {
  if (c.k < 32 || c.k % 32 != 0)
    throw InputError("dense takes k a positive multiple of 32; got k = " + std::to_string(c.k));
  if (c.clusters < 1) throw InputError("dense's clusters are 1 or more; got " + std::to_string(c.clusters));
  return c;
}
problem::Inputs contest_of(const DenseCase& c) {
  return {problem::kGemm, u(c.m), u(c.n), u(c.k), u(c.l), c.seed};
}

}  // namespace

DenseProblem::DenseProblem(const DenseCase& of)
    : DenseProblem(of.contest ? DenseProblem(contest_of(checked(of)), of.m, of.n)
                              : DenseProblem(checked(of), OperandSource(of.data, of.seed))) {
  spec = of;
  draw_c();
}
DenseProblem::DenseProblem(const problem::Inputs& whole, int m, int n)
    : spec{m,
           n,
           static_cast<int>(whole.a.k),
           static_cast<int>(whole.a.l),
           OperandData::problem,
           whole.a.rows << 32 | whole.b.rows},
      a(whole.a, 0, m, static_cast<int>(whole.a.l), ScaleLayout::blocked),
      b(whole.b, 0, n, static_cast<int>(whole.b.l), ScaleLayout::blocked) {
  draw_c();
}
DenseProblem::DenseProblem(const DenseCase& of, OperandSource source)
    : spec(of),
      a(source, true, of.m, of.k, of.l, ScaleLayout::blocked),
      b(source, false, of.n, of.k, of.l, ScaleLayout::blocked) {}

// Numbers around 1 and up to some hundreds, every bit pattern now and then. What is not looked at is NaN.
void DenseProblem::draw_c() {
  c.assign(u(spec.l) * u(spec.m) * u(spec.n), 0x7FFF);
  if (spec.beta == 0) return;
  std::mt19937_64 random(spec.seed ^ 0xC);
  for (uint16_t& v : c) {
    const uint64_t r = random();
    v = static_cast<uint16_t>(r % 64 == 0 ? r >> 16 : (r >> 16 & 0x8FFF) | 0x3000 | (r >> 40 & 0x2C00));
  }
}

launch::Launch DenseProblem::launch(const Variant& v, const Build& build) const {
  if (v.output == Output::nvfp4 && spec.n % dense::kGroup != 0)
    throw InputError("dense stores NVFP4 for n a multiple of 16; got n = " + std::to_string(spec.n));
  launch::Launch out;
  out.entry = v.name;
  out.ptx = build.file("dense/" + out.entry);
  out.shape.block = {dense::kThreads, 1, 1};
  const auto w = [](int i) { return static_cast<uint32_t>(i); };
  out.shape.cluster = {w(v.cluster_m), w(v.cluster_n), w(v.split)};
  out.shape.grid = {w(v.cluster_m * dense::up(spec.m, v.cluster_m * dense::kRows)),
                    w(v.cluster_n * dense::up(spec.n, v.cluster_n * v.tile.n)), w(spec.l * v.split)};
  if (v.tiles == dense::Tiles::fixed) out.shape.grid = {w(v.cluster_m * spec.clusters), w(v.cluster_n), 1};
  out.shape.dynamic_shared = w(v.shared_bytes());
  const auto hidden = [&](const char* name, const std::vector<std::byte>& bytes) {
    return out.add_hidden_buffer({name, bytes, true, true, false});
  };
  const size_t of_a = hidden("a", a.codes);
  const size_t of_b = hidden("b", b.codes);
  const size_t of_sfa = hidden("sfa", a.scales);
  const size_t of_sfb = hidden("sfb", b.scales);
  const size_t d =
      out.add_hidden_buffer({"d", std::vector<std::byte>(result_bytes(spec, v.output)), false, false, true});
  out.add_tensor_map(of_a, code_map(a, v.box_a()));
  out.add_tensor_map(of_b, code_map(b, v.box_b()));
  out.add_tensor_map(of_sfa, scale_map(a, v.steps_sfa()));
  out.add_tensor_map(of_sfb, scale_map(b, v.steps_sfb()));
  // Rows that TMA cannot store are stored by threads; the map is then not looked at.
  const bool by_tma = v.store == dense::Store::tma && spec.n * dense::bytes_of(v.output) % 16 == 0;
  out.add_tensor_map(by_tma ? d : of_a, by_tma ? stored(spec, v.output) : code_map(a, v.box_a()));
  out.arguments.push_back({{}, d});
  out.add_buffer({"c", bytes_of(c), true, true, false});
  out.add_buffer({"alpha", bytes_of(std::vector{spec.alpha}), true, true, false});
  out.add_buffer({"beta", bytes_of(std::vector{spec.beta}), true, true, false});
  for (const int size : {spec.m, spec.n, spec.k, spec.l}) out.add_scalar(size);
  return out;
}

std::shared_ptr<const DenseSums> DenseProblem::sums(const Variant& v) const {
  struct Slot {
    std::once_flag once;
    std::shared_ptr<const DenseSums> sums;
  };
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Slot>> all;
  const int part = v.stages_of(spec.k) * dense::kTileK;
  DenseCase key = spec;
  key.alpha = 1;
  key.beta = 0;
  key.clusters = 2;
  std::shared_ptr<Slot> entry;
  {
    const std::scoped_lock lock(mutex);
    auto& found = all[key.describe() + (part < spec.k ? " by " + std::to_string(part) : "")];
    if (!found) found = std::make_shared<Slot>();
    entry = found;
  }
  std::call_once(entry->once, [&] {
    entry->sums = std::make_shared<const DenseSums>(spec.contest ? evaluated_exactly(*this)
                                                                 : evaluated(*this, u(part)));
  });
  return entry->sums;
}

std::vector<std::byte> DenseProblem::expected(const Variant& v) const {
  const std::shared_ptr<const DenseSums> all = sums(v);
  const auto value = [&](size_t i) {
    return oracle::scaled(spec.alpha, std::bit_cast<float>(all->sums[i]), spec.beta, oracle::half(c[i]));
  };
  std::vector<std::byte> out(result_bytes(spec, v.output));
  if (v.output != Output::nvfp4) {
    const size_t element = u(dense::bytes_of(v.output));
    for (size_t i = 0; i < c.size(); ++i) {
      const uint32_t word = oracle::stored(value(i), stored_as(v.output));
      std::memcpy(&out[i * element], &word, element);
    }
    return out;
  }
  const size_t groups = u(spec.n / dense::kGroup);
  const size_t atoms_n = (groups + 3) / 4;
  const size_t atoms_m = u(dense::up(spec.m, 128));
  for (size_t g = 0; g < c.size() / dense::kGroup; ++g) {
    std::array<float, dense::kGroup> values{};
    for (size_t i = 0; i < values.size(); ++i) values[i] = value(g * values.size() + i);
    const oracle::Nvfp4Group group = oracle::quantised(values);
    for (size_t i = 0; i < values.size(); i += 2)
      out[g * 8 + i / 2] = static_cast<std::byte>(group.codes[i] | group.codes[i + 1] << 4);
    const size_t row = g / groups % u(spec.m), batch = g / groups / u(spec.m), column = g % groups;
    const size_t atom = (batch * atoms_m + row / 128) * atoms_n + column / 4;
    out[c.size() / 2 + atom * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4] =
        static_cast<std::byte>(group.scale);
  }
  return out;
}

std::vector<double> DenseProblem::errors_ulp(const Variant& v, const std::vector<std::byte>& outputs) const {
  std::vector<double> out;
  if (spec.alpha != 1 || spec.beta != 0 || v.output == Output::nvfp4) return out;
  const std::shared_ptr<const DenseSums> all = sums(v);
  const size_t element = u(dense::bytes_of(v.output));
  for (size_t i = 0; i < all->exact.size(); ++i) {
    uint32_t word = 0;
    std::memcpy(&word, &outputs[i * element], element);
    out.push_back(oracle::error_ulp(word, all->exact[i], v.output == Output::f16 ? 5 : 8,
                                    v.output == Output::f16    ? 10
                                    : v.output == Output::bf16 ? 7
                                                               : 23));
  }
  return out;
}

}  // namespace bitwell::suite
