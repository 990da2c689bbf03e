// Where observers want to be told that a warp comes.
#pragma once
#include <cstdint>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/event.h"

namespace bitwell::run {

// By function: the pcs at which an instruction of a line that an observer asks for starts, ascending. Empty
// where none asks for any.
std::vector<std::vector<uint32_t>> stops(const isa::Program& program,
                                         const std::vector<machine::Observer>& observers);

}  // namespace bitwell::run
