// Sizes of what PTX declares.
#pragma once
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// Bytes of one variable; no device has as many, and sums of a few stay far from 2^64.
inline constexpr uint64_t kLargestVariable = uint64_t{1} << 42;
uint64_t size_of(const ptx::Variable& v);   // bytes; 0 for [] of unknown size
uint64_t align_of(const ptx::Variable& v);  // as declared, or the type's own

}  // namespace bitwell::isa
