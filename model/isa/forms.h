// Build functions that several families share.
#pragma once
#include "model/isa/builder.h"
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
// An address operand into op.a, op.imm and op.flags.
void set_address(Builder& b, Op& op, const ptx::Operand& operand, Space space);

// Reads .rn .rz .rm .rp .rna .ftz .sat .relu from an instruction's modifiers.
number::Mode mode_of(const ptx::Instruction& i);
bool has(const ptx::Instruction& i, std::string_view modifier);

}  // namespace bitwell::isa
