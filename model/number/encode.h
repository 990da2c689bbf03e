// value of a format -> bits, and the packing of nibbles.
#pragma once
#include <cstddef>
#include <span>

#include "model/number/exact.h"
#include "model/number/format.h"

namespace bitwell::number {

// The code of `value`, which must be a value of `format` (what round() returns). NaN gives the canonical NaN,
// sign dropped. Throws std::logic_error for a value that the format does not have.
uint64_t encode(const Format& format, const Exact& value);

}  // namespace bitwell::number
