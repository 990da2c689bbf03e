// Bits of a lane loop's operands that were never written, followed into its result
// (model/run/watch/definedness.h).
#pragma once
#include <string>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// Tracks::by_halves, of two elements in `bytes` bytes.
void track_halves(Op& op, uint16_t bytes);

// How the lane loop of that name treats such bits: Op::tracks, source_bytes, result_bytes.
void track_bits(Op& op, const std::string& name);

}  // namespace bitwell::isa
