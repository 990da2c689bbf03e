// Where regions of memory stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/machine/failure.h"
#include "model/machine/memory/snapshot.h"

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

// The host's bytes, where they stand and at whatever boundary; what lies around them is none of it.
TEST(Regions, AdoptedBytesAreTheHostsOwn) {
  Memory memory;
  memory.allocate("own", 64);
  std::array<std::byte, 40> host{};
  Region& x = memory.adopt("x", host.data() + 3, 10);
  Region& y = memory.adopt("y", host.data() + 20, 7, false);
  const uint64_t at = reinterpret_cast<uintptr_t>(host.data());
  EXPECT_EQ(x.base(), at + 3);
  EXPECT_EQ(memory.find(at + 3, 10), &x);
  EXPECT_EQ(memory.find(at + 3, 11), nullptr);
  EXPECT_EQ(memory.find(at + 2, 1), nullptr);
  EXPECT_EQ(memory.find(at + 20, 7), &y);
  memory.write(at + 4, std::array{std::byte{7}});
  EXPECT_EQ(host[4], std::byte{7});
  host[5] = std::byte{9};
  std::byte read{};
  memory.read(at + 5, {&read, 1});
  EXPECT_EQ(read, std::byte{9});
  EXPECT_EQ(memory.describe(at + 15), "12 bytes into 'x' of 10 bytes, 5 bytes before 'y' of 7 bytes");
  EXPECT_EQ(memory.regions().size(), 3u);
  // What is allocated later stands apart from it.
  EXPECT_EQ(memory.find(memory.allocate("later", 8).base(), 8)->name(), "later");
}

TEST(Regions, AdoptedBytesCountAsWrittenUntilSomebodySaysOtherwise) {
  Memory memory;
  std::array<std::byte, 16> host{};
  const uint64_t at = reinterpret_cast<uintptr_t>(host.data());
  Region& x = memory.adopt("x", host.data(), 8);
  Region& y = memory.adopt("y", host.data() + 8, 8, false);
  EXPECT_TRUE(x.is_defined(0, 8));
  EXPECT_FALSE(y.is_defined(7, 1));
  memory.mark(at + 2, 3, false);
  memory.mark(at + 12, 4, true);
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(x.is_defined(i, 1), i < 2 || i >= 5) << i;
    EXPECT_EQ(y.is_defined(i, 1), i >= 4) << i;
  }
  EXPECT_THROW(memory.mark(at + 6, 4, true), InputError);  // of both
}

TEST(Regions, WhatCannotBeAdoptedIsRefused) {
  Memory memory;
  std::array<std::byte, 40> host{};
  const auto refused = [&](std::byte* from, uint64_t size) -> std::string {
    try {
      memory.adopt("new", from, size);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  memory.adopt("x", host.data() + 10, 10);
  for (const auto& [from, size] : {std::pair{0, 11}, {0, 40}, {10, 10}, {12, 2}, {19, 1}, {19, 20}})
    EXPECT_NE(refused(host.data() + from, static_cast<uint64_t>(size)).find("'x' of 10 bytes"),
              std::string::npos)
        << from << " " << size;
  EXPECT_EQ(refused(host.data(), 10), "");
  EXPECT_EQ(refused(host.data() + 20, 20), "");
  EXPECT_NE(refused(host.data() + 40, 0), "");
  for (const uint64_t own : {kSharedWindow - 8, kLocalWindow, kModuleGlobals, kBuffers - 1, uint64_t{8}})
    EXPECT_NE(refused(reinterpret_cast<std::byte*>(own), 16).find("simulator's own"), std::string::npos)
        << own;
}

TEST(Regions, WhatIsReleasedMayBeAdoptedAgain) {
  Memory memory;
  std::array<std::byte, 32> host{};
  const uint64_t at = reinterpret_cast<uintptr_t>(host.data());
  memory.adopt("x", host.data(), 16);
  memory.free(at);
  EXPECT_EQ(memory.find(at, 1), nullptr);
  EXPECT_EQ(memory.describe(at), "0 bytes into 'x, which was freed' of 16 bytes");
  EXPECT_THROW(memory.free(at), InputError);
  memory.adopt("y", host.data() + 8, 16);  // other bounds, as the host's allocator gives them
  EXPECT_EQ(memory.describe(at + 4).find("x"), std::string::npos) << memory.describe(at + 4);
}

// A state to come back to is a copy: others that begin as it have bytes of their own, at the same addresses.
TEST(Regions, ASnapshotCopiesWhatIsAdopted) {
  for (const uint64_t size : {uint64_t{100}, uint64_t{3} << 20}) {  // on the heap, and in pages
    std::vector<std::byte> host(size, std::byte{1});
    const uint64_t at = reinterpret_cast<uintptr_t>(host.data());
    Memory memory;
    memory.adopt("x", host.data(), size);
    memory.mark(at + 1, 1, false);
    const Snapshot then = memory.snapshot();
    Memory other(then);
    other.write(at + size - 1, std::array{std::byte{5}});
    EXPECT_EQ(std::count(host.begin(), host.end(), std::byte{1}), static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(other.find(at, size)->is_defined(1, 1));
    std::byte first{};
    other.read(at, {&first, 1});
    EXPECT_EQ(first, std::byte{1});
    std::fill(host.begin(), host.end(), std::byte{2});
    memory.restore(then);
    EXPECT_EQ(std::count(host.begin(), host.end(), std::byte{1}), static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(memory.find(at, size)->adopted());
  }
}

}  // namespace
}  // namespace bitwell::machine
