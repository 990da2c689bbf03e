// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64, from which fp64 division, roots and powers start.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// The upper word of the result, of an operand's upper word: an H200's, over all 2^32. Both lower words are
// nothing: the operand's is not looked at, the result's is 0. Subnormal operands and results are zero.
uint32_t reciprocal_upper(uint32_t upper);
uint32_t reciprocal_root_upper(uint32_t upper);

// The op of rcp or rsqrt, or nothing for other opcodes.
std::optional<Op> captured_double_op(const std::string& opcode);

}  // namespace bitwell::isa
