#include "model/isa/family/scalar/approximate.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "model/isa/lanes/soft.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"
#include "model/number/half.h"
#include "model/number/special_function.h"

namespace bitwell::isa {
namespace {

using number::SpecialFunction;

struct Function {
  std::string_view opcode;
  double (*of)(double);
  SpecialFunction unit;
};
constexpr std::array<Function, 6> kFunctions{
    {{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, SpecialFunction::rsqrt},
     {"sin", [](double x) { return std::sin(x); }, SpecialFunction::sin},
     {"cos", [](double x) { return std::cos(x); }, SpecialFunction::cos},
     {"lg2", [](double x) { return std::log2(x); }, SpecialFunction::lg2},
     {"ex2", [](double x) { return std::exp2(x); }, SpecialFunction::ex2},
     {"tanh", [](double x) { return std::tanh(x); }, SpecialFunction::tanh}}};

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
enum class Captured : uint8_t { rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh, div_approx, div_full };
constexpr std::array<std::pair<std::string_view, Captured>, 9> kCaptured{{{"rcp", Captured::rcp},
                                                                          {"rsqrt", Captured::rsqrt},
                                                                          {"sqrt", Captured::sqrt},
                                                                          {"ex2", Captured::ex2},
                                                                          {"lg2", Captured::lg2},
                                                                          {"sin", Captured::sin},
                                                                          {"cos", Captured::cos},
                                                                          {"tanh", Captured::tanh},
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

// Radians in revolutions, as mul.rz.f32 by a number just below 1 / (2 pi) gives them.
float revolutions(float radians) {
  const double exact = static_cast<double>(radians) * 0xA2F983p-26;  // 48 bits
  const auto nearest = static_cast<float>(exact);
  if (!(std::fabs(static_cast<double>(nearest)) > std::fabs(exact))) return nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - 1);
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
    case Captured::lg2: {
      if (ftz || !small(a)) return unit(SpecialFunction::lg2, a);
      const float r = unit(SpecialFunction::lg2, product(a, 0x1p24F, false));
      return std::isnan(r) ? r : r - 24;
    }
    case Captured::sin: return unit(SpecialFunction::sin, revolutions(a));
    case Captured::cos: return unit(SpecialFunction::cos, revolutions(a));
    case Captured::tanh: return unit(SpecialFunction::tanh, a);
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

// What is below fp16's least bit is cut off; 2^16 and more is infinity. fp32 code to fp16 code.
uint16_t cut_to_half(uint32_t code) {
  const auto sign = static_cast<uint16_t>(code >> 16 & 0x8000);
  const uint32_t magnitude = code & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7FFF;
  if (magnitude >= 0x47800000) return sign | 0x7C00;
  if (magnitude >= 0x38800000) return static_cast<uint16_t>(sign | (magnitude - (112u << 23)) >> 13);
  const uint32_t shift = 126 - (magnitude >> 23);
  return static_cast<uint16_t>(sign | (shift > 24 ? 0 : ((magnitude & 0x7FFFFF) | 0x800000) >> shift));
}

enum HalfBits : uint64_t { kPacked = 0x100, kBfloat = 0x200, kNearest = 0x400 };  // and the function's place

uint16_t half(uint16_t x, const Function& f, uint64_t how) {
  const bool bfloat = (how & kBfloat) != 0;
  const float wide = bfloat ? std::bit_cast<float>(static_cast<uint32_t>(x) << 16) : number::half_to_float(x);
  if ((how & kNearest) != 0) {
    const auto exact = number::decode(number::f64, std::bit_cast<uint64_t>(f.of(static_cast<double>(wide))));
    if (!bfloat) return static_cast<uint16_t>(number::write(number::f16, exact, number::Mode{}));
    // Of bf16, ex2 is always written with .ftz.
    const number::Mode mode{.ftz = f.unit == SpecialFunction::ex2};
    return static_cast<uint16_t>(number::write(number::bf16, exact, mode));
  }
  const uint32_t result = number::special_function(f.unit, std::bit_cast<uint32_t>(wide));
  return bfloat ? static_cast<uint16_t>(result >> 16) : cut_to_half(result);
}

void run_half(const Op& op, std::byte* rows, uint32_t mask) {
  const size_t count = (op.imm & kPacked) != 0 ? 2 : 1;
  const auto* a = reinterpret_cast<const uint16_t*>(rows + op.a);
  auto* d = reinterpret_cast<uint16_t*>(rows + op.d);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1)
    for (size_t h = 0; h < count; ++h) {
      const size_t at = static_cast<size_t>(std::countr_zero(lanes)) * count + h;
      d[at] = half(a[at], kFunctions[op.imm & 0xFF], op.imm);
    }
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

std::optional<Op> half_op(const std::string& opcode, const std::string& type, bool nearest) {
  for (size_t i = 0; i < kFunctions.size(); ++i) {
    if (kFunctions[i].opcode != opcode) continue;
    Op op;
    op.lanes = run_half;
    op.imm = i;
    if (type.ends_with("x2")) op.imm |= kPacked;
    if (type.starts_with(".bf16")) op.imm |= kBfloat;
    if (nearest) op.imm |= kNearest;
    return op;
  }
  return std::nullopt;
}

}  // namespace bitwell::isa
