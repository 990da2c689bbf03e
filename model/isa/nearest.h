// Instructions that have an error bound instead of bits, as the fp32 value nearest to the true one.
#pragma once
#include <optional>
#include <string>

#include "model/isa/op.h"

namespace bitwell::isa {

// The op for `opcode`.approx.f32 (div.full too), or nothing for an opcode that has none. rcp, div and sqrt
// are correctly rounded; the others are the host's double functions rounded to fp32, which is the nearest
// value but in cases too close to call. No evidence says that a device gives the same bits.
std::optional<Op> nearest_op(const std::string& opcode, bool ftz);

}  // namespace bitwell::isa
