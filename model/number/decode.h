// bits -> exact value, for every format.
#pragma once
#include "model/number/exact.h"
#include "model/number/format.h"

namespace bitwell::number {

// The value of `code`. Bits above the format's own (the top bit of a UE4M3 byte) and `ignored_low` bits below
// it are ignored. Never fails: every code of every format is a number, an infinity or a NaN.
Exact decode(const Format& format, uint64_t code);

}  // namespace bitwell::number
