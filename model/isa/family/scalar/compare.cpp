// set and setp, of halves too (PTX ISA 9.0, 9.7.6 and 9.7.7).
#include <utility>

#include "model/isa/family/emit.h"
#include "model/isa/lanes/catalog.h"

namespace bitwell::isa {
namespace {

// How the loops of lanes_compare.cpp are told what joins the comparison.
uint64_t join_bits(const ptx::Instruction& i, bool negated) {
  uint64_t bits = negated ? 4 : 0;
  if (ptx::has(i, ".and")) bits |= 1;
  if (ptx::has(i, ".or")) bits |= 2;
  if (ptx::has(i, ".xor")) bits |= 3;
  return bits;
}

// One comparison: its loop, without operands and destinations. Pairs of halves are compared one after the
// other.
struct Comparison {
  Op op;
  std::string type;  // of what is compared
  bool pairs = false;

  Comparison(Builder& b, std::string_view opcode) {
    const ptx::Instruction& i = b.instruction();
    const bool joined = ptx::has(i, ".and") || ptx::has(i, ".or") || ptx::has(i, ".xor");
    if (b.operand_count() != (joined ? 4u : 3u))
      throw Invalid("'" + std::string(opcode) + "' takes " + (joined ? "4" : "3") + " operands");
    type = i.modifiers.back();
    pairs = type.ends_with("x2");
    const std::string element = pairs ? type.substr(0, type.size() - 2) : type;
    op = lane_op(std::string(opcode) + i.modifiers[0] + (ptx::has(i, ".ftz") ? ".ftz" : "") + element);
    bool negated = false;
    if (joined) op.c = b.predicate(b.operand(3), false, negated).row;
    op.imm = join_bits(i, negated);
  }
};

uint32_t emitted(Builder& b, Op op, int bits) {
  op.d = b.new_row(bits);
  b.emit(op);
  return op.d;
}
uint32_t emitted(Builder& b, const char* name, uint32_t a, uint32_t c, int bits) {
  Op op = lane_op(name);
  op.a = a;
  op.b = c;
  return emitted(b, op, bits);
}

// The lower or upper half of a row of 32 bits.
uint32_t half_of(Builder& b, uint32_t row, bool upper) {
  Op op = lane_op("cvt.u16.u32");
  op.a = upper ? emitted(b, "shr.u32", row, b.constant_row(32, 16), 32) : row;
  return emitted(b, op, 16);
}

// setp{.cmp}[.bool][.ftz].type p[|q], a, b[, [!]c]
void setp(Builder& b, const Match&) {
  const Comparison asked(b, "setp");
  Op op = asked.op;
  bool negated = false;
  const ptx::Operand& first = b.operand(0);
  uint32_t q = 0;
  if (first.kind == ptx::OperandKind::pair) {
    if (asked.type == ".f16" || asked.type == ".bf16")
      throw Invalid("'setp" + asked.type + "' has one destination");
    op.d = b.predicate(first.elements[0], true, negated).row;
    q = b.predicate(first.elements[1], true, negated).row;
  } else {
    op.d = b.predicate(first, true, negated).row;
    q = b.new_predicate();
  }
  op.a = b.source(b.operand(1), b.type(asked.type)).row;
  op.b = b.source(b.operand(2), b.type(asked.type)).row;
  if (!asked.pairs) {
    op.d2 = q;
    b.emit(op);
    return;
  }
  // q is of the upper halves. c may be p.
  Op upper = op;
  for (Op* const half : {&op, &upper}) {
    half->a = half_of(b, half->a, half == &upper);
    half->b = half_of(b, half->b, half == &upper);
    half->d2 = b.new_predicate();
  }
  const uint32_t p = std::exchange(op.d, b.new_predicate());
  upper.d = q;
  b.emit(op);
  b.emit(upper);
  Op move = lane_op("mov.pred");
  move.a = op.d;
  move.d = p;
  b.emit(move);
}

// set{.cmp}[.bool][.ftz].dtype.stype d, a, b[, [!]c]: all ones or 1 where it holds.
void set(Builder& b, const Match&) {
  const ptx::Instruction& i = b.instruction();
  const Comparison asked(b, "set");
  const std::string result = i.modifiers[i.modifiers.size() - 2];
  const Type& to = b.type(result);
  Op op = asked.op;
  op.d = b.destination(b.operand(0), to).row;
  op.a = b.source(b.operand(1), b.type(asked.type)).row;
  op.b = b.source(b.operand(2), b.type(asked.type)).row;
  if (result == ".f32") op.imm |= 8;
  if (!asked.pairs && to.bits == 32) {
    b.emit(op);
    return;
  }
  const uint64_t yes = result.starts_with(".f16") ? 0x3C00 : result.starts_with(".bf16") ? 0x3F80 : 0xFFFF;
  const uint32_t d = op.d;
  Op last = lane_op(asked.pairs ? "or.b32" : "and.b16");
  last.d = d;
  if (!asked.pairs) {
    last.a = half_of(b, emitted(b, op, 32), false);
    last.b = b.constant_row(16, yes);
  } else {
    Op upper = op;
    for (Op* const half : {&op, &upper}) {
      half->a = half_of(b, half->a, half == &upper);
      half->b = half_of(b, half->b, half == &upper);
    }
    last.a = emitted(b, "and.b32", emitted(b, op, 32), b.constant_row(32, yes), 32);
    last.b = emitted(b, "and.b32", emitted(b, upper, 32), b.constant_row(32, yes << 16), 32);
  }
  b.emit(last);
}

#define JOIN "[.and,.or,.xor]"
#define ANY_ORDER "{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}" JOIN
#define OF_EQUALITY "{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64}"
#define OF_ORDER "{.u16,.u32,.u64,.s16,.s32,.s64}"
#define OF_UNSIGNED "{.u16,.u32,.u64}"
#define WORDS "{.u32,.s32,.f32}"
constexpr Form kCompare[] = {
    {"setp{.eq,.ne}" JOIN OF_EQUALITY, "*", setp},
    {"setp{.lt,.le,.gt,.ge}" JOIN OF_ORDER, "*", setp},
    {"setp{.lo,.ls,.hi,.hs}" JOIN OF_UNSIGNED, "*", setp},
    {"setp" ANY_ORDER "[.ftz].f32", "*", setp},
    {"setp" ANY_ORDER ".f64", "*", setp},
    {"setp" ANY_ORDER "[.ftz]{.f16,.f16x2}", "*", setp, 42},
    {"setp" ANY_ORDER "{.bf16,.bf16x2}", "*", setp, 78, 90},
    {"set{.eq,.ne}" JOIN WORDS OF_EQUALITY, "*", set},
    {"set{.lt,.le,.gt,.ge}" JOIN WORDS OF_ORDER, "*", set},
    {"set{.lo,.ls,.hi,.hs}" JOIN WORDS OF_UNSIGNED, "*", set},
    {"set" ANY_ORDER "[.ftz]" WORDS ".f32", "*", set},
    {"set" ANY_ORDER WORDS ".f64", "*", set},
    {"set{.eq,.ne}" JOIN ".f16" OF_EQUALITY, "*", set, 42},
    {"set{.lt,.le,.gt,.ge}" JOIN ".f16" OF_ORDER, "*", set, 42},
    {"set{.lo,.ls,.hi,.hs}" JOIN ".f16" OF_UNSIGNED, "*", set, 42},
    {"set" ANY_ORDER "[.ftz].f16{.f16,.f32}", "*", set, 42},
    {"set" ANY_ORDER ".f16.f64", "*", set, 42},
    {"set" ANY_ORDER "[.ftz].f16x2.f16x2", "*", set, 42},
    {"set" ANY_ORDER "[.ftz]{.u16,.s16,.u32,.s32}.f16", "*", set, 65},
    {"set" ANY_ORDER "[.ftz]{.u32,.s32}.f16x2", "*", set, 65},
    {"set{.eq,.ne}" JOIN ".bf16" OF_EQUALITY, "*", set, 78, 90},
    {"set{.lt,.le,.gt,.ge}" JOIN ".bf16" OF_ORDER, "*", set, 78, 90},
    {"set{.lo,.ls,.hi,.hs}" JOIN ".bf16" OF_UNSIGNED, "*", set, 78, 90},
    {"set" ANY_ORDER ".bf16{.bf16,.f16,.f32,.f64}", "*", set, 78, 90},
    {"set" ANY_ORDER "{.u16,.s16,.u32,.s32}.bf16", "*", set, 78, 90},
    {"set" ANY_ORDER "{.bf16x2,.u32,.s32}.bf16x2", "*", set, 78, 90},
};

}  // namespace

std::span<const Form> compare_forms() { return kCompare; }

}  // namespace bitwell::isa
