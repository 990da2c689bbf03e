// Where a program's variables stand, for what follows addresses to them.
#pragma once
#include <vector>

#include "model/hazard/flow/objects.h"
#include "model/isa/form/program.h"

namespace bitwell::findings {

// Those of shared, constant and global memory, and the local ones of the functions that the entry calls.
// Where functions call by address or call themselves, frames have no known places: then the entry's alone.
std::vector<hazard::Object> places_of(const isa::Program& program);

}  // namespace bitwell::findings
