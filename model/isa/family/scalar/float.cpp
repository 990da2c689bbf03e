// Floating-point forms: fp32, fp64, fp16, selection, tests of a number's class (PTX
// ISA 9.0, 9.7.3, 9.7.4, 9.7.6).
#include <array>

#include "model/isa/family/emit.h"
#include "model/isa/family/scalar/approximate.h"
#include "model/isa/family/scalar/approximate_double.h"
#include "model/isa/lanes/soft.h"
#include "model/machine/failure.h"
#include "model/machine/warp.h"

namespace bitwell::isa {
namespace {

// testp: Has says of the number's bits without its sign whether it has the property. Zeros count as normal.
template <class T, class Has>
void testp_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  const auto* a = reinterpret_cast<const T*>(rows + op.a);
  uint32_t result = 0;
  for (int i = 0; i < machine::kLanes; ++i)
    result |= static_cast<uint32_t>(Has{}(static_cast<T>(a[i] & ~T{0} >> 1))) << i;
  auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
  *d = (*d & ~mask) | (result & mask);
}

template <class T, T infinity, T least_normal>
Lanes testp_of(std::string_view property) {
  const auto lanes = [](auto has) -> Lanes { return testp_lanes<T, decltype(has)>; };
  if (property == ".finite") return lanes([](T m) { return m < infinity; });
  if (property == ".infinite") return lanes([](T m) { return m == infinity; });
  if (property == ".number") return lanes([](T m) { return m <= infinity; });
  if (property == ".notanumber") return lanes([](T m) { return m > infinity; });
  if (property == ".normal") return lanes([](T m) { return m == 0 || (m >= least_normal && m < infinity); });
  return lanes([](T m) { return m != 0 && m < least_normal; });
}

// testp.property.type p, a
void testp(Builder& b, const Match& m) {
  Op op;
  op.lanes = m.choice[1] == ".f32" ? testp_of<uint32_t, 0x7F800000, 0x00800000>(m.choice[0])
                                   : testp_of<uint64_t, 0x7FF0000000000000, 0x0010000000000000>(m.choice[0]);
  place_operands(b, op);
  b.emit(op);
}

void selp(Builder& b, const Match& m) {
  Op op = lane_op("selp." + std::to_string(b.type(m.choice[0]).bits));
  place_operands(b, op);
  if (b.negated(3)) throw Invalid("'!' before the predicate of 'selp'");
  b.uses().carry(Carry::either);
  b.emit(op);
}

void slct(Builder& b, const Match&) {
  const ptx::Instruction& i = b.instruction();
  const std::string& type = i.modifiers[i.modifiers.size() - 2];
  Op op = lane_op(std::string("slct") + (ptx::has(i, ".ftz") ? ".ftz." : ".") +
                  std::to_string(b.type(type).bits) + i.modifiers.back());
  place_operands(b, op);
  b.emit(op);
}

// Whether an approximate instruction gets an H200's bits.
bool has_h200s(const Builder& b) {
  return b.approximate() == Approximate::h200 || (b.approximate() == Approximate::captured && b.sm() == 90);
}

void approximate(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool ftz = ptx::has(i, ".ftz");
  const std::string& type = i.modifiers.back();
  const bool nearest = b.approximate() == Approximate::nearest;
  const bool captured = has_h200s(b);
  std::optional<Op> found;
  if (type == ".f32" && nearest) found = nearest_op(i.opcode, ftz);
  if (type == ".f32" && captured) found = captured_op(i.opcode, ptx::has(i, ".full"), ftz);
  if (type != ".f32" && type != ".f64" && (nearest || captured)) found = half_op(i.opcode, type, nearest);
  if (!found)
    throw machine::Unsupported("instruction '" + m.name +
                               "': its result is approximate, and no table of sm_" + std::to_string(b.sm()) +
                               "'s bits is recorded");
  Op op = *found;
  place_operands(b, op);
  b.emit(op);
}

// Of .f64, what has .ftz.
void approximate_double(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const std::optional<Op> found =
      has_h200s(b) && ptx::has(i, ".ftz") ? captured_double_op(i.opcode) : std::optional<Op>();
  if (!found) return approximate(b, m);  // which refuses it
  Op op = *found;
  place_operands(b, op);
  b.emit(op);
}

// Two fp32 values a register, which is one of 64 untyped bits.
void packed(Builder& b, const Match& m) {
  for (const Value& v : b.values())
    if (v.type == nullptr || v.type->kind != 'b')
      throw Invalid("'" + m.name + "' takes registers of type .b64");
  Op op;
  const ptx::Instruction& i = b.instruction();
  const SoftOperation operation = i.opcode == "add"   ? SoftOperation::add
                                  : i.opcode == "sub" ? SoftOperation::sub
                                  : i.opcode == "mul" ? SoftOperation::mul
                                                      : SoftOperation::fma;
  std::string fast = i.opcode;  // without .rn, .ftz in its place
  for (const char* modifier : {".rz", ".rm", ".rp", ".ftz"})
    if (ptx::has(i, modifier)) fast += modifier;
  if (lanes_catalog().contains(fast + ".f32x2"))
    op = lane_op(fast + ".f32x2");
  else
    op = soft_arithmetic(operation, number::f32, true, mode_of(i));
  place_operands(b, op);
  b.emit(op);
}

// min and max of two, or of three: that of the first two, and the third. .abs is of the operands.
void extreme(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool three = b.operand_count() == 4;
  if (three && (b.sm() < 100 || b.version() < 88))
    throw Invalid("'" + m.name + "' of three operands needs PTX 8.8 and sm_100");
  if (!three && ptx::has(i, ".abs")) throw Invalid("'" + m.name + "' of two operands needs .xorsign");
  const std::string ftz = ptx::has(i, ".ftz") ? ".ftz" : "";
  const std::string name = i.opcode + ftz + (ptx::has(i, ".NaN") ? ".NaN" : "") + ".f32";
  std::array<uint32_t, 3> sources{};
  for (size_t n = 0; n < (three ? 3u : 2u); ++n) {
    sources[n] = b.values()[n + 1].row;
    if (!ptx::has(i, ".abs")) continue;
    Op magnitude = lane_op("abs" + ftz + ".f32");
    magnitude.a = sources[n];
    sources[n] = magnitude.d = b.new_row(32);
    b.emit(magnitude);
  }
  Op op = lane_op(name);
  op.a = sources[0];
  op.b = sources[1];
  op.d = three ? b.new_row(32) : b.values()[0].row;
  b.emit(op);
  if (!three) return;
  Op last = lane_op(name);
  last.a = op.d;
  last.b = sources[2];
  last.d = b.values()[0].row;
  b.emit(last);
}

constexpr Form kFloat[] = {
    {"add[.rn,.rz,.rm,.rp][.ftz].f32x2", "d:f32x2 r:f32x2 r:f32x2", packed, 86, 100},
    {"sub[.rn,.rz,.rm,.rp][.ftz].f32x2", "d:f32x2 r:f32x2 r:f32x2", packed, 86, 100},
    {"mul[.rn,.rz,.rm,.rp][.ftz].f32x2", "d:f32x2 r:f32x2 r:f32x2", packed, 86, 100},
    {"fma{.rn,.rz,.rm,.rp}[.ftz].f32x2", "d:f32x2 r:f32x2 r:f32x2 r:f32x2", packed, 86, 100},
    {"add[.rn,.rz,.rm,.rp][.ftz][.sat].f32", "d:f32 s:f32 s:f32", emit_rounded},
    {"sub[.rn,.rz,.rm,.rp][.ftz][.sat].f32", "d:f32 s:f32 s:f32", emit_rounded},
    {"mul[.rn,.rz,.rm,.rp][.ftz][.sat].f32", "d:f32 s:f32 s:f32", emit_rounded},
    {"fma{.rn,.rz,.rm,.rp}[.ftz][.sat].f32", "d:f32 s:f32 s:f32 s:f32", emit_rounded},
    {"mad{.rn,.rz,.rm,.rp}[.ftz][.sat].f32", "d:f32 s:f32 s:f32 s:f32", emit_rounded},
    {"add[.rn,.rz,.rm,.rp].f64", "d:f64 s:f64 s:f64", emit_rounded},
    {"sub[.rn,.rz,.rm,.rp].f64", "d:f64 s:f64 s:f64", emit_rounded},
    {"mul[.rn,.rz,.rm,.rp].f64", "d:f64 s:f64 s:f64", emit_rounded},
    {"fma{.rn,.rz,.rm,.rp}.f64", "d:f64 s:f64 s:f64 s:f64", emit_rounded},
    {"mad{.rn,.rz,.rm,.rp}.f64", "d:f64 s:f64 s:f64 s:f64", emit_rounded},
    {"div{.rn,.rz,.rm,.rp}[.ftz].f32", "d:f32 s:f32 s:f32", emit_rounded},
    {"div{.rn,.rz,.rm,.rp}.f64", "d:f64 s:f64 s:f64", emit_rounded},
    {"rcp{.rn,.rz,.rm,.rp}[.ftz].f32", "d:f32 s:f32", emit_rounded},
    {"rcp{.rn,.rz,.rm,.rp}.f64", "d:f64 s:f64", emit_rounded},
    {"sqrt{.rn,.rz,.rm,.rp}[.ftz].f32", "d:f32 s:f32", emit_rounded},
    {"sqrt{.rn,.rz,.rm,.rp}.f64", "d:f64 s:f64", emit_rounded},
    {"div.approx[.ftz].f32", "d:f32 s:f32 s:f32", approximate},
    {"div.full|[.ftz].f32", "d:f32 s:f32 s:f32", approximate},
    {"rcp.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"rcp.approx.ftz.f64", "d:f64 s:f64", approximate_double},
    {"sqrt.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"rsqrt.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"rsqrt.approx[.ftz].f64", "d:f64 s:f64", approximate_double},
    {"sin.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"cos.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"lg2.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"ex2.approx[.ftz].f32", "d:f32 s:f32", approximate},
    {"tanh.approx.f32", "d:f32 s:f32", approximate, 70, 75},
    {"abs[.ftz].f32", "d:f32 s:f32", emit_lanes},
    {"neg[.ftz].f32", "d:f32 s:f32", emit_lanes},
    {"abs.f64", "d:f64 s:f64", emit_lanes},
    {"neg.f64", "d:f64 s:f64", emit_lanes},
    {"min[.ftz][.NaN][.abs].f32", "d:f32 s:f32 s:f32 s:f32?", extreme, 0, 0},
    {"min[.ftz][.NaN].xorsign.abs.f32", "d:f32 s:f32 s:f32", emit_lanes, 72, 86},
    {"max[.ftz][.NaN][.abs].f32", "d:f32 s:f32 s:f32 s:f32?", extreme, 0, 0},
    {"max[.ftz][.NaN].xorsign.abs.f32", "d:f32 s:f32 s:f32", emit_lanes, 72, 86},
    {"min.f64", "d:f64 s:f64 s:f64", emit_lanes},
    {"max.f64", "d:f64 s:f64 s:f64", emit_lanes},
    {"copysign.f32", "d:f32 s:f32 s:f32", emit_lanes},
    {"copysign.f64", "d:f64 s:f64 s:f64", emit_lanes},
    {"testp{.finite,.infinite,.number,.notanumber,.normal,.subnormal}{.f32,.f64}", "q s:$2", testp},
    {"selp{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}", "d:$1 s:$1 s:$1 p", selp},
    {"slct[.ftz]{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}{.f32}", "d:$2 s:$2 s:$2 s:$3", slct},
    {"slct{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64}{.s32}", "d:$1 s:$1 s:$1 s:$2", slct},
};

constexpr Form kHalf[] = {
    {"add[.rn][.ftz][.sat]{.f16,.f16x2}", "d:$4 s:$4 s:$4", emit_rounded, 42},
    {"sub[.rn][.ftz][.sat]{.f16,.f16x2}", "d:$4 s:$4 s:$4", emit_rounded, 42},
    {"mul[.rn][.ftz][.sat]{.f16,.f16x2}", "d:$4 s:$4 s:$4", emit_rounded, 42},
    {"fma.rn[.ftz][.sat]{.f16,.f16x2}", "d:$3 s:$3 s:$3 s:$3", emit_rounded, 42},
    {"fma.rn[.ftz].relu{.f16,.f16x2}", "d:$2 s:$2 s:$2 s:$2", emit_rounded, 70, 80},
    {"add[.rn]{.bf16,.bf16x2}", "d:$2 s:$2 s:$2", emit_rounded, 78, 90},
    {"sub[.rn]{.bf16,.bf16x2}", "d:$2 s:$2 s:$2", emit_rounded, 78, 90},
    {"mul[.rn]{.bf16,.bf16x2}", "d:$2 s:$2 s:$2", emit_rounded, 78, 90},
    {"fma.rn[.relu]{.bf16,.bf16x2}", "d:$2 s:$2 s:$2 s:$2", emit_rounded, 70, 80},
    {"tanh.approx{.f16,.f16x2}", "d:$1 s:$1", approximate, 70, 75},
    {"tanh.approx{.bf16,.bf16x2}", "d:$1 s:$1", approximate, 78, 90},
    {"ex2.approx{.f16,.f16x2}", "d:$1 s:$1", approximate, 70, 75},
    {"ex2.approx.ftz{.bf16,.bf16x2}", "d:$1 s:$1", approximate, 78, 90},
    {"abs[.ftz]{.f16,.f16x2}", "d:$2 s:$2", emit_lanes, 65},
    {"neg[.ftz]{.f16,.f16x2}", "d:$2 s:$2", emit_lanes, 60},
    {"min[.ftz][.NaN]{.f16,.f16x2}", "d:$3 s:$3 s:$3", emit_lanes, 70, 80},
    {"min[.ftz][.NaN].xorsign.abs{.f16,.f16x2}", "d:$3 s:$3 s:$3", emit_lanes, 72, 86},
    {"max[.ftz][.NaN]{.f16,.f16x2}", "d:$3 s:$3 s:$3", emit_lanes, 70, 80},
    {"max[.ftz][.NaN].xorsign.abs{.f16,.f16x2}", "d:$3 s:$3 s:$3", emit_lanes, 72, 86},
};

}  // namespace

std::span<const Form> float_forms() { return kFloat; }
std::span<const Form> half_forms() { return kHalf; }

}  // namespace bitwell::isa
