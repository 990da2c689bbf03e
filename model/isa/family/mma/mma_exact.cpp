// mma.sync whose arithmetic needs no table of a tensor core: integers of 8 and 4 bits, whose sums are exact,
// and fp64, a chain of fused multiply-adds in the order of k that starts with C (PTX ISA 9.0, 9.7.14.5).
#include "model/isa/family/mma/mma_exact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "model/isa/family/emit.h"
#include "model/isa/family/mma/tensor_operands.h"
#include "model/isa/family/mma/unknown_product.h"
#include "model/machine/failure.h"
#include "model/run/context.h"

namespace bitwell::isa {

using machine::kLanes;

int32_t stored_integer(int64_t sum, bool saturates) {
  if (saturates)
    sum = std::min<int64_t>(std::max<int64_t>(sum, std::numeric_limits<int32_t>::min()),
                            std::numeric_limits<int32_t>::max());
  return static_cast<int32_t>(static_cast<uint32_t>(sum));
}

uint64_t fused_double(uint64_t a, uint64_t b, uint64_t c) {
  const double out = std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c));
  return std::isnan(out) ? number::fma(number::f64, a, b, c, {}) : std::bit_cast<uint64_t>(out);
}

namespace {

// The low four bits as the number they are.
int64_t nibble_value(uint32_t word, bool is_signed) {
  const int64_t value = word & 0xF;
  return is_signed && value > 7 ? value - 16 : value;
}

// Registers of A, B and of C and D; each holds `each` elements that follow each other in k. Thread 4 g + t
// holds in register r of A row g + 8 (r % 2) (g alone where there are 8 rows) from k = each (t + 4 (r / rows
// of a thread)); in register r of B column g from k = each (t + 4 r); in register e of C and D row g + 8 (e /
// 2), column 2 t + e % 2.
struct ExactMma : Payload {
  size_t m = 0, k = 0;
  size_t each = 1;
  bool a_signed = false, b_signed = false, saturates = false;

  size_t rows() const { return m / 8; }  // of a thread
  size_t a_registers() const { return rows() * k / (4 * each); }
  size_t b_registers() const { return k / (4 * each); }
  size_t d_registers() const { return 2 * rows(); }
};

// Calls visit(e, lane, row of the thread, its A rows' lane, its B column's lane) for each element of D.
template <class Visit>
void each_of_d(const ExactMma& mma, Visit visit) {
  for (size_t e = 0; e < mma.d_registers(); ++e)
    for (size_t lane = 0; lane < kLanes; ++lane)
      visit(e, lane, e / 2, lane / 4 * 4, (2 * (lane % 4) + e % 2) * 4);
}

template <class T>
std::vector<std::array<T, kLanes>> copied(run::Context& context, const std::vector<uint32_t>& rows) {
  std::vector<std::array<T, kLanes>> out(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) std::copy_n(context.row<T>(rows[r]), kLanes, out[r].data());
  return out;
}

UnknownProduct unknown_product(const ExactMma& mma, run::Context& context, std::span<const uint32_t> sources,
                               size_t bytes) {
  UnknownProduct out;
  const size_t a = mma.a_registers(), b = mma.b_registers();
  out.rows.look(context, sources.first(a), bytes, [&](size_t r, size_t lane, const auto& visit) {
    visit(~uint64_t{0}, lane / 4 + 8 * (r % mma.rows()));
  });
  out.columns.look(context, sources.subspan(a, b), bytes,
                   [&](size_t, size_t lane, const auto& visit) { visit(~uint64_t{0}, lane / 4); });
  out.take(context, sources.subspan(a + b), bytes, [&](size_t e, size_t lane, const auto& visit) {
    visit(~uint64_t{0}, lane / 4 + 8 * (e / 2), 2 * (lane % 4) + e % 2);
  });
  return out;
}

// multiply(op, context, its payload), and then what of the product was never written.
template <class T>
Next multiplied(const Op& op, run::Context& context, uint32_t mask,
                void multiply(const Op&, run::Context&, const ExactMma&)) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& mma = op.as<ExactMma>();
  std::optional<UnknownProduct> unknown;
  if (lacks(context, *op.sources)) unknown = unknown_product(mma, context, *op.sources, sizeof(T));
  multiply(op, context, mma);
  for (const uint32_t r : *op.results) context.set_defined(r, mask);
  if (unknown) unknown->give(context, *op.results);
  return Next::advance;
}

void multiply_integers(const Op& op, run::Context& context, const ExactMma& mma) {
  const auto in = copied<uint32_t>(context, *op.sources);
  const size_t b = mma.a_registers();
  const size_t c = b + mma.b_registers();
  each_of_d(mma, [&](size_t e, size_t lane, size_t row, size_t a_lane, size_t b_lane) {
    int64_t sum = static_cast<int32_t>(in[c + e][lane]);
    for (size_t k = 0; k < mma.k; ++k) {
      const size_t t = k / mma.each % 4;
      const size_t step = k / (4 * mma.each);
      const auto value = [&](size_t r, size_t lane_of, bool is_signed) {
        const uint32_t word = in[r][lane_of + t];
        return mma.each == 4 ? byte_value(word >> 8 * (k % 4), is_signed)
                             : nibble_value(word >> 4 * (k % 8), is_signed);
      };
      sum += value(row + step * mma.rows(), a_lane, mma.a_signed) * value(b + step, b_lane, mma.b_signed);
    }
    context.row<int32_t>((*op.results)[e])[lane] = stored_integer(sum, mma.saturates);
  });
}

void multiply_doubles(const Op& op, run::Context& context, const ExactMma& mma) {
  const auto in = copied<uint64_t>(context, *op.sources);
  const size_t b = mma.a_registers();
  const size_t c = b + mma.b_registers();
  each_of_d(mma, [&](size_t e, size_t lane, size_t row, size_t a_lane, size_t b_lane) {
    uint64_t sum = in[c + e][lane];
    for (size_t k = 0; k < mma.k; ++k)
      sum = fused_double(in[row + k / 4 * mma.rows()][a_lane + k % 4], in[b + k / 4][b_lane + k % 4], sum);
    context.row<uint64_t>((*op.results)[e])[lane] = sum;
  });
}

Next integers(const Op& op, run::Context& context, uint32_t mask) {
  return multiplied<uint32_t>(op, context, mask, multiply_integers);
}
Next doubles(const Op& op, run::Context& context, uint32_t mask) {
  return multiplied<uint64_t>(op, context, mask, multiply_doubles);
}

// mma.sync d, a, b, c
void exact_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  operands_left(b, m, 4);
  const bool in_doubles = i.modifiers.back() == ".f64";
  if (in_doubles && (ptx::has(i, ".rz") || ptx::has(i, ".rm") || ptx::has(i, ".rp")))
    throw machine::Unsupported("'" + m.name + "': a rounding other than to nearest");
  Op op = effect_without_memory(b, in_doubles ? doubles : integers);
  auto& mma = b.payload<ExactMma>(op);
  mma.m = i.modifiers[2].starts_with(".m8") ? 8 : 16;
  mma.k = extent(i.modifiers[2], 'k');
  mma.saturates = ptx::has(i, ".satfinite");
  const size_t types = i.modifiers.size() - 4;  // of D, A, B, C
  const std::string& a = i.modifiers[types + 1];
  mma.each = in_doubles ? 1 : a.ends_with("4") ? 8 : 4;
  mma.a_signed = a.starts_with(".s");
  mma.b_signed = i.modifiers[types + 2].starts_with(".s");
  op.results = b.new_list();
  op.sources = b.new_list();
  const auto registers = [&](size_t operand, size_t count, const char* type, std::vector<uint32_t>& out) {
    const ptx::Operand& o = b.operand(operand);
    if (o.kind != ptx::OperandKind::vector || o.elements.size() != count)
      throw Invalid("operand " + std::to_string(operand) + " of '" + m.name + "' must be a vector of " +
                    std::to_string(count) + " registers");
    for (const ptx::Operand& e : o.elements)
      out.push_back(operand == 0 ? b.destination(e, b.type(type)).row
                                 : b.source(e, b.type(type), false, false).row);
  };
  const char* const type = in_doubles ? ".f64" : ".s32";
  registers(0, mma.d_registers(), type, *op.results);
  registers(1, mma.a_registers(), in_doubles ? ".f64" : ".b32", *op.sources);
  registers(2, mma.b_registers(), in_doubles ? ".f64" : ".b32", *op.sources);
  registers(3, mma.d_registers(), type, *op.sources);
  b.emit(op);
}

#define INTEGERS ".row.col[.satfinite].s32{.u8,.s8}{.u8,.s8}.s32"
#define NIBBLES ".row.col[.satfinite].s32{.u4,.s4}{.u4,.s4}.s32"
#define DOUBLES ".row.col[.rn,.rz,.rm,.rp].f64.f64.f64.f64"
constexpr Form kExact[] = {
    {"mma.sync.aligned.m8n8k16" INTEGERS, "*", exact_form, 65, 75},
    {"mma.sync.aligned{.m16n8k16,.m16n8k32}" INTEGERS, "*", exact_form, 70, 80},
    {"mma.sync.aligned.m8n8k32" NIBBLES, "*", exact_form, 65, 75},
    {"mma.sync.aligned{.m16n8k32,.m16n8k64}" NIBBLES, "*", exact_form, 70, 80},
    {"mma.sync.aligned.m8n8k4" DOUBLES, "*", exact_form, 70, 80},
    {"mma.sync.aligned{.m16n8k4,.m16n8k8,.m16n8k16}" DOUBLES, "*", exact_form, 78, 90},
};
#undef INTEGERS
#undef NIBBLES
#undef DOUBLES

}  // namespace

std::span<const Form> mma_exact_forms() { return kExact; }

}  // namespace bitwell::isa
