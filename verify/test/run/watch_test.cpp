// What looks on while a launch runs, each beside a plain second version: who wrote a byte last, which bytes
// of a buffer hold what is followed, how many bits a sum loses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "model/machine/memory/memory.h"
#include "model/machine/warp.h"
#include "model/number/half.h"
#include "model/run/watch/follow.h"
#include "model/run/watch/last_writers.h"
#include "model/run/watch/losses.h"

namespace bitwell::run {
namespace {

using machine::AccessKind;

// Lines 1 to 6 of the PTX are in two functions, the even ones with a line of CUDA; line 7 is in none.
isa::Program program() {
  isa::Program out;
  out.functions.resize(2);
  for (int line = 1; line <= 6; ++line)
    out.functions[line <= 3 ? 0 : 1].lines.push_back(
        {line, line % 2 == 0 ? machine::cuda_place({{"a.cu", 10 + line}}) : nullptr,
         "i" + std::to_string(line)});
  return out;
}
std::string words(int line) {
  if (line == 0) return "";
  const std::string place = "PTX line " + std::to_string(line);
  if (line == 7) return place;
  return "'i" + std::to_string(line) + "' of " + place +
         (line % 2 == 0 ? " (a.cu:" + std::to_string(10 + line) + ")" : "");
}

TEST(LastWriters, AreThoseOfAListOfAllBytes) {
  const isa::Program lines = program();
  std::mt19937 random(1);
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int round = 0; round < 60; ++round) {
    LastWriters writers(lines);
    std::map<std::tuple<uint64_t, uint64_t>, int> bytes;            // rank, offset
    std::map<std::tuple<uint64_t, uint64_t, uint64_t>, int> cells;  // rank, lane, column
    for (int step = 0; step < 12; ++step) {
      const int line = static_cast<int>(1 + below(7));
      std::array<uint64_t, machine::kLanes> addresses{};
      machine::Access a{};
      a.kind =
          std::array{AccessKind::write, AccessKind::write, AccessKind::update, AccessKind::read}[below(4)];
      a.mbarrier = below(8) == 0;
      a.ptx_line = line;
      a.addresses = addresses;
      const bool counts = a.kind != AccessKind::read && !a.mbarrier;
      if (below(3) != 0) {
        a.bytes = uint64_t{1} << below(5);
        a.lanes = below(3) == 0 ? 0 : static_cast<uint32_t>(random() & random() & random());
        for (size_t i = 0; i < addresses.size(); ++i) {
          const uint64_t rank = below(3), offset = below(300);
          addresses[i] = machine::kSharedWindow + (rank << machine::kRankShift) + offset;
          if (!counts || (a.lanes == 0 ? i != 0 : (a.lanes >> i & 1) == 0)) continue;
          for (uint64_t b = 0; b < a.bytes; ++b) bytes[{rank, offset + b}] = line;
        }
      } else {
        const uint64_t rank = below(3), lane = below(100), column = below(500), columns = 1 + below(9);
        a.rows = static_cast<uint32_t>(1 + below(28));
        a.bytes = 4 * columns;
        if (below(2) == 0) a.columns_before_gap = static_cast<uint32_t>(below(columns)), a.gap = 1;
        a.gap = a.gap == 0 ? 0 : static_cast<uint32_t>(1 + below(columns - a.columns_before_gap));
        addresses.fill(machine::kTensorWindow + (rank << 32) + (lane << 16) + column);
        a.lanes = below(2) == 0 ? 0 : ~0u;
        for (uint64_t l = lane; counts && l < lane + a.rows; ++l)
          for (uint64_t c = 0; c < columns; ++c)
            if (a.gap == 0 || c < a.columns_before_gap || c >= a.columns_before_gap + a.gap)
              cells[{rank, l, column + c}] = line;
      }
      writers.note(a);
    }
    for (uint64_t rank = 0; rank < 4; ++rank) {
      for (uint64_t offset = 0; offset < 330; ++offset) {
        const uint64_t size = 1 + below(6);
        int line = 0;
        for (uint64_t b = offset; line == 0 && b < offset + size; ++b)
          if (const auto at = bytes.find({rank, b}); at != bytes.end()) line = at->second;
        ASSERT_EQ(writers.of_shared((rank << machine::kRankShift) + offset, size), words(line))
            << round << " " << rank << " " << offset;
      }
      for (int i = 0; i < 2000; ++i) {
        const uint64_t lane = below(128), column = below(512);
        const auto at = cells.find({rank, lane, column});
        ASSERT_EQ(writers.of_cell(static_cast<uint32_t>(rank), static_cast<uint32_t>(lane),
                                  static_cast<uint32_t>(column)),
                  words(at == cells.end() ? 0 : at->second));
      }
      for (const auto& [place, line] : cells)
        ASSERT_EQ(writers.of_cell(static_cast<uint32_t>(std::get<0>(place)),
                                  static_cast<uint32_t>(std::get<1>(place)),
                                  static_cast<uint32_t>(std::get<2>(place))),
                  words(line));
    }
  }
}

// Runs of bytes are those of a set: neighbours are one run, and none lies in another.
TEST(Followed, BytesOfABufferAreThoseOfASet) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const machine::Region a("a", machine::kBuffers, 4096, true), b("b", machine::kBuffers + 8192, 4096, true);
    Follow follow({});
    std::map<std::string, std::set<uint64_t>> sets;
    std::vector<std::pair<std::string, int>> first;
    for (int step = 0; step < 14; ++step) {
      const machine::Region& region = random() % 4 == 0 ? b : a;
      const uint64_t offset = random() % 60, bytes = 1 + random() % 9;
      const int line = static_cast<int>(random() % 50);
      follow.stored(region, region.base() + offset, bytes, line);
      if (sets[region.name()].empty()) first.emplace_back(region.name(), line);
      for (uint64_t i = 0; i < bytes; ++i) sets[region.name()].insert(offset + i);
      ASSERT_EQ(follow.outputs().size(), first.size());
      for (size_t i = 0; i < first.size(); ++i) {
        const Follow::Output& out = follow.outputs()[i];
        std::map<uint64_t, uint64_t> runs;
        for (const uint64_t at : sets[out.buffer])
          if (!runs.empty() && runs.rbegin()->second == at)
            ++runs.rbegin()->second;
          else
            runs[at] = at + 1;
        ASSERT_EQ(std::pair(out.buffer, out.ptx_line), first[i]);
        ASSERT_EQ(out.runs, runs);
        ASSERT_EQ(out.bytes(), sets[out.buffer].size());
      }
    }
  }
}

TEST(Followed, UsesAreCountedByLineAndWords) {
  std::mt19937 random(3);
  Follow follow({});
  std::map<std::pair<int, std::string>, uint64_t> counts;
  std::vector<std::pair<int, std::string>> order;
  for (int step = 0; step < 200; ++step) {
    const std::pair<int, std::string> use(
        1 + random() % 4, std::array<std::string, 3>{"an address", "a branch", "a size"}[random() % 3]);
    follow.used(use.first, use.second);
    if (counts[use]++ == 0) order.push_back(use);
    ASSERT_EQ(follow.uses().size(), order.size());
  }
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(std::pair(follow.uses()[i].ptx_line, follow.uses()[i].as), order[i]);
    EXPECT_EQ(follow.uses()[i].times, counts[order[i]]);
  }
}

// Bit by bit: each place of the smaller term from its highest 1 to its last, if the sum's last place is
// above.
int lost_bit_by_bit(double one, double other, double result, bool brain) {
  double rest = std::min(std::fabs(one), std::fabs(other));
  if (rest == 0 || std::isinf(rest)) return 0;
  int exponent = brain ? -126 : -14;
  while (std::fabs(result) >= std::ldexp(1.0, exponent + 1)) ++exponent;
  const int place = exponent - (brain ? 7 : 10);
  int lost = 0, pending = 0;  // places below the sum's last one, up to a 1 and behind it
  bool begun = false;
  for (int p = 130; rest != 0; --p) {
    const bool bit = rest >= std::ldexp(1.0, p);
    if (bit) rest -= std::ldexp(1.0, p);
    begun = begun || bit;
    if (begun && p < place) ++pending;
    if (bit) lost = pending;
  }
  return lost;
}

TEST(LostBits, AreCountedOneByOne) {
  std::mt19937 random(4);
  const auto value = [&](bool brain) {
    const auto code = static_cast<uint16_t>(random() & (random() % 3 == 0 ? 0x83FF : 0xFFFF) &
                                            (random() % 2 == 0 ? 0xFFF0 : ~0u));
    return brain ? std::bit_cast<float>(uint32_t{code} << 16) : number::half_to_float(code);
  };
  int lossy = 0;
  for (int i = 0; i < 40000; ++i) {
    const bool brain = i % 2 == 0;
    float one = value(brain), other = value(brain), result = value(brain);
    if (i % 3 == 0 && std::isfinite(one)) {  // near each other, as sums are
      other = std::ldexp(one, static_cast<int>(random() % 30) - 15), result = one;
      if (i % 5 == 0)
        other =
            std::bit_cast<float>(std::bit_cast<uint32_t>(other) | static_cast<uint32_t>(random() & 0x1FFF));
    }
    if (i % 7 == 0) result = 0;
    if (std::isnan(one) || std::isnan(other) || !std::isfinite(result)) continue;
    const int plain = lost_bit_by_bit(one, other, result, brain);
    lossy += plain > 0;
    ASSERT_EQ(lost_bits(one, other, result, brain), plain) << one << " " << other << " " << result;
    ASSERT_EQ(lost_bits(other, one, -result, brain), plain) << one << " " << other << " " << result;
  }
  EXPECT_GT(lossy, 4000);
}

}  // namespace
}  // namespace bitwell::run
