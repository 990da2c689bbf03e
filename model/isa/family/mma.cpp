// mma.sync: D = A B + C by one warp, at once (PTX ISA 9.0, 9.7.14).
#include <vector>

#include "model/isa/family/emit.h"
#include "model/isa/family/fragments.h"
#include "model/isa/family/tensor_operands.h"
#include "model/run/context.h"

namespace bitwell::isa {
namespace {

Next mma_sync(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const Mma& mma = op.as<Mma>();
  const size_t a_count = mma.a_registers();
  const size_t b_count = mma.b_registers();
  std::vector<uint32_t*> rows;
  for (const uint32_t r : *op.sources) {
    context.require_defined(r, mask, "a matrix operand");
    rows.push_back(context.row<uint32_t>(r));
  }
  const std::span<uint32_t* const> all = rows;
  std::vector<uint32_t> a(kFragmentRows * mma.k);
  std::vector<uint32_t> b(mma.n * mma.k);
  std::vector<uint32_t> d(kFragmentRows * mma.n);
  unpack_a(mma, {rows.data(), a_count}, a);
  unpack_b(mma, {rows.data() + a_count, b_count}, b);
  unpack_d(mma, all.subspan(a_count + b_count), d);
  const number::DotColumns columns = number::prepare_columns(*mma.rule, {mma.b, b}, mma.n, mma.k);
  const std::vector<uint32_t> before = mma.watch != nullptr ? d : std::vector<uint32_t>();
  number::dot_tile(*mma.rule, {mma.a, a}, kFragmentRows, columns, d);
  if (mma.watch != nullptr)
    mma.watch->look({*mma.rule,
                     {mma.a, a},
                     columns,
                     before,
                     d,
                     0,
                     0,
                     context.cta.place(context.warp, context.split(), -1)});
  rows.clear();
  for (const uint32_t r : *op.results) {
    context.set_defined(r, mask);
    rows.push_back(context.row<uint32_t>(r));
  }
  pack_d(mma, d, rows);
  return Next::advance;
}

// mma.sync d, a, b, c
void mma_form(Builder& b, const Match& m) {
  if (b.operand_count() != 4) throw Invalid("'" + m.name + "' takes 4 operands");
  const auto& modifiers = b.instruction().modifiers;  // .sync .aligned shape .row .col D A B C
  Op op = effect(mma_sync);
  Mma* mma = &b.payload<Mma>(op);
  mma->a = &tensor_format(modifiers[6]);
  mma->b = &tensor_format(modifiers[7]);
  mma->rule = &dot_rule(b.sm(), "mma.sync", *mma->a, *mma->b, tensor_format(modifiers[5]));
  mma->n = extent(modifiers[2], 'n');
  mma->k = extent(modifiers[2], 'k');
  op.results = b.new_list();
  op.sources = b.new_list();  // A, B, C
  const number::Format& d = *mma->rule->output;
  tensor_registers(b, b.operand(0), mma->d_registers(), d, "D", *op.results);
  tensor_registers(b, b.operand(1), mma->a_registers(), *mma->a, "A", *op.sources);
  tensor_registers(b, b.operand(2), mma->b_registers(), *mma->b, "B", *op.sources);
  tensor_registers(b, b.operand(3), mma->d_registers(), d, "C", *op.sources);
  b.emit(op);
}

constexpr Form kMma[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "*", mma_form, 65, 75},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "*", mma_form, 65, 75},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "*", mma_form, 70, 80},
    {"mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col.f32.bf16.bf16.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned{.m16n8k4,.m16n8k8}.row.col.f32.tf32.tf32.f32", "*", mma_form, 70, 80},
    {"mma.sync.aligned.m16n8k32.row.col.f32{.e4m3,.e5m2}{.e4m3,.e5m2}.f32", "*", mma_form, 84, 89},
    {"mma.sync.aligned.m16n8k32.row.col.f16{.e4m3,.e5m2}{.e4m3,.e5m2}.f16", "*", mma_form, 87, 89},
};

}  // namespace

std::span<const Form> mma_forms() { return kMma; }

}  // namespace bitwell::isa
