// A memory comes back to what it was, and what that costs.
#include "model/machine/memory/snapshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "model/machine/memory/memory.h"
#include "model/machine/memory/pages.h"

namespace bitwell::machine {
namespace {

// On both sides of the size from which on bytes are mapped, and of a page.
constexpr uint64_t kSizes[] = {
    0, 1, 8, 4095, 4096, 4097, (1 << 20) - 65, (1 << 20) - 64, (1 << 20) - 63, (1 << 20) + 4096, 5 << 20};

std::vector<std::byte> pattern(uint64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(size);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

std::vector<std::byte> bytes_of(const Region& r) { return {r.raw_bytes(), r.raw_bytes() + r.size()}; }
std::vector<uint8_t> defined_of(const Region& r) {
  return r.raw_defined() == nullptr ? std::vector<uint8_t>()
                                    : std::vector<uint8_t>(r.raw_defined(), r.raw_defined() + r.size());
}

void write_at(Region& r, uint64_t offset, std::byte value) {
  r.raw_bytes()[offset] = value;
  r.mark_defined(offset, 1);
}

// Whatever is written, marked or forgotten after a snapshot, in any part of a region of any size, is as it
// was when the snapshot has come back; the bytes stay where they are in the host, and untouched ones are
// zero.
TEST(Snapshot, BytesAndDefinednessComeBack) {
  for (const uint64_t size : kSizes) {
    Memory memory;
    Region& r = memory.allocate("x", size);
    const std::vector<std::byte> first = pattern(size / 2, 1);
    memory.write(r.base(), first);
    const std::byte* const at = r.raw_bytes();
    const std::vector<std::byte> bytes = bytes_of(r);
    const std::vector<uint8_t> defined = defined_of(r);
    const Snapshot snapshot = memory.snapshot();
    EXPECT_EQ(bytes_of(r), bytes) << size;
    for (unsigned round = 0; round < 3; ++round) {
      memory.write(r.base(), pattern(size, 2 + round));
      if (round == 1) r.mark_undefined(0, size / 3);
      if (round == 2) r.mark_all_defined();
      r.read_only = r.scratch = true;
      memory.restore(snapshot);
      ASSERT_EQ(memory.find(r.base(), size), &r);
      EXPECT_EQ(r.raw_bytes(), at);
      EXPECT_EQ(bytes_of(r), bytes) << size;
      EXPECT_EQ(defined_of(r), defined) << size;
      EXPECT_FALSE(r.read_only || r.scratch);
    }
  }
}

// A snapshot of a memory that has come back and gone on is another state; both can come back, in any order,
// and what was written as zero over other bytes is zero.
TEST(Snapshot, OneBehindAnother) {
  for (const uint64_t size : kSizes) {
    if (size == 0) continue;
    Memory memory;
    Region& r = memory.allocate("x", size);
    memory.write(r.base(), pattern(size, 1));
    const Snapshot a = memory.snapshot();
    const std::vector<std::byte> as_a = bytes_of(r);
    write_at(r, 0, std::byte{0});
    write_at(r, size - 1, ~as_a[size - 1]);
    const Snapshot b = memory.snapshot();
    const std::vector<std::byte> as_b = bytes_of(r);
    const Snapshot again = memory.snapshot();
    std::fill_n(r.raw_bytes(), size, std::byte{0});
    for (const int which : {0, 1, 1, 0, 2, 0}) {
      memory.restore(which == 0 ? a : which == 1 ? b : again);
      EXPECT_EQ(bytes_of(r), which == 0 ? as_a : as_b) << size;
      write_at(r, size / 2, std::byte{7});
    }
    memory.restore(a);
    const Snapshot of_a = memory.snapshot();  // nothing was touched in between
    write_at(r, 0, ~as_a[0]);
    memory.restore(of_a);
    EXPECT_EQ(bytes_of(r), as_a) << size;
  }
}

// Where Linux does not say which pages were touched, all are looked at: the same comes back.
TEST(Snapshot, WithoutAPageMap) {
  for (const char* const pagemap : {"/proc/self/pagemap", "/nowhere/pagemap"}) {
    ZeroBytes bytes(8 << 20);
    std::byte* const at = bytes.data();
    at[0] = at[5000] = at[(8 << 20) - 1] = std::byte{1};
    const ZeroBytes::Saved a = bytes.save(pagemap);
    at[0] = std::byte{0};
    at[9000] = std::byte{2};
    const ZeroBytes::Saved b = bytes.save(pagemap);
    at[9000] = at[1 << 20] = std::byte{3};
    const auto holds = [&](uint8_t first, uint8_t second) {
      return at[0] == std::byte{first} && at[5000] == std::byte{1} && at[9000] == std::byte{second} &&
             at[1 << 20] == std::byte{0} && at[(8 << 20) - 1] == std::byte{1};
    };
    bytes.restore(b);
    EXPECT_TRUE(holds(0, 2)) << pagemap;
    bytes.restore(a);
    EXPECT_TRUE(holds(1, 0)) << pagemap;
  }
}

// What Linux may say of a page: that it is there (bit 63) or swapped (62), and of a file (61), which it still
// is as it was mapped. Pages at both ends of what is read at once, and one that is cut short; a map that ends
// too soon says nothing.
TEST(Snapshot, PagesAreKeptAsThePageMapSays) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t pages = 1100;
  const std::string path = testing::TempDir() + "/pagemap-" + std::to_string(getpid());
  const auto is_said = [](uint64_t n) {
    return n < 8 || n == 511 || n == 512 || n == 1023 || n == 1024 || n == pages - 1;
  };
  const auto entry_of = [](uint64_t n) { return (n % 8) << 61 | 5; };
  const auto is_own = [](uint64_t n) { return n % 8 == 2 || n % 8 == 4 || n % 8 == 6; };
  for (const auto& [known, size] : std::vector<std::pair<uint64_t, uint64_t>>{{pages, pages * page - 100},
                                                                              {pages, pages * page},
                                                                              {pages, (pages - 1) * page + 1},
                                                                              {pages - 1, pages * page},
                                                                              {600, pages * page - 100},
                                                                              {511, pages * page},
                                                                              {0, pages * page}}) {
    ZeroBytes bytes(size);
    for (uint64_t n = 0; n < pages; ++n)
      bytes.data()[n * page] = bytes.data()[std::min(size, (n + 1) * page) - 1] = std::byte{9};
    {
      std::ofstream map(path, std::ios::binary | std::ios::trunc);
      for (uint64_t n = 0; n < known; ++n) {
        const uint64_t entry = is_said(n) ? entry_of(n) : 0;
        map.seekp(static_cast<std::streamoff>((reinterpret_cast<uintptr_t>(bytes.data()) / page + n) * 8));
        map.write(reinterpret_cast<const char*>(&entry), 8);
      }
    }
    const ZeroBytes kept(bytes.save(path.c_str()));
    std::filesystem::remove(path);
    for (uint64_t n = 0; n < pages; ++n) {
      // It is read for 512 pages at once.
      const bool read = known >= std::min(pages, (n / 512 + 1) * 512);
      const std::byte expected{static_cast<uint8_t>(!read || (is_said(n) && is_own(n)) ? 9 : 0)};
      EXPECT_EQ(kept.data()[n * page], expected) << n << " of " << known;
      EXPECT_EQ(kept.data()[std::min(size, (n + 1) * page) - 1], expected) << n << " of " << known;
    }
  }
}

// What was freed is there again, what was allocated since is gone, and later allocations get the addresses
// that they got the first time; a message says of freed bytes what it said then.
TEST(Snapshot, RegionsComeAndGo) {
  Memory memory;
  const uint64_t freed_before = memory.allocate("before", 64).base();
  const uint64_t freed_after = memory.allocate("after", 2 << 20).base();
  const uint64_t kept = memory.allocate("kept", 64).base();
  memory.write(freed_after, pattern(2 << 20, 5));
  memory.free(freed_before);
  const std::string said = memory.describe(freed_before) + memory.describe(freed_after + 3);
  const Snapshot snapshot = memory.snapshot();
  uint64_t address = 0;
  for (const uint64_t size : {100, 200, 100}) {
    memory.free(freed_after);
    const uint64_t fresh = memory.allocate("fresh", size).base();
    if (address != 0) {
      EXPECT_EQ(fresh, address);
    }
    address = fresh;
    const Snapshot with_fresh = memory.snapshot();
    memory.restore(snapshot);
    EXPECT_EQ(memory.find(fresh, 1), nullptr);
    ASSERT_NE(memory.find(freed_after, 2 << 20), nullptr);
    EXPECT_EQ(bytes_of(*memory.find(freed_after, 1)), pattern(2 << 20, 5));
    EXPECT_NE(memory.find(kept, 64), nullptr);
    EXPECT_EQ(memory.describe(freed_before) + memory.describe(freed_after + 3), said);
    // Another of that address, by name or size, is no part of a later snapshot.
    memory.free(freed_after);
    memory.allocate("other", 300);
    memory.restore(with_fresh);
    EXPECT_EQ(memory.find(fresh, 1)->name(), "fresh");
    EXPECT_EQ(memory.find(fresh, 1)->size(), size);
    EXPECT_EQ(memory.find(freed_after, 1), nullptr);
    memory.restore(snapshot);
  }
}

// Device code's heap: what was given back since is there, what was given back before stays so.
TEST(Snapshot, TheHeapComesBack) {
  Memory memory;
  const Snapshot none = memory.snapshot();
  Place by;
  by.ptx_line = 3;
  memory.heap().limit = 100;
  const uint64_t a = memory.heap().allocate(10, by), b = memory.heap().allocate(20, by);
  memory.heap().free(a, by);
  const Snapshot snapshot = memory.snapshot();
  memory.heap().free(b, by);
  EXPECT_NE(memory.heap().allocate(90, by), 0U);
  memory.restore(snapshot);
  EXPECT_EQ(memory.heap().object(a), nullptr);
  EXPECT_EQ(memory.heap().object(b), memory.find(b, 20));
  EXPECT_EQ(memory.heap().left().bytes, 20U);
  EXPECT_EQ(memory.heap().limit, 100U);
  EXPECT_EQ(memory.heap().allocate(90, by), 0U);  // of 100 bytes 32 are taken
  EXPECT_THROW(memory.heap().free(a, by), Fault);
  memory.restore(none);
  EXPECT_EQ(memory.heap().limit, uint64_t{8} << 20);
  EXPECT_EQ(memory.heap().left().objects, 0U);
}

TEST(Snapshot, ModulesAndTextures) {
  Memory memory;
  memory.place("variable", memory.next_module().globals, 8);
  memory.end_module();
  const uint64_t handle = memory.add_texture({});
  const ModulePlace next = memory.next_module();
  const Snapshot snapshot = memory.snapshot();
  memory.place("second", next.globals, 8);
  memory.end_module();
  EXPECT_NE(memory.add_texture({}), handle);
  memory.restore(snapshot);
  EXPECT_EQ(memory.next_module().globals, next.globals);
  EXPECT_EQ(memory.next_module().constants, next.constants);
  EXPECT_EQ(memory.texture(handle + 1), nullptr);
  EXPECT_NE(memory.texture(handle), nullptr);
}

// A second memory begins as the first was, and neither sees what the other writes.
TEST(Snapshot, TwoMemoriesOfOneState) {
  for (const uint64_t size : kSizes) {
    if (size == 0) continue;
    auto first = std::make_unique<Memory>();
    const uint64_t base = first->allocate("x", size).base();
    first->write(base, pattern(size, 3));
    const Snapshot snapshot = first->snapshot();
    Memory second(snapshot);
    write_at(*first->find(base, 1), size - 1, std::byte{1});
    write_at(*second.find(base, 1), size - 1, std::byte{2});
    EXPECT_EQ(first->find(base, 1)->raw_bytes()[size - 1], std::byte{1});
    EXPECT_EQ(second.find(base, 1)->raw_bytes()[size - 1], std::byte{2});
    first.reset();
    second.restore(snapshot);
    EXPECT_EQ(bytes_of(*second.find(base, 1)), pattern(size, 3));
  }
}

// The first byte that two memories of one state do not share, on either side, wherever it lies; with and
// without the host's help.
TEST(Snapshot, FirstDifference) {
  for (const char* const pagemap : {kPageMap, "/nowhere/pagemap"})
    for (const uint64_t size : kSizes) {
      if (size == 0) continue;
      Memory first;
      const uint64_t base = first.allocate("x", size).base();
      first.write(base, pattern(size / 2, 3));
      const Snapshot snapshot = first.snapshot();
      for (const uint64_t offset : {uint64_t{0}, size / 3, size / 2, size - 1})
        for (const bool swapped : {false, true}) {
          Memory a(snapshot), b(snapshot);
          Region &x = *a.find(base, 1), &y = *b.find(base, 1);
          EXPECT_EQ(first_difference(x, y, pagemap), std::nullopt) << size;
          x.raw_bytes()[offset] = y.raw_bytes()[offset] = std::byte{7};
          EXPECT_EQ(first_difference(x, y, pagemap), std::nullopt) << size;
          y.raw_bytes()[offset] = std::byte{8};
          y.raw_bytes()[size - 1] = std::byte{8};
          EXPECT_EQ(swapped ? first_difference(y, x, pagemap) : first_difference(x, y, pagemap), offset);
        }
    }
}

uint64_t resident() {
  uint64_t all = 0, here = 0;
  std::ifstream("/proc/self/statm") >> all >> here;
  return here * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Of 2 GiB of which 10 MiB are touched before and 10 MiB each time, 16 rounds take the memory of one.
TEST(Snapshot, CostsWhatIsTouched) {
  Memory memory;
  Region& r = memory.allocate("x", uint64_t{2} << 30);
  constexpr uint64_t kTouched = 10 << 20;
  std::fill_n(r.raw_bytes(), kTouched, std::byte{1});
  const uint64_t before = resident();
  const Snapshot snapshot = memory.snapshot();
  EXPECT_LT(resident(), before - kTouched / 2);  // they are in the snapshot now, and here when they are read
  uint64_t most = 0;
  for (uint64_t round = 0; round < 16; ++round) {
    std::fill_n(r.raw_bytes() + kTouched / 2 + (round << 26), kTouched, std::byte{2});
    most = std::max(most, resident());
    memory.restore(snapshot);
  }
  EXPECT_LT(most, before + 2 * kTouched);
  EXPECT_EQ(r.raw_bytes()[kTouched - 1], std::byte{1});
  EXPECT_EQ(r.raw_bytes()[kTouched], std::byte{0});
}

// What nobody has touched costs nothing when it is read, however scattered the rest is; what comes and goes
// leaves no mappings behind.
TEST(Snapshot, ReadingWhatIsUntouchedCostsNothing) {
  constexpr uint64_t kSize = uint64_t{1} << 29, kStep = uint64_t{1} << 20;
  Memory memory;
  Region& r = memory.allocate("x", kSize);
  for (uint64_t at = 0; at < kSize / 2; at += kStep) r.raw_bytes()[at] = std::byte{1};
  const Snapshot snapshot = memory.snapshot();
  const uint64_t before = resident();
  const auto sum = [&](uint64_t from, uint64_t to) {
    uint64_t out = 0;
    for (uint64_t at = from; at < to; at += 4096) out += static_cast<uint64_t>(r.raw_bytes()[at]);
    return out;
  };
  EXPECT_EQ(sum(kSize / 2, kSize), 0U);
  EXPECT_LT(resident(), before + (1 << 20));
  EXPECT_EQ(sum(0, kSize / 2), kSize / 2 / kStep);
  for (int i = 0; i < 2000; ++i) Memory again(snapshot);  // of more mappings than a process may have at once
  memory.restore(snapshot);
  EXPECT_EQ(sum(0, kSize), kSize / 2 / kStep);
}

}  // namespace
}  // namespace bitwell::machine
