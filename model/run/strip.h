// Rows of a tile in shared memory that are copied at once, with nobody watching: whole lines of 128 bytes,
// whose units of 16 bytes a swizzle exchanges. To be used by bulk copies; what is watched, or is no such row,
// goes through port.h piece by piece, and leaves the same bits.
#pragma once
#include <cstdint>

#include "model/isa/lanes/line_moves.h"
#include "model/machine/memory/memory.h"

namespace bitwell::run {

class Cluster;

struct Strip {
  uint64_t global = 0, stride = 0;  // of the first row, and how far apart they are
  uint64_t shared = 0;              // there they follow each other
  uint32_t bytes = 0;               // of a row: whole lines
  uint32_t rows = 0;
  isa::LineKeys keys{};  // by a line's place in shared memory
};

// From a buffer to shared memory, `offset` bytes behind its start; what was written comes with it.
void load_strip(const Cluster& cluster, const Strip& strip, const machine::Region& from, machine::Region& to,
                uint64_t offset);
// From shared memory to `to`, row behind row; returns how many rows were all written before one that was not.
uint32_t take_strip(const Strip& strip, const machine::Region& from, std::byte* to);
// What take_strip gave, to a buffer.
void put_strip(const Cluster& cluster, const Strip& strip, const std::byte* from, machine::Region& to);

}  // namespace bitwell::run
