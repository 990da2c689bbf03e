// mma.sync: D = A B + C by one warp, at once.
#include <vector>

#include "model/isa/cta.h"
#include "model/isa/effects.h"
#include "model/isa/tensor.h"

namespace bitwell::isa {

Next mma_sync(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const Mma& mma = *reinterpret_cast<const Mma*>(op.imm);
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
  number::dot_tile(*mma.rule, a, kFragmentRows, number::prepare_columns(*mma.input, b, mma.n, mma.k), d);
  rows.clear();
  for (const uint32_t r : *op.results) {
    context.set_defined(r, mask);
    rows.push_back(context.row<uint32_t>(r));
  }
  pack_d(mma, d, rows);
  return Next::advance;
}

}  // namespace bitwell::isa
