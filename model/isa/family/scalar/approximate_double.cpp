// The unit is the one of fp32: of a double it takes the 20 bits of the significand that stand in the upper
// word, and of its fp32 result it leaves as many.
#include "model/isa/family/scalar/approximate_double.h"

#include "model/number/special_function.h"

namespace bitwell::isa {
namespace {

using number::SpecialFunction;

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7FF00000;
constexpr uint32_t kNan = 0x7FFFFFFF;
constexpr uint32_t kSignificand = 0xFFFFF;

// The upper word of a double between 1/4 and 4 with the unit's result, which is between 1/4 and 1, times
// 2^-`down`. Zero where that is subnormal.
uint32_t scaled(SpecialFunction function, uint32_t fp32, int down) {
  const uint32_t result = number::special_function(function, fp32) >> 3;  // sign, 8 bits of exponent, 20
  const int exponent = static_cast<int>(result >> 20) + 1023 - 127 - down;
  return exponent < 1 ? 0 : static_cast<uint32_t>(exponent) << 20 | (result & kSignificand);
}

template <uint32_t upper_word(uint32_t)>
void run(const Op& op, std::byte* rows, uint32_t mask) {
  const auto* a = reinterpret_cast<const uint64_t*>(rows + op.a);
  auto* d = reinterpret_cast<uint64_t*>(rows + op.d);
  for (int i = 0; i < 32; ++i)
    if ((mask >> i & 1) != 0) d[i] = uint64_t{upper_word(static_cast<uint32_t>(a[i] >> 32))} << 32;
}

}  // namespace

uint32_t reciprocal_upper(uint32_t upper) {
  const uint32_t sign = upper & kSign;
  const int exponent = static_cast<int>(upper >> 20 & 0x7FF);
  const uint32_t significand = upper & kSignificand;
  if (exponent == 0) return sign | kInfinity;
  if (exponent == 0x7FF) return significand == 0 ? sign : kNan;
  return sign | scaled(SpecialFunction::rcp, 127u << 23 | significand << 3, exponent - 1023);
}

uint32_t reciprocal_root_upper(uint32_t upper) {
  const uint32_t sign = upper & kSign;
  const int exponent = static_cast<int>(upper >> 20 & 0x7FF);
  const uint32_t significand = upper & kSignificand;
  if (exponent == 0) return sign | kInfinity;
  if (sign != 0 || (exponent == 0x7FF && significand != 0)) return kNan;
  if (exponent == 0x7FF) return 0;
  const int odd = (exponent - 1023) & 1;
  return scaled(SpecialFunction::rsqrt, static_cast<uint32_t>(127 + odd) << 23 | significand << 3,
                (exponent - 1023 - odd) / 2);
}

std::optional<Op> captured_double_op(const std::string& opcode) {
  if (opcode != "rcp" && opcode != "rsqrt") return std::nullopt;
  Op op;
  op.lanes = opcode == "rcp" ? run<reciprocal_upper> : run<reciprocal_root_upper>;
  return op;
}

}  // namespace bitwell::isa
