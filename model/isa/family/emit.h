// What the checks of several families share.
#pragma once
#include "model/isa/family/atomic_update.h"
#include "model/isa/family/families.h"
#include "model/isa/form/builder.h"
#include "model/isa/lanes/catalog.h"
#include "model/number/arithmetic.h"

namespace bitwell::isa {

// One lane loop named as the instruction is written; operands in the order of the roles.
void emit_lanes(Builder& b, const Match& m);
// The same with ".rn" left out of the name, and model/number for the roundings that have no lane loop.
void emit_rounded(Builder& b, const Match& m);
// The carry chain.
void emit_carry(Builder& b, const Match& m);

// Puts values()[0] into d and the others into a, b, c, e.
void place_operands(const Builder& b, Op& op);

// The state space that an instruction's modifiers name; generic if none.
Space space_of(const ptx::Instruction& i);
// An address operand into op.a and `use`.
void set_address(Builder& b, Op& op, AddressUse& use, const ptx::Operand& operand, Space space);
// An mbarrier, at the address that was checked last; `operation`: one completes on it.
Touch barrier_touch(Space space, bool operation = false);
// The order that an instruction's modifiers state, or else `usual`.
Order order_of(const ptx::Instruction& i, Order usual = {});
// The operation of an atomic or a reduction that the modifiers name, and what its type makes of memory's
// elements; ModelBug if a form has let through one that has none.
AtomicOperation operation_of(const ptx::Instruction& i);
ElementType element_of(const std::string& type);
// What fences and hints do: nothing that this machine could show.
Next nothing(const Op& op, run::Context& context, uint32_t mask);
// An instruction that only helps the hardware.
void emit_hint(Builder& b, const Match& m);

// An op that has that effect. What memory it touches is for the check to say.
Op effect(Effect e, OpKind kind = OpKind::effect);
// The same of one that touches none.
Op effect_without_memory(Builder& b, Effect e);
// The check of a form whose data may be addresses and become part of its result so.
template <Carry carry, void (*build)(Builder&, const Match&)>
void carrying(Builder& b, const Match& m) {
  b.uses().carry(carry);
  build(b, m);
}
// The operands of forms whose roles are "*" must be that many.
void operands_left(const Builder& b, const Match& m, size_t used);

// Reads .rn .rz .rm .rp .rna .ftz .sat .relu from an instruction's modifiers.
number::Mode mode_of(const ptx::Instruction& i);

// Refuses (Invalid) a constant operand that is not a multiple of `step` from `least` to `most`, as ptxas 13.0
// does. What a register holds is judged when the instruction runs.
void need_range(const ptx::Operand& operand, uint64_t least, uint64_t most, uint64_t step, const char* what);

}  // namespace bitwell::isa
