// What a memory was: whatever starts from the same state again and again (schedules, enumeration, replays)
// takes one, and gives every run the memory back as it was.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/machine/memory/heap.h"
#include "model/machine/memory/memory.h"

namespace bitwell::machine {

// Made by Memory::snapshot; a value that does not change and outlives the memory.
class Snapshot {
 private:
  friend class Memory;
  std::vector<Region::Saved> regions_;
  std::map<uint64_t, Memory::Freed> freed_;
  std::deque<uint64_t> freed_order_;
  std::unordered_map<uint64_t, Texture> textures_;
  std::optional<Heap::Saved> heap_;  // where it was asked for
  uint64_t last_texture_ = 0, next_ = 0, next_global_ = 0, behind_globals_ = 0, modules_ = 0;
};

}  // namespace bitwell::machine
