// mma.sync and wmma.mma of elements that were never written. Of D an element counts as never written where
// its row of A, its column of B or its element of C has one that does; the others are what they are. So a
// tile whose last rows nobody filled does no harm where nobody stores what comes of them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/machine/warp.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {

// Whether a lane of the warp holds nothing, or not all, in one of these registers.
bool lacks(run::Context& context, std::span<const uint32_t> registers);

// Rows of A or columns of B that have something which was never written.
class LackingLines {
 public:
  static constexpr size_t kMost = 32;

  // Where the first of it should have come from; nullptr: the line is whole.
  const machine::Origin* of(size_t line) const {
    return (lines_ >> line & 1) != 0 ? &origins_[line] : nullptr;
  }
  // Registers of up to 8 bytes. parts(r, lane, visit) calls visit(bits, line) for each line of which lane has
  // elements in register r, with a 1 for each bit of those elements.
  template <class Parts>
  void look(run::Context& context, std::span<const uint32_t> registers, size_t bytes, const Parts& parts) {
    for (size_t r = 0; r < registers.size(); ++r)
      for (uint32_t lanes = ~context.defined_at(registers[r]); lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const uint64_t unknown = run::unknown_of(context, registers[r], lane, bytes).low;
        parts(r, static_cast<size_t>(lane), [&](uint64_t bits, size_t line) {
          if ((unknown & bits) != 0 && (lines_ >> line & 1) == 0) {
            lines_ |= 1u << line;
            origins_[line] = run::origin_of(context, registers[r], lane);
          }
        });
      }
  }

 private:
  uint32_t lines_ = 0;
  std::array<machine::Origin, kMost> origins_{};
};

// What is unknown of D: taken before the product is made, as D's registers may be C's, and given after it.
class UnknownProduct {
 public:
  LackingLines rows, columns;

  // Registers of C. parts(r, lane, visit) calls visit(bits, row, column) for each element that lane has in
  // register r of C and D.
  template <class Parts>
  void take(run::Context& context, std::span<const uint32_t> c, size_t bytes, const Parts& parts) {
    bytes_ = bytes;
    for (size_t r = 0; r < c.size(); ++r)
      for (size_t lane = 0; lane < machine::kLanes; ++lane) {
        const int at = static_cast<int>(lane);
        const uint64_t before = run::unknown_of(context, c[r], at, bytes).low;
        uint64_t unknown = 0;
        const machine::Origin* from = nullptr;
        parts(r, lane, [&](uint64_t bits, size_t row, size_t column) {
          const machine::Origin* line = rows.of(row) != nullptr ? rows.of(row) : columns.of(column);
          if (line == nullptr && (before & bits) == 0) return;
          unknown |= bits;
          if (from == nullptr) from = line;
        });
        if (unknown != 0)
          lacking_.push_back({r, at, unknown, from != nullptr ? *from : run::origin_of(context, c[r], at)});
      }
  }
  // Registers of D, which hold the product.
  void give(run::Context& context, std::span<const uint32_t> d) const;

 private:
  struct Lane {
    size_t r;
    int lane;
    uint64_t unknown;
    machine::Origin from;
  };
  size_t bytes_ = 0;
  std::vector<Lane> lacking_;
};

}  // namespace bitwell::isa
