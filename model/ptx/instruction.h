// instruction = ["@" ["!"] predicate] opcode modifier* operands ";"
#pragma once
#include "model/ptx/reader.h"
#include "model/ptx/syntax.h"

namespace bitwell::ptx {

Instruction parse_instruction(Reader& reader);

}  // namespace bitwell::ptx
