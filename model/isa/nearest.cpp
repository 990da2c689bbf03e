#include "model/isa/nearest.h"

#include <array>
#include <bit>
#include <cmath>
#include <string_view>

#include "model/isa/soft.h"

namespace bitwell::isa {
namespace {

struct Function {
  std::string_view opcode;
  double (*of)(double);
};
constexpr std::array<Function, 6> kFunctions{{{"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
                                              {"sin", [](double x) { return std::sin(x); }},
                                              {"cos", [](double x) { return std::cos(x); }},
                                              {"lg2", [](double x) { return std::log2(x); }},
                                              {"ex2", [](double x) { return std::exp2(x); }},
                                              {"tanh", [](double x) { return std::tanh(x); }}}};

float flushed(float v, bool ftz) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return ftz && (bits & 0x7F800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : v;
}

// imm: the function's place in the table, ftz in bit 8.
void run(const Op& op, std::byte* rows, uint32_t mask) {
  const Function& f = kFunctions[op.imm & 0xFF];
  const bool ftz = (op.imm >> 8 & 1) != 0;
  const auto* a = reinterpret_cast<const float*>(rows + op.a);
  auto* d = reinterpret_cast<float*>(rows + op.d);
  for (int i = 0; i < 32; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const auto r = static_cast<float>(f.of(static_cast<double>(flushed(a[i], ftz))));
    d[i] = r != r ? std::bit_cast<float>(0x7FFFFFFFu) : flushed(r, ftz);
  }
}

}  // namespace

std::optional<Op> nearest_op(const std::string& opcode, bool ftz) {
  const number::Mode mode{.ftz = ftz};
  if (opcode == "div") return soft_arithmetic(SoftOperation::div, number::f32, false, mode);
  if (opcode == "rcp") return soft_arithmetic(SoftOperation::rcp, number::f32, false, mode);
  if (opcode == "sqrt") return soft_arithmetic(SoftOperation::sqrt, number::f32, false, mode);
  for (size_t i = 0; i < kFunctions.size(); ++i) {
    if (kFunctions[i].opcode != opcode) continue;
    Op op;
    op.lanes = run;
    op.imm = i | uint64_t{ftz} << 8;
    return op;
  }
  return std::nullopt;
}

}  // namespace bitwell::isa
