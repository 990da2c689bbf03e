// What host threads must not have in common, against sets of bytes.
#include "model/machine/claim/claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

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
          case 1: all.back()->write(region, region.base() + at, size), add_to(s.written, 1); break;
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
    Claims claims(before);
    const auto change = [&](uint64_t at, size_t size) {
      claims.write(region, region.base() + at, size);
      region.put(region.base() + at, std::vector<std::byte>(size, std::byte{9}));
    };
    change(100, 50);
    before.forget();  // that stays
    claims.clear();
    change(120, kClaimPage - 100);
    before.put_back();
    EXPECT_EQ(region.number, 0U);
  }
  EXPECT_EQ(region.number, Region::kNoNumber);
  for (size_t i = 0; i < region.size(); ++i) {
    EXPECT_EQ(region.raw_bytes()[i], std::byte(i >= 100 && i < 150 ? 9 : i < 200 ? 1 : 0)) << i;
    EXPECT_EQ(region.is_defined(i, 1), i < 200) << i;
  }
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
