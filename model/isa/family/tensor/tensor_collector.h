// The collectors of tcgen05.mma. One keeps A, or with .ws B, of the MMA that fills it for those that may use
// it then: they may read memory all the same, so that what stands there must stay until the last of them (PTX
// ISA 9.0, 9.7.16.10 and 9.7.16.10.9.1).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/tensor/column_mask.h"
#include "model/number/format.h"

namespace bitwell::isa {

// What an MMA says of a collector: of A (buffer 0), or with .ws one of B (1 to 4).
enum class Collecting : uint8_t { discard, fill, use, last_use };
struct Collector {
  size_t buffer = 0;
  Collecting what{};
};
// "a", "b0" to "b3"
std::string collector_name(size_t buffer);

class Collectors {
 public:
  // One MMA that fills a collector or may use it.
  struct Share {
    uint64_t fill = 0;  // unique in the cluster; 0: the MMA does neither
    size_t buffer = 0;
    int ptx_line = 0;
  };
  // What makes codes of two MMAs comparable.
  struct Reading {
    const number::Format* format;  // nullptr: integers
    uint32_t k;
    bool transposed, negated;
    machine::ColumnMask columns;

    bool operator==(const Reading&) const = default;
  };

  // `rank`: of the CTA whose threads issue, in its cluster.
  explicit Collectors(uint32_t rank) : fills_(uint64_t{rank} << 32) {}

  // In the order of issue. Throws Fault where an MMA may use what nothing has filled, or what was filled with
  // another operand: `operand` is its matrix descriptor, or its address in tensor memory.
  Share issue(const Collector& collector, uint64_t operand, int ptx_line, int lane);

  // Where a code stands, and who wrote it last ("": not known).
  struct Standing {
    std::string where, writer;
  };
  // As the MMA is carried out: `codes` are what it reads in memory, the part-th piece of the matrix. Throws
  // Fault where they are not what another MMA of the same fill has read; `at(i)` says where code i stands.
  // MMAs that read the matrix in another way are not compared.
  void read(const Share& share, const Reading& reading, size_t part, std::span<const uint32_t> codes,
            const std::function<Standing(size_t i)>& at);

 private:
  struct Filled {
    uint64_t operand;
    int ptx_line;
    uint64_t fill;
  };
  struct Kept {
    Share by;
    Reading reading;
    std::array<std::vector<uint32_t>, 4> parts;
  };
  static constexpr size_t kBuffers = 5;
  std::array<std::optional<Filled>, kBuffers> filled_;
  std::array<std::optional<Kept>, kBuffers> kept_;
  uint64_t fills_;  // so far, behind the rank
};

}  // namespace bitwell::isa
