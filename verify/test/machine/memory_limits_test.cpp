// What a memory refuses, and the last that it does not: addresses of the host's, modules, objects one behind
// the other; and states that the host does not keep.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <vector>

#include "model/machine/beside.h"
#include "model/machine/failure.h"
#include "model/machine/limits.h"
#include "model/machine/memory/pages.h"
#include "model/machine/memory/snapshot.h"
#include "model/machine/where.h"

namespace bitwell::machine {
namespace {

template <class Do>
std::string refused(Do what) {
  try {
    what();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// Nothing of it is touched: the region counts as written.
std::string adoption(Memory& memory, uint64_t address, uint64_t size) {
  return refused([&] { memory.adopt("host", reinterpret_cast<std::byte*>(address), size); });
}

TEST(MemoryLimits, TheHostsAddressesAreAroundTheSimulatorsOwn) {
  for (const auto& [address, size, taken] : std::initializer_list<std::tuple<uint64_t, uint64_t, bool>>{
           {kLowestHost, 16, true},
           {kLowestHost - 1, 16, false},
           {kSharedWindow - 16, 16, true},
           {kSharedWindow - 15, 16, false},
           {kBuffers - 16, 16, false},
           {kBuffers, 16, true},
           {~uint64_t{0} - 16, 16, true},
           {~uint64_t{0} - 14, 16, false},
           {~uint64_t{0} - 1, kSharedWindow, false}}) {
    Memory memory;
    EXPECT_EQ(adoption(memory, address, size).empty(), taken) << address << " " << size;
  }
}

// Of what was freed those are forgotten that the new one has bytes of.
TEST(MemoryLimits, WhatIsAdoptedBesideFreedBytesLeavesTheirNames) {
  for (const auto& [from, size, forgotten] : std::initializer_list<std::tuple<uint64_t, uint64_t, bool>>{
           {0, 16, false}, {0, 17, true}, {32, 16, false}, {31, 16, true}, {20, 4, true}, {8, 48, true}}) {
    Memory memory;
    const uint64_t at = kBuffers << 1;
    ASSERT_EQ(adoption(memory, at + 16, 16), "");
    memory.free(at + 16);
    ASSERT_EQ(adoption(memory, at + from, size), "");
    EXPECT_EQ(memory.describe(at + 20).find("which was freed") == std::string::npos, forgotten)
        << from << " " << size;
  }
}

TEST(MemoryLimits, BuffersKeepOffWhatTheHostHasThere) {
  for (const auto& [before, taken] : {std::pair{uint64_t{0}, false}, {8, false}, {15, false}, {16, true}}) {
    Memory memory;
    ASSERT_EQ(adoption(memory, kBuffers + before, 16), "");
    const std::string said = refused([&] { memory.allocate("buffer", 16); });
    EXPECT_EQ(said.empty(), taken) << before << said;
    if (!taken) {
      EXPECT_NE(said.find("no room for 'buffer': the host's 'host' is there"), std::string::npos);
    }
  }
}

TEST(MemoryLimits, ABufferIsFreedWhereItStarts) {
  Memory memory;
  const uint64_t first = memory.allocate("first", 64).base(), second = memory.allocate("second", 64).base();
  for (const uint64_t inside : {first + 1, first + 63, second - 1, second + 1})
    EXPECT_NE(refused([&] { memory.free(inside); }).find("where none starts"), std::string::npos);
  EXPECT_NE(memory.find(first, 64), nullptr);
  EXPECT_NE(memory.find(second, 64), nullptr);
  EXPECT_THROW(memory.remove(first + 1), ModelBug);
  EXPECT_THROW(memory.retire(first + 1, "nowhere"), ModelBug);
}

// Variables are the module's, at whatever address, and what the host has below them is not.
TEST(MemoryLimits, VariablesAreNotFreed) {
  Memory memory;
  for (const uint64_t at : {kModuleGlobals, kBuffers - 64}) {
    memory.place("variable", at, 64);
    EXPECT_NE(refused([&] { memory.free(at); }).find("where none starts"), std::string::npos);
    EXPECT_NE(memory.find(at, 64), nullptr);
  }
  ASSERT_EQ(adoption(memory, kLowestHost, 16), "");
  memory.free(kLowestHost);
  EXPECT_EQ(memory.find(kLowestHost, 1), nullptr);
}

// A buffer may come to stand where the host had freed bytes: of two that were freed at one address the last
// is told of.
TEST(MemoryLimits, OfTwoFreedAtOneAddressTheLastIsNamed) {
  Memory memory;
  ASSERT_EQ(adoption(memory, kBuffers, 16), "");
  memory.free(kBuffers);
  ASSERT_EQ(memory.allocate("buffer", 32).base(), kBuffers);
  memory.free(kBuffers);
  EXPECT_EQ(memory.describe(kBuffers + 3), "3 bytes into 'buffer, which was freed' of 32 bytes");
}

TEST(MemoryLimits, VariablesStandApart) {
  struct Case {
    uint64_t at, size;
    bool fits;
  };
  for (const Case& c : std::initializer_list<Case>{{48, 16, true},
                                                   {48, 17, false},
                                                   {64, 0, false},
                                                   {64, 8, false},
                                                   {95, 4, false},
                                                   {70, 4, false},
                                                   {96, 4, true},
                                                   {60, 100, false}}) {
    Memory memory;
    memory.place("there", kModuleGlobals + 64, 32);
    if (c.fits)
      EXPECT_EQ(memory.place("new", kModuleGlobals + c.at, c.size).base(), kModuleGlobals + c.at);
    else
      EXPECT_THROW(memory.place("new", kModuleGlobals + c.at, c.size), ModelBug) << c.at << " " << c.size;
  }
}

TEST(MemoryLimits, ModulesHaveConstantsAsLongAsTheirWindowHasRoom) {
  Memory memory;
  for (uint64_t i = 0; i < kWindowSize / kMaxConstant; ++i) {
    ASSERT_EQ(memory.next_module().constants, kConstWindow + i * kMaxConstant);
    memory.end_module();
  }
  EXPECT_NE(refused([&] { memory.next_module(); }).find("no room for the constants of more than"),
            std::string::npos);
}

TEST(MemoryLimits, TheHeapGivesAllThatItHas) {
  for (const auto& [size, given] :
       {std::pair{uint64_t{112}, true}, {113, false}, {~uint64_t{0} - 3, false}}) {
    Memory memory;
    memory.heap().limit = 112;
    EXPECT_EQ(memory.heap().allocate(size, Place{}) != 0, given) << size;
  }
}

TEST(MemoryLimits, NeighboursNeedNoOrder) {
  const std::vector<Named> objects{{"c", 3000, 8}, {"a", 1000, 8}, {"d", 4000, 8}, {"b", 2000, 8}};
  EXPECT_EQ(beside(objects, 2500, ""), "500 bytes into 'b' of 8 bytes, 500 bytes before 'c' of 8 bytes");
  EXPECT_EQ(nearest(objects, 1900), "b");
  EXPECT_EQ(nearest(objects, 1100), "a");
}

// A region comes back as what it was alone.
TEST(MemoryLimits, ARegionBecomesNoOther) {
  Region region("x", kBuffers, 64, false);
  Region name("y", kBuffers, 64, false), base("x", kBuffers + 8, 64, false), size("x", kBuffers, 63, false);
  for (Region* other : {&name, &base, &size}) EXPECT_THROW(region.restore(other->save()), ModelBug);
  region.restore(region.save());
}

TEST(MemoryLimits, WhatCameBelowOrInsteadIsGoneWhenASnapshotComesBack) {
  std::array<std::byte, 16> host{};
  const auto at = reinterpret_cast<uintptr_t>(host.data());
  Memory memory;
  const uint64_t kept = memory.allocate("kept", 64).base();
  memory.adopt("x", host.data(), host.size());
  const Snapshot then = memory.snapshot();
  memory.place("variable", kModuleGlobals, 8);
  memory.free(at);
  memory.adopt("y", host.data(), host.size());
  memory.restore(then);
  EXPECT_EQ(memory.find(kModuleGlobals, 8), nullptr);
  EXPECT_NE(memory.find(kept, 64), nullptr);
  ASSERT_NE(memory.find(at, 16), nullptr);
  EXPECT_EQ(memory.find(at, 16)->name(), "x");
  EXPECT_EQ(memory.regions().size(), 2u);
}

TEST(MemoryLimits, BytesThatNoHostHasRoomForAreRefused) {
  EXPECT_NE(refused([] {
              ZeroBytes bytes(uint64_t{1} << 60);
            }).find("has no address space for 1152921504606846976"),
            std::string::npos);
}

constexpr uint64_t kMiB = uint64_t{1} << 20;

// While it stands, files of this process may have that many bytes.
struct FileLimit {
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit now{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before{};
};

TEST(MemoryLimits, AStateThatTheHostCannotKeepIsRefusedAtOnce) {
  ZeroBytes bytes(8 * kMiB);
  const FileLimit limit(kMiB);
  EXPECT_NE(refused([&] { bytes.save(); }).find("cannot keep a second state of 8388608 bytes"),
            std::string::npos);
}

// 4,096 pages are moved at once: the first ones are in the file when the host does not take one of the next,
// and come back.
TEST(MemoryLimits, BytesStayAsTheyWereWhereAFileTakesButSome) {
  const uint64_t size = 24 * kMiB, page = page_size(), bad = size / page - 10;
  ZeroBytes bytes(size);
  for (uint64_t n = 0; n < size / page; ++n)
    bytes.data()[n * page + n % page] = static_cast<std::byte>(n % 255 + 1);
  ASSERT_EQ(mprotect(bytes.data() + bad * page, page, PROT_NONE), 0);
  EXPECT_NE(refused([&] { bytes.save(); }).find("cannot keep a second state"), std::string::npos);
  ASSERT_EQ(mprotect(bytes.data() + bad * page, page, PROT_READ | PROT_WRITE), 0);
  for (uint64_t n = 0; n < size / page; ++n)
    ASSERT_EQ(bytes.data()[n * page + n % page], static_cast<std::byte>(n % 255 + 1)) << n;
  const ZeroBytes again(bytes.save());
  EXPECT_EQ(again.data()[0], std::byte{1});
}

// Where a process has closed its input, files get its number.
TEST(MemoryLimits, AFileMayHaveTheNumberZero) {
  const auto page = page_size();
  const std::string path = testing::TempDir() + "/no-page-" + std::to_string(getpid());
  const int input = dup(0);
  {
    ZeroBytes bytes(4 * kMiB);
    bytes.data()[0] = bytes.data()[page] = std::byte{7};
    const auto end =
        static_cast<off_t>((reinterpret_cast<uintptr_t>(bytes.data()) / page + 4 * kMiB / page) * 8);
    const int map = open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
    ASSERT_EQ(ftruncate(map, end), 0);  // no page was touched, it says
    close(map);
    close(0);
    const ZeroBytes kept(bytes.save(path.c_str()));
    EXPECT_EQ(kept.data()[page], std::byte{0});
    EXPECT_EQ(fcntl(0, F_GETFD) == -1, false);  // the file of the state itself
  }
  EXPECT_EQ(fcntl(0, F_GETFD), -1);
  // Another one of that number, which takes what it is asked and is closed.
  {
    const std::vector<std::byte> zeros(4 * page);
    EXPECT_TRUE(touched_pages(zeros.data(), zeros.size(), true, path.c_str()).empty());
  }
  EXPECT_EQ(fcntl(0, F_GETFD), -1);
  if (input >= 0) dup2(input, 0), close(input);
  unlink(path.c_str());
}

// Where Linux does not say which pages were touched, those of zeros alone are left out.
TEST(MemoryLimits, PagesWithoutAZeroAreKept) {
  ZeroBytes bytes(2 * kMiB);
  std::fill_n(bytes.data() + page_size(), 3 * page_size(), std::byte{7});
  const ZeroBytes kept(bytes.save("/nowhere/pagemap"));
  EXPECT_EQ(kept.data()[0], std::byte{0});
  for (uint64_t i = page_size(); i < 4 * page_size(); i += 511) ASSERT_EQ(kept.data()[i], std::byte{7}) << i;
  EXPECT_EQ(kept.data()[4 * page_size()], std::byte{0});
}

// The host's bytes are looked at whatever Linux says of their pages.
TEST(MemoryLimits, ADifferenceInTheHostsPagesIsFound) {
  const uint64_t size = 2 * kMiB;
  const std::string path = testing::TempDir() + "/none-touched-" + std::to_string(getpid());
  auto* const host = static_cast<std::byte*>(std::aligned_alloc(page_size(), size));
  std::fill_n(host, size, std::byte{0});
  host[size - 3] = std::byte{1};
  Region adopted("x", std::span(host, size), true), own("x", kBuffers, size, true);
  const int map = open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
  ASSERT_EQ(ftruncate(map, off_t{1} << 38), 0);
  close(map);
  EXPECT_EQ(first_difference(adopted, own, path.c_str()), std::optional(size - 3));
  EXPECT_EQ(first_difference(own, adopted, path.c_str()), std::optional(size - 3));
  unlink(path.c_str());
  std::free(host);
}

}  // namespace
}  // namespace bitwell::machine
