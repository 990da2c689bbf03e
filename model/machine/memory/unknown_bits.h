// Which bits of a register nobody has written, in lanes that do not hold a whole value, and where such bits
// came from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitwell::machine {

class Region;

// Where a value that is not whole was made, for the report of its use.
struct Origin {
  enum class Kind : uint8_t {
    nothing,  // nothing has written the register
    memory,   // bytes that were loaded before anything wrote them
    shuffle   // a lane that does not take part, or holds nothing
  };
  Kind kind = Kind::nothing;
  int ptx_line = 0;                // of the load or the shuffle
  int lane = 0;                    // of a shuffle: the source
  uint32_t size = 0;               // bytes loaded
  uint32_t missing = 0;            // by byte, the lowest bit is the first
  uint64_t address = 0;            // in the region's own numbering
  const Region* region = nullptr;  // nullptr: local memory
};

// One for an activation that has met such a value. A row is named by its byte offset, as in Op.
class UnknownBits {
 public:
  static constexpr size_t kLane = 16;  // bytes kept of a lane: the widest register

  explicit UnknownBits(size_t rows) : rows_(rows) {}

  // Lanes whose bits are told apart; in the others that are not whole, no bit is known.
  uint32_t& partial(uint32_t row) { return at(row).partial; }
  // 1: never written. The lane's register as it stands in memory.
  std::byte* bits(uint32_t row, int lane) { return at(row).bits.data() + kLane * static_cast<size_t>(lane); }
  Origin& origin(uint32_t row, int lane) { return at(row).origins[static_cast<size_t>(lane)]; }

 private:
  struct Row {
    uint32_t partial = 0;
    std::vector<std::byte> bits;
    std::vector<Origin> origins;
  };
  Row& at(uint32_t row) {
    Row& r = rows_[row / 128];
    if (r.bits.empty()) {
      r.bits.resize(kLane * 32);
      r.origins.resize(32);
    }
    return r;
  }
  std::vector<Row> rows_;
};

}  // namespace bitwell::machine
