// What a memory was: whatever starts from the same state again and again (schedules, enumeration, replays)
// takes one, and gives every run the memory back as it was.
#pragma once
#include <optional>
#include <vector>

#include "model/machine/heap.h"
#include "model/machine/memory.h"

namespace bitwell::machine {

// Made by Memory::snapshot; a value that does not change and outlives the memory.
class Snapshot {
 private:
  friend class Memory;
  std::vector<Region::Saved> regions_;
  std::vector<Memory::Freed> freed_;
  std::vector<Texture> textures_;
  std::optional<Heap::Saved> heap_;  // where it was asked for
  uint64_t next_ = 0, next_global_ = 0, modules_ = 0;
};

}  // namespace bitwell::machine
