// Which bits of a register nobody has written, in lanes that do not hold a whole value, and where such bits
// came from.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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
  bool decided = false;            // it came to a branch, one of whose ways writes the register
};

// One for an activation that has met such a value. A row is named by its byte offset, as in Op.
class UnknownBits {
 public:
  static constexpr size_t kLane = 16;  // bytes kept of a lane: the widest register
  static constexpr size_t kLanes = 32;

  struct Row {
    uint32_t partial =
        0;  // lanes whose bits are told apart; in the others that are not whole, no bit is known
    std::array<std::byte, kLane * kLanes>
        bits{};  // 1: never written. The lanes' registers as they stand in memory
    std::array<Origin, kLanes> origins{};
  };

  explicit UnknownBits(size_t rows) : rows_(rows) {}

  Row& row(uint32_t offset) {
    std::unique_ptr<Row>& r = rows_[offset / 128];
    if (r == nullptr) r = std::make_unique<Row>();
    return *r;
  }
  // nullptr: nothing is kept of the row.
  const Row* find(uint32_t offset) const { return rows_[offset / 128].get(); }

 private:
  std::vector<std::unique_ptr<Row>> rows_;
};

}  // namespace bitwell::machine
