// bf16 as minimum, maximum and sign (PTX ISA 9.0, 9.7.4), and fp32 arithmetic on fp16 and bf16 operands
// (9.7.5).
#include <algorithm>
#include <functional>

#include "model/isa/family/emit.h"
#include "model/isa/lanes/soft.h"
#include "model/isa/lanes/tracks.h"
#include "model/machine/warp.h"

namespace bitwell::isa {
namespace {

constexpr uint16_t kSign = 0x8000;
constexpr uint16_t kInfinity = 0x7F80;
constexpr uint16_t kNan = 0x7FFF;  // the canonical one
enum ExtremeBits : uint64_t { kMaximum = 1, kPropagates = 2, kXorsign = 4, kPacked = 8, kNegates = 16 };

// The code's place among all numbers: -0 below +0.
int order_of(uint16_t code) { return (code & kSign) != 0 ? -(code & ~kSign) - 1 : code; }
bool is_nan(uint16_t code) { return (code & ~kSign) > kInfinity; }

uint16_t extreme(uint16_t a, uint16_t b, uint64_t how) {
  const auto sign = static_cast<uint16_t>((how & kXorsign) != 0 ? (a ^ b) & kSign : 0);
  if ((how & kXorsign) != 0) {
    a &= static_cast<uint16_t>(~kSign);
    b &= static_cast<uint16_t>(~kSign);
  }
  if ((is_nan(a) && is_nan(b)) || ((how & kPropagates) != 0 && (is_nan(a) || is_nan(b)))) return kNan;
  const bool takes_b =
      is_nan(a) ||
      (!is_nan(b) && ((how & kMaximum) != 0 ? order_of(b) > order_of(a) : order_of(b) < order_of(a)));
  return (takes_b ? b : a) | sign;
}

// Writes f(a, b) of every 16-bit value of the operands' lanes.
template <class F>
void each_half(const Op& op, std::byte* rows, uint32_t mask, F f) {
  const size_t count = (op.imm & kPacked) != 0 ? 2 : 1;
  const auto* a = reinterpret_cast<const uint16_t*>(rows + op.a);
  const auto* b = reinterpret_cast<const uint16_t*>(rows + op.b);
  auto* d = reinterpret_cast<uint16_t*>(rows + op.d);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1)
    for (size_t h = 0; h < count; ++h) {
      const size_t at = static_cast<size_t>(__builtin_ctz(lanes)) * count + h;
      d[at] = f(a[at], b[at]);
    }
}
void extreme_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  each_half(op, rows, mask, [&](uint16_t a, uint16_t b) { return extreme(a, b, op.imm); });
}
void sign_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  each_half(op, rows, mask, [&](uint16_t a, uint16_t) {
    if (is_nan(a)) return kNan;  // an H200 does so; of fp16 and fp32 it keeps the payload
    return static_cast<uint16_t>((op.imm & kNegates) != 0 ? a ^ kSign : a & ~kSign);
  });
}

// min, max, abs, neg
void bfloat(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op;
  op.lanes = b.operand_count() == 3 ? extreme_lanes : sign_lanes;
  if (i.opcode == "max") op.imm |= kMaximum;
  if (i.opcode == "neg") op.imm |= kNegates;
  if (ptx::has(i, ".NaN")) op.imm |= kPropagates;
  if (ptx::has(i, ".xorsign")) op.imm |= kXorsign;
  if (m.choice.back() == ".bf16x2") {
    op.imm |= kPacked;
    track_halves(op, 4);
  }
  place_operands(b, op);
  b.emit(op);
}

// The fp16 or bf16 operands become fp32, which is exact; then it is the instruction of fp32.
void mixed(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool fused = i.opcode == "fma";
  const number::Format& narrow = m.choice.back() == ".f16" ? number::f16 : number::bf16;
  const auto widened = [&](const Value& v) {
    Conversion c;
    c.from = {&narrow, 16, true};
    c.to = {&number::f32, 32, true};
    Op op = soft_conversion(c);
    op.a = v.row;
    op.d = b.new_row(32);
    b.emit(op);
    return op.d;
  };
  Op op = soft_arithmetic(fused               ? SoftOperation::fma
                          : i.opcode == "add" ? SoftOperation::add
                                              : SoftOperation::sub,
                          number::f32, false, mode_of(i));
  const auto& v = b.values();
  op.a = widened(v[1]);
  op.b = fused ? widened(v[2]) : v[2].row;
  if (fused) op.c = v[3].row;
  op.d = v[0].row;
  b.emit(op);
}

#define TYPES "{.bf16,.bf16x2}"
#define NARROW ".f32{.f16,.bf16}"
constexpr Form kBfloat[] = {
    {"min[.NaN]" TYPES, "d:$2 s:$2 s:$2", bfloat, 70, 80},
    {"max[.NaN]" TYPES, "d:$2 s:$2 s:$2", bfloat, 70, 80},
    {"min[.NaN].xorsign.abs" TYPES, "d:$2 s:$2 s:$2", bfloat, 72, 86},
    {"max[.NaN].xorsign.abs" TYPES, "d:$2 s:$2 s:$2", bfloat, 72, 86},
    {"abs" TYPES, "d:$1 s:$1", bfloat, 70, 80},
    {"neg" TYPES, "d:$1 s:$1", bfloat, 70, 80},
    {"add[.rn,.rz,.rm,.rp][.sat]" NARROW, "d:f32 r:$3 s:f32", mixed, 86, 100},
    {"sub[.rn,.rz,.rm,.rp][.sat]" NARROW, "d:f32 r:$3 s:f32", mixed, 86, 100},
    {"fma{.rn,.rz,.rm,.rp}[.sat]" NARROW, "d:f32 r:$3 r:$3 s:f32", mixed, 86, 100},
};
#undef TYPES
#undef NARROW

}  // namespace

std::span<const Form> bfloat_forms() { return kBfloat; }

}  // namespace bitwell::isa
