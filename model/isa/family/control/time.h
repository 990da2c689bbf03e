// Logical time: what %clock and %globaltimer read (PTX ISA 9.0, 10.23, 10.24, 10.28).
#pragma once
#include "model/isa/form/builder.h"

namespace bitwell::isa {

// A row of 32 or 64 bits that a new op fills with the time when it is executed; `high`: the upper half of a
// 64-bit time. Nothing here takes time: it counts the instructions that the CTA's warps have executed, and
// the reads of it by the warp itself, so that a warp never reads the same twice. No unit is meant, and
// the times of two CTAs do not compare.
uint32_t emit_time(Builder& b, int bits, bool high);

}  // namespace bitwell::isa
