// Integer and logic forms (PTX ISA 9.0, 9.7.1, 9.7.2, 9.7.8).
#include "model/isa/family/emit.h"

namespace bitwell::isa {
namespace {

// bfe, bfi: constant positions and lengths are 0 to 255.
void bit_field(Builder& b, const Match& m) {
  for (size_t i = b.operand_count() - 2; i < b.operand_count(); ++i)
    if (b.operand(i).kind == ptx::OperandKind::integer && b.operand(i).integer > 255)
      throw Invalid("a bit position beyond 255");
  emit_lanes(b, m);
}

void lop3(Builder& b, const Match&) {
  Op op = lane_op("lop3.b32");
  const auto& v = b.values();
  op.d = v[0].row;
  op.a = v[1].row;
  op.b = v[2].row;
  op.c = v[3].row;
  op.imm = b.constant(b.operand(4));
  if (op.imm > 255) throw Invalid("lop3's table must be 0 to 255");
  b.emit(op);
}

// A mask that clears low bits alone, as alignment does: an address is one still.
bool aligns(const ptx::Operand& mask, int bits) {
  if (mask.kind != ptx::OperandKind::integer) return false;
  const uint64_t low = ~mask.integer & (bits == 32 ? UINT32_MAX : UINT64_MAX);
  return (low & (low + 1)) == 0 && low < UINT32_MAX;
}

void bitwise_and(Builder& b, const Match& m) {
  const int bits = b.type(m.choice[0]).bits;
  if (aligns(b.operand(1), bits) || aligns(b.operand(2), bits)) b.uses().carry(Carry::sum);
  emit_lanes(b, m);
}

constexpr Form kInteger[] = {
    {"add{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", carrying<Carry::sum, emit_lanes>},
    {"add{.u16x2,.s16x2}", "d:$1 r:$1 r:$1", carrying<Carry::sum, emit_lanes>, 80, 90},
    {"add.sat.s32", "d:s32 s:s32 s:s32", carrying<Carry::sum, emit_lanes>},
    {"sub{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", carrying<Carry::difference, emit_lanes>},
    {"sub.sat.s32", "d:s32 s:s32 s:s32", carrying<Carry::difference, emit_lanes>},
    {"mul{.lo,.hi}|{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$2 s:$2 s:$2", emit_lanes},
    {"mul.wide|{.u16}", "d:u32 s:$1 s:$1", emit_lanes},
    {"mul.wide|{.s16}", "d:s32 s:$1 s:$1", emit_lanes},
    {"mul.wide|{.u32}", "d:u64 s:$1 s:$1", emit_lanes},
    {"mul.wide|{.s32}", "d:s64 s:$1 s:$1", emit_lanes},
    {"mad{.lo,.hi}|{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$2 s:$2 s:$2 s:$2",
     carrying<Carry::product_sum, emit_lanes>},
    {"mad.hi|.sat.s32", "d:s32 s:s32 s:s32 s:s32", carrying<Carry::product_sum, emit_lanes>},
    {"mad.wide|{.u16}", "d:u32 s:$1 s:$1 s:u32", carrying<Carry::product_sum, emit_lanes>},
    {"mad.wide|{.s16}", "d:s32 s:$1 s:$1 s:s32", carrying<Carry::product_sum, emit_lanes>},
    {"mad.wide|{.u32}", "d:u64 s:$1 s:$1 s:u64", carrying<Carry::product_sum, emit_lanes>},
    {"mad.wide|{.s32}", "d:s64 s:$1 s:$1 s:s64", carrying<Carry::product_sum, emit_lanes>},
    {"mul24{.lo,.hi}|{.u32,.s32}", "d:$2 s:$2 s:$2", emit_lanes},
    {"mad24{.lo,.hi}|{.u32,.s32}", "d:$2 s:$2 s:$2 s:$2", emit_lanes},
    {"mad24.hi|.sat.s32", "d:s32 s:s32 s:s32 s:s32", emit_lanes},
    {"div{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", emit_lanes},
    {"rem{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", emit_lanes},
    {"sad{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1 s:$1", emit_lanes},
    {"abs{.s16,.s32,.s64}", "d:$1 s:$1", emit_lanes},
    {"neg{.s16,.s32,.s64}", "d:$1 s:$1", emit_lanes},
    {"min{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", emit_lanes},
    {"max{.u16,.s16,.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", emit_lanes},
    {"min{.u16x2,.s16x2}", "d:$1 r:$1 r:$1", emit_lanes, 80, 90},
    {"max{.u16x2,.s16x2}", "d:$1 r:$1 r:$1", emit_lanes, 80, 90},
    {"min.relu.s32", "d:s32 s:s32 s:s32", emit_lanes, 80, 90},
    {"max.relu.s32", "d:s32 s:s32 s:s32", emit_lanes, 80, 90},
    {"min.relu.s16x2", "d:s16x2 r:s16x2 r:s16x2", emit_lanes, 80, 90},
    {"max.relu.s16x2", "d:s16x2 r:s16x2 r:s16x2", emit_lanes, 80, 90},
    {"popc{.b32,.b64}", "d:u32 s:$1", emit_lanes},
    {"clz{.b32,.b64}", "d:u32 s:$1", emit_lanes},
    {"brev{.b32,.b64}", "d:$1 s:$1", emit_lanes},
    {"bfind[.shiftamt]{.u32,.s32,.u64,.s64}", "d:u32 s:$2", emit_lanes},
    {"fns.b32", "d:b32 s:b32 s:b32 s:s32", emit_lanes, 60},
    {"bfe{.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:u32 s:u32", bit_field},
    {"bfi{.b32,.b64}", "d:$1 s:$1 s:$1 s:u32 s:u32", bit_field},
    {"bmsk{.clamp,.wrap}.b32", "d:u32 s:u32 s:u32", emit_lanes, 76},
    {"szext{.clamp,.wrap}{.u32,.s32}", "d:$2 s:$2 s:u32", emit_lanes, 76},
    {"dp4a{.u32,.s32}{.u32,.s32}", "d:u32 s:u32 s:u32 s:u32", emit_lanes},
    {"dp2a{.lo,.hi}|{.u32,.s32}{.u32,.s32}", "d:u32 s:u32 s:u32 s:u32", emit_lanes},
    {"add.cc{.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", carrying<Carry::sum, emit_carry>},
    {"addc[.cc]{.u32,.s32,.u64,.s64}", "d:$2 s:$2 s:$2", emit_carry},
    {"sub.cc{.u32,.s32,.u64,.s64}", "d:$1 s:$1 s:$1", carrying<Carry::difference, emit_carry>},
    {"subc[.cc]{.u32,.s32,.u64,.s64}", "d:$2 s:$2 s:$2", emit_carry},
    {"mad{.lo,.hi}|.cc{.u32,.s32,.u64,.s64}", "d:$2 s:$2 s:$2 s:$2",
     carrying<Carry::product_sum, emit_carry>},
    {"madc{.lo,.hi}|[.cc]{.u32,.s32,.u64,.s64}", "d:$3 s:$3 s:$3 s:$3", emit_carry},
};

constexpr Form kLogic[] = {
    {"and{.b16,.b32,.b64}", "d:$1 s:$1 s:$1", bitwise_and},
    {"or{.b16,.b32,.b64}", "d:$1 s:$1 s:$1", carrying<Carry::sum, emit_lanes>},
    {"xor{.b16,.b32,.b64}", "d:$1 s:$1 s:$1", carrying<Carry::sum, emit_lanes>},
    {"not{.b16,.b32,.b64}", "d:$1 s:$1", emit_lanes},
    {"cnot{.b16,.b32,.b64}", "d:$1 s:$1", emit_lanes},
    {"and.pred", "q p p", emit_lanes},
    {"or.pred", "q p p", emit_lanes},
    {"xor.pred", "q p p", emit_lanes},
    {"not.pred", "q p", emit_lanes},
    {"shl{.b16,.b32,.b64}", "d:$1 s:$1 s:u32", emit_lanes},
    {"shr{.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64}", "d:$1 s:$1 s:u32", emit_lanes},
    {"shf{.l,.r}|{.clamp,.wrap}.b32", "d:b32 s:b32 s:b32 s:u32", emit_lanes},
    {"prmt.b32[.f4e,.b4e,.rc8,.ecl,.ecr,.rc16]", "d:b32 s:b32 s:b32 s:b32", emit_lanes},
    {"lop3.b32", "d:b32 s:b32 s:b32 s:b32 i:u32", lop3, 43},
};

}  // namespace

std::span<const Form> integer_forms() { return kInteger; }
std::span<const Form> logic_forms() { return kLogic; }

}  // namespace bitwell::isa
