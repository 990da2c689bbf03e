#include "model/isa/family/mma/wmma_fragment.h"

#include <algorithm>

#include "model/isa/family/mma/tensor_operands.h"

namespace bitwell::isa {

FragmentPlace WmmaFragment::place(size_t lane, size_t x) const {
  if (operand == 'c') {
    const size_t blocks = outer / 8;
    return {lane / 4 + 8 * (x / 2 % blocks), 2 * (lane % 4) + x % 2 + 8 * (x / 2 / blocks)};
  }
  const size_t r = x / each() % distinct();
  const size_t block = each() * lanes_inner;
  return {lane / lanes_inner + 32 / lanes_inner * (r / (inner / block)),
          each() * (lane % lanes_inner) + block * (r % (inner / block)) + x % each()};
}

WmmaFragment wmma_fragment(char operand, const std::string& shape, bool row, const std::string& type) {
  const size_t k = extent(shape, 'k');
  const size_t n = extent(shape, 'n');
  const size_t m = shape.starts_with(".m8") ? 8 : shape.starts_with(".m16") ? 16 : 32;
  WmmaFragment out;
  out.operand = operand;
  out.bits = type.ends_with("64") ? 64 : type.ends_with("32") ? 32 : type.ends_with("16") ? 16 : 8;
  out.outer = operand == 'b' ? (row ? k : n) : operand == 'a' && !row ? k : m;
  out.inner = operand == 'b' ? (row ? n : k) : operand == 'c' ? n : row ? k : m;
  if (operand != 'c') {
    out.lanes_inner = std::min<size_t>(4, out.inner / out.each());
    if (32 / out.lanes_inner > out.outer) out.lanes_inner = 32 / out.outer;
  }
  out.registers = operand != 'c' && type == ".f16" ? 8 : out.distinct();
  return out;
}

}  // namespace bitwell::isa
