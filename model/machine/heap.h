// The heap of device code: what malloc takes, and free gives back.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace bitwell::machine {

class Memory;

// Each object is a region of global memory of its own, at an address that nothing else ever gets, on a
// boundary of 16 bytes and no more (CUDA programming guide 13.0, "Dynamic Global Memory Allocation and
// Operations"). How much of the heap a device spends on its own bookkeeping is not known: none here.
class Heap {
 public:
  explicit Heap(Memory& memory) : memory_(memory) {}

  uint64_t limit = uint64_t{8} << 20;  // bytes in all; CUDA's default

  // `by`: what asks for it, "malloc at PTX line 12". Returns its address, or 0 where there is no room.
  uint64_t allocate(uint64_t size, const std::string& by);
  // `by`: "PTX line 20". Throws Fault where malloc did not give the address, or it was freed before.
  void free(uint64_t address, const std::string& by);

 private:
  Memory& memory_;
  struct Object {
    uint64_t size;
    std::string freed_by;  // empty: it is there
  };
  std::map<uint64_t, Object> objects_;  // by address
  uint64_t used_ = 0;
};

}  // namespace bitwell::machine
