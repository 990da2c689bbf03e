// A box of a tensor as pieces of contiguous bytes.
#pragma once
#include <array>
#include <vector>

#include "model/isa/family/copy/bulk_copy.h"

namespace bitwell::isa {

// The segments between the box at `coordinates` (innermost first) and shared memory at `shared`. Elements
// beyond the tensor are filled on the way in and left out on the way out. Throws Fault where the tensor map
// leads out of every buffer.
std::vector<Segment> tensor_segments(run::Cluster& cluster, const machine::TensorMap& map,
                                     const std::array<int64_t, 5>& coordinates, machine::Region& shared,
                                     uint64_t address, bool to_shared);
// The bytes that an out-of-bounds element is made of, 16 of them.
std::array<std::byte, 16> fill_pattern(const machine::TensorMap& map);

// The same for an im2col map: one row of shared memory a pixel. `offsets` move each pixel, W first; on the
// way out there are none, and the map's pixels lie inside the tensor, but for images behind the last one.
std::vector<Segment> im2col_segments(run::Cluster& cluster, const machine::TensorMap& map,
                                     const std::array<int64_t, 5>& start,
                                     const std::array<int64_t, 3>& offsets, machine::Region& shared,
                                     uint64_t address, bool to_shared);

}  // namespace bitwell::isa
