// The frame of a function in a thread's local memory: results and parameters, then what its body declares.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// Where the next variable of a frame goes that has come to `end`.
inline uint64_t place_in_frame(uint64_t end, uint64_t align) { return (end + align - 1) / align * align; }
// Where the frame of a function starts that is called by one whose own starts at `base` and has `size` bytes.
inline uint32_t frame_behind(uint32_t base, uint32_t size) { return (base + size + 15) & ~15u; }

// The .local variables of a function that was compiled, in the order of their declarations.
std::vector<LocalVariable> locals_of(const ptx::Function& function);

}  // namespace bitwell::isa
