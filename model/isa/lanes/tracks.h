// Bits of a lane loop's operands that were never written, followed into its result
// (model/run/watch/definedness.h).
#pragma once
#include <string>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// Beside those of Tracks: of two elements of a lane each result depends on the operands' elements of its
// place, and a bit that was never written makes its element unknown, not the other.
constexpr Tracks kByHalves = static_cast<Tracks>(static_cast<uint16_t>(Tracks::half_of_b) + 1);
// Two elements in `bytes` bytes.
void track_halves(Op& op, uint16_t bytes);

// How the lane loop of that name treats such bits: Op::tracks, source_bytes, result_bytes.
void track_bits(Op& op, const std::string& name);

}  // namespace bitwell::isa
