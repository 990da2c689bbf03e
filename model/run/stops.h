// Where observers want to be told that a warp comes.
#pragma once
#include <cstdint>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/event.h"

namespace bitwell::run {

// By function and pc: the first pc from there on at which an instruction of a line that an observer asks for
// starts, or UINT32_MAX. Empty where none asks for any.
std::vector<std::vector<uint32_t>> stops(const isa::Program& program,
                                         const std::vector<machine::Observer>& observers);

}  // namespace bitwell::run
