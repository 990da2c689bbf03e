// What a warp's lanes reach of global memory: lines, and sectors of each.
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "model/timing/clock/state.h"

namespace bitwell::timing {

// Of a line, those that hold bytes from one address up to another, of which it has some.
inline uint32_t sectors_between(uint64_t line, uint64_t from, uint64_t to) {
  const uint64_t begin = line * kLine;
  const uint64_t first = from > begin ? (from - begin) / kSector : 0;
  const uint64_t last = std::min((to - 1 - begin) / kSector, kSectors - 1);
  return (2u << last) - (1u << first);
}

// What lanes reach that have addresses of their own: lines in their order.
struct Clock::Scattered {
  std::array<LineSectors, 32 * 17> lines;
  size_t count = 0;
  uint32_t bytes;  // of each lane
  const Notes addresses;

  Scattered(const Access& a, Notes those) : bytes(a.bytes), addresses(those) {
    bool ascend = true;
    uint64_t last = 0;  // line
    size_t n = 0;
    for (size_t lane = 0; lane < addresses.size(); ++lane) {
      const uint64_t from = addresses[lane], to = from + bytes, line = from / kLine;
      ascend = ascend && line >= last;
      if (bytes != 0 && from / kSector == (to - 1) / kSector) [[likely]] {
        if (n == 0 || line != last) lines[n++] = {line, 0};
        lines[n - 1].sectors |= 1u << from / kSector % kSectors;
        last = line;
      } else {
        n = add(from, to, n);
        last = n == 0 ? 0 : lines[n - 1].line;
      }
    }
    count = n;
    if (ascend) return;
    std::sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count),
              [](const LineSectors& x, const LineSectors& y) { return x.line < y.line; });
    join();
  }
  size_t sectors() const {
    constexpr std::array<uint8_t, 1 << kSectors> kBits{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    size_t all = 0;
    for (size_t i = 0; i < count; ++i) all += kBits[lines[i].sectors];
    return all;
  }
  LineSectors at(size_t k) const { return lines[k]; }
  uint64_t first_byte(size_t, uint64_t sector) const { return first_byte(addresses, bytes, sector); }
  // A sector may begin before the region in which the bytes lie that are reached in it.
  static uint64_t first_byte(Notes addresses, uint32_t bytes, uint64_t sector) {
    for (size_t lane = 0; lane < addresses.size(); ++lane)
      if (const uint64_t from = addresses[lane];
          from / kSector <= sector && sector <= (from + bytes - 1) / kSector)
        return std::max(from, sector * kSector);
    return sector * kSector;
  }
  Banks banks() const {
    constexpr size_t kBanks = Banks::kBanks;
    std::array<std::array<uint64_t, kBanks>, kBanks> reached;
    std::array<uint32_t, kBanks> many{};
    Banks out;
    for (size_t lane = 0; lane < addresses.size(); ++lane)
      for (uint64_t word = addresses[lane] / Banks::kWord; word * Banks::kWord < addresses[lane] + bytes;
           ++word) {
        auto& bank = reached[word % kBanks];
        uint32_t& n = many[word % kBanks];
        if (n == kBanks || std::find(bank.begin(), bank.begin() + n, word) != bank.begin() + n) continue;
        bank[n++] = word;
        ++out.words;
        out.fronts = std::max(out.fronts, n);
      }
    return out;
  }

 private:
  // Behind so many. Returns how many there are.
  size_t add(uint64_t from, uint64_t to, size_t n) {
    for (uint64_t line = from / kLine; line * kLine < to && n < lines.size(); ++line) {
      if (n == 0 || lines[n - 1].line != line) lines[n++] = {line, 0};
      lines[n - 1].sectors |= sectors_between(line, from, to);
    }
    return n;
  }
  // Lines that stand there several times.
  void join() {
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i)
      if (kept != 0 && lines[kept - 1].line == lines[i].line)
        lines[kept - 1].sectors |= lines[i].sectors;
      else
        lines[kept++] = lines[i];
    count = kept;
  }
};

// The same, where the warp reached these sectors before: where their lines stood in the first cache is known.
struct Clock::ScatteredAgain {
  Spread& known;
  uint32_t bytes;
  const Notes addresses;
  size_t count = known.count();

  size_t sectors() const { return known.sectors(); }
  LineSectors at(size_t k) const { return known.line(k).is; }
  L1::Place& place(size_t k) const { return known.line(k).place; }
  Banks banks() const { return known.banks(); }
  uint64_t first_byte(size_t k, uint64_t sector) const {
    // Most often each lane has a line of its own.
    if (count == Spread::kLanes && addresses[k] / kSector == sector) return addresses[k];
    return Scattered::first_byte(addresses, bytes, sector);
  }
};

// What they reach that follows each other.
struct Clock::InARow {
  uint64_t from, to;
  size_t count;  // of lines

  InARow(uint64_t first, uint64_t bytes)
      : from(first), to(first + bytes), count(bytes == 0 ? 0 : (to - 1) / kLine - from / kLine + 1) {}
  size_t sectors() const { return count == 0 ? 0 : (to - 1) / kSector - from / kSector + 1; }
  LineSectors at(size_t k) const {
    const uint64_t line = from / kLine + k;
    return {line, sectors_between(line, from, to)};
  }
  uint64_t first_byte(size_t, uint64_t sector) const { return std::max(from, sector * kSector); }
};

// The same, where that is one line.
struct Clock::InALine {
  static constexpr size_t count = 1;
  uint64_t from, last;  // byte

  InALine(uint64_t first, uint64_t bytes) : from(first), last(first + bytes - 1) {}
  static bool fits(uint64_t first, uint64_t bytes) { return bytes - 1 < kLine - first % kLine; }
  size_t sectors() const { return last / kSector - from / kSector + 1; }
  LineSectors at(size_t) const {
    return {from / kLine, (2u << last / kSector % kSectors) - (1u << from / kSector % kSectors)};
  }
  uint64_t first_byte(size_t, uint64_t sector) const { return std::max(from, sector * kSector); }
};

}  // namespace bitwell::timing
