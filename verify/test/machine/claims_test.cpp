// What host threads must not have in common, against sets of bytes.
#include "model/machine/claim/claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <random>
#include <set>

// The next pages are not to be had.
static std::atomic<int> pages_denied = 0;
void* operator new[](size_t size) {
  if (size >= bitwell::machine::kClaimPage && pages_denied > 0 && pages_denied-- > 0) throw std::bad_alloc();
  if (void* out = std::malloc(size)) return out;
  throw std::bad_alloc();
}
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace bitwell::machine {
namespace {

// Units of 4 bytes count for whoever reads or adds.
struct Sets {
  std::set<uint64_t> read, added, written;
};
bool meet(const Sets& a, const Sets& b, bool kinds_differ) {
  const auto common = [](const std::set<uint64_t>& x, const std::set<uint64_t>& y) {
    return std::any_of(x.begin(), x.end(), [&](uint64_t v) { return y.count(v) != 0; });
  };
  const auto units = [](const Sets& s) {
    std::set<uint64_t> out;
    for (const uint64_t byte : s.written) out.insert(byte / 4);
    return out;
  };
  return common(a.written, b.written) || common(units(a), b.read) || common(a.read, units(b)) ||
         common(units(a), b.added) || common(a.added, units(b)) || common(a.read, b.added) ||
         common(a.added, b.read) || (kinds_differ && common(a.added, b.added));
}

TEST(Claims, MeetWhereSetsOfBytesDo) {
  std::mt19937_64 random(7);
  size_t met = 0, apart = 0;
  for (int run = 0; run < 3000; ++run) {
    Memory memory;
    memory.allocate("other", 100);
    Region& region = memory.allocate("x", 3 * kClaimPage - 20);
    Before before(memory);
    std::vector<std::unique_ptr<Claims>> all;
    std::array<Sets, 3> sets;
    uint64_t kinds = 0;
    for (Sets& s : sets) {
      all.push_back(std::make_unique<Claims>(before));
      for (uint64_t n = random() % 3 + 1; n != 0; --n) {
        const uint64_t size = random() % 8 == 0 ? 1 + random() % 2000 : 1 + random() % 128;
        const uint64_t at = random() % (region.size() - size);
        const auto add_to = [&](std::set<uint64_t>& to, uint64_t unit) {
          for (uint64_t i = at; i < at + size; ++i) to.insert(i / unit);
        };
        switch (random() % 3) {
          case 0: all.back()->read(region, region.base() + at, size), add_to(s.read, 4); break;
          case 1:
            if (random() % 2 == 0) {
              all.back()->write(region, region.base() + at, size), add_to(s.written, 1);
            } else {  // pieces, and nothing between them
              const uint64_t piece = 1 + random() % size, step = piece + random() % size;
              const uint64_t count = (size - piece) / step + 1;
              all.back()->write(region, region.base() + at, piece, step, count);
              for (uint64_t i = 0; i < count * step; ++i)
                if (i % step < piece) s.written.insert(at + i);
            }
            break;
          default: {
            const uint64_t kind = uint64_t{1} << (random() % 8 == 0 ? 1 : 0);
            kinds |= kind;
            all.back()->add(region, region.base() + at, size, kind), add_to(s.added, 4);
          }
        }
      }
    }
    const bool differ = kinds == 3;
    const bool expected =
        meet(sets[0], sets[1], differ) || meet(sets[0], sets[2], differ) || meet(sets[1], sets[2], differ);
    const Claims::Meeting meeting = Claims::meeting(all, before);
    ASSERT_EQ(meeting.region != nullptr, expected) << run;
    ++(expected ? met : apart);
    for (const auto& claims : all) claims->clear();
    ASSERT_EQ(Claims::meeting(all, before).region, nullptr);
  }
  EXPECT_GT(met, 500U);
  EXPECT_GT(apart, 500U);
}

TEST(Claims, WhatWasThereComesBack) {
  Memory memory;
  Region& region = memory.allocate("x", kClaimPage + 100);
  region.put(region.base(), std::vector<std::byte>(200, std::byte{1}));
  {
    Before before(memory);
    std::vector<std::unique_ptr<Claims>> all;
    for (int i = 0; i < 2; ++i) all.push_back(std::make_unique<Claims>(before));
    const auto change = [&](Claims& claims, uint64_t at, size_t size) {
      claims.write(region, region.base() + at, size);
      region.put(region.base() + at, std::vector<std::byte>(size, std::byte{9}));
    };
    change(*all[0], 100, 50);
    before.forget();  // that stays
    all[0]->clear();
    all[0]->read(region, region.base() + 120, 4);  // before it is written
    change(*all[0], 120, 60);
    change(*all[1], 177, kClaimPage - 100);
    Claims::put_back(all, before);
    EXPECT_EQ(region.number, 0U);
  }
  EXPECT_EQ(region.number, Region::kNoNumber);
  for (size_t i = 0; i < region.size(); ++i) {
    EXPECT_EQ(region.raw_bytes()[i], std::byte(i >= 100 && i < 150 ? 9 : i < 200 ? 1 : 0)) << i;
    EXPECT_EQ(region.is_defined(i, 1), i < 200) << i;
  }
}

// A host program changes bytes of its own beside those that clusters write: of a run that does not count only
// the clusters' come back, whatever page they share.
TEST(Claims, WhatTheHostHasWrittenMeanwhileStays) {
  std::mt19937_64 random(3);
  for (int run = 0; run < 200; ++run) {
    std::vector<std::byte> host(2 * kClaimPage + 77, std::byte{1});
    Memory memory;
    Region& region = memory.adopt("x", host.data(), host.size(), run % 2 == 0);
    Before before(memory);
    std::vector<std::unique_ptr<Claims>> all;
    for (int i = 0; i < 2; ++i) all.push_back(std::make_unique<Claims>(before));
    std::vector<bool> claimed(host.size());
    for (int n = 0; n < 12; ++n) {
      const bool adds = random() % 2 == 0;  // words, and as the claims have it those that are aligned
      const uint64_t size = adds ? 4 * (1 + random() % 2) : 1 + random() % 300;
      const uint64_t at = adds ? random() % (host.size() / 4 - 2) * 4 : random() % (host.size() - size);
      if (adds)
        all[random() % 2]->add(region, region.base() + at, size, 1);
      else
        all[random() % 2]->write(region, region.base() + at, size);
      region.put(region.base() + at, std::vector<std::byte>(size, std::byte{9}));
      std::fill_n(claimed.begin() + static_cast<std::ptrdiff_t>(at), size, true);
    }
    for (size_t i = 0; i < host.size(); ++i)
      if (!claimed[i] && random() % 2 == 0) host[i] = std::byte{5};
    const std::vector<std::byte> then = host;
    Claims::put_back(all, before);
    for (size_t i = 0; i < host.size(); ++i) {
      ASSERT_EQ(host[i], claimed[i] ? std::byte{1} : then[i]) << run << " " << i;
      ASSERT_EQ(region.is_defined(i, 1), run % 2 == 0) << run << " " << i;
    }
  }
}

// A page that could not be copied is nobody's: whoever comes next copies it, and waits for nobody.
TEST(Claims, WhereThereIsNoMemoryForAPage) {
  Memory memory;
  Region& region = memory.allocate("x", kClaimPage);
  region.put(region.base(), std::vector<std::byte>(100, std::byte{1}));
  Before before(memory);
  std::vector<std::unique_ptr<Claims>> all;
  all.push_back(std::make_unique<Claims>(before));
  pages_denied = 1;
  EXPECT_THROW(all[0]->write(region, region.base(), 4), std::bad_alloc);
  all[0]->write(region, region.base(), 4);
  region.put(region.base(), std::vector<std::byte>(4, std::byte{9}));
  Claims::put_back(all, before);
  EXPECT_EQ(region.raw_bytes()[0], std::byte{1});
}

// Of what is only read the bytes are not taken down; whoever writes there asks for that.
TEST(Claims, WhatIsOnlyRead) {
  Memory memory;
  Region& region = memory.allocate("x", 100);
  Before before(memory);
  std::vector<std::unique_ptr<Claims>> all;
  for (int i = 0; i < 2; ++i) all.push_back(std::make_unique<Claims>(before));
  all[0]->read(region, region.base(), 4);
  Claims::learn(all, before);
  EXPECT_TRUE(before.only_read(0));
  all[0]->clear();
  all[0]->read(region, region.base(), 4);
  EXPECT_EQ(Claims::meeting(all, before).region, nullptr);
  all[1]->write(region, region.base() + 50, 4);
  EXPECT_TRUE(Claims::meeting(all, before).only_read);
}

}  // namespace
}  // namespace bitwell::machine
