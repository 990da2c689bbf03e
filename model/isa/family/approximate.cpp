#include "model/isa/family/approximate.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "model/isa/lanes/soft.h"
#include "model/number/arithmetic.h"
#include "model/number/special_function.h"

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

// What ptxas makes of an instruction: operands scaled into the unit's range, the unit, the result scaled
// back.
using number::SpecialFunction;
enum class Captured : uint8_t { rcp, rsqrt, sqrt, ex2, div_approx, div_full };
constexpr std::array<std::pair<std::string_view, Captured>, 5> kCaptured{{{"rcp", Captured::rcp},
                                                                          {"rsqrt", Captured::rsqrt},
                                                                          {"sqrt", Captured::sqrt},
                                                                          {"ex2", Captured::ex2},
                                                                          {"div", Captured::div_approx}}};

constexpr float kLeastNormal = 0x1p-126F;
constexpr float kLarge = 0x1p126F;

float unit(SpecialFunction f, float x) {
  return std::bit_cast<float>(number::special_function(f, std::bit_cast<uint32_t>(x)));
}

// mul.rn[.ftz].f32 as the GPU does it. The host's product is the same where no operand or result is special.
float product(float a, float b, bool ftz) {
  const float r = a * b;
  const float size = std::fabs(r);
  if (size >= 2 * kLeastNormal && size < std::numeric_limits<float>::infinity() &&
      std::fabs(a) >= kLeastNormal && std::fabs(b) >= kLeastNormal)
    return r;
  return std::bit_cast<float>(static_cast<uint32_t>(number::mul(
      number::f32, std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b), number::Mode{.ftz = ftz})));
}

float captured(Captured what, float a, float b, bool ftz) {
  const auto small = [](float x) { return std::fabs(x) < kLeastNormal; };
  const auto large = [](float x) { return std::fabs(x) > kLarge; };
  switch (what) {
    case Captured::rcp: {
      if (ftz) return unit(SpecialFunction::rcp, a);
      const float scale = large(a) ? 0.25F : small(a) ? 0x1p24F : 1.0F;
      return product(scale, unit(SpecialFunction::rcp, product(a, scale, false)), false);
    }
    case Captured::rsqrt:
      if (ftz || !small(a)) return unit(SpecialFunction::rsqrt, a);
      return product(unit(SpecialFunction::rsqrt, product(a, 0x1p24F, false)), 0x1p12F, false);
    case Captured::sqrt:
      if (ftz || !small(a)) return unit(SpecialFunction::sqrt, a);
      return product(unit(SpecialFunction::sqrt, product(a, 0x1p24F, false)), 0x1p-12F, false);
    case Captured::ex2: {
      if (ftz || !(a < -126.0F)) return unit(SpecialFunction::ex2, a);
      const float root = unit(SpecialFunction::ex2, product(a, 0.5F, false));
      return product(root, root, false);
    }
    case Captured::div_approx:
    case Captured::div_full: {
      float scale = 1;
      if (what == Captured::div_full && large(b)) scale = 0.25F;
      if (!ftz && small(b)) scale = 0x1p24F;
      if (scale != 1) {
        a = product(a, scale, ftz);
        b = product(b, scale, ftz);
      }
      return product(unit(SpecialFunction::rcp, b), a, ftz);
    }
  }
  return 0;
}

// imm: what, ftz in bit 8.
void run_captured(const Op& op, std::byte* rows, uint32_t mask) {
  const auto* a = reinterpret_cast<const float*>(rows + op.a);
  const auto* b = reinterpret_cast<const float*>(rows + op.b);
  auto* d = reinterpret_cast<float*>(rows + op.d);
  const auto what = static_cast<Captured>(op.imm & 0xFF);
  const bool divides = what == Captured::div_approx || what == Captured::div_full;
  for (int i = 0; i < 32; ++i)
    if ((mask >> i & 1) != 0) d[i] = captured(what, a[i], divides ? b[i] : 0, (op.imm >> 8 & 1) != 0);
}

}  // namespace

std::optional<Op> captured_op(const std::string& opcode, bool full, bool ftz) {
  for (const auto& [name, what] : kCaptured) {
    if (name != opcode) continue;
    Op op;
    op.lanes = run_captured;
    op.imm = static_cast<uint64_t>(full ? Captured::div_full : what) | uint64_t{ftz} << 8;
    return op;
  }
  return std::nullopt;
}

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
