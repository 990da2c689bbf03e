// Where regions of memory stand.
#include <gtest/gtest.h>

#include "model/machine/memory.h"

namespace bitwell::machine {
namespace {

// A launch file puts a buffer at an address of its own, and a cooperative grid's workspace is allocated when
// the launch begins: both are found, whichever has the lower address.
TEST(Regions, WhatIsAllocatedBehindAPlacedBufferIsFound) {
  for (const uint64_t gap : {uint64_t{0}, uint64_t{256}, uint64_t{1} << 32}) {
    Memory memory;
    Region& placed = memory.place("placed", kBuffers + gap, 4096);
    Region& later = memory.allocate("later", 8);
    EXPECT_EQ(memory.find(placed.base(), 4096), &placed);
    EXPECT_EQ(memory.find(later.base() + 4, 4), &later);
    EXPECT_GE(later.base(), placed.base() + placed.size() + kGuard);
  }
}

// What a module's variables take is no matter of buffers.
TEST(Regions, VariablesOfModulesMoveNoBuffer) {
  Memory memory;
  memory.place("variable", kModuleGlobals, 4096);
  EXPECT_EQ(memory.allocate("first", 8).base(), kBuffers);
}

}  // namespace
}  // namespace bitwell::machine
