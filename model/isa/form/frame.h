// The frame of a function in a thread's local memory: results and parameters, then what its body declares.
#pragma once
#include <cstdint>

namespace bitwell::isa {

// Where the next variable of a frame goes that has come to `end`.
inline uint64_t place_in_frame(uint64_t end, uint64_t align) { return (end + align - 1) / align * align; }
// Where the frame of a function starts that is called by one whose own starts at `base` and has `size` bytes.
inline uint32_t frame_behind(uint32_t base, uint32_t size) { return (base + size + 15) & ~15u; }

}  // namespace bitwell::isa
