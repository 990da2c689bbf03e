// Which instructions a module has.
#pragma once
#include <set>
#include <string>

#include "model/ptx/syntax.h"

namespace bitwell::isa {

// Opcode and modifiers, as written, of each instruction of the module, or of `entry` and what it calls.
// Throws as ModuleLayout does.
std::set<std::string> instructions(const ptx::Module& module, const std::string& entry = "");

}  // namespace bitwell::isa
