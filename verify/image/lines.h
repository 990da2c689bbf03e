// CUDA lines of PTX that machine code keeps.
#pragma once
#include <string>
#include <string_view>

namespace bitwell::image {

// Sections of a cubin that nvcc -lineinfo made. Both tables begin with the addresses of instructions: one has
// the CUDA line that each is of, the other the line of the PTX.
struct LineSections {
  std::string_view cuda, cuda_relocations, ptx, ptx_relocations, symbols;
};

// Machine code keeps its PTX without .loc and .file, where lines are empty. The text with a .loc in the empty
// line in front of instructions whose CUDA line the tables have; all lines keep their numbers. The text
// itself where the tables cannot be read.
std::string with_cuda_lines(std::string text, const LineSections& sections);

}  // namespace bitwell::image
