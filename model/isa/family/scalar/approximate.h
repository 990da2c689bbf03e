// Instructions that have an error bound in the manual instead of bits: rcp.approx, ex2.approx, div.full, ...
#pragma once
#include <optional>
#include <string>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// The op with an H200's bits for `opcode`.approx[.ftz].f32 or div.full (`full`), or nothing for an opcode
// that the special-function unit does not have. How instructions use the unit is read off ptxas 13.0's code
// for sm_90; the H200 gives the same on the operands of the instruction probes, and on more
// (docs/evidence.md).
std::optional<Op> captured_op(const std::string& opcode, bool full, bool ftz);

// The op that takes the fp32 value nearest to the true one, or nothing for an opcode that has none. rcp, div
// and sqrt are correctly rounded; the others are the host's double functions rounded to fp32, which is the
// nearest value but in cases too close to call. No evidence says that a device gives the same bits.
std::optional<Op> nearest_op(const std::string& opcode, bool ftz);

// ex2.approx and tanh.approx of `type`, .f16, .bf16 or two of them packed, or nothing for other opcodes: the
// H200's bits, which are those of fp32 with what the format does not hold cut off (over all inputs), or the
// value nearest to the true one. Subnormal operands and results of fp16 are kept.
std::optional<Op> half_op(const std::string& opcode, const std::string& type, bool nearest);

}  // namespace bitwell::isa
