// The heap of device code: what malloc takes, and free gives back.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::machine {

class Memory;
class Region;

// Each object is a region of global memory of its own, at an address that nothing else ever gets, on a
// boundary of 16 bytes and no more (CUDA programming guide 13.0, "Dynamic Global Memory Allocation and
// Operations"). How much of the heap a device spends on its own bookkeeping is not known: none here.
class Heap {
 public:
  explicit Heap(Memory& memory) : memory_(memory) {}

  // What it gave, and what was given back.
  struct Saved {
    struct Object {
      uint64_t address, size;
      Place by;
      std::string freed_by;  // empty: it is there
    };
    uint64_t limit = 0, used = 0;
    std::vector<Object> objects;
  };
  Saved save() const;
  // To be called when its memory has the regions that it had then.
  void restore(const Saved& saved);

  uint64_t limit = uint64_t{8} << 20;  // bytes in all; CUDA's default

  // `by`: who calls malloc. Returns its address, or 0 where there is no room.
  uint64_t allocate(uint64_t size, const Place& by);
  // `by`: who calls free. Throws Fault where malloc did not give the address, or it was freed before.
  void free(uint64_t address, const Place& by);
  // The object that starts there and is not freed, or nullptr.
  const Region* object(uint64_t address) const;
  // Those that are not freed: how many, their bytes, and who got the first.
  struct Left {
    uint64_t objects = 0, bytes = 0;
    Place first;
  };
  Left left() const;

 private:
  Memory& memory_;
  struct Object {
    const Region* region;  // nullptr, or one that is no more, when it is freed
    uint64_t size;
    Place by;
    std::string freed_by;  // empty: it is there
  };
  std::map<uint64_t, Object> objects_;  // by address
  uint64_t used_ = 0;
};

}  // namespace bitwell::machine
