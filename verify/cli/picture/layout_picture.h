// Layouts as pictures.
#pragma once
#include <string>
#include <vector>

#include "model/layout/hardware.h"

namespace bitwell::cli {

// A layout of one or two modes as a grid of offsets; several side by side, with the cells outlined whose
// offset differs from the first's.
std::string picture(const std::vector<layout::Composed>& layouts);

// Tensor memory: lanes down, columns across, one box a 32-bit word. Shared and global memory: lines of 128
// bytes down, the 32 banks across.
std::string picture(const layout::Hardware& h);

// The index-th coordinate of h, one integer an axis, the first axis fastest.
layout::Tuple coordinate_of(const layout::Hardware& h, int64_t index);
// "row 5, scale 2" for a coordinate of h.
std::string coordinate_text(const layout::Hardware& h, const layout::Tuple& coordinate);
// "lane 5, column 2, byte 1" or "byte 82".
std::string address_text(const layout::Hardware& h, int64_t offset);

}  // namespace bitwell::cli
