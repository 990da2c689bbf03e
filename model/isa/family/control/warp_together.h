// A collective whose members stand at several instructions of the same qualifiers, or in several calls of
// one: they meet all the same (PTX ISA 9.0, 9.7.9.7 and 9.7.13, and an H200).
#pragma once
#include <cstdint>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// Of the rows of such an op: bytes of a lane, or 0 for a predicate. The others hold words, and d2 a
// predicate.
struct CollectiveRows {
  size_t a = 4, d = 4;
};

// What each does for lanes of one member mask that are all here.
using Collective = void (*)(const Op& op, run::Context& context, uint32_t lanes);

// `lanes` have come to `op` with the member mask `members`. If all others of it that live wait elsewhere:
// performs it for all, each with the registers of where it stands, lets the others go on, and returns true.
bool perform_together(const Op& op, run::Context& context, uint32_t lanes, uint32_t members,
                      Collective perform, CollectiveRows rows);

}  // namespace bitwell::isa
