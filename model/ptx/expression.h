// Constant expressions and literals (PTX ISA 9.0, 4.5 "Constants").
#pragma once
#include "model/ptx/reader.h"
#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// A constant expression as an integer or floating operand; WARP_SZ is 32.
Operand parse_constant(Reader& reader);

// One integer literal: decimal, 0x, 0b or octal (after 0), U at its end makes it unsigned.
Operand parse_integer(Reader& reader);

// A whole number below 2^32 with nothing computed, as directives, alignments and .reg ranges take it; WARP_SZ
// is 32.
uint32_t parse_count(Reader& reader);

// Whether a constant expression can start at the cursor.
bool starts_constant(const Reader& reader);

}  // namespace bitwell::ptx
