// What the video instructions of two kinds have in common (PTX ISA 9.0, 9.7.19).
#pragma once
#include <string>

#include "model/isa/family/emit.h"

namespace bitwell::isa {

// The operand without a selector (".b3", ".h10", ".b7654"), which is put into `selector` without its dot; of
// what has none, "".
ptx::Operand without_selector(const ptx::Operand& operand, std::string& selector);

}  // namespace bitwell::isa
