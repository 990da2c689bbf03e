// cvt (PTX ISA 9.0, 9.7.9.21).
#include <algorithm>

#include "model/isa/family/emit.h"
#include "model/isa/lanes/soft.h"
#include "model/machine/failure.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/run/context.h"

namespace bitwell::isa {
namespace {

void refuse_wide(int bits) {
  if (bits > 64) throw machine::Unsupported("cvt of a register of " + std::to_string(bits) + " bits");
}

// A register's value cut down to `bits`, when an operand is wider than the instruction's type.
uint32_t narrowed(Builder& b, const Value& v, int bits) {
  const int have = v.type == nullptr ? bits : std::max(v.type->bits, 16);
  if (have <= std::max(bits, 16)) return v.row;
  refuse_wide(have);
  Op op = lane_op("cvt.u" + std::to_string(std::max(bits, 16)) + ".u" + std::to_string(have));
  op.a = v.row;
  op.d = b.new_row(std::max(bits, 16));
  b.emit(op);
  return op.d;
}

// Emits `op` with a destination of `type`; a wider register gets the result extended by the type's sign.
void into(Builder& b, Op op, const ptx::Operand& destination, const Type& type, bool widen = true) {
  const Value d = b.destination(destination, type, widen);
  const int have = d.type == nullptr ? std::max(type.bits, 16) : std::max(d.type->bits, 16);
  if (have == std::max(type.bits, 16)) {
    op.d = d.row;
    b.emit(op);
    return;
  }
  refuse_wide(have);
  op.d = b.new_row(std::max(type.bits, 16));
  b.emit(op);
  const char kind = type.kind == 's' ? 's' : 'u';
  Op extend =
      lane_op(std::string("cvt.") + kind + std::to_string(have) + "." + kind + std::to_string(type.bits));
  extend.a = op.d;
  extend.d = d.row;
  b.emit(extend);
}

bool is_float(const Type& t) { return t.kind == 'f' || t.name == ".bf16" || t.name == ".tf32"; }

Number number_of(const Type& t) {
  if (is_float(t)) return {number::find_format(t.name.substr(1)), t.bits, true};
  return {nullptr, t.bits, t.kind == 's'};
}

// cvt[.irnd|.frnd][.ftz][.sat].dtype.atype: which combinations are legal, then the lane loop or model/number.
void cvt(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const Type& to = b.type(m.choice[m.choice.size() - 2]);
  const Type& from = b.type(m.choice[m.choice.size() - 1]);
  const std::string& rounding = m.choice[0];
  const bool integral = rounding.size() == 4 && rounding.back() == 'i';
  const bool floating = !rounding.empty() && !integral;
  const bool to_float = is_float(to);
  const bool from_float = is_float(from);
  const int to_precision = to.bits;
  const auto refuse = [&](const std::string& why) { throw Invalid("'" + m.name + "': " + why); };
  if (b.operand_count() != 2) refuse("takes 2 operands");
  const bool narrows = to_float && (!from_float || to_precision < from.bits ||
                                    (to_precision == from.bits && to.name != from.name));
  // Between the two halves ptxas takes none, which is to nearest.
  const bool between_halves = to_float && from_float && to.bits == 16 && from.bits == 16;
  if (narrows && !floating && !between_halves) refuse("needs .rn, .rz, .rm or .rp");
  if (floating && !narrows) refuse("has no place for '" + rounding + "'");
  if (integral && !from_float) refuse("has no place for '" + rounding + "'");
  if (integral && to_float && to.name != from.name) refuse("has no place for '" + rounding + "'");
  if (from_float && !to_float && !integral) refuse("needs .rni, .rzi, .rmi or .rpi");
  if (ptx::has(i, ".ftz") && to.name != ".f32" && from.name != ".f32") refuse(".ftz needs .f32");
  if (ptx::has(i, ".ftz") && !(to_float && from_float) && from.name != ".f32")
    refuse(".ftz needs .f32 as source");
  if (ptx::has(i, ".sat") && (to.name == ".bf16" || from.name == ".bf16")) refuse(".sat is not for .bf16");
  if ((to.name == ".bf16" || from.name == ".bf16") &&
      !(from.name == ".f32" || to.name == ".f32" ? b.sm() >= 80 : b.sm() >= 90))
    refuse("needs a later target");
  if (to.name == ".bf16" && from.name == ".f32" && (rounding == ".rm" || rounding == ".rp"))
    refuse("takes .rn or .rz");
  if (from.name == ".bf16" && to.name == ".bf16" && !integral) refuse("needs .rni, .rzi, .rmi or .rpi");

  if ((to.name == ".bf16" && from.bits == 8) || (from.name == ".bf16" && to.bits == 8))
    refuse(".bf16 does not go with 8-bit integers");
  if (ptx::has(i, ".sat") && !to_float && !from_float) {
    const bool holds_all =
        to.kind == from.kind ? to.bits >= from.bits : from.kind == 'u' && to.bits > from.bits;
    if (holds_all) refuse(".sat has nothing to saturate");
  }

  b.uses().carry(Carry::any);
  const bool wider = to.name != ".bf16" && from.name != ".bf16";  // registers than the types are may be
  const Value a = b.source(b.operand(1), from, wider);
  Op op;
  std::string name = m.name;
  const bool plain_integer = !to_float && !from_float;
  if (plain_integer)
    name = std::string("cvt") + (ptx::has(i, ".sat") ? ".sat" : "") + std::string(to.name) +
           std::string(from.name);
  if (to.name == from.name && to_float && to.bits >= 32 && i.modifiers.size() == 2)  // the bits as they are
    name = "mov.b" + std::to_string(std::max(to.bits, 16));
  if (lanes_catalog().contains(name)) {
    op = lane_op(name);
  } else {
    Conversion c;
    c.from = number_of(from);
    c.to = number_of(to);
    c.mode = mode_of(i);
    c.to_integral = integral;
    op = soft_conversion(c);
  }
  op.a = narrowed(b, a, from.bits);
  into(b, op, b.operand(0), to, wider);
}

// Packed conversions: .x2 on either side.
const number::Format& element_format(const std::string& type) {
  std::string_view name = std::string_view(type).substr(1);
  if (name.ends_with("x2") || name.ends_with("x4")) name.remove_suffix(2);
  const number::Format* f = number::find_format(name);
  if (f == nullptr) throw machine::ModelBug("format of " + type);
  return *f;
}

int element_bits(const number::Format& f) {
  if (f.name == "e2m1") return 4;
  return f.container < 8 ? 8 : f.container;
}

void cvt_packed(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const std::string& to = i.modifiers[i.modifiers.size() - 2];
  const std::string& from = i.modifiers.back();
  const bool two_sources = from == ".f32" && to.ends_with("x2");
  if (b.operand_count() != (two_sources ? 3u : 2u))
    throw Invalid("'" + m.name + "' takes " + (two_sources ? "3" : "2") + " operands");
  Conversion c;
  c.from = {&element_format(from), element_bits(element_format(from)), true};
  c.to = {&element_format(to), element_bits(element_format(to)), true};
  c.mode = mode_of(i);
  c.saturate = ptx::has(i, ".satfinite");
  c.count = to.ends_with("x2") ? 2 : 1;
  c.two_sources = two_sources;
  const auto register_type = [&](const number::Format& f, int count) -> const Type& {
    const int bits = element_bits(f) * count;
    return b.type(f.name == "f32"    ? ".f32"
                  : f.name == "f16"  ? (count == 1 ? ".f16" : ".f16x2")
                  : f.name == "bf16" ? (count == 1 ? ".bf16" : ".bf16x2")
                  : f.name == "tf32" ? ".tf32"
                                     : ".b" + std::to_string(bits));
  };
  const auto fast = lanes_catalog().find(m.name);
  b.uses().carry(Carry::any);
  Op op;
  if (fast != lanes_catalog().end())
    op.lanes = fast->second;
  else
    op = soft_conversion(c);
  // Formats that PTX has no type of take untyped registers only.
  const auto row_of = [](const Value& v, const Type& want) {
    if (untyped(want) && v.type != nullptr && v.type->kind != 'b')
      throw Invalid("a register that is " + std::string(v.type->name) + " where " + std::string(want.name) +
                    " is needed");
    return v.row;
  };
  const Type& source = register_type(*c.from.format, two_sources ? 1 : c.count);
  const Type& destination = register_type(*c.to.format, c.count);
  op.a = row_of(b.source(b.operand(1), source, false, two_sources || c.count == 1), source);
  if (two_sources) op.b = b.source(b.operand(2), register_type(*c.from.format, 1)).row;
  op.d = row_of(b.destination(b.operand(0), destination), destination);
  b.emit(op);
}

// cvt.rs: fp32 to two or four narrow values, rounded by bits of the last operand.
struct ChanceUse : Payload {
  const number::Format* format = nullptr;
  int width = 0;  // of an element in the destination
  bool saturate = false, relu = false;
};

// What the element at place n, from the top, is rounded by: a number and its bits. A B200 takes the first of
// each two elements from the top of four the other way round, bit by bit.
std::pair<uint64_t, int> chance_of(const ChanceUse& use, size_t count, size_t n, uint32_t random) {
  if (count == 2) {
    const int bits = use.format == &number::f16 ? 13 : 16;
    return {(n == 0 ? random >> 16 : random) & ((1u << bits) - 1), bits};
  }
  uint32_t half = n < 2 ? random >> 16 : random & 0xFFFF;
  if (use.width == 4) {  // the upper bytes of both halves, and the lower ones
    const uint32_t bytes = n < 2 ? random >> 8 : random;
    half = (bytes >> 16 & 0xFF) << 8 | (bytes & 0xFF);
  }
  if (n % 2 == 1) return {half, 16};
  uint32_t reversed = 0;
  for (int i = 0; i < 16; ++i) reversed |= (half >> i & 1) << (15 - i);
  return {reversed, 16};
}

Next convert_by_chance(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<ChanceUse>();
  for (const uint32_t row : *op.sources) context.require_defined(row, mask, "an operand of cvt.rs");
  context.require_defined(op.b, mask, "an operand of cvt.rs");
  const number::Format& f = *use.format;
  const size_t count = op.sources->size();
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    uint32_t packed = 0;
    for (size_t n = 0; n < count; ++n) {
      const number::Exact v = number::decode(number::f32, context.row<uint32_t>((*op.sources)[n])[lane]);
      uint64_t code = f.has_nan() ? f.canonical_nan() : f.max_code();
      if (!v.is_nan()) {
        const auto [random, bits] = chance_of(use, count, n, context.row<uint32_t>(op.b)[lane]);
        const number::Exact r = number::round_by_chance(
            f, v, random, bits, use.saturate ? number::Overflow::saturate : number::Overflow::ieee);
        if (r.is_infinity() && !v.is_infinity())
          throw machine::Unsupported(
              "cvt.rs without .satfinite of a number beyond the destination's: the "
              "manual does not say whether it becomes infinity");
        code = use.relu && v.negative ? 0 : number::encode(f, r);
      }
      packed = packed << use.width | static_cast<uint32_t>(code);
    }
    if (use.width * static_cast<int>(count) == 16)
      context.row<uint16_t>(op.d)[lane] = static_cast<uint16_t>(packed);
    else
      context.row<uint32_t>(op.d)[lane] = packed;
  }
  context.set_defined(op.d, mask);
  return Next::advance;
}

// cvt.rs d, a, b, random | d, {a, b, e, f}, random
void cvt_by_chance(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const auto to = std::find_if(i.modifiers.begin(), i.modifiers.end(), [](const std::string& modifier) {
    return modifier.ends_with("x2") || modifier.ends_with("x4");
  });
  const size_t count = to->ends_with("x2") ? 2 : 4;
  Op op = effect_without_memory(b, convert_by_chance);
  auto& use = b.payload<ChanceUse>(op);
  use.format = &element_format(*to);
  use.width = element_bits(*use.format);
  use.saturate = ptx::has(i, ".satfinite");
  use.relu = ptx::has(i, ".relu");
  operands_left(b, m, count == 2 ? 4 : 3);
  std::vector<uint32_t>* list = b.new_list();
  if (count == 2) {
    for (const size_t n : {1u, 2u}) list->push_back(b.source(b.operand(n), b.type(".f32")).row);
  } else {
    const ptx::Operand& four = b.operand(1);
    if (four.kind != ptx::OperandKind::vector || four.elements.size() != 4)
      throw Invalid("'" + m.name + "' needs a vector of 4 registers");
    for (const ptx::Operand& e : four.elements) list->push_back(b.source(e, b.type(".f32")).row);
  }
  op.sources = list;
  const Type& word = b.type(".b32");
  const auto bits_only = [&](const Value& v) {
    if (v.type == nullptr) throw Invalid("a special register where a register of the kernel's own is needed");
    if (v.type->kind != 'b' && v.type->kind != 'x')
      throw Invalid("a register that is " + std::string(v.type->name) + " where untyped bits are needed");
    return v.row;
  };
  op.b = bits_only(b.source(b.operand(count == 2 ? 3 : 2), word, false, false));
  const bool narrow = use.width * static_cast<int>(count) == 16;
  op.d = bits_only(b.destination(b.operand(0), narrow ? b.type(".b16") : word));
  b.emit(op);
}

#define ALL_CVT_TYPES ".u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64,.bf16,.f16,.f32,.f64"
constexpr Form kConvert[] = {
    {"cvt[.rni,.rzi,.rmi,.rpi,.rn,.rz,.rm,.rp][.ftz][.sat]{" ALL_CVT_TYPES "}{" ALL_CVT_TYPES "}", "*", cvt},
    {"cvt{.rn,.rz}.relu{.f16,.bf16,.f16x2,.bf16x2}.f32", "*", cvt_packed, 70, 80},
    {"cvt{.rn,.rz}[.relu].satfinite{.f16,.bf16,.f16x2,.bf16x2}.f32", "*", cvt_packed, 81, 80},
    {"cvt{.rn,.rz}{.f16x2,.bf16x2}.f32", "*", cvt_packed, 70, 80},
    {"cvt.rna.tf32.f32", "*", cvt_packed, 70, 80},
    {"cvt.rna.satfinite.tf32.f32", "*", cvt_packed, 81, 89},
    {"cvt{.rn,.rz}[.relu].tf32.f32", "*", cvt_packed, 78, 90},
    {"cvt.rn.satfinite[.relu]{.e4m3x2,.e5m2x2}{.f32,.f16x2}", "*", cvt_packed, 81, 89},
    {"cvt.rn[.relu].f16x2{.e4m3x2,.e5m2x2}", "*", cvt_packed, 81, 89},
    {"cvt.rn.satfinite[.relu]{.e2m1x2,.e2m3x2,.e3m2x2}.f32", "*", cvt_packed, 86, 100, "af"},
    {"cvt.rn[.relu].f16x2{.e2m1x2,.e2m3x2,.e3m2x2}", "*", cvt_packed, 86, 100, "af"},
    {"cvt{.rz,.rp}[.satfinite].ue8m0x2{.f32,.bf16x2}", "*", cvt_packed, 86, 100, "af"},
    {"cvt.rn.bf16x2.ue8m0x2", "*", cvt_packed, 86, 100, "af"},
    {"cvt.rs[.relu][.satfinite]{.f16x2,.bf16x2}.f32", "*", cvt_by_chance, 87, &Features::cvt_rs},
    {"cvt.rs[.relu]{.satfinite}{.e4m3x4,.e5m2x4,.e2m3x4,.e3m2x4,.e2m1x4}.f32", "*", cvt_by_chance, 87,
     &Features::cvt_rs},
};
#undef ALL_CVT_TYPES

}  // namespace

std::span<const Form> convert_forms() { return kConvert; }

}  // namespace bitwell::isa
